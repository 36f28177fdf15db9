"""Which pairs does a file for translators (XLIFF 1.x and 2.x, SDLXLIFF, MQXLIFF) hold?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from dragoman.contracts import Origin, Record
from dragoman.corpus.inline import SegmentText
from dragoman.corpus.languages import is_language, language_key, orientation
from dragoman.corpus.reading import InlineTags, Reading
from dragoman.corpus.records import Warn, damage_in, is_blank, on_one_line, record_of, unheard
from dragoman.corpus.streams import InputFile
from dragoman.corpus.xml import UnitReader, local_name, read_units

_UNITS = frozenset({"trans-unit", "segment"})
_AROUND = frozenset({"xliff", "file", "group", "unit", "trans-unit"})
_SIDES = frozenset({"source", "seg-source", "target"})


class _Text(NamedTuple):
    """A source, its target, and the line where the source begins."""

    source: str
    target: str
    line: int


@dataclass(frozen=True, slots=True)
class Unit:
    """A `<trans-unit>` (1.x) or `<segment>` (2.x): its texts, one or more; the languages as the file says them, ""
    where it does not; what makes it unusable; and the state, where that says that it is not finished."""

    texts: tuple[_Text, ...]
    languages: tuple[str, str]
    fault: str = ""
    state: str = ""


def read_xliff(file: InputFile, reading: Reading, warn: Warn = unheard) -> Iterator[Record]:
    """One record a unit, or a segment where source and target are cut into the same ones.

    Faults: "translate=no", "language=de", "untranslated", "segments=1 of 2" (the other is not translated yet, or
    translated with the first: nobody can say), "state=new" (or another one that is not finished), ...
    A file whose source is in the target language is turned round. White space runs become one space. Raises
    UserError as `read_units` does; under "skip" the units after broken XML are records with the fault "broken XML".
    """
    for unit in read_units(file, _XliffReader(file.name, reading.inline_tags), reading.on_bad_line, warn):
        turned, foreign = orientation(*unit.languages, reading.source, reading.target)
        for text in unit.texts:
            sides = on_one_line(text.source), on_one_line(text.target)
            fault = unit.fault or damage_in("".join(sides)) or (f"language={foreign}" if foreign else "")
            fault = fault or ("untranslated" if is_blank(sides[1]) else unit.state)
            yield record_of(sides[turned], sides[not turned], Origin(file.name, text.line), fault)


def xliff_languages(file: InputFile) -> dict[str, int]:
    """The languages of a file without their regions, sources first, with the number of their units."""
    counts: dict[str, int] = {}
    for unit in read_units(file, _XliffReader(file.name, "strip"), "skip", unheard):
        for key in map(language_key, filter(None, unit.languages)):
            counts[key] = counts.get(key, 0) + 1
    return counts


class _Side:
    """A `<source>`, `<seg-source>` or `<target>`: its whole text, and those of its segments by their mid."""

    def __init__(self, attributes: Mapping[str, str], inline_tags: InlineTags, line: int) -> None:
        self.attributes = dict(attributes)
        self.line = line
        self.whole = SegmentText(inline_tags)
        self.segments: dict[str, tuple[SegmentText, int]] = {}
        self._inline_tags = inline_tags
        self._marks: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str], line: int) -> None:
        if tag == "mrk":
            segment = attributes.get("mid", "") if attributes.get("mtype") == "seg" else ""
            self._marks.append(segment)
            if segment:
                self.segments.setdefault(segment, (SegmentText(self._inline_tags), line))
            return
        for text in self._open():
            text.start(tag, attributes)

    def characters(self, characters: str) -> None:
        for text in self._open():
            text.characters(characters)

    def end(self, tag: str) -> None:
        if tag == "mrk":
            self._marks.pop()
            return
        for text in self._open():
            text.end(tag)

    def _open(self) -> Iterator[SegmentText]:
        yield self.whole
        for mark in self._marks:
            if mark:
                yield self.segments[mark][0]


class _Around(NamedTuple):
    """What the elements round a unit say of it."""

    translate: bool
    source: str
    target: str


class _XliffReader(UnitReader[Unit]):
    title, root, unit_start = "an XLIFF", "xliff", re.compile(r"<(?:[\w.-]+:)?(?:trans-unit|segment)[\s>]")

    def __init__(self, name: str, inline_tags: InlineTags) -> None:
        super().__init__(name)
        self.inline_tags = inline_tags
        self.open: list[str] = []
        self.around = [_Around(True, "", "")]
        self.unit_line = 0
        self.state = ""
        self.sides: dict[str, _Side] = {}
        self.side: _Side | None = None

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        local = local_name(tag)
        if self.side is not None:
            self.side.start(local, attributes, self.line)
        elif local in _SIDES and self.open and self.open[-1] in _UNITS:
            self.side = self.sides[local] = _Side(attributes, self.inline_tags, self.line)
        elif local in _AROUND:
            self.around.append(_inside(self.around[-1], attributes))
        if local in _UNITS:
            self.unit_line, self.fault, self.state, self.sides = self.line, "", attributes.get("state", ""), {}
        self.open.append(local)

    def characters(self, text: str) -> None:
        if self.side is not None:
            self.side.characters(text)

    def end(self, tag: str) -> None:
        local = self.open.pop()
        if self.side is not None:
            if local in _SIDES and self.open[-1] in _UNITS:
                self.side = None
            else:
                self.side.end(local)
            return
        if local in _UNITS:
            self.finished.append(self._unit())
        if local in _AROUND:
            self.around.pop()

    def lost(self, line: int) -> Unit:
        return Unit((_Text("", "", line),), ("", ""), "broken XML")

    def _unit(self) -> Unit:
        around, target = self.around[-1], self.sides.get("target")
        languages = around.source, around.target or _language(target.attributes if target else {}, "xml:lang")
        fault = self.fault or ("" if around.translate else "translate=no") or self._unsure()
        state = self.state or (target.attributes.get("state", "") if target else "")
        return Unit(tuple(self._texts()), languages, fault, f"state={state}" if _is_unfinished(state) else "")

    def _unsure(self) -> str:
        """What speaks against a unit of whose segments the target has only some."""
        cut, target = (self.sides[name].segments if name in self.sides else {} for name in ("seg-source", "target"))
        return f"segments={len(target)} of {len(cut)}" if target and target.keys() < cut.keys() else ""

    def _texts(self) -> Iterator[_Text]:
        source, target = self.sides.get("source"), self.sides.get("target")
        cut = self.sides.get("seg-source")
        if cut and target and cut.segments and cut.segments.keys() == target.segments.keys():
            for mark, (segment, line) in cut.segments.items():
                yield _Text(segment.text, target.segments[mark][0].text, line)
        else:
            whole = source or cut
            yield _Text(whole.whole.text if whole else "", target.whole.text if target else "", self.unit_line)


def _inside(around: _Around, attributes: Mapping[str, str]) -> _Around:
    return _Around(
        attributes.get("translate", "yes" if around.translate else "no") != "no",
        _language(attributes, "source-language", "srcLang") or around.source,
        _language(attributes, "target-language", "trgLang") or around.target,
    )


def _language(attributes: Mapping[str, str], *names: str) -> str:
    return next((attributes[name] for name in names if is_language(attributes.get(name, ""))), "")


def _is_unfinished(state: str) -> bool:
    """In 2.x "initial", in 1.x "new" and all that need something yet."""
    return state in ("initial", "new") or state.startswith("needs-")
