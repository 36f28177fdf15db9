"""Which pairs does a translation memory (TMX 1.1 to 1.4b) hold?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dragoman.contracts import Origin, Record
from dragoman.corpus.inline import SegmentText
from dragoman.corpus.languages import closeness, is_language, language_key
from dragoman.corpus.reading import InlineTags, Reading
from dragoman.corpus.records import Warn, damage_in, on_one_line, record_of, unheard
from dragoman.corpus.streams import InputFile
from dragoman.corpus.xml import UnitReader, local_name, read_units


@dataclass(frozen=True, slots=True)
class Unit:
    """A `<tu>`: the line where it starts, (language, text) of each variant, and what makes it unusable."""

    line: int
    variants: tuple[tuple[str, str], ...]
    fault: str = ""


def read_tmx(file: InputFile, reading: Reading, warn: Warn = unheard) -> Iterator[Record]:
    """One record a unit. Faults: "missing zh", "blank source", "entity", ...

    White space runs become one space. Of several variants in a language the closest code, then the first, is taken;
    `warn` hears of doubled ones. Raises UserError as `read_units` does; under "skip" the units after broken XML are
    records with the fault "broken XML".
    """
    for unit in read_units(file, _TmxReader(file.name, reading.inline_tags), reading.on_bad_line, warn):
        origin = Origin(file.name, unit.line)
        source, target = (_choose(unit, wanted, origin, warn) for wanted in (reading.source, reading.target))
        if unit.fault:
            yield Record("", "", origin, unit.fault)
        elif source is None or target is None or source == target:
            here = ["" if index is None else on_one_line(unit.variants[index][1]) for index in (source, target)]
            yield Record(here[0], here[1], origin, f"missing {reading.source if source is None else reading.target}")
        else:
            texts = [on_one_line(unit.variants[index][1]) for index in (source, target)]
            yield record_of(texts[0], texts[1], origin, damage_in("".join(texts)))


def tmx_languages(file: InputFile) -> dict[str, int]:
    """The languages of a memory without their regions, in order of appearance, with their counts."""
    counts: dict[str, int] = {}
    for unit in read_units(file, _TmxReader(file.name, "strip"), "skip", unheard):
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


class _TmxReader(UnitReader[Unit]):
    title, root, unit_start = "a TMX", "tmx", re.compile(r"<tu[\s>]")

    def __init__(self, name: str, inline_tags: InlineTags) -> None:
        super().__init__(name)
        self.inline_tags = inline_tags
        self.unit_line = 0
        self.variants: list[tuple[str, str]] = []
        self.language = ""
        self.segment: SegmentText | None = None

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        local = local_name(tag)
        if self.segment is not None:
            self.segment.start(local, attributes)
        elif local == "tu":
            self.unit_line, self.fault, self.variants = self.line, "", []
        elif local == "tuv":
            self.language = attributes.get("xml:lang") or attributes.get("lang") or ""
        elif local == "seg":
            self.segment = SegmentText(self.inline_tags)

    def characters(self, text: str) -> None:
        if self.segment is not None:
            self.segment.characters(text)

    def end(self, tag: str) -> None:
        local = local_name(tag)
        if self.segment is not None and local == "seg":
            self.variants.append((self.language, self.segment.text))
            self.segment = None
        elif self.segment is not None:
            self.segment.end(local)
        elif local == "tu":
            self.finished.append(Unit(self.unit_line, tuple(self.variants), self.fault))

    def lost(self, line: int) -> Unit:
        return Unit(line, (), "broken XML")
