"""How probable is a word as the translation of another, and what do expected links make of that?

t(f | e): column 0 of the table; t(e | f): column 1. What is translated from no word has tables of its own. Where both
directions learn from the same links, both tables are made of these as they are read.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from dragoman.alignment import lexicon_kernels
from dragoman.alignment.cells import Partners, in_threads
from dragoman.alignment.em import Expectation
from dragoman.alignment.kernels import TINY
from dragoman.alignment.numbers import Doubles, Floats

FLOOR, STRANGE = 1e-9, 1e-7
NO_SCALES = np.zeros(0)
KernelArrays = tuple[Floats, Doubles, Doubles, Floats, Floats]  # table_DW, scale_S, scale_T, null_T, null_S


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

    @property
    def arrays(self) -> KernelArrays:
        """What kernels read; there are no scales."""
        return self.table_D2, NO_SCALES, NO_SCALES, self.null_T, self.null_S

    @property
    def plain(self) -> Lexicon:
        """This one."""
        return self

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

    def maximised(self, expected: Expectation, threads: int = 1) -> Lexicon | SharedLexicon:
        """The lexicon under which the expected links are likeliest, or what variational Bayes makes of them."""
        if expected.counts_DW.shape[1] == 1:
            return shared_lexicon(self.partners, expected)
        partners, counts_D2 = self.partners, expected.counts_DW
        sums_T, partners_T = np.zeros(partners.target_words), np.zeros(partners.target_words, np.int64)
        lexicon_kernels.sums_of_targets(counts_D2, partners.targets_D, sums_T, partners_T)
        alpha, table_D2 = self.prior.alpha, np.empty_like(self.table_D2)
        if alpha:
            sums_T = np.array([lexicon_kernels.exp_digamma(value) for value in sums_T + alpha * partners_T])
        floor = FLOOR if alpha else 0.0
        cuts = np.searchsorted(partners.row_begins_V, [len(partners) * part // threads for part in range(threads + 1)])
        cuts[-1] = partners.source_words
        jobs = [
            partial(
                lexicon_kernels.normalise,
                *(int(first), int(last), counts_D2, partners.row_begins_V, partners.targets_D),
                *(sums_T, alpha, floor, table_D2),
            )
            for first, last in itertools.pairwise(cuts)
        ]
        in_threads(jobs)
        null_alpha = self.prior.null_alpha
        return Lexicon(
            partners, table_D2, shares(expected.nulls_T, null_alpha), shares(expected.nulls_S, null_alpha), self.prior
        )


@dataclass(frozen=True)
class SharedLexicon:
    """A lexicon in a third of the memory, where both directions learn from the same links: t(f | e) = links_D1
    scale_S[e], t(e | f) = links_D1 scale_T[f], rounded to 32 bits."""

    partners: Partners
    links_D1: Floats
    scale_S: Doubles
    scale_T: Doubles
    null_T: Floats
    null_S: Floats

    @property
    def arrays(self) -> KernelArrays:
        """What kernels read."""
        return self.links_D1, self.scale_S, self.scale_T, self.null_T, self.null_S

    @property
    def table_D2(self) -> Floats:
        """Both tables."""
        return self.plain.table_D2

    @property
    def plain(self) -> Lexicon:
        """The same as tables."""
        return self.pruned(0.0)

    def with_strangers(self) -> Lexicon:
        """See Lexicon."""
        return self.plain.with_strangers()

    def pruned(self, least: float) -> Lexicon:
        """As tables, without the rows in which neither direction reaches `least`."""
        partners = self.partners
        begins_V = np.empty_like(partners.row_begins_V)
        targets_D, table_D2 = np.empty(0, np.int32), np.empty((0, 2), np.float32)
        for _ in range(2):  # at first they are counted alone
            lexicon_kernels.keep_rows(
                *(partners.row_begins_V, partners.targets_D, self.links_D1, self.scale_S, self.scale_T),
                *(np.float32(least), begins_V, targets_D, table_D2),
            )
            if not len(targets_D):
                targets_D, table_D2 = np.empty(begins_V[-1], np.int32), np.empty((begins_V[-1], 2), np.float32)
        return Lexicon(Partners(begins_V, targets_D, partners.target_words), table_D2, self.null_T, self.null_S)

    def maximised(self, expected: Expectation, threads: int = 1) -> SharedLexicon:
        """The lexicon under which the expected links are likeliest."""
        return shared_lexicon(self.partners, expected)


def shared_lexicon(partners: Partners, expected: Expectation) -> SharedLexicon:
    """What follows from links that both directions have: c / sum c."""
    sums_S, sums_T = np.zeros(partners.source_words), np.zeros(partners.target_words)
    partners_T = np.zeros(partners.target_words, np.int64)
    lexicon_kernels.sums_of_sources(expected.counts_DW, partners.row_begins_V, sums_S)
    lexicon_kernels.sums_of_targets(expected.counts_DW, partners.targets_D, sums_T, partners_T)
    return SharedLexicon(
        partners,
        expected.counts_DW,
        inverse(sums_S),
        inverse(sums_T),
        shares(expected.nulls_T, 0.0),
        shares(expected.nulls_S, 0.0),
    )


def uniform_shared(partners: Partners) -> SharedLexicon:
    """Every word as probable as any other."""
    sources, targets = partners.source_words, partners.target_words
    return SharedLexicon(
        partners,
        np.ones((len(partners), 1), np.float32),
        np.full(sources, 1 / targets),
        np.full(targets, 1 / sources),
        np.full(targets, 1 / targets, np.float32),
        np.full(sources, 1 / sources, np.float32),
    )


def inverse(sums_V: Doubles) -> Doubles:
    """1 / sum; 0 where there is nothing to share out."""
    return np.divide(1.0, sums_V, out=np.zeros(len(sums_V)), where=sums_V > 0)


def shares(counts_V: Doubles, alpha: float) -> Floats:
    """c / sum c, with alpha added to each count."""
    smooth_V = counts_V + alpha
    found: Floats = (smooth_V / max(smooth_V.sum(), TINY)).astype(np.float32)
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
