"""How is each kind of file read, and in which languages?"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

from dragoman.contracts import Record, UserError
from dragoman.corpus.bitext import LONGEST_SIDE, FileBitext, Walk, count_records
from dragoman.corpus.columns import csv_languages, read_csv
from dragoman.corpus.jsonlines import json_languages, read_json_lines
from dragoman.corpus.languages import check_language, language_key, language_of_suffix, same_language
from dragoman.corpus.lines import OnBadLine
from dragoman.corpus.reading import Columns, InlineTags, Reading
from dragoman.corpus.records import Warn
from dragoman.corpus.rows import Rows, rows_of
from dragoman.corpus.sources import ASK, PLAIN, BitextFile, bitext_files, check_order
from dragoman.corpus.streams import InputFile
from dragoman.corpus.tabular import read_pharaoh, read_side_by_side, read_tsv
from dragoman.corpus.tmx import read_tmx, tmx_languages
from dragoman.corpus.xliff import read_xliff, xliff_languages

RecordReader = Callable[[InputFile, Reading, Warn], Iterator[Record]]
RowReader = Callable[[InputFile, Reading, Warn], Iterator[Rows]]


def _catalogue(file: InputFile, reading: Reading, warn: Warn) -> Iterator[Record]:
    from dragoman.corpus.catalogues import read_catalogue

    return read_catalogue(file, reading, warn)


# A new container is a reader and a row in one of these two, its suffix in sources.CONTAINERS.
SUFFIXES: Mapping[str, RecordReader] = {
    **{".csv": read_csv, ".jsonl": read_json_lines, ".ndjson": read_json_lines, ".tmx": read_tmx},
    **dict.fromkeys((".xlf", ".xliff", ".sdlxliff", ".mqxliff"), read_xliff),
    **{".po": _catalogue, ".mo": _catalogue},
}
BY_LINES: Mapping[str, RowReader] = {".tsv": read_tsv, ".pharaoh": read_pharaoh}
_WITH_NAMES = (".csv", ".jsonl", ".ndjson")


def open_bitext(
    files: Sequence[str],
    source: str | None = None,
    target: str | None = None,
    *,
    on_bad_line: OnBadLine = "stop",
    longest_side: int = LONGEST_SIDE,
    columns: Columns | None = None,
    inline_tags: InlineTags = "strip",
    unnamed: tuple[str, str] | None = None,
    may_be_empty: bool = False,
) -> FileBitext:
    """Open files, folders, `-` and `name*3` as one bitext, in the order given.

    Languages that are not given are taken from the files: suffixes (train.en train.zh), a TMX with
    two languages, the header of a catalogue or CSV. longest_side: characters; longer pairs are set aside.
    columns, inline_tags: see `Reading`. unnamed: what languages are called that nothing tells.
    Raises UserError at a bad file, at unequal line counts, and when no pair is kept, unless it may_be_empty.
    """
    found = open_records(
        files, source, target, on_bad_line=on_bad_line, columns=columns, inline_tags=inline_tags, unnamed=unnamed
    )
    languages = found.source_language, found.target_language
    return count_records(found.walk, *languages, longest_side, found.name, may_be_empty)


@dataclass(frozen=True)
class Records:
    """Files whose languages are known, and which nobody has walked yet. walk: record by record; walk_rows: many records
    at once, for those who can take them so. size: bytes of all that a walk reads."""

    walk: Walk
    walk_rows: Callable[[Warn], Iterator[Rows]]
    source_language: str
    target_language: str
    name: str
    size: int


def open_records(
    files: Sequence[str],
    source: str | None = None,
    target: str | None = None,
    *,
    on_bad_line: OnBadLine = "stop",
    columns: Columns | None = None,
    inline_tags: InlineTags = "strip",
    unnamed: tuple[str, str] | None = None,
) -> Records:
    """As open_bitext, but nothing is counted: for those who walk once and want every record, with its fault."""
    if not files:
        raise UserError("no files to read pairs from")
    warnings: list[str] = []
    if source and target and language_key(source) == language_key(target):
        raise UserError(f"source and target are both {source}: say two languages")
    for code in (source, target):
        if code is not None:
            check_language(code)
    found = bitext_files(files, source, target, warnings.append, columns)
    if columns and not any(one.container in _WITH_NAMES for one in found):
        names, kinds = ", ".join(one.name for one in found), ", ".join(_WITH_NAMES)
        raise UserError(f"{names}: no columns to choose {' and '.join(columns)} from ({kinds} have some)")
    source, target = _languages(found, source, target, columns, unnamed)
    reading = Reading(source, target, on_bad_line, columns, inline_tags)
    walk, walk_rows = (partial(_walk, each, found, reading, tuple(warnings)) for each in (_records_in, _rows_in))
    size = sum(os.path.getsize(file.path) * one.copies for one in found for file in one.files)
    return Records(walk, walk_rows, source, target, " ".join(one.name for one in found), size)


def _walk(
    each: Callable[[BitextFile, Reading, Warn], Iterator[Any]],
    found: Sequence[BitextFile],
    reading: Reading,
    warnings: Sequence[str],
    warn: Warn,
) -> Iterator[Any]:
    for warning in warnings:
        warn(warning)
    for one in found:
        for _ in range(one.copies):
            yield from each(one, reading, warn)


def _rows_in(one: BitextFile, reading: Reading, warn: Warn) -> Iterator[Rows]:
    if one.container == PLAIN:
        return read_side_by_side(one.files[0], one.files[1], reading.on_bad_line)
    if one.container in BY_LINES:
        return BY_LINES[one.container](one.files[0], reading, warn)
    return rows_of(SUFFIXES[one.container](one.files[0], reading, warn))


def _records_in(one: BitextFile, reading: Reading, warn: Warn) -> Iterator[Record]:
    if one.container in SUFFIXES:
        return SUFFIXES[one.container](one.files[0], reading, warn)
    return chain.from_iterable(rows.records() for rows in _rows_in(one, reading, warn))


def _languages(
    found: Sequence[BitextFile],
    source: str | None,
    target: str | None,
    columns: Columns | None,
    unnamed: tuple[str, str] | None = None,
) -> tuple[str, str]:
    """The two languages: as given, else as the files tell them."""
    if source and target:
        return source, target
    told: dict[tuple[str, ...], tuple[str, ...]] = {}
    seen = ""
    for one in found:
        languages = _languages_in(one, columns)
        if len(languages) == 2:
            told.setdefault(tuple(language_key(language) for language in languages), languages)
        elif languages:
            seen = f"{one.name} holds {', '.join(languages)}"
    if not told and unnamed is not None:
        return source or unnamed[0], target or unnamed[1]
    if len(told) != 1:
        pairs = ", ".join("-".join(languages) for languages in told.values())
        raise UserError(
            f"{f'several language pairs ({pairs})' if told else seen or 'the languages are not known'}: {ASK}"
        )
    first, second = next(iter(told.values()))
    if language_key(first) == language_key(second):
        raise UserError(f"source and target are both {first}: say two languages")
    known = source or target
    if known is None:
        return first, second
    if same_language(first, known) == same_language(second, known):
        raise UserError(f"the files are in {first} and {second}, not in {known}: {ASK}")
    other = second if same_language(first, known) else first
    source, target = (known, other) if source else (other, known)
    for one in found:
        if one.container == PLAIN:
            check_order((one.files[0].name, one.files[1].name), source, target)
    return source, target


def _languages_in(one: BitextFile, columns: Columns | None) -> tuple[str, ...]:
    file = one.files[0]
    match one.container:
        case ".tsv" | ".pharaoh":
            return ()
        case ".csv":
            return csv_languages(file, columns)
        case ".jsonl" | ".ndjson":
            return json_languages(file, columns)
        case ".tmx":
            return tuple(tmx_languages(file))
        case ".po" | ".mo":
            from dragoman.corpus.catalogues import catalogue_languages

            return catalogue_languages(file)
        case "":
            return tuple(language for each in one.files if (language := language_of_suffix(each.name)))
        case _:
            return tuple(xliff_languages(file))
