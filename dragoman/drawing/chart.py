"""How are figures drawn along an axis, or points on a plane?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dragoman.drawing.picture import SERIES, Box, Dot, Ink, Mark, Picture, Stroke, Word, diagonal, shortened, text_width

if TYPE_CHECKING:
    import numpy as np

TURN = 55.0
WIDE, HIGH, LEFT, UNDER = 620.0, 300.0, 62.0, 40.0
SIDE = 580.0  # the longer one of a plane of dots


@dataclass(frozen=True)
class Curve:
    """y over x, in the ink of its place; a y that is not above 0 has no place on a logarithmic axis."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    dashed: bool = False


def bars(labels: Sequence[str], shares: Sequence[float], *, title: str = "", ink: Ink = "blue") -> Picture:
    """A column from 0 to 1 for each label, its figure above it."""
    step, high, above = 40.0, 90.0, 16.0
    names = [shortened(label, 120) for label in labels]
    under = diagonal(max(map(text_width, names), default=0), TURN) + 16
    left = max(26.0, max((text_width(name) * 0.6 - place * step for place, name in enumerate(names)), default=0))
    marks: list[Mark] = [
        Stroke(
            ((left, above + high * (1 - share)), (left + len(labels) * step, above + high * (1 - share))), "line", 0.7
        )
        for share in (0, 0.5, 1)
    ]
    for place, (name, share) in enumerate(zip(names, shares, strict=True)):
        x, top = left + place * step, above + high * (1 - share)
        marks.append(Box(x + 6, top, step - 12, high * share, ink, 0.75, title=f"{labels[place]}: {share:.4f}"))
        marks.append(Word(x + step / 2, top - 3, _share(share), 10, at="middle"))
        marks.append(Word(x + step / 2 + 4, above + high + 14, name, at="end", turned=TURN))
    return Picture(left + len(labels) * step, above + high + under, tuple(marks), title)


def _share(share: float) -> str:
    return f"{share:.2f}" if share >= 0.005 or not share else f"{share:.0e}".replace("e-0", "e-")


def curves(series: Sequence[Curve], *, across: str, up: str, title: str = "", logarithmic: bool = False) -> Picture:
    """Curves with axes, and their names at the right."""
    points = [(x, y) for curve in series for x, y in zip(curve.x, curve.y, strict=True) if _drawable(y, logarithmic)]
    if not points:
        return Picture(WIDE, 30, (Word(LEFT, 20, "nothing to draw", ink="faint"),), title)
    right = max(x for x, _ in points) or 1.0
    values = [math.log10(y) if logarithmic else y for _, y in points]
    low, high = (math.floor(min(values)), math.ceil(max(values))) if logarithmic else (min(0.0, *values), max(values))
    high = high if high > low else low + 1
    legend = max(text_width(curve.name) for curve in series) + 40

    def place(x: float, y: float) -> tuple[float, float]:
        value = math.log10(y) if logarithmic else y
        return LEFT + x / right * WIDE, 10 + (high - value) / (high - low) * HIGH

    marks: list[Mark] = []
    for tick in _ticks(low, high, whole=logarithmic):
        y = 10 + (high - tick) / (high - low) * HIGH
        marks.append(Stroke(((LEFT, y), (LEFT + WIDE, y)), "line", 0.7))
        marks.append(Word(LEFT - 6, y + 4, f"1e{tick:.0f}" if logarithmic else f"{tick:.3g}", 10.5, "faint", "end"))
    for tick in _ticks(0, right, whole=True):
        marks.append(Word(LEFT + tick / right * WIDE, HIGH + 26, f"{tick:,.6g}", 10.5, "faint", "middle"))
    for number, curve in enumerate(series):
        ink = SERIES[number % len(SERIES)]
        drawn = [(x, y) for x, y in zip(curve.x, curve.y, strict=True) if _drawable(y, logarithmic)]
        marks.append(Stroke(tuple(place(x, y) for x, y in drawn), ink, 1.8, curve.dashed))
        y = 18 + 18 * number
        marks.append(Stroke(((LEFT + WIDE + 14, y), (LEFT + WIDE + 34, y)), ink, 1.8, curve.dashed))
        marks.append(Word(LEFT + WIDE + 40, y + 4, curve.name))
    marks.append(Word(LEFT + WIDE / 2, HIGH + 10 + UNDER, across, 11.5, "faint", "middle"))
    marks.append(Word(14, 10 + HIGH / 2, up, 11.5, "faint", "middle", 90))
    return Picture(LEFT + WIDE + legend, max(HIGH + 10 + UNDER + 6, 30 + 18 * len(series)), tuple(marks), title)


def _drawable(y: float, logarithmic: bool) -> bool:
    return math.isfinite(y) and (y > 0 or not logarithmic)


def _ticks(low: float, high: float, whole: bool) -> list[float]:
    """Five or so round numbers."""
    raw = (high - low) / 5
    size = 10 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= raw)
    step = max(1.0, round(step)) if whole else step
    first = math.ceil(low / step - 1e-9)
    return [step * number for number in range(first, math.floor(high / step + 1e-9) + 1)]


def plane(
    places_N2: np.ndarray[Any, Any],
    groups: Sequence[int],
    texts: Sequence[str],
    *,
    title: str = "",
) -> Picture:
    """A dot for each text, its group's number beside it; a line joins the dots of a group."""
    low, high = places_N2.min(0), places_N2.max(0)
    scale = SIDE / max(float((high - low).max()), 1e-9)
    at = [(20 + float(x - low[0]) * scale, 20 + float(high[1] - y) * scale) for x, y in places_N2]
    width, height = 60 + float(high[0] - low[0]) * scale, 40 + float(high[1] - low[1]) * scale
    marks: list[Mark] = [Box(0, 0, width, height, None, border="line")]
    members: dict[int, list[tuple[float, float]]] = {}
    for group, place in zip(groups, at, strict=True):
        members.setdefault(group, []).append(place)
    for group, points in members.items():
        marks.append(Stroke(tuple(points), SERIES[group % len(SERIES)], 1.2))
    for group, text, (x, y) in zip(groups, texts, at, strict=True):
        marks.append(Dot(x, y, 3.2, SERIES[group % len(SERIES)], f"{group}: {text}"))
        marks.append(Word(x + 5, y - 3, str(group), 8.5, "faint"))
    return Picture(width, height, tuple(marks), title)
