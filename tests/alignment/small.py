"""Which tiny pairs do the tests of alignment share, and what are their cells?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dragoman.alignment.cells import Cells, find_cells
from dragoman.alignment.lexicon import Lexicon, Prior, uniform_lexicon
from dragoman.alignment.numbers import NumberedPairs, Numbering
from dragoman.contracts import Work

HOUSES = [
    ("the house", "das haus"),
    ("the book", "das buch"),
    ("a book", "ein buch"),
    ("the small book is here", "das kleine buch ist hier"),
    ("", "nur ziel"),
    ("here is the house", "hier ist das haus ja"),
]
WORK = Work(Path())


def numbered(pairs: Sequence[tuple[str, str]]) -> NumberedPairs:
    source, target = Numbering(), Numbering()
    for left, right in pairs:
        source.add(left.split())
        target.add(right.split())
    return NumberedPairs(source.side(), target.side())


def cells_of(pairs: Sequence[tuple[str, str]] = HOUSES, at_once: int = 1 << 20) -> Cells:
    return find_cells(numbered(pairs), at_once)


def random_lexicon(cells: Cells, seed: int = 1) -> Lexicon:
    """Any numbers between 0 and 1: what is tested must hold of all tables."""
    random = np.random.default_rng(seed)
    plain = uniform_lexicon(cells.partners, Prior())
    return Lexicon(
        cells.partners,
        random.uniform(0.05, 1, plain.table_D2.shape).astype(np.float32),
        random.uniform(0.05, 1, plain.null_T.shape).astype(np.float32),
        random.uniform(0.05, 1, plain.null_S.shape).astype(np.float32),
    )


def tables_of(cells: Cells, lexicon: Lexicon, pair: int, way: int) -> tuple[np.ndarray, np.ndarray]:
    """t(f_j | e_i) as J x I, and t(f_j | no word), of one pair, looked up word by word."""
    source, target = cells.pairs.source, cells.pairs.target
    sources = source.words_X[source.begins_N[pair] : source.begins_N[pair + 1]]
    targets = target.words_X[target.begins_N[pair] : target.begins_N[pair + 1]]
    rows = dict(zip(zip(cells.partners.sources_D, cells.partners.targets_D, strict=True), range(9999), strict=False))
    table_IJ = np.array([[lexicon.table_D2[rows[s, t], way] for t in targets] for s in sources], dtype=np.float64)
    if way == 0:
        return table_IJ.T, lexicon.null_T[targets].astype(np.float64)
    return table_IJ, lexicon.null_S[sources].astype(np.float64)
