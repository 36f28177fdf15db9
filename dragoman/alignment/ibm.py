"""What if each word chose its origin by place alone?

p(f, a | e) = prod_j p(a_j | j, I, J) t(f_j | e_{a_j}), i = 0 being no word. IBM 1: all places equal, 1 / (I + 1). IBM
2: a table for each pair of lengths (Brown et al. 1993). Its diagonal form (Dyer et al. 2013): p(0) = none, else
proportional to exp(-tension |i / I - j / J|).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from dragoman.alignment import kernels
from dragoman.alignment.cells import Block, Cells
from dragoman.alignment.em import Expectation, Tally, Walk, expected, kept_posteriors
from dragoman.alignment.lexicon import Lexicon, SharedLexicon
from dragoman.alignment.numbers import Doubles, Floats, Integers, NumberedPairs, Shapes


class Places(Protocol):
    """p(a_j = i | j, I, J) of all choices of some shapes. counted: does it learn from expected choices?"""

    @property
    def counted(self) -> bool: ...
    def prior(self, shapes: Shapes) -> Floats: ...
    def maximised(self, shapes: Shapes, counts_X: Doubles) -> Self: ...


@dataclass(frozen=True)
class Uniform:
    """IBM 1."""

    counted = False

    def prior(self, shapes: Shapes) -> Floats:
        equal_S = (1 / (shapes.lengths_S2[:, 0] + 1)).astype(np.float32)
        return np.repeat(equal_S, np.diff(shapes.begins_S))

    def maximised(self, shapes: Shapes, counts_X: Doubles) -> Self:
        return self


@dataclass(frozen=True)
class Table:
    """IBM 2. tables: choices of each (I, J) that was seen; others are all equal."""

    tables: dict[tuple[int, int], Floats]
    counted = True

    def prior(self, shapes: Shapes) -> Floats:
        found = Uniform().prior(shapes)
        for row, (inputs, outputs) in enumerate(shapes.lengths_S2.tolist()):
            known = self.tables.get((inputs, outputs))
            if known is not None:
                found[shapes.begins_S[row] : shapes.begins_S[row + 1]] = known
        return found

    def maximised(self, shapes: Shapes, counts_X: Doubles) -> Table:
        tables = {}
        for row, (inputs, outputs) in enumerate(shapes.lengths_S2.tolist()):
            counts_JI = counts_X[shapes.begins_S[row] : shapes.begins_S[row + 1]].reshape(outputs, inputs + 1)
            share_JI = counts_JI / np.maximum(counts_JI.sum(axis=1, keepdims=True), kernels.TINY)
            tables[inputs, outputs] = share_JI.astype(np.float32).ravel()
        return Table(tables)


@dataclass(frozen=True)
class Diagonal:
    """IBM 2 by its diagonal. The tension follows the expected distances: E[-|i/I - j/J|] of the model climbs to that
    of the counts by Newton's steps."""

    none: float
    tension: float
    counted = True

    def prior(self, shapes: Shapes) -> Floats:
        weight, first, total = self._weights(shapes, self.tension)
        found = (1 - self.none) * weight / np.maximum(total, kernels.TINY)
        found[first] = self.none
        return found.astype(np.float32)

    def _weights(self, shapes: Shapes, tension: float) -> tuple[Doubles, Integers, Doubles]:
        shape, i, _j = shapes.cells
        weight = np.exp(tension * self.nearness(shapes))
        first = np.flatnonzero(i == 0)
        weight[first] = 0.0
        sums = np.add.reduceat(weight, first)
        return weight, first, np.repeat(sums, shapes.lengths_S2[shape[first], 0] + 1)

    @staticmethod
    def nearness(shapes: Shapes) -> Doubles:
        """h = -|i/I - j/J| of all choices; of no word it means nothing."""
        shape, i, j = shapes.cells
        inputs, outputs = shapes.lengths_S2[shape].T
        found: Doubles = -np.abs(i / np.maximum(inputs, 1) - j / outputs)
        return found

    def maximised(self, shapes: Shapes, counts_X: Doubles) -> Diagonal:
        """d/d tension of the expected log-likelihood is sum_j n_j (E_counts[h] - E_model[h]), its slope -sum_j n_j
        Var[h]."""
        _, i, _ = shapes.cells
        near, linked = self.nearness(shapes), np.where(i > 0, counts_X, 0.0)
        first = np.flatnonzero(i == 0)
        n, wanted = np.add.reduceat(linked, first), float(linked @ near)
        tension = self.tension
        for _ in range(8):
            weight, _, total = self._weights(shapes, tension)
            share = weight / np.maximum(total, kernels.TINY)
            mean = np.add.reduceat(share * near, first)
            variance = np.add.reduceat(share * near * near, first) - mean * mean
            slope = float(n @ variance)
            if slope <= 0:
                break
            tension = float(np.clip(tension + (wanted - float(n @ mean)) / slope, 0.1, 50.0))
        return replace(self, tension=tension)


@dataclass(frozen=True)
class PlaceModel:
    """A lexicon and a choice of places, of both directions. agree: expected links are the product of both (Liang et
    al. 2006)."""

    lexicon: Lexicon | SharedLexicon
    places: tuple[Places, Places]
    agree: bool = False

    def expect(self, cells: Cells, threads: int) -> Expectation:
        """E-step."""
        sizes = [(int(shapes.begins_S[-1]) if self.places[0].counted else 0,) for shapes in cells.pairs.shapes]
        walk = self._walk(cells.pairs)
        return expected(cells, threads, sizes, walk, 1 if self.agree else 2)

    def maximise(self, expected: Expectation, cells: Cells, threads: int = 1) -> PlaceModel:
        """M-step."""
        places = [
            one.maximised(shapes, counts_X)
            for one, shapes, counts_X in zip(self.places, cells.pairs.shapes, expected.choices, strict=True)
        ]
        return replace(self, lexicon=self.lexicon.maximised(expected, threads), places=(places[0], places[1]))

    def with_strangers(self) -> Self:
        """The same, ready for words that it has not seen."""
        return replace(self, lexicon=self.lexicon.with_strangers())

    def pruned(self, least: float) -> Self:
        """The same with rows of at least this probability alone."""
        return replace(self, lexicon=self.lexicon.pruned(least))

    def posteriors(self, cells: Cells, block: Block, threads: int) -> Floats:
        """By cell of the block."""
        return kept_posteriors(self._walk(cells.pairs), self.lexicon.partners, block, threads, [(0,), (0,)])

    def _walk(self, pairs: NumberedPairs) -> Walk:
        shapes = pairs.shapes
        priors = [places.prior(shape) for places, shape in zip(self.places, shapes, strict=True)]
        begins_N2 = np.stack([shape.begins_S[shape.shape_N] for shape in shapes], axis=1)
        lexicon, source, target = self.lexicon, pairs.source, pairs.target

        def walk(block: Block, first: int, last: int, tally: Tally, kept_X2: Floats) -> Doubles:
            logs: Doubles = kernels.expect_positions(
                *(first, last, source.words_X, source.begins_N, target.words_X, target.begins_N),
                *(block.cell_begins_N, block.slots_X, *lexicon.arrays),
                *(*priors, begins_N2, pairs.longest),
                *(tally.nulls_T, tally.nulls_S, *tally.choices, kept_X2),
            )
            return logs

        return walk
