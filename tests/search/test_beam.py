from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from dragoman.contracts import UserError
from dragoman.search.beam import beam_search, best_continuations
from dragoman.search.constraints import OutputRules
from dragoman.search.exact import enumerate_all
from dragoman.search.steps import Candidate, Step, rank
from dragoman.search.walk import Scores
from tests.search.toy import END, START_ID, ToyScorer, ToyState, batch, log_probs_of, piece_table

ABC = piece_table("a", "b", "c")
SOURCES = ([4, 5], [6, 7, 8], [9], [4, 4, 4, 4, 4])


def textbook_beam(scorer: ToyScorer, source: Sequence[int], beam: int, cap: int) -> list[Candidate]:
    """The algorithm box in plain Python, one sentence, a list of hypotheses."""
    living: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    finished: list[Candidate] = []
    for time in range(cap):
        continuations = []
        for total, pieces in living:
            row = log_probs_row(scorer, source, pieces)
            if time == cap - 1:
                tokens = tuple(log_probs_of(scorer, source, pieces))
                if total + row[END] > -math.inf:
                    finished.append(Candidate(pieces, tokens, max(row) > row[END]))
                continue
            continuations += [(total + row[piece], pieces, piece) for piece in range(len(row))]
        best = sorted(continuations, key=lambda entry: -entry[0])[: 2 * beam]
        for total, pieces, piece in best[:beam]:
            if piece == END and total > -math.inf:
                finished.append(Candidate(pieces, tuple(log_probs_of(scorer, source, pieces))))
        living = [(total, (*pieces, piece)) for total, pieces, piece in best if piece != END and total > -math.inf]
        living = living[:beam]
        if len(finished) >= beam:
            break
    return finished


def log_probs_row(scorer: ToyScorer, source: Sequence[int], pieces: Sequence[int]) -> list[float]:
    number = sum(sign * place for place, sign in enumerate(source, start=1)) % scorer.rows
    for last in [START_ID, *pieces]:
        number = (number * 31 + last * 17 + 5) % scorer.rows
    return scorer.table_NV[number].tolist()


def by_pieces(candidates: Sequence[Candidate]) -> dict[tuple[int, ...], Candidate]:
    table = {candidate.pieces: candidate for candidate in candidates}
    assert len(table) == len(candidates), "the same output twice"
    return table


def assert_same(found: Sequence[Candidate], wanted: Sequence[Candidate]) -> None:
    ours, theirs = by_pieces(found), by_pieces(wanted)
    assert set(ours) == set(theirs)
    for pieces, candidate in ours.items():
        assert candidate.token_log_probabilities == pytest.approx(theirs[pieces].token_log_probabilities, abs=1e-5)
        assert candidate.capped == theirs[pieces].capped


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    beam=st.integers(1, 7),
    letters=st.integers(1, 80),
    caps=st.lists(st.integers(1, 9), min_size=4, max_size=4),
    sharpness=st.sampled_from([0.3, 1.0, 3.0]),
    end_bonus=st.sampled_from([0.0, 2.0]),
)
def test_equals_the_textbook(
    seed: int, beam: int, letters: int, caps: list[int], sharpness: float, end_bonus: float
) -> None:
    scorer = ToyScorer(piece_table(*map(str, range(letters))), seed, sharpness, end_bonus=end_bonus)
    found = beam_search(scorer, batch(*SOURCES), beam=beam, max_lengths_B=caps)
    for source, cap, candidates in zip(SOURCES, caps, found, strict=True):
        assert_same(candidates, textbook_beam(scorer, source, beam, cap))


@pytest.mark.parametrize("seed", range(5))
def test_a_wide_beam_is_enumeration(seed: int) -> None:
    scorer = ToyScorer(ABC, seed)
    sources_BS = batch(*SOURCES)
    found = beam_search(scorer, sources_BS, beam=400, max_lengths_B=[5, 5, 4, 3])
    for source_S, cap, candidates in zip(sources_BS, [5, 5, 4, 3], found, strict=True):
        everything = enumerate_all(scorer, source_S, cap)
        assert len(everything) == sum(3**length for length in range(cap))
        assert_same(candidates, everything)


@pytest.mark.parametrize("seed", range(10))
def test_beam_1_is_greedy(seed: int) -> None:
    scorer = ToyScorer(ABC, seed)
    for source, candidates in zip(
        SOURCES, beam_search(scorer, batch(*SOURCES), beam=1, max_lengths_B=[12] * 4), strict=True
    ):
        pieces: list[int] = []
        while len(pieces) < 11:
            row = log_probs_row(scorer, source, pieces)
            best = row.index(max(row))
            if best == END:
                break
            pieces.append(best)
        assert [candidate.pieces for candidate in candidates] == [tuple(pieces)]
        assert candidates[0].token_log_probabilities == pytest.approx(log_probs_of(scorer, source, pieces))


@pytest.mark.parametrize("beam", [1, 3, 5])
def test_batch_and_order_change_nothing(beam: int) -> None:
    scorer = ToyScorer(piece_table(*"abcdefgh"), seed=3, end_bonus=1.0)
    caps = [15, 4, 9, 12]
    together = beam_search(scorer, batch(*SOURCES), beam=beam, max_lengths_B=caps)
    turned = beam_search(scorer, batch(*SOURCES[::-1]), beam=beam, max_lengths_B=caps[::-1])[::-1]
    alone = [
        beam_search(scorer, batch(source), beam=beam, max_lengths_B=[cap])[0]
        for source, cap in zip(SOURCES, caps, strict=True)
    ]
    assert together == turned == alone


def test_finished_sentences_leave_the_batch() -> None:
    scorer = ToyScorer(ABC, seed=1)
    beam_search(scorer, batch(*SOURCES), beam=2, max_lengths_B=[2, 30, 6, 3])
    assert scorer.widths[0] == 4
    assert scorer.widths == sorted(scorer.widths, reverse=True)
    assert scorer.widths[2] <= 3
    assert scorer.widths[-1] >= 1


def test_at_first_one_hypothesis_is_asked_for() -> None:
    asked: list[int] = []

    class Watched(ToyScorer):
        def step(self, state: ToyState, last_BK: Tensor) -> Step:
            asked.append(last_BK.shape[1])
            return super().step(state, last_BK)

    beam_search(Watched(ABC, seed=1), batch(*SOURCES), beam=3, max_lengths_B=[4] * 4)
    assert asked[0] == 1
    assert set(asked[1:]) == {3}


def test_every_log_probability_is_the_models_own() -> None:
    scorer = ToyScorer(piece_table(*"abcdef"), seed=9)
    found = beam_search(scorer, batch(*SOURCES), beam=4, max_lengths_B=[8] * 4)
    for source, candidates in zip(SOURCES, found, strict=True):
        for candidate in candidates:
            wanted = log_probs_of(scorer, source, candidate.pieces)
            assert candidate.token_log_probabilities == pytest.approx(wanted)
            assert candidate.log_probability == pytest.approx(sum(wanted))


def test_the_limit_ends_what_would_go_on_and_marks_it() -> None:
    talkative = ToyScorer(ABC, end_bonus=-50.0)
    for candidate in beam_search(talkative, batch([4]), beam=3, max_lengths_B=[6])[0]:
        assert candidate.capped
        assert len(candidate.pieces) == 5
        assert candidate.token_log_probabilities[-1] < -40
    terse = ToyScorer(ABC, end_bonus=50.0)
    assert [candidate.capped for candidate in beam_search(terse, batch([4]), beam=1, max_lengths_B=[1])[0]] == [False]


def test_a_prefix_is_kept_and_the_rest_is_searched() -> None:
    scorer = ToyScorer(piece_table(*"abcd"), seed=5)
    prefixes = [[4, 4, 7], [], [5], [6, 6, 6, 6]]
    found = beam_search(scorer, batch(*SOURCES), beam=400, max_lengths_B=[5, 4, 4, 2], prefixes=prefixes)
    limits = [5, 4, 4, 5]  # the last one is raised: four pieces and the end
    for source_S, cap, prefix, candidates in zip(batch(*SOURCES), limits, prefixes, found, strict=True):
        everything = enumerate_all(scorer, source_S, cap)
        wanted = [one for one in everything if list(one.pieces[: len(prefix)]) == prefix]
        assert_same(candidates, wanted)


def test_a_prefix_may_hold_what_the_rules_forbid() -> None:
    scorer = ToyScorer(piece_table(*"abcd"), seed=5, never=())
    rules = OutputRules(scorer.pieces)
    for candidate in beam_search(scorer, batch([4, 5]), beam=3, max_lengths_B=[9], prefixes=[[1, 4]], rules=rules)[0]:
        assert candidate.pieces[:2] == (1, 4)
        assert 1 not in candidate.pieces[2:]
        assert candidate.token_log_probabilities == pytest.approx(log_probs_of(scorer, [4, 5], candidate.pieces))


@pytest.mark.parametrize("beam", [1, 4])
def test_a_shortlist_gives_full_ids(beam: int) -> None:
    listed = ToyScorer(piece_table(*"abcdefgh"), seed=2, first=8)
    full = ToyScorer(piece_table(*"abcdefgh"), seed=2, never=(0, 1, 2, 8, 9, 10, 11))
    rules = OutputRules(listed.pieces)
    options: dict[str, Any] = {"beam": beam, "max_lengths_B": [7] * 4, "rules": rules, "prefixes": [[5], [], [], [4]]}
    for ours, theirs in zip(
        beam_search(listed, batch(*SOURCES), **options), beam_search(full, batch(*SOURCES), **options), strict=True
    ):
        assert_same(ours, theirs)
    with pytest.raises(UserError, match="nothing to say"):
        beam_search(listed, batch([4]), beam=2, max_lengths_B=[7], prefixes=[[11]])


def test_attention_follows_the_hypothesis() -> None:
    scorer = ToyScorer(piece_table(*"abcd"), seed=7)
    found = beam_search(scorer, batch(*SOURCES), beam=5, max_lengths_B=[7] * 4, attention=True)
    for source, candidates in zip(SOURCES, found, strict=True):
        for candidate in candidates:
            assert candidate.attention is not None
            assert candidate.attention.shape == (len(candidate.pieces), 5)
            number = sum(sign * place for place, sign in enumerate(source, start=1)) % scorer.rows
            for last, row in zip([START_ID, *candidate.pieces[:-1]], candidate.attention, strict=False):
                number = (number * 31 + last * 17 + 5) % scorer.rows
                weights = [(number * 7 + place * 13) % 29 + 1 for place in range(len(source))]
                wanted = [weight / sum(weights) for weight in weights] + [0.0] * (5 - len(source))
                assert row.tolist() == pytest.approx(wanted)
    assert beam_search(scorer, batch([4]), beam=1, max_lengths_B=[5])[0][0].attention is None


def test_ranking_afterwards_finds_the_best_under_any_length_form() -> None:
    scorer = ToyScorer(ABC, seed=4)
    everything = enumerate_all(scorer, batch([6, 7, 8])[0], 5)
    found = beam_search(scorer, batch([6, 7, 8]), beam=400, max_lengths_B=[5])[0]
    for alpha in (0.0, 0.7, 1.2):
        best = max(everything, key=lambda one: one.log_probability / (len(one.pieces) + 1) ** alpha)
        assert rank(found, alpha)[0].pieces == best.pieces


def test_rules_that_forbid_the_empty_output() -> None:
    scorer = ToyScorer(ABC, end_bonus=20.0)
    assert beam_search(scorer, batch([4]), beam=1, max_lengths_B=[5])[0][0].pieces == ()
    ruled = beam_search(scorer, batch([4]), beam=1, max_lengths_B=[5], rules=OutputRules(ABC))[0][0]
    assert len(ruled.pieces) == 1
    raised = beam_search(scorer, batch([4]), beam=2, max_lengths_B=[1], rules=OutputRules(ABC))[0]
    assert {len(candidate.pieces) for candidate in raised} == {1}


def test_numbers_that_are_none_are_an_error() -> None:
    scorer = ToyScorer(ABC)
    scorer.table_NV[:, 4] = math.nan
    for rules in (None, OutputRules(ABC)):
        with pytest.raises(UserError, match="NaN"):
            beam_search(scorer, batch([4], [5, 6]), beam=3, max_lengths_B=[5, 5], rules=rules)


def test_nothing_in_nothing_out() -> None:
    assert beam_search(ToyScorer(ABC), torch.zeros((0, 3), dtype=torch.int64), beam=2, max_lengths_B=[]) == []
    with pytest.raises(UserError, match="beam 0"):
        beam_search(ToyScorer(ABC), batch([4]), beam=0, max_lengths_B=[5])


@settings(max_examples=80)
@given(
    seed=st.integers(0, 10**6),
    beam=st.integers(1, 6),
    width=st.one_of(st.integers(2, 200), st.sampled_from([64, 128, 1000])),
    impossible=st.sampled_from([0.0, 0.5, 0.98]),
)
def test_two_passes_find_what_one_does(seed: int, beam: int, width: int, impossible: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    scores_BKV = torch.randn(3, beam, width, generator=generator)
    scores_BKV[torch.rand(scores_BKV.shape, generator=generator) < impossible] = -torch.inf
    total_BK = torch.randn(3, beam, generator=generator)
    total_BK[0, 1:] = -torch.inf
    best_BC, parent_BC, piece_BC, log_prob_BC = best_continuations(Scores(scores_BKV, None), total_BK, 2 * beam)
    wanted_BC = (scores_BKV + total_BK[:, :, None]).flatten(1).topk(2 * beam, 1).values
    assert torch.equal(best_BC, wanted_BC)
    assert int(piece_BC.max()) < width
    rows_B1 = torch.arange(3)[:, None]
    assert torch.equal(scores_BKV[rows_B1, parent_BC, piece_BC], log_prob_BC)
    finite = best_BC > -torch.inf
    assert torch.equal((log_prob_BC + total_BK.gather(1, parent_BC))[finite], best_BC[finite])
