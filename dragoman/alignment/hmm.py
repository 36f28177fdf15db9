"""What if a word chose its origin by the place of the word before?

p(f, a | e) = prod_j p(a_j | a_{j-1}, I) t(f_j | e_{a_j}), p(i | i', I) = w(i - i') / sum_{i''} w(i'' - i'): a hidden
Markov model (Vogel et al. 1996). Words from no word keep i' (Och & Ney 2003). Forwards and backwards give the
expected links and jumps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from dragoman.alignment import chain_kernels, kernels
from dragoman.alignment.cells import Block, Cells
from dragoman.alignment.em import Expectation, Tally, Walk, expected, kept_posteriors
from dragoman.alignment.lexicon import Lexicon, SharedLexicon
from dragoman.alignment.numbers import Doubles, Floats, Integers, NumberedPairs

LEAST_WEIGHT = 1e-7


@dataclass(frozen=True)
class Jumps:
    """weights_2W: w(d) of both directions, d = -reach .. reach; longer jumps weigh as much as the longest."""

    weights_2W: Floats

    @property
    def reach(self) -> int:
        return int(self.weights_2W.shape[1]) // 2

    def spread(self, longest: int) -> Floats:
        """w(d) for d = -longest .. longest, each direction in one piece of memory."""
        return np.ascontiguousarray(self.weights_2W[:, self.classes(longest)])

    def classes(self, longest: int) -> Integers:
        """The place of each jump in the weights."""
        return np.clip(np.arange(-longest, longest + 1), -self.reach, self.reach) + self.reach

    def maximised(self, jumps_2W: Doubles, left_2KK: Doubles) -> Jumps:
        """One step towards the weights under which the expected jumps are likeliest.

        w(d) <- n(d) / sum_{k, I} N(k, I) / S(k, I), the sum over all states from which d stays inside the line, S(k,
        I) being the sum of the weights there and N(k, I) the expected departures: it never lowers prod p(i | i', I)
        (Hunter 2004, for choices among some of many).
        """
        longest = jumps_2W.shape[1] // 2
        old_2W, classes = self.spread(longest).astype(np.float64), self.classes(longest)
        new_2W = np.empty_like(self.weights_2W)
        for direction in range(2):
            k, inputs = np.nonzero(left_2KK[direction])
            before = np.concatenate([[0.0], np.cumsum(old_2W[direction])])
            first, last = longest + 1 - k, longest + inputs - k  # places of d = 1 - k and d = I - k
            rate = left_2KK[direction][k, inputs] / (before[last + 1] - before[first])
            change = np.zeros(len(before) + 1)
            np.add.at(change, first, rate)
            np.subtract.at(change, last + 1, rate)
            seen = np.bincount(classes, jumps_2W[direction] * old_2W[direction], minlength=new_2W.shape[1])
            could = np.bincount(classes, np.cumsum(change)[: len(classes)], minlength=new_2W.shape[1])
            weights = np.where(could > 0, seen / np.maximum(could, kernels.TINY), self.weights_2W[direction])
            new_2W[direction] = np.maximum(weights / weights.max(), LEAST_WEIGHT)
        return Jumps(new_2W)


def first_jumps(reach: int) -> Jumps:
    """Before anything is counted: the next word is the likeliest, and far words are not likely."""
    distance = np.abs(np.arange(-reach, reach + 1) - 1)
    return Jumps(np.tile((1 / (1 + distance)).astype(np.float32), (2, 1)))


@dataclass(frozen=True)
class ChainModel:
    """A lexicon and jumps, of both directions. none: the probability that a word comes from no word. agree: expected
    links are the product of both directions (Liang et al. 2006)."""

    lexicon: Lexicon | SharedLexicon
    jumps: Jumps
    none: float
    agree: bool = False
    ignore: float = 0.0

    def expect(self, cells: Cells, threads: int) -> Expectation:
        """E-step, by forwards and backwards."""
        walk = self._walk(cells.pairs)
        return expected(cells, threads, self._sizes(cells.pairs), walk, 1 if self.agree else 2)

    def maximise(self, expected: Expectation, cells: Cells, threads: int = 1) -> ChainModel:
        """M-step."""
        jumps_2W, left_2KK = expected.choices
        return replace(
            self, lexicon=self.lexicon.maximised(expected, threads), jumps=self.jumps.maximised(jumps_2W, left_2KK)
        )

    def with_strangers(self) -> Self:
        """The same, ready for words that it has not seen."""
        return replace(self, lexicon=self.lexicon.with_strangers())

    def pruned(self, least: float) -> Self:
        """The same with rows of at least this probability alone."""
        return replace(self, lexicon=self.lexicon.pruned(least))

    def posteriors(self, cells: Cells, block: Block, threads: int) -> Floats:
        """By cell of the block."""
        return kept_posteriors(self._walk(cells.pairs), self.lexicon.partners, block, threads, self._sizes(cells.pairs))

    @staticmethod
    def _sizes(pairs: NumberedPairs) -> list[tuple[int, ...]]:
        longest = pairs.longest
        return [(2, 2 * longest + 1), (2, longest + 1, longest + 1)]

    def _walk(self, pairs: NumberedPairs) -> Walk:
        weights_2W, lexicon, source, target = self.jumps.spread(pairs.longest), self.lexicon, pairs.source, pairs.target

        def walk(block: Block, first: int, last: int, tally: Tally, kept_X2: Floats) -> Doubles:
            logs: Doubles = chain_kernels.expect_chains(
                *(first, last, source.words_X, source.begins_N, target.words_X, target.begins_N),
                *(block.cell_begins_N, block.slots_X, *lexicon.arrays),
                *(weights_2W, np.float32(self.none), np.float32(self.ignore), pairs.longest),
                *(tally.nulls_T, tally.nulls_S, *tally.choices, kept_X2),
            )
            return logs

        return walk
