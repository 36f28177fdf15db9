"""What is a picture made of, whatever it is written as?

Boxes, strokes, dots and words on a plane of pixels, x to the right and y down, in inks that have a colour on white and
one on black. Layouts make pictures, `svg` and `raster` write them.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Ink = Literal["paper", "ink", "faint", "line", "blue", "orange", "green", "purple", "red", "teal"]
INKS: dict[Ink, tuple[str, str]] = {  # on white, on black
    "paper": ("#ffffff", "#14171f"),
    "ink": ("#1f2430", "#e6e8ee"),
    "faint": ("#6b7280", "#9aa3b2"),
    "line": ("#d4d8e0", "#3a4150"),
    "blue": ("#1d4ed8", "#6ea8fe"),
    "orange": ("#c2410c", "#fb923c"),
    "green": ("#15803d", "#4ade80"),
    "purple": ("#7e22ce", "#c084fc"),
    "red": ("#b91c1c", "#f87171"),
    "teal": ("#0e7490", "#22d3ee"),
}
SERIES: tuple[Ink, ...] = ("blue", "orange", "green", "purple", "red", "teal", "faint")
SIZE = 12.0
BETWEEN = 28.0  # pictures one under the other


@dataclass(frozen=True)
class Box:
    """fill at an opacity, a border of another ink; title: what a pointer over it shows, where there is one."""

    x: float
    y: float
    width: float
    height: float
    fill: Ink | None = None
    opacity: float = 1.0
    border: Ink | None = None
    thick: float = 1.0
    title: str = ""


@dataclass(frozen=True)
class Stroke:
    """A line through points."""

    points: tuple[tuple[float, float], ...]
    ink: Ink = "ink"
    thick: float = 1.0
    dashed: bool = False


@dataclass(frozen=True)
class Dot:
    """A disc around x, y."""

    x: float
    y: float
    radius: float
    ink: Ink = "blue"
    title: str = ""


@dataclass(frozen=True)
class Word:
    """Text whose base line begins, is centred or ends at x, y; turned: degrees, against the clock, around it."""

    x: float
    y: float
    text: str
    size: float = SIZE
    ink: Ink = "ink"
    at: Literal["start", "middle", "end"] = "start"
    turned: float = 0.0
    bold: bool = False


Mark = Box | Stroke | Dot | Word


@dataclass(frozen=True)
class Picture:
    """Marks, the later ones above the earlier ones. title: what it shows, in a line."""

    width: float
    height: float
    marks: tuple[Mark, ...]
    title: str = ""

    def words(self) -> Iterator[str]:
        """All text that can be seen."""
        for mark in self.marks:
            if isinstance(mark, Word):
                yield mark.text


def moved(marks: Sequence[Mark], right: float, down: float) -> tuple[Mark, ...]:
    """The same marks elsewhere."""
    found: list[Mark] = []
    for mark in marks:
        if isinstance(mark, Stroke):
            found.append(replace(mark, points=tuple((x + right, y + down) for x, y in mark.points)))
        else:
            found.append(replace(mark, x=mark.x + right, y=mark.y + down))
    return tuple(found)


def below(pictures: Sequence[Picture], title: str = "") -> Picture:
    """Pictures one under the other, each under its title. title: of all together."""
    marks: list[Mark] = []
    y, width = 0.0, 0.0
    for picture in pictures:
        head = 24.0 if picture.title else 0.0
        if picture.title:
            marks.append(Word(8, y + 16, picture.title, 14, bold=True))
            width = max(width, 16 + text_width(picture.title, 15))
        marks += moved(picture.marks, 0, y + head)
        y += head + picture.height + BETWEEN
        width = max(width, picture.width)
    return Picture(width, max(0.0, y - BETWEEN), tuple(marks), title)


def side_by_side(pictures: Sequence[Picture], columns: int, gap: float = 18.0, title: str = "") -> Picture:
    """Small pictures in rows of so many, each under its title. title: of all together."""
    rows = [pictures[first : first + columns] for first in range(0, len(pictures), columns)]
    marks: list[Mark] = []
    y, width = 0.0, 0.0
    for row in rows:
        x = 0.0
        for picture in row:
            wide = max(picture.width, text_width(picture.title, 11))
            marks.append(Word(x + wide / 2, y + 13, picture.title, 11, "faint", "middle"))
            marks += moved(picture.marks, x + (wide - picture.width) / 2, y + 20)
            x += wide + gap
        width = max(width, x - gap)
        y += max(picture.height for picture in row) + 20 + gap
    return Picture(width, max(0.0, y - gap), tuple(marks), title)


def text_width(text: str, size: float = SIZE) -> float:
    """About how wide a text is: a letter 0.6 of its size, a wide sign the whole of it."""
    return size * sum(_share(sign) for sign in text)


def _share(sign: str) -> float:
    if unicodedata.combining(sign) or unicodedata.category(sign) in ("Cf", "Mn"):
        return 0.0
    return 1.0 if unicodedata.east_asian_width(sign) in "WF" else 0.6


def shortened(text: str, width: float, size: float = SIZE) -> str:
    """The text, or as much of its beginning as fits, and three dots."""
    if text_width(text, size) <= width:
        return text
    kept = ""
    for sign in text:
        if text_width(kept + sign + "…", size) > width:
            break
        kept += sign
    return kept + "…"


def diagonal(width: float, degrees: float) -> float:
    """How high a turned text of this width is."""
    return width * math.sin(math.radians(degrees))


def shown(text: str) -> str:
    """Text that may stand in XML and be seen: pictures of control characters, U+FFFD for what is no character."""
    return "".join(map(_seen, text))


def _seen(sign: str) -> str:
    code = ord(sign)
    if code < 0x20:
        return chr(0x2400 + code)
    if 0x7F <= code < 0xA0:
        return "\u2421" if code == 0x7F else "\ufffd"
    if 0xD800 <= code < 0xE000 or code & 0xFFFE == 0xFFFE:
        return "\ufffd"
    return sign
