"""Is what the models expect what the sum over all alignments says?"""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise, product
from math import log, prod

import numpy as np
import pytest

from dragoman.alignment.cells import Cells, find_cells
from dragoman.alignment.em import expect_and_maximise
from dragoman.alignment.hmm import ChainModel, Jumps, first_jumps
from dragoman.alignment.ibm import Diagonal, PlaceModel, Places, Table, Uniform
from dragoman.alignment.learning import LEARNERS
from dragoman.alignment.lexicon import SharedLexicon, uniform_lexicon, uniform_shared
from dragoman.alignment.lexicon_kernels import exp_digamma
from dragoman.alignment.recipes import FAST
from tests.alignment.small import WORK, cells_of, numbered, random_lexicon, tables_of
from tests.scripts import script

Probability = Callable[[Sequence[int]], float]


DRAWING = script("draw_em")


def enumerated(probability: Probability, outputs: int, inputs: int) -> tuple[float, np.ndarray]:
    """log p(f | e) and p(a_j = i | e, f) as J x I, from all (I + 1)^J alignments; 0 is no word."""
    total, links_JI = 0.0, np.zeros((outputs, inputs + 1))
    for alignment in product(range(inputs + 1), repeat=outputs):
        p = probability(alignment)
        total += p
        links_JI[range(outputs), alignment] += p
    return log(total), links_JI[:, 1:] / total


def by_place(cells: Cells, model: PlaceModel, pair: int, way: int) -> tuple[float, np.ndarray]:
    t_JI, null_J = tables_of(cells, model.lexicon.plain, pair, way)
    outputs, inputs = t_JI.shape
    shapes = cells.pairs.shapes[way]
    begin = shapes.begins_S[shapes.shape_N[pair]]
    prior_JI = model.places[way].prior(shapes)[begin : begin + outputs * (inputs + 1)].reshape(outputs, inputs + 1)

    def probability(alignment: Sequence[int]) -> float:
        chosen = (prior_JI[j, i] * (t_JI[j, i - 1] if i else null_J[j]) for j, i in enumerate(alignment))
        return float(prod(chosen))

    return enumerated(probability, outputs, inputs)


def by_jump(cells: Cells, model: ChainModel, pair: int, way: int) -> tuple[float, np.ndarray]:
    t_JI, null_J = tables_of(cells, model.lexicon.plain, pair, way)
    outputs, inputs = t_JI.shape
    weights, reach = model.jumps.weights_2W[way].astype(float), model.jumps.reach

    jump_KI = np.zeros((inputs + 1, inputs + 1))
    for last in range(inputs + 1):
        for i in range(1, inputs + 1):
            jump_KI[last, i] = weights[min(max(i - last, -reach), reach) + reach]
    jump_KI /= jump_KI.sum(axis=1, keepdims=True)

    def probability(alignment: Sequence[int]) -> float:
        last, p = 0, 1.0
        for j, i in enumerate(alignment):
            p *= model.none * null_J[j] if i == 0 else (1 - model.none) * jump_KI[last, i] * t_JI[j, i - 1]
            last = i or last
        return p

    return enumerated(probability, outputs, inputs)


def check(cells: Cells, model: PlaceModel | ChainModel) -> None:
    """Posteriors, likelihoods and expected links against the enumeration, pair by pair."""
    counts_D2, logs = np.zeros((len(cells.partners), 2)), [0.0, 0.0]
    for block in cells.blocks():
        post_X2 = model.posteriors(cells, block, 2)
        for pair in range(block.first, block.last):
            begin, end = block.cell_begins_N[pair : pair + 2]
            if begin == end:
                continue
            for way in range(2):
                if isinstance(model, PlaceModel):
                    found, links_JI = by_place(cells, model, pair, way)
                else:
                    found, links_JI = by_jump(cells, model, pair, way)
                cells_IJ = links_JI.T if way == 0 else links_JI
                np.testing.assert_allclose(post_X2[begin:end, way], cells_IJ.ravel(), atol=2e-5)
                np.add.at(counts_D2[:, way], block.slots_X[begin:end], cells_IJ.ravel())
                logs[way] += found
    expectation = model.expect(cells, 2)
    np.testing.assert_allclose(expectation.log_likelihoods, logs, rtol=1e-4)
    np.testing.assert_allclose(expectation.counts_DW, counts_D2, atol=1e-4)


PLACES: list[Places] = [Uniform(), Table({}), Diagonal(0.1, 3.0)]


@pytest.mark.parametrize("places", PLACES, ids=["ibm1", "ibm2", "diagonal"])
def test_ibm_models_sum_over_all_alignments(places: Places) -> None:
    cells = cells_of()
    model = PlaceModel(random_lexicon(cells), (places, places))
    check(cells, model)
    check(cells, model.maximise(model.expect(cells, 1), cells))


@pytest.mark.parametrize("reach", [1, 9])
def test_hidden_markov_models_sum_over_all_alignments(reach: int) -> None:
    cells = cells_of()
    weights = np.random.default_rng(3).uniform(0.1, 1, (2, 2 * reach + 1)).astype(np.float32)
    model = ChainModel(random_lexicon(cells), Jumps(weights), 0.3)
    check(cells, model)
    check(cells, model.maximise(model.expect(cells, 1), cells))


def test_blocks_and_threads_change_nothing_but_the_order_of_sums() -> None:
    whole, blocks = cells_of(), cells_of(at_once=12)
    assert len(list(blocks.blocks())) > 2
    for threads in (1, 2, 5):
        model = ChainModel(random_lexicon(whole), first_jumps(5), 0.2)
        one, other = model.expect(whole, 1), model.expect(blocks, threads)
        np.testing.assert_allclose(one.counts_DW, other.counts_DW, atol=1e-5)
        np.testing.assert_allclose(one.choices[0], other.choices[0], atol=1e-5)


def test_links_are_counted_alike_with_any_number_of_threads() -> None:
    cells = cells_of(at_once=40)
    model = ChainModel(random_lexicon(cells), first_jumps(5), 0.2)
    one, many = model.expect(cells, 1).counts_DW, model.expect(cells, 7).counts_DW
    assert one.tobytes() == many.tobytes()


@pytest.mark.parametrize("places", PLACES, ids=["ibm1", "ibm2", "diagonal"])
def test_the_likelihood_of_ibm_models_never_falls(places: Places) -> None:
    cells = cells_of()
    model = PlaceModel(uniform_lexicon(cells.partners), (places, places))
    history = expect_and_maximise(model, cells, 12, WORK, 2, "EM").log_likelihoods
    assert all(after >= before - 1e-4 for before, after in pairwise(history))
    assert history[-1] > history[0] + 1


@pytest.mark.parametrize("seed", range(4))
def test_the_likelihood_of_hidden_markov_models_never_falls(seed: int) -> None:
    cells = cells_of()
    history = expect_and_maximise(
        ChainModel(random_lexicon(cells, seed), first_jumps(4), 0.2), cells, 15, WORK, 1, "EM"
    ).log_likelihoods[1:]  # the first tables are no distributions
    assert all(after >= before - 2e-3 for before, after in pairwise(history))


def test_agreement_counts_the_product_of_both_directions() -> None:
    cells = cells_of()
    model = ChainModel(random_lexicon(cells), first_jumps(4), 0.2, agree=True)
    (block,) = cells.blocks()
    post_X2 = model.posteriors(cells, block, 1)
    counts_D = np.zeros(len(cells.partners))
    np.add.at(counts_D, block.slots_X, post_X2.prod(axis=1))
    expectation = model.expect(cells, 1)
    np.testing.assert_allclose(expectation.counts_DW, counts_D[:, None], atol=1e-5)
    learnt_D2, partners = model.maximise(expectation, cells).lexicon.table_D2, cells.partners
    sums_S, sums_T = (np.bincount(words_D, counts_D) for words_D in (partners.sources_D, partners.targets_D))
    np.testing.assert_allclose(learnt_D2[:, 0], counts_D / sums_S[partners.sources_D], atol=1e-5)
    np.testing.assert_allclose(learnt_D2[:, 1], counts_D / sums_T[partners.targets_D], atol=1e-5)


def test_tables_made_as_they_are_read_are_the_tables() -> None:
    """Posteriors by links and scales, and by the tables that these amount to, are the same numbers."""
    cells = cells_of()
    model = ChainModel(uniform_shared(cells.partners), first_jumps(4), 0.2, agree=True)
    for _ in range(3):
        model = model.maximise(model.expect(cells, 2), cells)
    assert isinstance(model.lexicon, SharedLexicon)
    (block,) = cells.blocks()
    tables = replace(model, lexicon=model.lexicon.plain)
    assert model.posteriors(cells, block, 1).tobytes() == tables.posteriors(cells, block, 1).tobytes()
    few, same = model.lexicon.pruned(0.1), model.lexicon.plain.pruned(0.1)
    assert 0 < len(few.partners) < len(cells.partners)
    assert (few.table_D2 == same.table_D2).all()
    assert (few.partners.targets_D == same.partners.targets_D).all()
    assert (few.partners.row_begins_V == same.partners.row_begins_V).all()


def test_fast_keeps_12_bytes_for_two_words_that_stand_together_and_little_else() -> None:
    random = np.random.default_rng(1)
    lines = [[" ".join(f"w{word}" for word in random.integers(0, 1500, 24)) for _ in range(1000)] for _ in range(2)]
    recipe = replace(FAST, ibm1=2, hmm=1)
    LEARNERS["aligner-fast"](recipe, cells_of(), WORK, 8)  # kernels are compiled
    cells = find_cells(numbered(list(zip(*lines, strict=True))), 1 << 15)
    tracemalloc.start()
    try:
        LEARNERS["aligner-fast"](recipe, cells, WORK, 8)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    rows = len(cells.partners)
    assert rows > 400_000
    assert peak < 8 * rows + 12 * cells.at_once + 1_500_000  # 4 bytes of each are in the cells, which were there before


def test_em_worked_by_hand() -> None:
    """Two pairs of two words: after one step of IBM 1 from equal tables, with no word as third choice, t(das | the)
    is the 2 halves of "das" among the 4 of all that "the" became."""
    cells = cells_of([("the house", "das haus"), ("the book", "das buch")])
    model = PlaceModel(uniform_lexicon(cells.partners), (Uniform(), Uniform()))
    learnt = expect_and_maximise(model, cells, 1, WORK, 1, "EM").model
    table = {
        (int(s), int(t)): float(p)
        for s, t, p in zip(
            cells.partners.sources_D, cells.partners.targets_D, learnt.lexicon.table_D2[:, 0], strict=True
        )
    }
    assert table == pytest.approx({(0, 0): 1 / 2, (0, 1): 1 / 4, (0, 2): 1 / 4, (1, 0): 1 / 2, (1, 1): 1 / 2,
                                   (2, 0): 1 / 2, (2, 2): 1 / 2})  # fmt: skip


def test_a_sparse_prior_is_exp_digamma() -> None:
    """psi(1) = -gamma, psi(2) = 1 - gamma, psi(1/2) = -gamma - 2 log 2."""
    gamma = 0.57721566490153286
    assert exp_digamma(1.0) == pytest.approx(np.exp(-gamma), rel=1e-7)
    assert exp_digamma(2.0) == pytest.approx(np.exp(1 - gamma), rel=1e-7)
    assert exp_digamma(0.5) == pytest.approx(np.exp(-gamma - 2 * log(2)), rel=1e-7)


@pytest.mark.parametrize("page", ["docs/methods/alignment.md", "docs/zh/methods/alignment.md"])
def test_the_pages_have_the_numbers_of_em(page: str) -> None:
    lines = (DRAWING.ROOT / page).read_text(encoding="utf-8").splitlines()
    head, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines
        if re.match(r"\| ([0-9]|iteration|迭代) ", line)
    ]
    assert len(rows) == 6
    names = [tuple(name.split(", ")) for name in head[1:-1]]
    before = 0.0
    for told, (table_TS, targets, sources, loglik) in zip(rows, DRAWING.tables(5), strict=True):
        found = [table_TS[targets.index(target), sources.index(source)] for target, source in names]
        assert [f"{value:.4f}" for value in found] == told[1:-1]
        assert f"{loglik:.4f}" == told[-1]
        assert float(told[-1]) > (before or -9)
        before = float(told[-1])


def test_the_picture_of_em_is_that_of_the_code() -> None:
    assert DRAWING.PICTURE.read_text(encoding="utf-8") == DRAWING.drawn()
