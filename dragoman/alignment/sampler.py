"""What do links look like that are drawn again and again, each given all others?

p(a_j = i | all else) ~ (c(e_i, f_j) + alpha) / (c(e_i) + alpha n(e_i)) p(i | i_before) p(i_after | i) p(phi_i + 1 |
e_i) / p(phi_i | e_i): the tables of a hidden Markov model with fertilities integrated out (Östling & Tiedemann 2016),
n(e) being the partners of e. Several samplers begin at different draws; the link probabilities of their later sweeps
are averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dragoman.alignment import kernels, sampling_kernels
from dragoman.alignment.cells import Block, Cells, in_threads
from dragoman.alignment.em import NO_FLOATS
from dragoman.alignment.hmm import ChainModel, Jumps
from dragoman.alignment.lexicon import Lexicon
from dragoman.alignment.numbers import Doubles, Floats, Integers, NumberedPairs, Side, Words32
from dragoman.contracts import Interrupted, Progress, UserError, Work

JUMP_STEPS = 2
UNSEEN_FERTILITY = 0.5
NO_SEEDS = np.zeros(0, np.int64)
MODULUS = 2147483646
BEGINNINGS, PASSED, KEPT = 4, 2, 4  # of new pairs; sweeps that are passed over, and kept


@dataclass(frozen=True)
class Choices:
    """alpha: of the lexical prior; none: of no word; bonus: see the recipe; fertility: most that is told apart."""

    alpha: float
    none: float
    bonus: float
    fertility: int


@dataclass(frozen=True)
class Way:
    """One direction. counts: links of each input word (sums_V), words from no word (nulls_V), p(phi + 1) / p(phi) of
    each input word (ratio_VF), alpha times its partners (prior_V)."""

    sums_V: Floats
    nulls_V: Floats
    ratio_VF: Floats
    prior_V: Floats


@dataclass(frozen=True)
class SampledModel:
    """What samplers counted, averaged: a table of links instead of probabilities. chain: where drawing begins.

    drawn_X2: the averaged link probabilities of the pairs that it learnt from, by cell; not kept in a folder.
    New pairs are drawn by the counts as they are, each by itself, from several beginnings; later sweeps are averaged.
    """

    chain: ChainModel
    counts_D2: Floats
    ways: tuple[Way, Way]
    jumps: Jumps
    choices: Choices
    drawn_X2: Floats | None = None

    def posteriors(self, cells: Cells, block: Block, threads: int) -> Floats:
        """By cell of the block."""
        post_X2 = self.chain.posteriors(cells, block, threads)
        kept_X2 = np.zeros_like(post_X2)
        for number in range(BEGINNINGS):
            seeds_N = (seeds_of(cells.pairs) * (2 * number + 1)) % MODULUS + 1
            draws = Draws.begin(self.choices, cells, block, post_X2, seeds_N, np.zeros(1, np.int64))
            for sweep in range(PASSED + KEPT):
                draws.sweep(
                    *(self.counts_D2, self.ways, self.jumps, 0.0, (seeds_N * 31 + sweep) % MODULUS + 1),
                    NO_FLOATS if sweep < PASSED else kept_X2,
                )
        mean_X2: Floats = kept_X2 / np.float32(BEGINNINGS * KEPT)
        return mean_X2

    @property
    def lexicon(self) -> Lexicon:
        """What the counts say: (c + alpha) / (sum c + prior); of words that were never together what the chain says."""
        chained, alpha = self.chain.lexicon.plain, np.float32(self.choices.alpha)
        partners, (forward, reverse) = chained.partners, self.ways
        divisors = (
            (forward.sums_V + forward.prior_V)[partners.sources_D],
            (reverse.sums_V + reverse.prior_V)[partners.targets_D],
        )
        table_D2 = (self.counts_D2[: len(partners)] + alpha) / np.stack(divisors, axis=1)
        strange_D2 = chained.table_D2[len(partners) :]
        return replace(chained, table_D2=np.concatenate([table_D2, strange_D2]).astype(np.float32))

    def pruned(self, least: float) -> SampledModel:
        """The same with rows that were linked, or of at least this probability before."""
        kept = (self.chain.lexicon.table_D2.max(axis=1) >= least) | (self.counts_D2.max(axis=1) > 0)
        chain = replace(self.chain, lexicon=self.chain.lexicon.plain.with_rows(kept))
        return replace(self, chain=chain, counts_D2=self.counts_D2[kept])

    def with_strangers(self) -> SampledModel:
        """The same with one more word on either side, and a row for words that were never together."""
        ways = [
            Way(
                np.append(way.sums_V, np.float32(0)),
                np.append(way.nulls_V, np.float32(0)),
                np.append(way.ratio_VF, np.ones((1, way.ratio_VF.shape[1]), np.float32), axis=0),
                np.append(way.prior_V, np.float32(1)),
            )
            for way in self.ways
        ]
        return replace(
            self,
            drawn_X2=None,
            chain=replace(self.chain, lexicon=self.chain.lexicon.with_strangers()),
            counts_D2=np.append(self.counts_D2, np.zeros((1, 2), np.float32), axis=0),
            ways=(ways[0], ways[1]),
        )


def seeds_of(pairs: NumberedPairs) -> Integers:
    """A number from 1 to 2^31 - 2 of the words of each pair, whatever its company."""
    seeds_N = np.ones(len(pairs), np.int64)
    for side in (pairs.source, pairs.target):
        place_X = np.arange(len(side.words_X)) - np.repeat(side.begins_N[:-1], side.lengths_N)
        mixed = np.concatenate(
            [[0], np.cumsum((side.words_X.astype(np.int64) + 1) * (place_X * 7919 + 104729) % 1000003)]
        )
        seeds_N = (seeds_N * 48271 + mixed[side.begins_N[1:]] - mixed[side.begins_N[:-1]]) % MODULUS
    return seeds_N + 1


@dataclass(frozen=True)
class Draws:
    """The links of one sampler as they are now; sweeps change them. links: of the words of the target, of the
    source."""

    choices: Choices
    pairs: NumberedPairs
    block: Block
    links: tuple[Words32, Words32]
    state: Integers

    @classmethod
    def begin(
        cls, choices: Choices, cells: Cells, block: Block, post_X2: Floats, seeds_N: Integers, state: Integers
    ) -> Draws:
        """Links drawn from the posteriors of another model."""
        source, target = cells.pairs.source, cells.pairs.target
        links = np.empty(len(target.words_X), np.int32), np.empty(len(source.words_X), np.int32)
        sampling_kernels.draw_first(
            *(block.first, block.last, source.begins_N, target.begins_N, block.cell_begins_N),
            *(post_X2, seeds_N, state, *links),
        )
        return cls(choices, cells.pairs, block, links, state)

    @property
    def sides(self) -> tuple[tuple[Side, Side], tuple[Side, Side]]:
        """(inputs, outputs) of both directions."""
        return (self.pairs.source, self.pairs.target), (self.pairs.target, self.pairs.source)

    def counted(self, counts_D2: Floats, partners_V: Sequence[Integers], jumps: Jumps) -> tuple[tuple[Way, Way], Jumps]:
        """What the links amount to now; counts_D2, of zeros, receives those of the rows."""
        longest, most = self.pairs.longest, self.choices.fertility
        jumps_2W, left_2KK = np.zeros((2, 2 * longest + 1)), np.zeros((2, longest + 1, longest + 1))
        ways = []
        for way, (inputs, outputs) in enumerate(self.sides):
            sums_V, nulls_V = np.zeros(inputs.vocabulary, np.float32), np.zeros(outputs.vocabulary, np.float32)
            fertile_VF = np.zeros((inputs.vocabulary, most + 1))
            sampling_kernels.count_drawn(
                *(
                    way,
                    self.block.first,
                    self.block.last,
                    inputs.words_X,
                    inputs.begins_N,
                    outputs.words_X,
                    outputs.begins_N,
                ),
                *(self.block.cell_begins_N, self.block.slots_X, self.links[way]),
                *(counts_D2, sums_V, nulls_V, jumps_2W[way], left_2KK[way], fertile_VF),
            )
            prior_V = (self.choices.alpha * partners_V[way]).astype(np.float32)
            ways.append(Way(sums_V, nulls_V, fertility_ratios(fertile_VF), prior_V))
        for _ in range(JUMP_STEPS):
            jumps = jumps.maximised(jumps_2W / np.maximum(jumps.spread(longest), kernels.TINY), left_2KK)
        return (ways[0], ways[1]), jumps

    def sweep(
        self,
        counts_D2: Floats,
        ways: tuple[Way, Way],
        jumps: Jumps,
        step: float,
        seeds_N: Integers,
        kept_X2: Floats,
    ) -> None:
        """Draw every link anew. step 1: the counts follow; 0: they stay."""
        choices, longest = self.choices, self.pairs.longest
        weights_2W = jumps.spread(longest)
        for way, (inputs, outputs) in enumerate(self.sides):
            one = ways[way]
            sampling_kernels.sample_links(
                *(
                    way,
                    self.block.first,
                    self.block.last,
                    inputs.words_X,
                    inputs.begins_N,
                    outputs.words_X,
                    outputs.begins_N,
                ),
                *(self.block.cell_begins_N, self.block.slots_X, self.links[way], self.links[1 - way]),
                *(counts_D2, one.sums_V, one.nulls_V, float(one.nulls_V.sum()), weights_2W[way], one.ratio_VF),
                *(np.float32(choices.alpha), one.prior_V, np.float32(choices.alpha), np.float32(choices.none)),
                *(np.float32(choices.bonus), longest, np.float32(step), seeds_N, self.state, kept_X2),
            )


def fertility_ratios(fertile_VF: Doubles) -> Floats:
    """p(phi + 1 | e) / p(phi | e), p(phi | e) being the counts of the word and one of all words together."""
    all_F = fertile_VF.sum(axis=0) + UNSEEN_FERTILITY
    smooth_VF = fertile_VF + all_F / all_F.sum()
    ratio_VF = np.ones_like(smooth_VF)
    ratio_VF[:, :-1] = smooth_VF[:, 1:] / smooth_VF[:, :-1]
    ratio_VF[:, -1] = ratio_VF[:, -2]
    found: Floats = ratio_VF.astype(np.float32)
    return found


@dataclass(frozen=True)
class Sampled:
    """What one sampler kept: link probabilities and counts, each averaged over its later sweeps, and its last jumps."""

    kept_X2: Floats
    counts_D2: Floats
    ways: tuple[Way, Way]
    jumps: Jumps


def sample_model(
    chain: ChainModel, cells: Cells, choices: Choices, samplers: int, burn: int, keep: int, work: Work, threads: int
) -> SampledModel:
    """Run the samplers, a thread each, and average what they kept. UserError for more cells than one block."""
    if len(cells.edges) > 2:
        count = f"{cells.pairs.cell_begins_N[-1]:,}"
        raise UserError(f"{count} cells (pairs of words) are too many for aligner-best; aligner-fast takes them")
    (block,) = cells.blocks()
    post_X2 = chain.posteriors(cells, block, threads)
    partners = cells.partners
    partners_V = np.diff(partners.row_begins_V), np.bincount(partners.targets_D, minlength=partners.target_words)

    def run(number: int) -> Sampled:
        state = np.array([(work.seed * 1000003 + number * 7919) % MODULUS + 1], np.int64)
        draws = Draws.begin(choices, cells, block, post_X2, NO_SEEDS, state)
        counts_D2 = np.zeros((len(partners), 2), np.float32)
        sums_D2, kept_X2 = np.zeros_like(counts_D2), np.zeros_like(post_X2)
        ways, jumps = draws.counted(counts_D2, partners_V, chain.jumps)
        for sweep in range(burn + keep):
            if work.stop():
                raise Interrupted
            draws.sweep(counts_D2, ways, jumps, 1.0, NO_SEEDS, kept_X2 if sweep >= burn else NO_FLOATS)
            counts_D2[:] = 0
            ways, jumps = draws.counted(counts_D2, partners_V, jumps)
            if sweep >= burn:
                sums_D2 += counts_D2
            if number == 0:
                work.report(Progress("sampling", sweep + 1, burn + keep))
        shares_X2: Floats = kept_X2 / np.float32(keep)
        counts: Floats = sums_D2 / np.float32(keep)
        return Sampled(shares_X2, counts, ways, jumps)

    found: list[Sampled] = []
    for first in range(0, samplers, threads):
        jobs = [partial(run, number) for number in range(first, min(first + threads, samplers))]
        found.extend(in_threads(jobs))
    return averaged(chain, found, choices)


def averaged(chain: ChainModel, found: Sequence[Sampled], choices: Choices) -> SampledModel:
    """One model of several samplers."""
    count = len(found)

    def mean(arrays: Sequence[Floats]) -> Floats:
        total: Floats = np.sum(np.stack(arrays), axis=0, dtype=np.float32)
        return (total / np.float32(count)).astype(np.float32)

    ways = [
        Way(
            mean([one.ways[way].sums_V for one in found]),
            mean([one.ways[way].nulls_V for one in found]),
            mean([one.ways[way].ratio_VF for one in found]),
            found[0].ways[way].prior_V,
        )
        for way in range(2)
    ]
    jumps = Jumps(mean([one.jumps.weights_2W for one in found]))
    drawn_X2 = mean([one.kept_X2 for one in found])
    return SampledModel(
        chain, mean([one.counts_D2 for one in found]), (ways[0], ways[1]), jumps, choices, drawn_X2=drawn_X2
    )
