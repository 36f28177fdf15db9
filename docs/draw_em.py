"""What does EM make of three pairs of sentences, step by step?

python docs/draw_em.py: draws docs/em.svg, the heat maps that docs/methods/alignment.md shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np

from dragoman.alignment.cells import find_cells
from dragoman.alignment.ibm import PlaceModel, Uniform
from dragoman.alignment.lexicon import uniform_lexicon
from dragoman.alignment.numbers import NumberedPairs, Numbering
from dragoman.drawing.heatmap import heat_map
from dragoman.drawing.picture import Picture, side_by_side
from dragoman.drawing.svg import svg

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs/em.svg"
PAIRS = (("the house", "das haus"), ("the book", "das buch"), ("a book", "ein buch"))
SHOWN = (0, 1, 2, 3, 5, 20)


def tables(most: int) -> Iterator[tuple[np.ndarray, list[str], list[str], float]]:
    """t(f | e) by target and source words, those words, and log p(f | e), after 0, 1, ... iterations of IBM 1 without
    "no word"."""
    source, target = Numbering(), Numbering()
    for one, other in PAIRS:
        source.add(one.split())
        target.add(other.split())
    cells = find_cells(NumberedPairs(source.side(), target.side()), 100)
    lexicon = uniform_lexicon(cells.partners)
    lexicon = replace(lexicon, null_T=np.zeros_like(lexicon.null_T), null_S=np.zeros_like(lexicon.null_S))
    model = PlaceModel(lexicon, (Uniform(), Uniform()))
    for _ in range(most + 1):
        table_TS = np.zeros((len(target.index), len(source.index)))
        table_TS[cells.partners.targets_D, cells.partners.sources_D] = model.lexicon.table_D2[:, 0]
        expected = model.expect(cells, 1)
        third = sum(len(other.split()) for _, other in PAIRS) * log(3 / 2)  # for "no word", which cannot be
        yield table_TS, list(target.index), list(source.index), expected.log_likelihoods[0] + third
        model = model.maximise(expected, cells)


def picture() -> Picture:
    """A map for each of some iterations."""
    maps = [
        heat_map(table_TS, rows, columns, title=f"after {count} iterations" if count != 1 else "after 1 iteration")
        for count, (table_TS, rows, columns, _) in enumerate(tables(max(SHOWN)))
        if count in SHOWN
    ]
    return side_by_side(maps, 3, gap=40, title="t(f | e) in hundredths: rows f, columns e")


def drawn() -> str:
    """The file."""
    return svg(picture())


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
