from __future__ import annotations

import math

import pytest

from dragoman.search.steps import Candidate, normaliser, rank


def test_length_forms_by_hand() -> None:
    assert normaliser(7, 0.0) == 1.0
    assert normaliser(16, 0.5) == 4.0
    assert normaliser(19, 0.5, "gnmt") == 2.0
    assert normaliser(1, 1.2) == 1.0
    assert normaliser(1, 1.2, "gnmt") == 1.0


def test_a_score_is_the_sum_over_the_normaliser_with_the_end_counted() -> None:
    candidate = Candidate((5, 6, 7), (-1.0, -2.0, -3.0, -2.0))
    assert candidate.log_probability == -8.0
    assert candidate.score(0.5) == -4.0
    assert candidate.score(0.5, "gnmt") == pytest.approx(-8.0 / math.sqrt(1.5))


def test_alpha_turns_the_order_and_ties_are_settled_by_pieces() -> None:
    short, long = Candidate((4,), (-1.0, -1.0)), Candidate((5, 5, 5), (-0.75, -0.75, -0.5, -0.5))
    assert rank([long, short], 0.0) == [short, long]
    assert rank([short, long], 1.0) == [long, short]
    tied = [Candidate((6,), (-1.0, -1.0)), Candidate((4,), (-1.0, -1.0)), Candidate((5,), (-0.5, -1.5))]
    assert [candidate.pieces for candidate in rank(tied, 0.7)] == [(4,), (5,), (6,)]
    assert rank(tied[::-1], 0.7) == rank(tied, 0.7)
