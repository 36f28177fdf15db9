"""How do the links of two directions become one set?

Direction 0 links each target word to one source word at most, direction 1 the other way round. The intersection is
precise, the union complete; the ways between start from the intersection and grow (Och & Ney 2003, Koehn et al. 2005).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from dragoman.alignment import linking_kernels
from dragoman.alignment.numbers import Floats, Integers
from dragoman.contracts import Link

Symmetry = Literal[
    "forward", "reverse", "union", "intersection", "grow-diag", "grow-diag-final", "grow-diag-final-and", "agreement"
]
SYMMETRIES: tuple[Symmetry, ...] = get_args(Symmetry)
LEAST_AGREEMENT = 0.4
FINAL = {"grow-diag-final": 1, "grow-diag-final-and": 2}

Marks = npt.NDArray[np.uint8]


def chosen_links(
    post_X2: Floats, in_begins_N: Integers, out_begins_N: Integers, cell_begins_N: Integers, how: Symmetry
) -> Marks:
    """1 for each cell that is a link, for pairs whose words and cells begin at the given places.

    post_X2: p(a_j = i) and p(b_i = j) of each cell. forward, reverse: the likeliest origin in one direction. agreement:
    where sqrt(p q) > 0.4.
    """
    chosen_X = np.zeros(len(post_X2), np.uint8)
    if how == "agreement":
        linking_kernels.agreed(0, len(post_X2), post_X2, LEAST_AGREEMENT, chosen_X)
        return chosen_X
    bits_X, pairs = np.zeros(len(post_X2), np.uint8), len(in_begins_N) - 1
    linking_kernels.bits_of_posteriors(0, pairs, in_begins_N, out_begins_N, cell_begins_N, post_X2, bits_X)
    return merged(bits_X, in_begins_N, out_begins_N, cell_begins_N, how)


def merged(
    bits_X: Marks, in_begins_N: Integers, out_begins_N: Integers, cell_begins_N: Integers, how: Symmetry
) -> Marks:
    """The same from bits: 1 where direction 0 links a cell, 2 where direction 1 does."""
    if how in ("forward", "reverse"):
        one: Marks = ((bits_X & (1 if how == "forward" else 2)) > 0).astype(np.uint8)
        return one
    chosen_X, longest = np.zeros(len(bits_X), np.uint8), _longest(in_begins_N, out_begins_N)
    linking_kernels.symmetrise_pairs(
        *(0, len(in_begins_N) - 1, in_begins_N, out_begins_N, cell_begins_N, bits_X),
        *(1 if how == "union" else 3, how.startswith("grow"), FINAL.get(how, 0), longest, chosen_X),
    )
    return chosen_X


def symmetrise(forward: Iterable[Link], reverse: Iterable[Link], how: Symmetry) -> tuple[Link, ...]:
    """One set from the links (i, j) of both directions, sorted.

    >>> symmetrise([(0, 0), (1, 1)], [(0, 0), (1, 2)], "intersection")
    ((0, 0),)
    >>> symmetrise([(0, 0), (1, 1)], [(0, 0), (1, 2)], "grow-diag")
    ((0, 0), (1, 1), (1, 2))
    """
    marks = {1: set(forward), 2: set(reverse)}
    rows = 1 + max((i for links in marks.values() for i, _ in links), default=0)
    columns = 1 + max((j for links in marks.values() for _, j in links), default=0)
    bits_X = np.zeros(rows * columns, np.uint8)
    for bit, links in marks.items():
        for i, j in links:
            bits_X[i * columns + j] |= bit
    rows_N, columns_N, cells_N = np.array([[0, rows], [0, columns], [0, rows * columns]], np.int64)
    chosen_X = merged(bits_X, rows_N, columns_N, cells_N, how)
    return tuple((int(cell) // columns, int(cell) % columns) for cell in np.flatnonzero(chosen_X))


def _longest(*begins: Integers) -> int:
    return int(max(1, *(np.diff(some).max(initial=0) for some in begins)))
