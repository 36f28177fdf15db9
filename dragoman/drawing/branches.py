"""How is a search drawn that goes on with a few of many continuations, step by step?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dragoman.drawing.picture import Box, Ink, Mark, Picture, Stroke, Word, shortened
from dragoman.seeing import Fate

WIDE, TALL, ACROSS, DOWN = 78.0, 30.0, 26.0, 6.0
LOOKS: dict[Fate, Ink] = {"kept": "blue", "ended": "green", "dropped": "faint", "left": "faint"}


@dataclass(frozen=True)
class Node:
    """A continuation. column: its step; parent: a place in the list of nodes. note: what stands under its text."""

    column: int
    parent: int | None
    text: str
    note: str
    fate: Fate
    chosen: bool = False
    told: str = ""


def branching(nodes: Sequence[Node], *, title: str = "") -> Picture:
    """Columns of nodes, the best on top, joined to where they come from; the way of the chosen one is thick."""
    rows: dict[int, int] = {}
    places: list[tuple[float, float]] = []
    marks: list[Mark] = []
    for node in nodes:
        row = rows.get(node.column, 0)
        rows[node.column] = row + 1
        x, y = node.column * (WIDE + ACROSS), row * (TALL + DOWN)
        places.append((x, y))
        if node.parent is not None:
            left, top = places[node.parent]
            ends = (left + WIDE, top + TALL / 2), (x, y + TALL / 2)
            marks.append(Stroke(ends, "orange" if node.chosen else "faint", 2.4 if node.chosen else 0.6))
    for node, (x, y) in zip(nodes, places, strict=True):
        faint = node.fate in ("dropped", "left")
        border: Ink = "orange" if node.chosen else LOOKS[node.fate]
        fill: Ink | None = None if faint else LOOKS[node.fate]
        marks.append(Box(x, y, WIDE, TALL, "paper"))
        marks.append(Box(x, y, WIDE, TALL, fill, 0.16, border, 2.0 if node.chosen else 0.8, node.told))
        ink: Ink = "faint" if faint else "ink"
        marks.append(Word(x + WIDE / 2, y + 13, shortened(node.text, WIDE - 8, 11.5), 11.5, ink, "middle"))
        marks.append(Word(x + WIDE / 2, y + 25, node.note, 9, "faint", "middle"))
    columns, deepest = len(rows), max(rows.values(), default=0)
    return Picture(columns * (WIDE + ACROSS) - ACROSS, deepest * (TALL + DOWN), tuple(marks), title)
