"""Which words stand together in some pair, and which row of the lexical table does each cell of the pairs use?

Every cell (pair, i, j) is mapped to its row once, so that expecting and maximising are sums over arrays. A corpus with
more cells than fit is walked in blocks, whose rows are looked up again each time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from dragoman.alignment import kernels
from dragoman.alignment.numbers import Floats, Integers, NumberedPairs, Words32


@dataclass(frozen=True)
class Partners:
    """The words that stand together: row r is a source word and its partner targets_D[r]; the rows of source word s
    are [row_begins_V[s], row_begins_V[s + 1])."""

    row_begins_V: Integers
    targets_D: Words32
    target_words: int

    def __len__(self) -> int:
        return len(self.targets_D)

    @property
    def source_words(self) -> int:
        return len(self.row_begins_V) - 1

    def with_strangers(self) -> Partners:
        """The same with one more word on either side, which has no partners."""
        return Partners(np.append(self.row_begins_V, self.row_begins_V[-1]), self.targets_D, self.target_words + 1)

    @property
    def sources_D(self) -> Words32:
        """The source word of each row."""
        return np.repeat(np.arange(self.source_words, dtype=np.int32), np.diff(self.row_begins_V))


@dataclass(frozen=True)
class Block:
    """Pairs [first, last) with the rows of their cells; cell_begins_N is shifted so that theirs begin at 0."""

    first: int
    last: int
    cell_begins_N: Integers
    slots_X: Words32

    def parts(self, count: int) -> list[tuple[int, int]]:
        """The pairs in so many runs of about equally many cells."""
        begins = self.cell_begins_N[self.first : self.last + 1]
        cuts = self.first + np.searchsorted(begins, [begins[-1] * part // count for part in range(1, count)])
        edges = [self.first, *cuts.tolist(), self.last]
        return list(itertools.pairwise(edges))


@dataclass(frozen=True)
class Occurrences:
    """Where each source word stands: places_X sorted by word, those of word w from begins_V[w]; pairs_X: of each
    place."""

    places_X: Words32
    begins_V: Integers
    pairs_X: Words32

    def parts(self, count: int) -> list[tuple[int, int]]:
        """The words in so many runs of about equally many places."""
        begins = self.begins_V
        cuts = np.searchsorted(begins, [begins[-1] * part // count for part in range(1, count)])
        return list(itertools.pairwise([0, *cuts.tolist(), len(begins) - 1]))


@dataclass(frozen=True)
class Cells:
    """The cells of numbered pairs and their partners. complete: every two words of a pair are partners."""

    pairs: NumberedPairs
    partners: Partners
    occurrences: Occurrences
    at_once: int
    complete: bool = False

    @cached_property
    def edges(self) -> list[int]:
        """Where blocks begin and end, in pairs."""
        begins, edges = self.pairs.cell_begins_N, [0]
        while edges[-1] < len(self.pairs):
            limit = begins[edges[-1]] + self.at_once
            edges.append(max(edges[-1] + 1, int(np.searchsorted(begins, limit, side="right")) - 1))
        return edges

    @property
    def most(self) -> int:
        """The cells of the largest block."""
        return int(np.diff(self.pairs.cell_begins_N[self.edges]).max(initial=0))

    @cached_property
    def _only_block(self) -> Block:
        return self._block(0, len(self.pairs), np.empty(self.most, np.int32), 1)

    def blocks(self, threads: int = 1) -> Iterator[Block]:
        """All pairs, in order; each block is spent when the next one comes, which takes its memory. A corpus of one
        block keeps it."""
        if len(self.edges) <= 2:
            yield self._only_block
            return
        room_X = np.empty(self.most, np.int32)
        for first, last in itertools.pairwise(self.edges):
            yield self._block(first, last, room_X, threads)

    def count(self, block: Block, post_X2: Floats, counts_DW: Floats, threads: int) -> None:
        """Add the expected links of a block to the counts, each thread those of its share of source words."""
        source, target = self.pairs.source, self.pairs.target
        jobs = [
            partial(
                kernels.count_links,
                *(*words, block.first, block.last, source.words_X, source.begins_N, target.begins_N),
                *(block.cell_begins_N, block.slots_X, post_X2, counts_DW),
            )
            for words in self.occurrences.parts(threads)
        ]
        in_threads(jobs)

    def _block(self, first: int, last: int, room_X: Words32, threads: int) -> Block:
        begins, partners, where = self.pairs.cell_begins_N, self.partners, self.occurrences
        slots_X, inside_N = room_X[: int(begins[last] - begins[first])], begins - begins[first]
        missing = -1 if self.complete else len(partners)
        jobs = [
            partial(
                kernels.fill_slots,
                *(*words, first, last, where.places_X, where.begins_V, where.pairs_X),
                *(self.pairs.source.begins_N, self.pairs.target.begins_N, self.pairs.target.words_X),
                *(inside_N, partners.row_begins_V, partners.targets_D),
                *(missing, np.full(self.pairs.target.vocabulary, missing, np.int32), slots_X),
            )
            for words in where.parts(threads)
        ]
        in_threads(jobs)
        return Block(first, last, inside_N, slots_X)


def in_threads(jobs: Sequence[Callable[[], Any]]) -> list[Any]:
    """The results of all jobs, each in a thread of its own: kernels run without the interpreter's lock."""
    if len(jobs) == 1:
        return [jobs[0]()]
    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(lambda job: job(), jobs))


def occurrences_of(pairs: NumberedPairs) -> Occurrences:
    """The places of all source words, by word."""
    side = pairs.source
    begins_V = np.zeros(side.vocabulary + 1, np.int64)
    np.cumsum(np.bincount(side.words_X, minlength=side.vocabulary), out=begins_V[1:])
    places_X = np.argsort(side.words_X, kind="stable").astype(np.int32)
    return Occurrences(places_X, begins_V, np.repeat(np.arange(len(pairs), dtype=np.int32), side.lengths_N))


def known_cells(pairs: NumberedPairs, partners: Partners, at_once: int) -> Cells:
    """The cells of new pairs: words that were never partners have the row after the last."""
    return Cells(pairs, partners, occurrences_of(pairs), at_once)


def find_cells(pairs: NumberedPairs, at_once: int) -> Cells:
    """Number the partners of all words."""
    where = occurrences_of(pairs)
    room = int(min(pairs.cell_begins_N[-1], 1 << 28))  # what is not written takes no memory
    while True:
        targets_D = np.empty(max(1, room), np.int32)
        row_begins_V = kernels.number_partners(
            *(where.places_X, where.begins_V, where.pairs_X, pairs.target.begins_N, pairs.target.words_X),
            *(np.full(pairs.target.vocabulary, -1, np.int32), targets_D),
        )
        if row_begins_V[-1] >= 0:
            break
        room = int(min(pairs.cell_begins_N[-1], room * 4))
    partners = Partners(row_begins_V, targets_D[: row_begins_V[-1]].copy(), pairs.target.vocabulary)
    return Cells(pairs, partners, where, at_once, complete=True)
