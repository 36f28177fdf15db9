"""Which two columns of a CSV file (RFC 4180) are the pairs?"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from dragoman.contracts import Origin, Record, UserError
from dragoman.corpus.lines import Line, read_lines
from dragoman.corpus.reading import Columns, Reading
from dragoman.corpus.records import Warn, on_one_line, record_of, unbroken, unheard
from dragoman.corpus.sides import find_sides, languages_told, missing_side
from dragoman.corpus.streams import InputFile

_DELIMITERS = ",;\t"
_DIVIDED = re.compile(r"sep=.", re.IGNORECASE)
_NAMES_SHOWN = 12
_HEADER_LINES = 50


@dataclass(frozen=True)
class _Heading:
    """How fields are divided, how many there are, and which of them are the sides."""

    delimiter: str
    fields: int
    source: int
    target: int


def read_csv(file: InputFile, reading: Reading, warn: Warn = unheard) -> Iterator[Record]:
    """One record a row behind the header; its origin is the line where it begins.

    The header names the columns (`find_sides`) and tells the delimiter: comma, semicolon or tab. Line ends inside a
    text become a space. Faults: "blank line", "fields=3", "not CSV" (a quote out of place, or not closed: the next row
    is then looked for in the next line), ... Raises UserError when the header does not name both sides.
    """
    lines = read_lines(file.path, reading.on_bad_line, name=file.name)
    header = _header(lines)
    if header is None:
        return
    heading = _heading(file, header, reading, warn)
    rest = _Taken(lines)
    while True:
        rest.begin_record()
        try:
            row = next(csv.reader(rest, delimiter=heading.delimiter, strict=True))
        except StopIteration:
            return
        except csv.Error as error:
            line = rest.all_but_the_first_again()
            fault = "too long" if "limit" in str(error) else "not CSV"
            yield Record(line.text, "", Origin(file.name, line.number), line.fault or fault)
            continue
        yield _record(row, heading, Origin(file.name, rest.taken[0].number), rest.fault)


def csv_languages(file: InputFile, columns: Columns | None = None) -> tuple[str, ...]:
    """The languages that the columns name."""
    header = _header(read_lines(file.path, "skip", name=file.name)) or Line("", 1)
    told = (languages_told(names_in(header.text, delimiter), columns) for delimiter in _DELIMITERS)
    return max(told, key=len)


def names_in(header: str, delimiter: str) -> list[str]:
    """The columns' names, if the header is divided so."""
    try:
        row = next(csv.reader([header], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return []
    return [on_one_line(name) for name in row]


def _header(lines: Iterator[Line]) -> Line | None:
    """The first line, with those behind it that belong to the same row; Excel's own first line (sep=;) apart."""
    header = next(lines, None)
    if header and _DIVIDED.fullmatch(header.text):
        header = next(lines, None)
    while header and header.text.count('"') % 2 and header.text.count("\n") < _HEADER_LINES:
        more = next(lines, None)
        if more is None:
            break
        header = Line(f"{header.text}\n{more.text}", header.number, header.fault or more.fault)
    return header


def _heading(file: InputFile, header: Line, reading: Reading, warn: Warn) -> _Heading:
    if header.fault:
        raise UserError(f"{file.name}:1: {header.fault}, where the names of the columns should be")
    ways = [(delimiter, names_in(header.text, delimiter)) for delimiter in _DELIMITERS]
    for delimiter, names in ways:
        source, target = find_sides(names, reading, f"{file.name}:1", warn)
        if source is not None and target is not None:
            return _Heading(delimiter, len(names), source, target)
    _, names = max(ways, key=lambda way: len(way[1]))
    missing = missing_side(find_sides(names, reading, file.name, unheard), reading)
    if not names:
        raise UserError(f"{file.name}:1: not the header of a CSV file: its quotes do not match")
    shown = ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")
    raise UserError(
        f"{file.name}:1: no column for {missing} among {shown}; name two of them, source and target, "
        "as in: dragoman corpus convert --columns SOURCE_NAME,TARGET_NAME"
    )


class _Taken:
    """The lines of the rows; taken: those of the row at hand."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self._again = deque[Line]()
        self.taken: list[Line] = []

    @property
    def fault(self) -> str:
        """The first fault among the lines of the row."""
        return next((line.fault for line in self.taken if line.fault), "")

    def begin_record(self) -> None:
        self.taken = []

    def all_but_the_first_again(self) -> Line:
        """Give back the lines of a row that was none, but for the first one."""
        self._again.extendleft(reversed(self.taken[1:]))
        return self.taken[0]

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._lines)
        self.taken.append(line)
        return line.text + "\n"


def _record(row: list[str], heading: _Heading, origin: Origin, fault: str) -> Record:
    if fault:
        return Record("", "", origin, fault)
    if not row:
        return Record("", "", origin, "blank line")
    if len(row) != heading.fields:
        return Record(heading.delimiter.join(row), "", origin, f"fields={len(row)}")
    return record_of(unbroken(row[heading.source]), unbroken(row[heading.target]), origin)
