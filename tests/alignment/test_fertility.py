"""Is IBM 3 climbed, and summed beside the top, as its formula says?"""

from __future__ import annotations

from itertools import product
from math import comb, factorial, log
from typing import Any

import numpy as np
import pytest

from dragoman.alignment import fertility_kernels

P1, INPUTS, OUTPUTS, MOST = 0.15, 2, 3, 3


def tables(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """t d of each j and i (0: t of no word), n(phi | e)."""
    random = np.random.default_rng(seed)
    n_VF = random.uniform(0.1, 1, (INPUTS, MOST + 1))
    return random.uniform(0.05, 1, (OUTPUTS, INPUTS + 1)), n_VF / n_VF.sum(axis=1, keepdims=True)


def probability(alignment: tuple[int, ...], score: np.ndarray, n_VF: np.ndarray) -> float:
    """p(f, a | e) of Brown et al. 1993, eq. 32, written out."""
    born = [alignment.count(i) for i in range(INPUTS + 1)]
    if 2 * born[0] > OUTPUTS:
        return 0.0
    p = comb(OUTPUTS - born[0], born[0]) * P1 ** born[0] * (1 - P1) ** (OUTPUTS - 2 * born[0])
    for i in range(1, INPUTS + 1):
        p *= factorial(born[i]) * n_VF[i - 1, born[i]]
    return float(p * np.prod([score[j, i] for j, i in enumerate(alignment)]))


def neighbours(alignment: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The alignment, all moves and all swaps."""
    found = {alignment}
    for j in range(OUTPUTS):
        found |= {(*alignment[:j], i, *alignment[j + 1 :]) for i in range(INPUTS + 1)}
        for k in range(j):
            swapped = list(alignment)
            swapped[j], swapped[k] = swapped[k], swapped[j]
            found.add(tuple(swapped))
    return found


def arguments(alignment: tuple[int, ...], score: np.ndarray, n_VF: np.ndarray) -> tuple[Any, ...]:
    links = np.array(alignment)
    born = np.bincount(links, minlength=INPUTS + 1)
    return score, links, born, OUTPUTS, INPUTS, P1, n_VF, np.arange(INPUTS, dtype=np.int32), 0


@pytest.mark.parametrize("seed", range(6))
def test_every_start_climbs_to_a_top(seed: int) -> None:
    score, n_VF = tables(seed)
    for start in product(range(INPUTS + 1), repeat=OUTPUTS):
        if not probability(start, score, n_VF):
            continue
        given = arguments(start, score, n_VF)
        fertility_kernels.climb(*given)
        top = tuple(given[1].tolist())
        assert probability(top, score, n_VF) >= probability(start, score, n_VF) * (1 - 1e-9)
        best = max(probability(other, score, n_VF) for other in neighbours(top))
        assert probability(top, score, n_VF) == pytest.approx(best, rel=1e-5)
        assert fertility_kernels.log_probability(*given) == pytest.approx(log(probability(top, score, n_VF)))


@pytest.mark.parametrize("seed", range(6))
def test_what_is_expected_is_summed_over_the_neighbours(seed: int) -> None:
    score, n_VF = tables(seed)
    start = (1, 2, 1) if seed % 2 else (0, 1, 2)
    beside = {other: probability(other, score, n_VF) for other in neighbours(start)}
    total = sum(beside.values())
    links_JI, fertile_IF = np.zeros((OUTPUTS, INPUTS + 1)), np.zeros((INPUTS + 1, MOST + 1))
    for other, p in beside.items():
        links_JI[range(OUTPUTS), other] += p / total
        for i in range(1, INPUTS + 1):
            fertile_IF[i, other.count(i)] += p / total
    post, fertile = np.empty((OUTPUTS, INPUTS + 1)), np.empty((INPUTS + 1, MOST + 1))
    sum_ = fertility_kernels.expect_beside(*arguments(start, score, n_VF), post, fertile)
    assert sum_ == pytest.approx(total / probability(start, score, n_VF))
    np.testing.assert_allclose(post, links_JI, atol=1e-9)
    np.testing.assert_allclose(fertile[1:], fertile_IF[1:], atol=1e-9)
