"""Which pairs does a JSON Lines file hold, one object a line?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from dragoman.contracts import Origin, Record
from dragoman.corpus.lines import read_lines
from dragoman.corpus.reading import Columns, Reading
from dragoman.corpus.records import Warn, is_blank, record_of, unbroken, unheard
from dragoman.corpus.sides import Places, find_sides, languages_told, missing_side
from dragoman.corpus.streams import InputFile

_NESTS = ("translation", "translations")
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_json_lines(file: InputFile, reading: Reading, warn: Warn = unheard) -> Iterator[Record]:
    """One record a line, the sides by their keys (`find_sides`), which may stand in an object "translation" too.

    Line ends inside a text become a space. Faults: "blank line", "not JSON", "not an object", "missing zh", ...
    """
    known: dict[tuple[str, ...], Places] = {}
    for line in read_lines(file.path, reading.on_bad_line, name=file.name):
        origin = Origin(file.name, line.number)
        found = line.fault or _object_in(line.text)
        if isinstance(found, str):
            yield Record(line.text, "", origin, found)
            continue
        values = _flat(found)
        names = tuple(values)
        if names not in known:
            if len(known) > 1000:  # somebody's texts are keys
                known.clear()
            known[names] = find_sides(names, reading, str(origin), warn)
        yield _record(values, known[names], reading, origin)


def json_languages(file: InputFile, columns: Columns | None = None) -> tuple[str, ...]:
    """The languages that the keys of the first object name."""
    for line in read_lines(file.path, "skip", name=file.name):
        found = line.fault or _object_in(line.text)
        if not isinstance(found, str):
            return languages_told(tuple(_flat(found)), columns)
    return ()


def _object_in(text: str) -> dict[str, object] | str:
    """The object of a line, or why it is none."""
    if is_blank(text):
        return "blank line"
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return "not JSON"
    return found if isinstance(found, dict) else "not an object"


def _flat(found: Mapping[str, object]) -> dict[str, object]:
    """The values by their keys, those of a nested object behind the others; null is no value."""
    values = dict(found)
    for nest in _NESTS:
        inner = found.get(nest)
        if isinstance(inner, dict):
            values = {**inner, **values}
    return {key: value for key, value in values.items() if value is not None}


def _record(values: Mapping[str, object], places: Places, reading: Reading, origin: Origin) -> Record:
    texts: Sequence[object] = list(values.values())
    source, target = (None if place is None else texts[place] for place in places)
    if source is None or target is None:
        return Record(_shown(source), _shown(target), origin, f"missing {missing_side(places, reading)}")
    if not isinstance(source, str) or not isinstance(target, str) or _SURROGATE.search(source + target):
        return Record(_shown(source), _shown(target), origin, "not text")
    return record_of(unbroken(source), unbroken(target), origin, "NUL" if "\0" in source + target else "")


def _shown(value: object) -> str:
    """What there is of a side that is no pair."""
    return "" if value is None else _SURROGATE.sub("\ufffd", unbroken(value if isinstance(value, str) else str(value)))
