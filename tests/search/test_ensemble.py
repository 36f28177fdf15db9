from __future__ import annotations

import math
from typing import Any

import pytest

from dragoman.contracts import UserError
from dragoman.search.beam import beam_search
from dragoman.search.combine import Ensemble
from dragoman.search.exact import enumerate_all
from dragoman.search.score import force_score
from tests.search.toy import ToyScorer, batch, log_probs_of, piece_table

ABCD = piece_table(*"abcd")


def test_the_mean_of_probabilities_at_every_step() -> None:
    members = [ToyScorer(ABCD, seed) for seed in (1, 2, 3)]
    found = beam_search(Ensemble(members), batch([4, 5], [6]), beam=3, max_lengths_B=[7, 7])
    for source, candidates in zip([[4, 5], [6]], found, strict=True):
        for candidate in candidates:
            columns = zip(*[log_probs_of(member, source, candidate.pieces) for member in members], strict=True)
            wanted = [math.log(sum(map(math.exp, column)) / 3) for column in columns]
            assert candidate.token_log_probabilities == pytest.approx(wanted, abs=1e-5)


def test_a_model_with_itself_is_itself() -> None:
    model = ToyScorer(ABCD, seed=4)
    twice = beam_search(Ensemble([model, model]), batch([4, 5]), beam=4, max_lengths_B=[7], attention=True)[0]
    once = beam_search(model, batch([4, 5]), beam=4, max_lengths_B=[7], attention=True)[0]
    assert [candidate.pieces for candidate in twice] == [candidate.pieces for candidate in once]
    for two, one in zip(twice, once, strict=True):
        assert two.token_log_probabilities == pytest.approx(one.token_log_probabilities, abs=1e-5)
        assert two.attention == pytest.approx(one.attention)


def test_attention_is_the_mean() -> None:
    members = [ToyScorer(ABCD, seed=1, rows=211), ToyScorer(ABCD, seed=1, rows=197)]
    sources_BS = batch([4, 5, 6])
    candidate = beam_search(Ensemble(members), sources_BS, beam=2, max_lengths_B=[6], attention=True)[0][0]
    options: dict[str, Any] = {"max_lengths_B": [6], "prefixes": [candidate.pieces], "attention": True}
    ones = [beam_search(member, sources_BS, beam=1, **options)[0][0].attention for member in members]
    assert ones[0] is not None
    assert ones[1] is not None
    length = len(candidate.pieces)
    assert candidate.attention == pytest.approx((ones[0][:length] + ones[1][:length]) / 2)


def test_other_pieces_are_refused() -> None:
    with pytest.raises(UserError, match="models 1 and 3 have different output pieces"):
        Ensemble([ToyScorer(ABCD), ToyScorer(ABCD), ToyScorer(piece_table(*"abce"))])
    with pytest.raises(UserError, match="at least one"):
        Ensemble([])


def test_outside_a_shortlist_is_probability_0() -> None:
    pair = Ensemble([ToyScorer(ABCD, seed=2, first=6), ToyScorer(ABCD, seed=3)])
    alone = ToyScorer(ABCD, seed=3)
    for candidate in enumerate_all(pair, batch([4])[0], 3):
        if candidate.pieces and candidate.pieces[0] >= 6:
            wanted = log_probs_of(alone, [4], candidate.pieces)[0] - math.log(2)
            assert candidate.token_log_probabilities[0] == pytest.approx(wanted, abs=1e-5)


def test_forced_scores_are_the_searchs_own() -> None:
    members = [ToyScorer(ABCD, seed) for seed in (5, 6)]
    for scorer in (members[0], Ensemble(members)):
        sources_BS = batch([4, 5], [6], [7, 8, 9])
        for slot in range(2):
            chosen = [found[slot] for found in beam_search(scorer, sources_BS, beam=4, max_lengths_B=[9, 4, 2])]
            scores = force_score(scorer, sources_BS, [candidate.pieces for candidate in chosen])
            for candidate, tokens in zip(chosen, scores, strict=True):
                assert tokens == pytest.approx(candidate.token_log_probabilities, abs=1e-5)


def test_forced_scores_by_hand_and_by_shortlist() -> None:
    scorer = ToyScorer(ABCD, seed=5)
    targets = [[], [4, 4, 7, 5, 6], [1, 2]]
    scores = force_score(scorer, batch([4, 5], [6], [7, 8, 9]), targets)
    for source, target, tokens in zip([[4, 5], [6], [7, 8, 9]], targets, scores, strict=True):
        assert tokens == pytest.approx(log_probs_of(scorer, source, target))
    assert scorer.widths == [3, 2, 2, 1, 1, 1]
    listed = ToyScorer(ABCD, seed=5, first=6)
    assert force_score(listed, batch([4]), [[7]])[0][0] == -math.inf
    assert force_score(scorer, batch([4]), []) == []
