"""Which n-grams are there, which continues which, and which is the end of which?

A trie in a few arrays, order after order; no n-gram is an object.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dragoman.contracts import UserError
from dragoman.lm import trie_kernels as kernels
from dragoman.lm.counting import Integers, Windows
from dragoman.lm.units import START

MOST_NODES = (1 << 31) - 2


@dataclass(frozen=True)
class Trie:
    """words_X: the last word of each n-gram; node 0 is the empty one, 1 + w is word w. begins_Y: where the children of
    each node below the highest order begin, and where the last ones end. links_X: the longest n-gram that is the end of
    each, itself without its first word where that is there. bounds: where the nodes of each order begin, from 0 on, and
    the end."""

    words_X: Integers
    begins_Y: Integers
    links_X: Integers
    bounds: tuple[int, ...]

    @property
    def order(self) -> int:
        return len(self.bounds) - 2

    @property
    def vocabulary(self) -> int:
        return self.bounds[2] - self.bounds[1]

    def nodes(self, order: int) -> tuple[int, int]:
        """First and last (excluded) node of an order; the empty n-gram is of order 0."""
        return self.bounds[order], self.bounds[order + 1]

    def begun(self, order: int) -> tuple[int, int]:
        """The same of those that begin with <s>."""
        first, last = 1 + START, 2 + START
        for _ in range(order - 1):
            first, last = int(self.begins_Y[first]), int(self.begins_Y[last])
        return first, last


def bounds_of(nodes_W: npt.NDArray[np.int64]) -> tuple[int, ...]:
    """The bounds of so many n-grams of each order."""
    bounds = (0, 1, *(1 + np.cumsum(nodes_W)).tolist())
    if bounds[-1] > MOST_NODES:
        raise UserError(f"{bounds[-1]:,} n-grams: more than {MOST_NODES:,}; a lower order has fewer of them")
    return bounds


def trie_of(windows: Windows, vocabulary: int, threads: int) -> tuple[Trie, Integers]:
    """The n-grams of sorted windows, and how often each stands there; of words all that there are."""
    nodes_W = kernels.count_nodes(windows.rows_NW)
    nodes_W[0] = vocabulary
    bounds = bounds_of(nodes_W)
    words_X, counts_X = np.zeros(bounds[-1], np.int32), np.zeros(bounds[-1], np.int32)
    words_X[1 : 1 + vocabulary] = np.arange(vocabulary)
    begins_Y = np.empty(bounds[-2] + 1, np.int32)
    begins_Y[0], begins_Y[-1] = 1, bounds[-1]
    firsts_W = np.array(bounds[1:-1], np.int64)
    kernels.grow(windows.rows_NW, windows.counts_N, firsts_W, words_X, begins_Y, counts_X)
    return linked(words_X, begins_Y, bounds, threads), counts_X


def linked(words_X: Integers, begins_Y: Integers, bounds: tuple[int, ...], threads: int) -> Trie:
    """The trie of these nodes, with its links."""
    links_X = np.zeros(bounds[-1], np.int32)
    with ThreadPoolExecutor(max(threads, 1)) as pool:
        for first, last in pairwise(bounds[1:-1]):

            def link(part: tuple[int, int]) -> None:
                kernels.link(*part, words_X, begins_Y, links_X)

            list(pool.map(link, parts_of(begins_Y, first, last, threads)))
    return Trie(words_X, begins_Y, links_X, bounds)


def parts_of(begins_Y: Integers, first: int, last: int, count: int) -> list[tuple[int, int]]:
    """The nodes [first, last) in so many runs of about equally many children."""
    begin, end = int(begins_Y[first]), int(begins_Y[last])
    wanted = [begin + (end - begin) * part // count for part in range(1, count)]
    cuts = first + np.searchsorted(begins_Y[first : last + 1], wanted)
    return list(pairwise([first, *np.minimum(cuts, last).tolist(), last]))
