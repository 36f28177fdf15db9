"""Which recipe did the user mean? Names, TOML files and `--set name=value` to a checked recipe, and back.

A recipe is a frozen pydantic dataclass; a field that holds another one is a table of the TOML. None
is written "none" and a `Duration` as "20m", in files and in `--set` alike.
"""

from __future__ import annotations

import dataclasses
import math
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Literal, get_args, get_origin

import pydantic
import tomlkit
from tomlkit.container import Container
from tomlkit.items import Table

from dragoman.contracts import Recipe, UserError
from dragoman.corpus.streams import why_not
from dragoman.durations import format_duration, parse_duration
from dragoman.system.catalogue import TOOLS, did_you_mean, recipe_class, recipe_named

AnyRecipe = Recipe[Any, Any]


@dataclass(frozen=True)
class Difference:
    """A field that two recipes fill differently; `name` is dotted, values are as TOML shows them."""

    name: str
    old: object
    new: object

    def __str__(self) -> str:
        return f"{self.name} {self.old} -> {self.new}"


# --- from the user ------------------------------------------------------------------------------


def recipe_from(name: str, sets: Sequence[str] = ()) -> AnyRecipe:
    """The recipe of a catalogue name or a .toml path, with each "name=value" of `sets` put in."""
    recipe = read_toml(Path(name)) if name.endswith(".toml") else recipe_named(name)
    return with_settings(recipe, sets)


def tool_from(name: str, file: str | None, sets: Sequence[str] = ()) -> Any:
    """The choices of a tool of the catalogue, its defaults or those of a TOML file, with `sets` put in."""
    choices = resolve_name(TOOLS[name].recipe)

    def class_of(kind: str) -> type[Any]:
        if kind != name:
            raise UserError(f"kind = {kind!r}, where {name!r} is wanted: `dragoman recipes {name}` shows such a file")
        return type(choices)

    return with_settings(read_toml(Path(file), class_of) if file is not None else choices, sets)


def read_toml(path: Path, class_of: Callable[[str], type[Any]] = recipe_class) -> AnyRecipe:
    """The recipe of a TOML file; fields left out take the kind's defaults. UserError names file and line."""
    try:
        return recipe_of_toml(path.read_bytes().decode("utf-8-sig"), str(path), class_of)
    except OSError as error:
        raise UserError(f"{path}: {why_not(error)}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 (byte {error.start})") from error


def recipe_of_toml(text: str, name: str, class_of: Callable[[str], type[Any]] = recipe_class) -> AnyRecipe:
    """The recipe that `text` spells out; `name` stands for it in messages. class_of: of a kind."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{name}: not TOML: {error}") from error
    kind = table.pop("kind", None)
    if not isinstance(kind, str):
        raise UserError(f'{name}: no kind; the first line of a recipe says, for example, kind = "transformer"')
    try:
        return _checked(class_of(kind), table)
    except _Refused as refused:
        raise UserError(f"{name}{_line_of(refused.field, text)}: {refused}") from refused
    except UserError as error:
        raise UserError(f"{name}{_line_of('kind', text)}: {error}") from error


def with_settings(recipe: AnyRecipe, sets: Sequence[str]) -> AnyRecipe:
    """`recipe` with each "name=value" put in; a bare field name will do where only one table has it."""
    if not sets:
        return recipe
    table, said = _plain(recipe), dict[str, str]()
    names = [name for name, _ in _walk(table)]
    for setting in sets:
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not equals or not name:
            raise UserError(f"--set {setting}: write name=value")
        full = _full_name(name, names)
        said[full] = setting
        *tables, field = full.split(".")
        place = table
        for step in tables:
            place = place[step]
        place[field] = _value_of_text(value, setting)
    try:
        return _checked(type(recipe), table)
    except _Refused as refused:
        setting = said.get(refused.field, sets[-1])
        raise UserError(f"--set {setting}: {refused}") from refused


def _full_name(name: str, names: Sequence[str]) -> str:
    if name in names:
        return name
    found = [known for known in names if known.rpartition(".")[2] == name]
    if len(found) == 1:
        return found[0]
    if found:
        raise UserError(f"--set {name}: which one: {', '.join(found)}?")
    hint = did_you_mean(name, [*names, *(known.rpartition(".")[2] for known in names)])
    raise UserError(f"--set {name}: no {name!r} in this recipe{hint}")


def _value_of_text(text: str, setting: str) -> object:
    """Lists and quoted text as in TOML; all other text stays as it is, for the field's type to read."""
    if text[:1] not in ("[", '"', "'", "{"):
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"--set {setting}: {error}") from error


# --- checking -----------------------------------------------------------------------------------


class _Refused(Exception):
    """A value that does not fit; `field` is its dotted name."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def _checked(recipe: type[Any], table: Mapping[str, Any]) -> AnyRecipe:
    """An instance of the recipe class from nested plain values; _Refused for the first that does not fit."""
    values = _known_values(recipe, table, ())
    try:
        made: AnyRecipe = pydantic.TypeAdapter(recipe).validate_python(values)
    except pydantic.ValidationError as error:
        raise _refusal(error, {name for name, _ in _walk(values)}) from error
    return made


def _refusal(error: pydantic.ValidationError, names: Collection[str]) -> _Refused:
    def field_of(location: Sequence[int | str]) -> str:
        steps = [str(step) for step in location]
        while steps and not any(f"{name}.".startswith(".".join(steps) + ".") for name in names):
            steps.pop()  # pydantic adds the branch of a union and the index in a list
        return ".".join(steps)

    first, *others = error.errors(include_url=False)
    field, given = field_of(first["loc"]), first["input"]
    message = first["msg"].removeprefix("Value error, ").removeprefix("Input ")
    shown = f" = {given!r}" if isinstance(given, str | int | float) else ""
    more = len({field_of(other["loc"]) for other in others} - {field})
    counted = f" (and {more} more)" if more else ""
    return _Refused(field, f"{field}{shown}: {message}{counted}" if field else f"{message}{counted}")


def _known_values(options: type[Any], table: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """`table` with "none" as None; _Refused at a name that the dataclass has not."""
    fields, values = _fields(options), {}
    for name, value in table.items():
        dotted = ".".join((*path, name))
        if name not in fields:
            place = f" in [{'.'.join(path)}]" if path else ""
            raise _Refused(dotted, f"no {name!r}{place}{did_you_mean(name, fields)}")
        inner = fields[name].annotation
        if dataclasses.is_dataclass(inner):
            if not isinstance(value, Mapping):
                raise _Refused(dotted, f"{dotted} is a table: write [{dotted}] on a line of its own")
            value = _known_values(inner, value, (*path, name))
        elif isinstance(value, float) and math.isnan(value):
            raise _Refused(dotted, f"{dotted}: not a number")
        elif value == "none" and type(None) in get_args(inner):
            value = None
        values[name] = value
    return values


def _line_of(field: str, text: str) -> str:
    """ ":7" for the line of a TOML text that sets the field or opens the table of that dotted name."""
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line):
            table = header[1]
            if table == field:
                return f":{number}"
        elif key := re.match(r"\s*([\w.\"'-]+)\s*=", line):
            name = key[1].strip("\"'")
            if field in (f"{table}.{name}".lstrip("."), name if not table else ""):
                return f":{number}"
    return ""


# --- to the user --------------------------------------------------------------------------------


def to_toml(recipe: AnyRecipe, commented: bool = True) -> str:
    """Every field with its value, nested options as tables; `recipe_of_toml` reads it back equal.

    commented: each field's description stands above it, with the choices where there are only some.
    """
    document = tomlkit.document()
    if commented:
        summary = (type(recipe).__doc__ or "").strip().partition("\n")[0]
        document.add(tomlkit.comment(f"A recipe of Dragoman. {summary}".strip()))
    document.add("kind", tomlkit.item(recipe.kind))
    _write_fields(document, type(recipe), _plain(recipe), commented)
    return tomlkit.dumps(document)


def _write_fields(place: Container | Table, options: type[Any], values: Mapping[str, Any], commented: bool) -> None:
    fields = _fields(options)
    ordered = sorted(fields, key=lambda name: dataclasses.is_dataclass(fields[name].annotation))
    for name in ordered:
        info = fields[name]
        if dataclasses.is_dataclass(info.annotation):
            table = tomlkit.table()
            if commented and info.description:
                table.add(tomlkit.comment(info.description))
            _write_fields(table, info.annotation, values[name], commented)
            place.add(name, table)
            continue
        choices = get_args(info.annotation) if get_origin(info.annotation) is Literal else ()
        about = f"{info.description or ''}{' (' + ' | '.join(map(str, choices)) + ')' if choices else ''}".strip()
        if commented and about:
            place.add(tomlkit.comment(" ".join(about.split())))
        place.add(name, tomlkit.item(values[name]))


def differences(old: AnyRecipe, new: AnyRecipe) -> list[Difference]:
    """What `new` fills differently, limits too, in the order of the fields; of two kinds only the kind."""
    if old.kind != new.kind:
        return [Difference("kind", old.kind, new.kind)]
    before, after = dict(_walk(_plain(old))), dict(_walk(_plain(new)))
    return [Difference(name, before.get(name), value) for name, value in after.items() if before.get(name) != value]


def value_at(recipe: AnyRecipe, name: str) -> Any:
    """The value of a field by its dotted name."""
    value: Any = recipe
    for step in name.split("."):
        value = getattr(value, step)
    return value


# --- shape of a recipe --------------------------------------------------------------------------


def _fields(options: type[Any]) -> dict[str, pydantic.fields.FieldInfo]:
    fields: dict[str, pydantic.fields.FieldInfo] = options.__pydantic_fields__
    return fields


def _plain(recipe: AnyRecipe) -> dict[str, Any]:
    """Nested values as TOML has them: text, numbers, lists; None as "none", durations as "20m"."""
    plain: dict[str, Any] = pydantic.TypeAdapter(type(recipe)).dump_python(recipe, mode="json")
    return _shown(type(recipe), plain)


def _shown(options: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    shown = {}
    for name, info in _fields(options).items():
        value = values[name]
        if dataclasses.is_dataclass(info.annotation):
            value = _shown(info.annotation, value)
        elif value is None:
            value = "none"
        elif _is_duration(info) and isinstance(value, float):
            value = format_duration(value)
        shown[name] = value
    return shown


def _is_duration(info: pydantic.fields.FieldInfo) -> bool:
    inner = [part for branch in get_args(info.annotation) for part in getattr(branch, "__metadata__", ())]
    return any(getattr(part, "func", None) is parse_duration for part in [*info.metadata, *inner])


def _walk(table: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """(dotted name, value) of every field that is not a table itself."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _walk(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value
