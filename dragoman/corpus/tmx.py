"""Which pairs does a translation memory (TMX 1.1 to 1.4b) hold?

Read as a stream by expat, which tells the exact line of every unit and of an entity declaration
(refused when it is met), never opens another file, and builds no tree: memory stays flat.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from xml.parsers import expat

from dragoman.contracts import Origin, Record, UserError
from dragoman.corpus.compression import Damaged
from dragoman.corpus.languages import closeness, is_language, language_key
from dragoman.corpus.lines import OnBadLine, read_lines
from dragoman.corpus.records import MARK_BAD_BYTES, Warn, damage_in, mark_controls, on_one_line, record_of, unheard
from dragoman.corpus.streams import read_chunks, shown_name

_NATIVE_CODES = frozenset({"bpt", "ept", "it", "ph", "ut"})
_LINE_BREAK_TYPES = frozenset({"lb", "pb"})
_LINE_BREAK_CODE = re.compile(r"\s*(<br\b|\\n\s*$)", re.IGNORECASE)
_DECLARED_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']""")
_UNIT_START = re.compile(r"<tu[\s>]")


@dataclass(frozen=True, slots=True)
class Unit:
    """A `<tu>`: the line where it starts, (language, text) of each variant, and what makes it unusable."""

    line: int
    variants: tuple[tuple[str, str], ...]
    fault: str = ""


def read_tmx(
    path: str | Path,
    source: str,
    target: str,
    on_bad_line: OnBadLine = "stop",
    *,
    name: str = "",
    warn: Warn = unheard,
) -> Iterator[Record]:
    """One record a unit. Faults: "missing zh", "blank source", "entity", ...

    Inline tags and their native codes are stripped, white space runs become one space. Of several
    variants in a language the closest code, then the first, is taken; `warn` hears of doubled ones.
    Raises UserError at entity declarations always, and with line and column at broken XML; under
    "skip" the units from there on are records with the fault "broken XML".
    """
    name = name or shown_name(path)
    for unit in _units(path, name, on_bad_line, warn):
        origin = Origin(name, unit.line)
        chosen_source, chosen_target = (_choose(unit, wanted, origin, warn) for wanted in (source, target))
        missing = source if chosen_source is None else target
        if unit.fault:
            yield Record("", "", origin, unit.fault)
        elif chosen_source is None or chosen_target is None or chosen_source == chosen_target:
            yield Record("", "", origin, f"missing {missing}")
        else:
            texts = [on_one_line(unit.variants[index][1]) for index in (chosen_source, chosen_target)]
            yield record_of(texts[0], texts[1], origin, damage_in("".join(texts)))


def tmx_languages(path: str | Path, *, name: str = "") -> dict[str, int]:
    """The languages of a memory without their regions, in order of appearance, with their counts."""
    counts: dict[str, int] = {}
    for unit in _units(path, name or shown_name(path), "skip", unheard):
        for code, _ in unit.variants:
            if is_language(code):
                key = language_key(code)
                counts[key] = counts.get(key, 0) + 1
    return counts


def _choose(unit: Unit, wanted: str, origin: Origin, warn: Warn) -> int | None:
    ranks = [closeness(code, wanted) for code, _ in unit.variants]
    best = max(ranks, default=0)
    if best == 0:
        return None
    if ranks.count(best) > 1:
        warn(f"{origin}: {ranks.count(best)} variants in {wanted}, the first one is taken")
    return ranks.index(best)


def _units(path: str | Path, name: str, on_bad_line: OnBadLine, warn: Warn) -> Iterator[Unit]:
    reader = _UnitReader(name)
    parser = reader.parser
    count, begun, ended = 0, False, False
    try:
        for text in _text(path, name, on_bad_line):
            begun = begun or bool(text)
            parser.Parse(text, False)
            count += len(reader.finished)
            yield from reader.take()
        ended = True
        parser.Parse("", True)
    except expat.ExpatError as error:
        why = expat.ErrorString(error.code) if not ended else "the file ends early" if begun else "the file is empty"
        broken = f"{name}:{error.lineno}: broken XML at column {error.offset + 1}: {why}"
        if on_bad_line == "stop":
            _blame_bytes(path, name, error.lineno)
            raise UserError(broken) from error
        warn(broken)
        count += len(reader.finished)
        yield from reader.take()
        yield from islice(_unread_units(path, name), count, None)
    if count == 0 and reader.root not in ("tmx", ""):
        raise UserError(f"{name}:1: not a TMX file: its root element is <{reader.root}>")


def _unread_units(path: str | Path, name: str) -> Iterator[Unit]:
    """Every start of a unit, found without a parser."""
    line, begun = 1, ""
    for text in _text(path, name, "skip"):
        text = begun + text
        cut = max(text.rfind("<"), 0)
        begun = text[cut:]
        at = 0
        for start in _UNIT_START.finditer(text[:cut]):
            line += text.count("\n", at, start.start())
            at = start.start()
            yield Unit(line, (), "broken XML")
        line += text.count("\n", at, cut)
    if _UNIT_START.match(begun):
        yield Unit(line, (), "broken XML")


def _text(path: str | Path, name: str, on_bad_line: OnBadLine) -> Iterator[str]:
    """The file decoded by its mark or declaration; under "skip" damaged places are marked."""
    decoder: codecs.IncrementalDecoder | None = None
    encoding, lines = "", 0
    try:
        for chunk in read_chunks(path, name):
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
        _blame_bytes(path, name, None)
        line = lines + error.object.count(b"\n", 0, error.start) + 1
        cut = " (cut short inside a character)" if error.reason == "unexpected end of data" else ""
        raise UserError(f"{name}:{line}: not {encoding}{cut}") from error
    except Damaged as damage:
        if on_bad_line == "stop":
            raise UserError(f"{name}:{lines + 1}: {damage}") from damage


def _encoding_of(head: bytes) -> str:
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


def _blame_bytes(path: str | Path, name: str, lines: int | None) -> None:
    """Say it as of any text file when bad bytes in the first lines of a UTF-8 file are the reason."""
    head = next(read_chunks(path, name), b"")
    if _encoding_of(head) == "utf-8-sig":
        for _ in islice(read_lines(path, name=name), lines):
            pass


class _UnitReader:
    """What expat calls: it gathers finished units until they are taken."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.parser = expat.ParserCreate()
        self.finished: list[Unit] = []
        self.root = ""
        self.line = 0
        self.fault = ""
        self.variants: list[tuple[str, str]] = []
        self.language = ""
        self.segment: list[str] | None = None
        self.code: list[str] = []
        self.code_depth = 0
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.EntityDeclHandler = self.refuse_entity
        self.parser.SkippedEntityHandler = self.skipped_entity

    def take(self) -> list[Unit]:
        taken, self.finished = self.finished, []
        return taken

    def refuse_entity(self, entity: str, *rest: object) -> None:
        line = self.parser.CurrentLineNumber
        raise UserError(f"{self.name}:{line}: refused: it declares the entity {entity!r}")

    def skipped_entity(self, entity: str, is_parameter: bool) -> None:
        self.fault = "entity"

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        local = tag.rpartition(":")[2]
        self.root = self.root or local
        if self.segment is not None:
            if local in _NATIVE_CODES:
                self.code_depth += 1
                if attributes.get("type") in _LINE_BREAK_TYPES:
                    self.segment.append(" ")
        elif local == "tu":
            self.line, self.fault, self.variants = self.parser.CurrentLineNumber, "", []
        elif local == "tuv":
            self.language = attributes.get("xml:lang") or attributes.get("lang") or ""
        elif local == "seg":
            self.segment = []

    def characters(self, text: str) -> None:
        if self.code_depth:
            self.code.append(text)
        elif self.segment is not None:
            self.segment.append(text)

    def end(self, tag: str) -> None:
        local = tag.rpartition(":")[2]
        if self.segment is not None and local in _NATIVE_CODES:
            self.code_depth -= 1
            if _LINE_BREAK_CODE.match("".join(self.code)):
                self.segment.append(" ")
            self.code = []
        elif self.segment is not None and local == "seg":
            self.variants.append((self.language, "".join(self.segment)))
            self.segment = None
        elif local == "tu":
            self.finished.append(Unit(self.line, tuple(self.variants), self.fault))
