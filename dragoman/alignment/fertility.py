"""What if each word first decided how many words it becomes?

p(f, a | e) = C(J - n0, n0) p1^n0 (1 - p1)^(J - 2 n0) prod_i phi_i! n(phi_i | e_i) prod_j t(f_j | e_{a_j}) prod_{a_j >
0} d(j | a_j, I, J): IBM model 3 (Brown et al. 1993). Its alignments cannot be summed; the likeliest is looked for by
moves and swaps, and what is expected is taken over it and its neighbours. So the likelihood of this model may fall.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from dragoman.alignment import fertility_kernels, kernels
from dragoman.alignment.cells import Block, Cells
from dragoman.alignment.em import Expectation, Tally, Walk, expected, kept_posteriors
from dragoman.alignment.ibm import Table
from dragoman.alignment.lexicon import Lexicon
from dragoman.alignment.numbers import Doubles, Floats, NumberedPairs, Shapes

SMOOTH = 0.1  # of a word's fertilities, shared out as those of all words


@dataclass(frozen=True)
class Distortion:
    """d(j | i, I, J) of each (I, J) that was seen, laid out as places; of others all j are equal."""

    tables: dict[tuple[int, int], Floats]

    def prior(self, shapes: Shapes) -> Floats:
        equal_S = (1 / np.maximum(shapes.lengths_S2[:, 1], 1)).astype(np.float32)
        found = np.repeat(equal_S, np.diff(shapes.begins_S))
        for row, (inputs, outputs) in enumerate(shapes.lengths_S2.tolist()):
            known = self.tables.get((inputs, outputs))
            if known is not None:
                found[shapes.begins_S[row] : shapes.begins_S[row + 1]] = known
        return found

    def maximised(self, shapes: Shapes, counts_X: Doubles) -> Distortion:
        """The share of each j among those that i became."""
        tables = {}
        for row, (inputs, outputs) in enumerate(shapes.lengths_S2.tolist()):
            counts_JI = counts_X[shapes.begins_S[row] : shapes.begins_S[row + 1]].reshape(outputs, inputs + 1)
            sums_I = counts_JI.sum(axis=0)
            share_JI = np.where(sums_I > 0, counts_JI / np.maximum(sums_I, kernels.TINY), 1 / max(outputs, 1))
            tables[inputs, outputs] = share_JI.astype(np.float32).ravel()
        return Distortion(tables)


def distortion_of(table: Table) -> Distortion:
    """d(j | i) in proportion to a(i | j) of IBM 2."""
    tables = {}
    for (inputs, outputs), share in table.tables.items():
        share_JI = share.reshape(outputs, inputs + 1)
        tables[inputs, outputs] = (share_JI / np.maximum(share_JI.sum(axis=0), kernels.TINY)).ravel()
    return Distortion(tables)


def first_fertilities(words: int, most: int) -> Doubles:
    """Before anything is counted: Poisson, with a mean of 1."""
    one = 1 / np.cumprod(np.maximum(np.arange(most + 1), 1))
    return np.tile(one / one.sum(), (words, 1))


@dataclass(frozen=True)
class FertileModel:
    """A lexicon, distortions, and fertilities n(phi | e) of both directions; p1: see above."""

    lexicon: Lexicon
    places: tuple[Distortion, Distortion]
    fertilities: tuple[Doubles, Doubles]
    p1: float

    def expect(self, cells: Cells, threads: int) -> Expectation:
        """E-step, over the neighbours of the likeliest links."""
        walk = self._walk(cells.pairs)
        sizes = [(int(shapes.begins_S[-1]),) for shapes in cells.pairs.shapes]
        sizes += [fertility.shape for fertility in self.fertilities]
        return expected(cells, threads, sizes, walk)

    def maximise(self, expected: Expectation, cells: Cells, threads: int = 1) -> Self:
        """M-step."""
        places_0, places_1, fertile_0, fertile_1 = expected.choices
        shapes_0, shapes_1 = cells.pairs.shapes
        return replace(
            self,
            lexicon=self.lexicon.maximised(expected, threads).plain,
            places=(self.places[0].maximised(shapes_0, places_0), self.places[1].maximised(shapes_1, places_1)),
            fertilities=(fertility_shares(fertile_0), fertility_shares(fertile_1)),
        )

    def with_strangers(self) -> Self:
        """The same, ready for words that it has not seen: they become what words become on the whole."""
        more = [np.append(one, one.mean(axis=0, keepdims=True), axis=0) for one in self.fertilities]
        return replace(self, lexicon=self.lexicon.with_strangers(), fertilities=(more[0], more[1]))

    def pruned(self, least: float) -> Self:
        """The same with rows of at least this probability alone."""
        return replace(self, lexicon=self.lexicon.pruned(least))

    def posteriors(self, cells: Cells, block: Block, threads: int) -> Floats:
        """By cell of the block."""
        sizes: list[tuple[int, ...]] = [(0,), (0,), (0, 0), (0, 0)]
        return kept_posteriors(self._walk(cells.pairs), self.lexicon.partners, block, threads, sizes)

    def _walk(self, pairs: NumberedPairs) -> Walk:
        shapes = pairs.shapes
        priors = [places.prior(shape) for places, shape in zip(self.places, shapes, strict=True)]
        begins_N2 = np.stack([shape.begins_S[shape.shape_N] for shape in shapes], axis=1)
        lexicon, source, target = self.lexicon, pairs.source, pairs.target

        def walk(block: Block, first: int, last: int, tally: Tally, kept_X2: Floats) -> Doubles:
            logs: Doubles = fertility_kernels.expect_fertile(
                *(first, last, source.words_X, source.begins_N, target.words_X, target.begins_N),
                *(block.cell_begins_N, block.slots_X, *lexicon.arrays),
                *(*priors, begins_N2, self.p1, pairs.longest, *self.fertilities),
                *(tally.nulls_T, tally.nulls_S, *tally.choices, kept_X2),
            )
            return logs

        return walk


def fertility_shares(fertile_VF: Doubles) -> Doubles:
    """n(phi | e), smoothed a little by the fertilities of all words."""
    all_F = np.maximum(fertile_VF.sum(axis=0), kernels.TINY)
    smooth_VF = np.maximum(fertile_VF, 0) + SMOOTH * all_F / all_F.sum()
    found: Doubles = smooth_VF / smooth_VF.sum(axis=1, keepdims=True)
    return found
