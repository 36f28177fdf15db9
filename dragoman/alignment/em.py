"""How do expecting and maximising lead to a model that explains the pairs better?

log p(f | e) sums over ALL alignments; the model expects how often each choice was made, given the pairs, and
maximises the expected log-likelihood (Dempster et al. 1977). Then log p(f | e) never falls. The best alignment is
read off afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, Protocol, Self, TypeVar

import numpy as np

from dragoman.alignment.cells import Block, Cells, Partners, in_threads
from dragoman.alignment.numbers import Doubles, Floats
from dragoman.contracts import Interrupted, Progress, Work


@dataclass(frozen=True)
class Expectation:
    """What a model expects of the pairs. counts_DW: links of each row of the table, by direction, or in one column
    if both have the same; nulls_T, nulls_S:
    words without a link; choices: of places or jumps, as the model has them; log_likelihoods: log p(f | e), log p(e |
    f)."""

    counts_DW: Floats
    nulls_T: Doubles
    nulls_S: Doubles
    choices: Sequence[Doubles]
    log_likelihoods: tuple[float, float]


class Model(Protocol):
    """Both directions of one model: what it expects, and what follows from that."""

    def expect(self, cells: Cells, threads: int) -> Expectation: ...
    def maximise(self, expected: Expectation, cells: Cells, threads: int = 1) -> Self: ...
    def posteriors(self, cells: Cells, block: Block, threads: int) -> Floats:
        """p(a_j = i | e, f) and p(b_i = j | e, f) of each cell of a block, X x 2."""
        ...


M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class Tally:
    """The sums of one thread, before and while it walks its pairs; links are counted afterwards."""

    nulls_T: Doubles
    nulls_S: Doubles
    choices: tuple[Doubles, ...]


# (block, first, last, sums, kept posteriors) to log-likelihoods; of choices of length 0 nothing is counted.
Walk = Callable[[Block, int, int, Tally, Floats], Doubles]
NO_FLOATS = np.zeros((0, 2), np.float32)


def expected(
    cells: Cells,
    threads: int,
    choices: Sequence[tuple[int, ...]],
    walk: Walk,
    columns: int = 2,
) -> Expectation:
    """Walk all pairs, block by block: each thread keeps the posteriors of its share of pairs, with sums of its own,
    then counts the links of its share of words. choices: shapes of the model's own sums; columns: of the counts.

    The same number of threads gives the same sums, bit for bit; links are counted in the same order with any number.
    """
    partners = cells.partners
    counts_DW = np.zeros((len(partners), columns), np.float32)
    tallies = [empty_tally(partners, choices) for _ in range(threads)]
    logs, room_X2 = np.zeros(2), np.empty((cells.most, 2), np.float32)
    for block in cells.blocks(threads):
        post_X2 = room_X2[: len(block.slots_X)]
        logs += np.sum(_walked(walk, block, tallies, post_X2), axis=0)
        cells.count(block, post_X2, counts_DW, threads)
    sums = tallies[0]
    for tally in tallies[1:]:
        for total, more in zip(_small(sums), _small(tally), strict=True):
            total += more
    return Expectation(counts_DW, sums.nulls_T, sums.nulls_S, sums.choices, (float(logs[0]), float(logs[1])))


def _walked(walk: Walk, block: Block, tallies: Sequence[Tally], post_X2: Floats) -> list[Doubles]:
    """Write the posteriors of all cells of a block. Result: the log-likelihoods that each thread found."""
    parts = zip(block.parts(len(tallies)), tallies, strict=True)
    return in_threads([partial(walk, block, first, last, tally, post_X2) for (first, last), tally in parts])


def _small(tally: Tally) -> tuple[Doubles, ...]:
    return (tally.nulls_T, tally.nulls_S, *tally.choices)


def empty_tally(partners: Partners, choices: Sequence[tuple[int, ...]]) -> Tally:
    """Sums of nothing."""
    return Tally(
        np.zeros(partners.target_words), np.zeros(partners.source_words), tuple(np.zeros(shape) for shape in choices)
    )


def kept_posteriors(
    walk: Walk, partners: Partners, block: Block, threads: int, choices: Sequence[tuple[int, ...]]
) -> Floats:
    """The posteriors of all cells of a block, X x 2."""
    post_X2 = np.empty((len(block.slots_X), 2), np.float32)
    _walked(walk, block, [empty_tally(partners, choices) for _ in range(threads)], post_X2)
    return post_X2


@dataclass(frozen=True)
class Learnt(Generic[M]):
    """A model and the log-likelihoods, both directions added, of the models before it."""

    model: M
    log_likelihoods: tuple[float, ...]


def expect_and_maximise(model: M, cells: Cells, iterations: int, work: Work, threads: int, name: str) -> Learnt[M]:
    """So many iterations of EM. Interrupted where `work.stop` said so."""
    history: list[float] = []
    words = int(cells.pairs.source.begins_N[-1] + cells.pairs.target.begins_N[-1])
    for step in range(iterations):
        if work.stop():
            raise Interrupted
        expectation = model.expect(cells, threads)
        model = model.maximise(expectation, cells, threads)
        history.append(sum(expectation.log_likelihoods))
        work.report(Progress(name, step + 1, iterations, {"loss": -history[-1] / max(words, 1)}))
    return Learnt(model, tuple(history))
