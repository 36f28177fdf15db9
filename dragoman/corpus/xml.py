"""How is a large XML file read as a stream, and safely?

By expat, which tells the exact line of every unit and of an entity declaration (refused when it is met), never
opens another file, and builds no tree: memory stays flat.
"""

from __future__ import annotations

import codecs
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import ClassVar, Generic, TypeVar
from xml.parsers import expat

from dragoman.contracts import UserError
from dragoman.corpus.compression import Damaged
from dragoman.corpus.lines import OnBadLine, read_lines
from dragoman.corpus.records import MARK_BAD_BYTES, Warn, mark_controls
from dragoman.corpus.streams import InputFile, read_chunks

Unit = TypeVar("Unit")

_DECLARED_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']""")


class UnitReader(ABC, Generic[Unit]):
    """What expat calls: it gathers finished units until they are taken. A format derives from it.

    title: of the format, with its article; root: its outermost element; unit_start: finds the units of a file that
    is not well-formed, each of which becomes `lost`. `fault` is set where a unit holds an entity that is unknown.
    """

    title: ClassVar[str]
    root: ClassVar[str]
    unit_start: ClassVar[re.Pattern[str]]

    def __init__(self, name: str) -> None:
        self.name = name
        self.finished: list[Unit] = []
        self.found_root = ""
        self.fault = ""
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start_root
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.EntityDeclHandler = self.refuse_entity
        self.parser.SkippedEntityHandler = self.skipped_entity

    @property
    def line(self) -> int:
        return self.parser.CurrentLineNumber

    def take(self) -> list[Unit]:
        """The units that were finished since the last call."""
        taken, self.finished = self.finished, []
        return taken

    def refuse_entity(self, entity: str, *rest: object) -> None:
        """UserError: an entity is the way to bombs and to other files."""
        raise UserError(f"{self.name}:{self.line}: refused: it declares the entity {entity!r}")

    def skipped_entity(self, entity: str, is_parameter: bool) -> None:
        """An entity that an external declaration may know, and nobody reads."""
        self.fault = "entity"

    def _start_root(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.found_root = local_name(tag)
        self.parser.StartElementHandler = self.start
        self.start(tag, attributes)

    @abstractmethod
    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""

    @abstractmethod
    def characters(self, text: str) -> None:
        """Text inside the element that is open."""

    @abstractmethod
    def end(self, tag: str) -> None:
        """An element ends."""

    @abstractmethod
    def lost(self, line: int) -> Unit:
        """A unit that begins in this line and cannot be read."""


def local_name(tag: str) -> str:
    """The name of an element without its prefix."""
    return tag.rpartition(":")[2]


def read_units(file: InputFile, reader: UnitReader[Unit], on_bad_line: OnBadLine, warn: Warn) -> Iterator[Unit]:
    """Every unit of a file, as soon as it is finished.

    Raises UserError at entity declarations always, and with line and column at broken XML; under "skip" the units
    from there on are lost.
    """
    parser = reader.parser
    count, begun, ended = 0, False, False
    try:
        for text in _text(file, on_bad_line):
            begun = begun or bool(text)
            parser.Parse(text, False)
            count += len(reader.finished)
            yield from reader.take()
        ended = True
        parser.Parse("", True)
    except expat.ExpatError as error:
        why = expat.ErrorString(error.code) if not ended else "the file ends early" if begun else "the file is empty"
        broken = f"{file.name}:{error.lineno}: broken XML at column {error.offset + 1}: {why}"
        if on_bad_line == "stop":
            _blame_bytes(file, error.lineno)
            raise UserError(broken) from error
        warn(broken)
        count += len(reader.finished)
        yield from reader.take()
        yield from (reader.lost(line) for line in islice(_starts(file, reader.unit_start), count, None))
    if count == 0 and reader.found_root not in (reader.root, ""):
        raise UserError(f"{file.name}:1: not {reader.title} file: its root element is <{reader.found_root}>")


def _starts(file: InputFile, unit_start: re.Pattern[str]) -> Iterator[int]:
    """The line of every start of a unit, found without a parser."""
    line, begun = 1, ""
    for text in _text(file, "skip"):
        text = begun + text
        cut = max(text.rfind("<"), 0)
        begun = text[cut:]
        at = 0
        for start in unit_start.finditer(text[:cut]):
            line += text.count("\n", at, start.start())
            at = start.start()
            yield line
        line += text.count("\n", at, cut)
    if unit_start.match(begun):
        yield line


def _text(file: InputFile, on_bad_line: OnBadLine) -> Iterator[str]:
    """The file decoded by its mark or declaration; under "skip" damaged places are marked."""
    decoder: codecs.IncrementalDecoder | None = None
    encoding, lines = "", 0
    try:
        for chunk in read_chunks(file.path, file.name):
            if decoder is None:
                encoding = _encoding_of(chunk)
                errors = "strict" if on_bad_line == "stop" else MARK_BAD_BYTES
                decoder = codecs.getincrementaldecoder(encoding)(errors)
            text = decoder.decode(chunk)
            lines += text.count("\n")
            yield mark_controls(text) if on_bad_line == "skip" else text
        if decoder is not None:
            yield decoder.decode(b"", True)
    except UnicodeDecodeError as error:
        _blame_bytes(file, None)
        line = lines + error.object.count(b"\n", 0, error.start) + 1
        cut = " (cut short inside a character)" if error.reason == "unexpected end of data" else ""
        raise UserError(f"{file.name}:{line}: not {encoding}{cut}") from error
    except Damaged as damage:
        if on_bad_line == "stop":
            raise UserError(f"{file.name}:{lines + 1}: {damage}") from damage


def _encoding_of(head: bytes) -> str:
    if head.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return "utf-32"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if head.startswith((b"<\0", b"\0<")):
        return "utf-16-le" if head.startswith(b"<\0") else "utf-16-be"
    declared = _DECLARED_ENCODING.match(head)
    encoding = declared.group(1).decode() if declared else "utf-8"
    try:
        is_superset = b"<?xml".decode(encoding) == "<?xml"
    except (LookupError, UnicodeError):
        is_superset = False
    return encoding if is_superset and encoding.lower() not in ("utf-8", "utf8") else "utf-8-sig"


def _blame_bytes(file: InputFile, lines: int | None) -> None:
    """Say it as of any text file when bad bytes in the first lines of a UTF-8 file are the reason."""
    head = next(read_chunks(file.path, file.name), b"")
    if _encoding_of(head) == "utf-8-sig":
        for _ in islice(read_lines(file.path, name=file.name), lines):
            pass
