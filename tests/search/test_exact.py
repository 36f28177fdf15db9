from __future__ import annotations

import math

import pytest

from dragoman.search.beam import beam_search
from dragoman.search.constraints import OutputRules
from dragoman.search.exact import enumerate_all, exact_search
from dragoman.search.steps import LengthForm, rank
from tests.search.toy import ToyScorer, batch, log_probs_of, piece_table

ABC = piece_table("a", "b", "c")


def test_everything_is_listed_with_its_probability() -> None:
    scorer = ToyScorer(ABC, seed=3)
    found = enumerate_all(scorer, batch([4, 5])[0], 4)
    assert len({candidate.pieces for candidate in found}) == len(found) == 1 + 3 + 9 + 27
    for candidate in found:
        assert candidate.token_log_probabilities == pytest.approx(log_probs_of(scorer, [4, 5], candidate.pieces))
    # what does not end in three pieces is what is missing from 1
    going_on = sum(
        math.exp(sum(log_probs_of(scorer, [4, 5], one.pieces)[:-1])) for one in found if len(one.pieces) == 3
    )
    ended = sum(math.exp(one.log_probability) for one in found if len(one.pieces) < 3)
    assert ended + going_on == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("alpha", [0.0, 0.7, 1.2])
@pytest.mark.parametrize("form", ["power", "gnmt"])
@pytest.mark.parametrize("ruled", [False, True])
def test_depth_first_search_finds_the_best_of_all(alpha: float, form: LengthForm, ruled: bool) -> None:
    rules = OutputRules(ABC) if ruled else None
    for seed in range(4):
        scorer = ToyScorer(ABC, seed)
        source_S = batch([6, 7, 8])[0]
        best = rank(enumerate_all(scorer, source_S, 6, rules), alpha, form)[0]
        exact = exact_search(scorer, source_S, max_length=6, alpha=alpha, form=form, rules=rules)
        assert exact.proven
        assert exact.candidate == best
        begin = rank(beam_search(scorer, source_S[None], beam=2, max_lengths_B=[6], rules=rules)[0], alpha, form)[0]
        helped = exact_search(scorer, source_S, max_length=6, alpha=alpha, form=form, rules=rules, begin=begin)
        assert helped.candidate == best
        assert helped.expanded <= exact.expanded


def test_a_bound_saves_most_of_the_work() -> None:
    scorer = ToyScorer(piece_table(*"abcdefghij"), seed=1, sharpness=3.0)
    exact = exact_search(scorer, batch([4, 5])[0], max_length=8, alpha=0.0)
    assert exact.proven
    assert exact.expanded < 10**5 / 10


def test_a_search_that_was_cut_says_so() -> None:
    scorer = ToyScorer(piece_table(*"abcdefghij"), seed=1, sharpness=0.1, end_bonus=-3.0)
    cut = exact_search(scorer, batch([4, 5])[0], max_length=9, alpha=1.0, limit_steps=200)
    assert not cut.proven
    assert cut.expanded <= 200
    whole = exact_search(scorer, batch([4, 5])[0], max_length=3, alpha=1.0, limit_steps=200)
    assert whole.proven


def test_bytes_are_followed() -> None:
    table = piece_table("a", byte_pieces=True)
    scorer = ToyScorer(table, seed=2, sharpness=4.0, never=())
    rules = OutputRules(table)
    exact = exact_search(scorer, batch([4])[0], max_length=4, alpha=0.7, rules=rules)
    beam = rank(beam_search(scorer, batch([4]), beam=300, max_lengths_B=[4], rules=rules)[0], 0.7)[0]
    assert exact.proven
    assert exact.candidate is not None
    assert exact.candidate.score(0.7) >= beam.score(0.7) - 1e-6


def test_a_shortlist_is_searched_by_full_ids() -> None:
    listed = ToyScorer(piece_table(*"abcd"), seed=2, first=6)
    full = ToyScorer(piece_table(*"abcd"), seed=2, never=(0, 1, 2, 6, 7))
    assert enumerate_all(listed, batch([4])[0], 4) == enumerate_all(full, batch([4])[0], 4)
