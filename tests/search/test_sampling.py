from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch

from dragoman.contracts import Sampling, UserError
from dragoman.search.beam import beam_search
from dragoman.search.constraints import OutputRules
from dragoman.search.exact import enumerate_all
from dragoman.search.sample import draw_streams, draw_uniforms, sample_search
from dragoman.search.steps import Candidate
from tests.search.toy import END, ToyScorer, batch, log_probs_of, piece_table

AB = piece_table("a", "b")


def draw(scorer: ToyScorer, count: int, sampling: Sampling = Sampling(), cap: int = 4) -> list[Candidate]:
    return sample_search(
        scorer, batch([4, 5]), count=count, sampling=sampling, max_lengths_B=[cap], keys_B=[7], rules=None
    )[0]


@pytest.mark.parametrize("letters", [2, 150])
def test_frequencies_are_the_models(letters: int) -> None:
    scorer = ToyScorer(piece_table(*map(str, range(letters))), seed=2, sharpness=1.5, end_bonus=2.0)
    count, cap = 20_000, 3 if letters > 2 else 4
    drawn = Counter(candidate.pieces for candidate in draw(scorer, count, cap=cap))
    assert drawn.total() == count
    chances = {}
    for candidate in enumerate_all(scorer, batch([4, 5])[0], cap):
        tokens = candidate.token_log_probabilities  # at the limit the end is forced: its own share does not count
        chances[candidate.pieces] = math.exp(sum(tokens[:-1] if len(tokens) == cap else tokens))
    assert sum(chances.values()) == pytest.approx(1.0, abs=1e-4)
    likely = [pieces for pieces, chance in chances.items() if chance * count >= 10]
    assert len(likely) >= 10
    for pieces in likely:
        spread = math.sqrt(count * chances[pieces] * (1 - chances[pieces]))
        assert abs(drawn[pieces] - count * chances[pieces]) < 5 * spread + 1


def first_pieces(sampling: Sampling, scorer: ToyScorer, count: int = 20_000) -> dict[int, float]:
    found = draw(scorer, count, sampling, cap=2)
    drawn = Counter(candidate.pieces[0] if candidate.pieces else END for candidate in found)
    return {piece: number / count for piece, number in drawn.items()}


def distribution(scorer: ToyScorer, temperature: float) -> np.ndarray:
    row_V = [log_probs_of(scorer, [4, 5], [piece])[0] for piece in range(len(scorer.pieces))]
    weights_V = np.exp(np.array(row_V) / temperature)
    return np.asarray(weights_V / weights_V.sum())


@pytest.mark.parametrize(
    ("sampling", "kept"),
    [
        (Sampling(temperature=2.0), None),
        (Sampling(temperature=0.5), None),
        (Sampling(top_k=3), 3),
        (Sampling(top_k=3, temperature=1.7), 3),
        (Sampling(top_p=0.6), None),
        (Sampling(top_p=0.6, top_k=4, temperature=2.0), 4),
        (Sampling(top_p=1e-9), 1),
    ],
)
def test_temperature_and_cuts(sampling: Sampling, kept: int | None) -> None:
    scorer = ToyScorer(piece_table(*"abcdefghijklmnopqrstuvwxyz"), seed=6)
    wanted_V = distribution(scorer, sampling.temperature)
    order = np.argsort(-wanted_V)
    if kept:
        wanted_V[order[kept:]] = 0
        wanted_V /= wanted_V.sum()
    if sampling.top_p < 1:
        enough = int(np.searchsorted(np.cumsum(wanted_V[order]), sampling.top_p)) + 1
        wanted_V[order[enough:]] = 0
        wanted_V /= wanted_V.sum()
    drawn = first_pieces(sampling, scorer)
    assert set(drawn) <= set(np.flatnonzero(wanted_V).tolist())
    for piece in np.flatnonzero(wanted_V > 1e-3).tolist():
        assert drawn.get(piece, 0.0) == pytest.approx(wanted_V[piece], abs=5 * math.sqrt(wanted_V[piece] / 20_000))


def test_a_flat_nucleus_is_looked_for_until_it_is_found() -> None:
    scorer = ToyScorer(piece_table(*map(str, range(3000))), seed=1, sharpness=0.01)
    drawn = first_pieces(Sampling(top_p=0.5), scorer, count=3000)
    order = np.argsort(-distribution(scorer, 1.0))
    assert 1200 < len(drawn) < 1500
    assert set(drawn) <= set(order[:1520].tolist())
    drawn = first_pieces(Sampling(top_p=0.5, top_k=600), scorer, count=3000)
    assert 295 <= len(drawn) <= 305
    assert set(drawn) <= set(order[:305].tolist())


def test_cold_is_greedy() -> None:
    scorer = ToyScorer(piece_table(*"abcdef"), seed=8)
    greedy = beam_search(scorer, batch([4, 5]), beam=1, max_lengths_B=[9])[0][0]
    for sampling in (Sampling(temperature=1e-4), Sampling(top_k=1), Sampling(top_p=1e-6)):
        assert draw(scorer, 3, sampling, cap=9) == [greedy] * 3


def test_log_probabilities_are_untempered() -> None:
    scorer = ToyScorer(piece_table(*"abcdef"), seed=8)
    for candidate in draw(scorer, 50, Sampling(temperature=3.0, top_k=4), cap=9):
        assert candidate.token_log_probabilities == pytest.approx(log_probs_of(scorer, [4, 5], candidate.pieces))


def test_draws_depend_on_seed_and_key_not_on_the_batch() -> None:
    scorer = ToyScorer(piece_table(*"abcdef"), seed=8)
    sources = [[4, 5], [4, 5], [6], [7, 8, 9]]
    options: dict[str, Any] = {"count": 6, "sampling": Sampling(seed=3), "rules": OutputRules(scorer.pieces)}
    together = sample_search(scorer, batch(*sources), max_lengths_B=[9, 9, 3, 12], keys_B=[0, 1, 2, -3], **options)
    alone = [
        sample_search(scorer, batch(source), max_lengths_B=[cap], keys_B=[key], **options)[0]
        for source, cap, key in zip(sources, [9, 9, 3, 12], [0, 1, 2, -3], strict=True)
    ]
    assert together == alone
    assert together[0] != together[1]
    options["sampling"] = Sampling(seed=4)
    assert sample_search(scorer, batch(*sources), max_lengths_B=[9] * 4, keys_B=[0] * 4, **options) != together
    few = sample_search(scorer, batch(*sources), max_lengths_B=[9] * 4, keys_B=[0] * 4, **options | {"count": 2})
    many = sample_search(scorer, batch(*sources), max_lengths_B=[9] * 4, keys_B=[0] * 4, **options)
    assert all(set(two) <= set(six) for two, six in zip(few, many, strict=True))


def test_prefix_and_rules_hold() -> None:
    scorer = ToyScorer(AB, seed=1, never=(), end_bonus=3.0)
    found = sample_search(
        scorer,
        batch([4], [5, 6]),
        count=30,
        sampling=Sampling(),
        max_lengths_B=[6, 6],
        keys_B=[1, 2],
        rules=OutputRules(AB),
        prefixes=[[4, 5], []],
    )
    assert {candidate.pieces[:2] for candidate in found[0]} == {(4, 5)}
    assert all(candidate.pieces and set(candidate.pieces) <= {4, 5} for candidate in found[1])
    assert len(found[0]) == len(found[1]) == 30


def test_uniform_numbers_are_uniform_and_unrelated() -> None:
    numbers = np.stack([draw_uniforms(draw_streams(1, range(100), 50), time) for time in range(20)])
    assert numbers.min() >= 0
    assert numbers.max() < 1
    counts = np.histogram(numbers, bins=20, range=(0, 1))[0]
    assert ((counts - 5000) ** 2 / 5000).sum() < 50  # chi square, 19 degrees of freedom
    for axis in range(3):
        near, far = np.delete(numbers, 0, axis).ravel(), np.delete(numbers, -1, axis).ravel()
        assert abs(np.corrcoef(near, far)[0, 1]) < 0.015


@pytest.mark.parametrize(
    ("sampling", "message"),
    [
        (Sampling(temperature=0.0), "temperature 0.0"),
        (Sampling(temperature=math.nan), "temperature nan"),
        (Sampling(temperature=math.inf), "temperature inf"),
        (Sampling(top_k=-1), "top_k -1"),
        (Sampling(top_p=0.0), "top_p 0.0"),
        (Sampling(top_p=1.5), "top_p 1.5"),
    ],
)
def test_what_cannot_be_drawn_from(sampling: Sampling, message: str) -> None:
    with pytest.raises(UserError, match=message):
        draw(ToyScorer(AB), 1, sampling)


def test_no_number_no_draw() -> None:
    scorer = ToyScorer(AB)
    scorer.table_NV[:, 4] = math.nan
    for sampling in (Sampling(), Sampling(top_k=2), Sampling(top_p=0.5)):
        with pytest.raises(UserError, match="NaN"):
            draw(scorer, 2, sampling)
    with pytest.raises(UserError, match="0 samples"):
        draw(ToyScorer(AB), 0)
    empty_BS = torch.zeros((0, 2), dtype=torch.int64)
    assert sample_search(scorer, empty_BS, count=2, sampling=Sampling(), max_lengths_B=[], keys_B=[]) == []
