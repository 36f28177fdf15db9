"""Are links drawn with the probabilities that the joint probability of all links gives them?"""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from dragoman.alignment import sampling_kernels

INPUTS, OUTPUTS, MOST, REACH = 2, 3, 3, 5
NONE, ALPHA, VOCABULARY = 0.2, 0.05, 4


def joint(links: list[int], tables: dict[str, np.ndarray], counts_KI: np.ndarray, sums_I: np.ndarray) -> float:
    """p(all links of one direction of one pair), tables and fertilities as they are without them: -1 is no word."""
    weights, ratio_IF, nulls_V = tables["weights"], tables["ratio"], tables["nulls"]
    share_IF = np.cumprod(np.concatenate([np.ones((INPUTS, 1)), ratio_IF[:, :-1]], axis=1), axis=1)
    p, state = 1.0, 0
    for j, i in enumerate(links):
        if i < 0:
            p *= NONE * (nulls_V[j] + ALPHA) / (nulls_V.sum() + ALPHA * VOCABULARY)
            continue
        jumps = weights[REACH - state + 1 : REACH - state + 1 + INPUTS]
        p *= (1 - NONE) * jumps[i] / jumps.sum() * (counts_KI[i, j] + ALPHA) / (sums_I[i] + tables["prior"][i])
        state = i + 1
    return float(p * prod(share_IF[i, min(MOST, links.count(i))] for i in range(INPUTS)))


@pytest.mark.parametrize("way", [0, 1])
@pytest.mark.parametrize("seed", range(5))
def test_a_link_is_drawn_given_all_others(way: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    tables = {
        "weights": random.uniform(0.1, 1, 2 * REACH + 1).astype(np.float32),
        "ratio": random.uniform(0.2, 2, (INPUTS, MOST + 1)).astype(np.float32),
        "nulls": random.uniform(0, 3, VOCABULARY).astype(np.float32),
        "prior": random.uniform(0.1, 1, INPUTS).astype(np.float32),
    }
    cells = INPUTS * OUTPUTS
    counts_D2 = random.uniform(0, 2, (cells, 2)).astype(np.float32)
    sums_V = random.uniform(1, 4, INPUTS).astype(np.float32)
    first = random.integers(-1, INPUTS, OUTPUTS).tolist()
    counts_KI = counts_D2[:, way].reshape((INPUTS, OUTPUTS) if way == 0 else (OUTPUTS, INPUTS))
    counts_KI = counts_KI if way == 0 else counts_KI.T
    links_X, kept_X2 = np.array(first, np.int32), np.zeros((cells, 2), np.float32)
    words = np.arange(INPUTS, dtype=np.int32), np.arange(OUTPUTS, dtype=np.int32)
    begins = np.array([0, INPUTS], np.int64), np.array([0, OUTPUTS], np.int64)
    sampling_kernels.sample_links(
        *(way, 0, 1, words[0], begins[0], words[1], begins[1], np.array([0, cells], np.int64)),
        *(np.arange(cells, dtype=np.int32), links_X, np.full(INPUTS, -1, np.int32)),
        *(counts_D2, sums_V, tables["nulls"], float(tables["nulls"].sum()), tables["weights"], tables["ratio"]),
        *(np.float32(ALPHA), tables["prior"], np.float32(ALPHA), np.float32(NONE), np.float32(1)),
        *(max(INPUTS, OUTPUTS), np.float32(0), np.zeros(0, np.int64), np.array([seed + 1], np.int64), kept_X2),
    )
    found_KI = kept_X2[:, way].reshape((INPUTS, OUTPUTS) if way == 0 else (OUTPUTS, INPUTS))
    for j in range(OUTPUTS):
        drawn = links_X[:j].tolist()
        ways = [joint([*drawn, i, *first[j + 1 :]], tables, counts_KI, sums_V) for i in range(-1, INPUTS)]
        shares = found_KI[:, j] if way == 0 else found_KI[j]
        np.testing.assert_allclose(shares, np.array(ways[1:]) / sum(ways), atol=2e-5)
