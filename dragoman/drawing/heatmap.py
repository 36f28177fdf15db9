"""How are weights of rows by columns drawn, who asks by who is asked?

The same picture for attention, word links, expected counts, gates and states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dragoman.drawing.picture import Box, Mark, Picture, Stroke, Word, diagonal, shortened, text_width

if TYPE_CHECKING:
    import numpy as np

CELL, GAP, TURN = 26.0, 6.0, 55.0
LONGEST = 150.0  # a label's width
NUMBERED = 0.095  # weights from here on have their figure in the cell


def heat_map(
    weights_TS: np.ndarray[Any, Any],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str = "",
    cell: float = CELL,
    figures: bool = True,
    top: float = 1.0,
    tall: float = 0.0,
) -> Picture:
    """A cell for each weight, the darker the more: nothing at 0, full at `top`, orange below 0.

    figures: hundredths in the cells that are not faint. tall: another height of the rows.
    """
    tall = tall or cell
    names = [shortened(name, LONGEST) for name in rows]
    heads = [shortened(name, LONGEST) for name in columns]
    left = max(map(text_width, names), default=0.0) + GAP
    flat = all(text_width(head) <= cell for head in heads)
    widest = max(map(text_width, heads), default=0.0)
    above = 18.0 if flat else diagonal(widest, TURN) + 12
    marks: list[Mark] = []
    for s, head in enumerate(heads):
        x = left + s * cell + cell / 2
        marks.append(Word(x, above - GAP, head, at="middle") if flat else Word(x, above - GAP, head, turned=TURN))
    for t, name in enumerate(names):
        y = above + t * tall
        marks.append(Word(left - GAP, y + tall / 2 + 4, name, at="end"))
        for s in range(len(heads)):
            marks += _cell(float(weights_TS[t, s]), left + s * cell, y, cell, tall, top, figures, rows[t], columns[s])
    beyond = 0.0 if flat else max(0.0, text_width(heads[-1]) * 0.6) if heads else 0.0
    return Picture(left + len(heads) * cell + beyond, above + len(names) * tall, tuple(marks), title)


def _cell(
    weight: float, x: float, y: float, wide: float, tall: float, top: float, figures: bool, row: str, column: str
) -> list[Mark]:
    share = min(1.0, abs(weight) / top)
    told = f"{row} · {column}: {weight:.3f}"
    box = Box(x, y, wide, tall, "blue" if weight >= 0 else "orange", share, "line", 0.5, told)
    if not figures or abs(weight) < NUMBERED * top:
        return [box]
    figure = f"{100 * weight:.0f}"
    return [box, Word(x + wide / 2, y + tall / 2 + 3.5, figure, 9.5, "paper" if share > 0.55 else "ink", "middle")]


def small_map(weights_TS: np.ndarray[Any, Any], title: str, cell: float) -> Picture:
    """The same without labels: one of many."""
    rows, columns = weights_TS.shape
    width, height = columns * cell, rows * cell
    marks: list[Mark] = [
        Box(s * cell, t * cell, cell, cell, "blue", min(1.0, weight))
        for t in range(rows)
        for s in range(columns)
        if (weight := float(weights_TS[t, s])) >= 0.01
    ]
    marks.append(Stroke(((0, 0), (width, 0), (width, height), (0, height), (0, 0)), "line"))
    return Picture(width, height, tuple(marks), title)
