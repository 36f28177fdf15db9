"""Which files make up a bitext, and which of them belong together?

Containers (TSV, TMX, PO, ...) stand alone; plain text files pair up in order: source, target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from dragoman.contracts import UserError
from dragoman.corpus.compression import without_compression
from dragoman.corpus.languages import closeness, language_key, language_of_suffix, same_language
from dragoman.corpus.reading import Columns
from dragoman.corpus.records import Warn, unheard
from dragoman.corpus.sniffing import container_in
from dragoman.corpus.streams import STANDARD_INPUT, InputFile, beginning_of, file_at, repeat_of, repeatable, shown_name

PLAIN = ""
REJECTED = "rejected.tsv"  # what cleaning leaves behind is no bitext
CONTAINERS = (
    *(".tsv", ".csv", ".jsonl", ".ndjson", ".pharaoh", ".tmx", ".xlf", ".xliff", ".sdlxliff", ".mqxliff"),
    *(".po", ".mo"),
)
ASK = "say --source and --target"

_STANDARD_INPUT_SHOWN = shown_name(STANDARD_INPUT)


@dataclass(frozen=True)
class BitextFile:
    """A container, or two plain text files (container ""), to be read `copies` times."""

    files: tuple[InputFile, ...]
    container: str
    copies: int = 1

    @property
    def name(self) -> str:
        return " ".join(file.name for file in self.files)


@dataclass(frozen=True)
class _Given:
    """One argument: a file with its container ("" if it is plain text), or a folder; and its repeat."""

    file: InputFile
    container: str
    copies: int

    @property
    def is_folder(self) -> bool:
        return Path(self.file.path).is_dir()


def suffix_container(name: str) -> str:
    """ ".tmx" of memory.tmx and memory.TMX.gz; "" of a plain text file."""
    suffix = Path(without_compression(name.lower())).suffix
    return suffix if suffix in CONTAINERS else PLAIN


def bitext_files(
    names: Sequence[str],
    source: str | None = None,
    target: str | None = None,
    warn: Warn = unheard,
    columns: Columns | None = None,
) -> list[BitextFile]:
    """Files, folders, `-` and `name*3` (read three times) as what is to be read.

    A folder stands for all containers under it and for plain text files of one stem that end in the
    two languages. What standard input holds is told by its beginning; with columns it has names. Raises
    UserError naming a plain file without its partner, one that is missing, or two that are given in the
    wrong order.
    """
    if names.count(STANDARD_INPUT) > 1:
        raise UserError("standard input (-) can be read only once")
    given = [_given(name, columns is not None) for name in names]
    is_plain = _plain_ones(given)
    found: list[BitextFile] = []
    waiting: _Given | None = None
    for one, plain in zip(given, is_plain, strict=True):
        if one.is_folder:
            found += _in_folder(one, source, target, warn)
        elif not plain:
            found.append(BitextFile((one.file,), one.container, one.copies))
        elif waiting is None:
            waiting = one
        else:
            found.append(_paired(waiting, one, source, target))
            waiting = None
    if waiting is not None:
        raise UserError(
            f"{waiting.file.name}: a plain text file without its partner; give source and target in turn, "
            f"or one file that holds both ({', '.join(CONTAINERS)})"
        )
    return found


def _given(name: str, has_names: bool) -> _Given:
    path, copies = repeat_of(name)
    if copies < 1:
        raise UserError(f"{name}: a repeat is 1 or more")
    file = repeatable(path)
    if file.name == _STANDARD_INPUT_SHOWN:
        return _Given(file, container_in(beginning_of(file), has_names), copies)
    return _Given(file, suffix_container(file.name), copies)


def _plain_ones(given: Sequence[_Given]) -> list[bool]:
    """Standard input is a plain text file only where another one lacks its partner."""
    plain = [one.container == PLAIN and not one.is_folder for one in given]
    if sum(plain) % 2:
        for index, one in enumerate(given):
            plain[index] = plain[index] or one.file.name == _STANDARD_INPUT_SHOWN
    return plain


def _paired(first: _Given, second: _Given, source: str | None, target: str | None) -> BitextFile:
    one, other = first.file, second.file
    if Path(one.path).samefile(other.path):
        raise UserError(f"{one.name}: is given as source and as target")
    if first.copies != second.copies:
        raise UserError(f"{one.name} is repeated {first.copies} times and {other.name} {second.copies} times")
    pair = BitextFile((one, other), PLAIN, first.copies)
    if source and target:
        check_order((one.name, other.name), source, target)
    return pair


def check_order(names: tuple[str, str], source: str, target: str) -> None:
    """UserError when a plain file's suffix names the other language: train.en as the source of zh-en."""
    one, other = names
    for name, side, own, opposite in ((one, "source", source, target), (other, "target", target, source)):
        told = language_of_suffix(name)
        if told and same_language(told, opposite) and not same_language(told, own):
            raise UserError(
                f"{name}: given as the {side}, which is {own}, but its name says {told}; "
                f"the right order is {other} {one}"
            )


def _in_folder(folder: _Given, source: str | None, target: str | None, warn: Warn) -> list[BitextFile]:
    root = Path(folder.file.path)
    paths = sorted(path for path in root.rglob("*") if path.is_file() and not _is_hidden(path.relative_to(root)))
    present = {_uncompressed(path) for path in paths}
    found: list[BitextFile] = []
    plain: dict[Path, dict[str, Path]] = {}
    for path in paths:
        if path.name == REJECTED or path.name.endswith(f".{REJECTED}"):
            warn(f"{path}: left out, pairs that were rejected are called so")
            continue
        language = language_of_suffix(path.name)
        container = suffix_container(path.name)
        if container:
            written = _uncompressed(path).with_suffix(".po")
            if container == ".mo" and written in present:
                warn(f"{path}: left out, {written.name} beside it is taken for its source")
            else:
                found.append(BitextFile((file_at(path),), container, folder.copies))
        elif language:
            kept = plain.setdefault(_stem(path, language), {}).setdefault(language, path)
            if kept != path:
                warn(f"{path}: left out, {kept.name} stands for it")
    for paths_by_language in plain.values():
        found += _plain_pair(paths_by_language, folder, source, target, warn)
    if not found:
        wanted = f" for {source} and {target}" if source and target else ""
        raise UserError(f"{folder.file.name}: no bitext in this folder{wanted}")
    return sorted(found, key=lambda one: one.name)


def _plain_pair(
    by_language: dict[str, Path], folder: _Given, source: str | None, target: str | None, warn: Warn
) -> list[BitextFile]:
    """The files of one stem in the two languages."""
    if not (source and target):
        if len({language_key(language) for language in by_language}) > 1:
            names = ", ".join(path.name for path in islice(by_language.values(), 3))
            raise UserError(f"{folder.file.name}: holds plain text files ({names}): {ASK}")
        return []
    sides = [_closest(by_language, wanted, warn) for wanted in (source, target)]
    if sides[0] is None or sides[1] is None or sides[0] == sides[1]:
        for lone in sides:
            if lone is not None:
                warn(f"{lone}: left out, there is no partner in {target if lone is sides[0] else source}")
        return []
    return [BitextFile((file_at(sides[0]), file_at(sides[1])), PLAIN, folder.copies)]


def _closest(by_language: dict[str, Path], wanted: str, warn: Warn) -> Path | None:
    """The file in the language, if there is one; of several (en-GB, en-US) the closest code, then the first."""
    fitting = [language for language in by_language if same_language(language, wanted)]
    chosen = max(fitting, key=lambda language: closeness(language, wanted), default=None)
    for other in fitting:
        if other != chosen:
            warn(f"{by_language[other]}: left out, {by_language[str(chosen)].name} stands for {wanted}")
    return None if chosen is None else by_language[chosen]


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _uncompressed(path: Path) -> Path:
    return Path(without_compression(str(path)))


def _stem(path: Path, language: str) -> Path:
    """The path without language and compression: a/train of a/train.en.gz."""
    name = _uncompressed(path).name.removesuffix(".txt").removesuffix(f".{language}")
    return path.with_name(name)
