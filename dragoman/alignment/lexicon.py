"""How probable is a word as the translation of another, and what do expected links make of that?

t(f | e): column 0 of the table; t(e | f): column 1. What is translated from no word has tables of its own.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from dragoman.alignment import kernels
from dragoman.alignment.cells import Partners
from dragoman.alignment.em import Expectation, in_threads
from dragoman.alignment.numbers import Doubles, Floats

FLOOR, STRANGE = 1e-9, 1e-7


@dataclass(frozen=True)
class Prior:
    """Of what is believed before counting. alpha: of the Dirichlet over the partners of a word (0: none, plain maximum
    likelihood); small values make tables sparse. null_alpha: the same for words from no word."""

    alpha: float = 0.0
    null_alpha: float = 0.0


@dataclass(frozen=True)
class Lexicon:
    """table_D2: t(f | e), t(e | f) of each row of the partners; null_T, null_S: t(f | no word), t(e | no word)."""

    partners: Partners
    table_D2: Floats
    null_T: Floats
    null_S: Floats
    prior: Prior = Prior()

    def with_strangers(self) -> Lexicon:
        """The same for words that were never seen, or never together: hardly probable, but not impossible."""
        return Lexicon(
            self.partners.with_strangers(),
            np.append(self.table_D2, np.full((1, 2), STRANGE, np.float32), axis=0),
            np.append(self.null_T, np.float32(STRANGE)),
            np.append(self.null_S, np.float32(STRANGE)),
            self.prior,
        )

    def pruned(self, least: float) -> Lexicon:
        """Without the rows in which neither direction reaches `least`."""
        return self.with_rows(self.table_D2.max(axis=1) >= least)

    def with_rows(self, kept_D: npt.NDArray[np.bool_]) -> Lexicon:
        """With some of the rows alone."""
        partners = self.partners
        sums = np.concatenate([[0], np.cumsum(kept_D)])
        return replace(
            self,
            partners=Partners(sums[partners.row_begins_V], partners.targets_D[kept_D], partners.target_words),
            table_D2=self.table_D2[kept_D],
        )

    def maximised(self, expected: Expectation, threads: int = 1) -> Lexicon:
        """The lexicon under which the expected links are likeliest, or what variational Bayes makes of them."""
        partners, counts_DW = self.partners, expected.counts_DW
        sums_T, partners_T = np.zeros(partners.target_words), np.zeros(partners.target_words, np.int64)
        kernels.sums_of_targets(counts_DW, partners.targets_D, sums_T, partners_T)
        alpha, table_D2 = self.prior.alpha, np.empty_like(self.table_D2)
        if alpha:
            sums_T = np.array([kernels.exp_digamma(value) for value in sums_T + alpha * partners_T])
        floor = FLOOR if alpha else 0.0
        cuts = np.searchsorted(partners.row_begins_V, [len(partners) * part // threads for part in range(threads + 1)])
        cuts[-1] = partners.source_words
        jobs = [
            partial(
                kernels.normalise,
                *(int(first), int(last), counts_DW, partners.row_begins_V, partners.targets_D),
                *(sums_T, alpha, floor, table_D2),
            )
            for first, last in itertools.pairwise(cuts)
        ]
        in_threads(jobs)
        null_alpha = self.prior.null_alpha
        return Lexicon(
            partners, table_D2, shares(expected.nulls_T, null_alpha), shares(expected.nulls_S, null_alpha), self.prior
        )


def shares(counts_V: Doubles, alpha: float) -> Floats:
    """c / sum c, with alpha added to each count."""
    smooth_V = counts_V + alpha
    found: Floats = (smooth_V / max(smooth_V.sum(), kernels.TINY)).astype(np.float32)
    return found


def uniform_lexicon(partners: Partners, prior: Prior = Prior()) -> Lexicon:
    """Every word as probable as any other."""
    table_D2 = np.empty((len(partners), 2), np.float32)
    table_D2[:] = 1 / partners.target_words, 1 / partners.source_words
    return Lexicon(
        partners,
        table_D2,
        np.full(partners.target_words, 1 / partners.target_words, np.float32),
        np.full(partners.source_words, 1 / partners.source_words, np.float32),
        prior,
    )
