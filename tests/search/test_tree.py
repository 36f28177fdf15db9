"""The tree of a beam search holds all that the search looked at, and its figures."""

from __future__ import annotations

import math

import pytest

from dragoman.search.beam import beam_search
from dragoman.search.steps import rank
from dragoman.search.tree import Gardener
from dragoman.seeing import Tree
from tests.search.toy import ToyScorer, batch, log_probs_of, piece_table

ABC = piece_table("a", "b", "c")
SOURCE, CAP, ALPHA = [4, 5], 6, 0.7


def grown(seed: int, beam: int) -> tuple[ToyScorer, Tree, list[tuple[int, ...]], list[float]]:
    scorer = ToyScorer(ABC, seed)
    gardener = Gardener(lambda piece: ABC.pieces[piece], beam, ALPHA)
    found = beam_search(scorer, batch(SOURCE), beam=beam, max_lengths_B=[CAP], listener=gardener)
    alone = beam_search(ToyScorer(ABC, seed), batch(SOURCE), beam=beam, max_lengths_B=[CAP])
    assert found == alone, "who listens changes nothing"
    ranked = rank(found[0], ALPHA)
    return scorer, gardener.tree(ranked[0]), [each.pieces for each in ranked], [each.score(ALPHA) for each in ranked]


def said(tree: Tree, place: int) -> tuple[int, ...]:
    return tuple(ABC.pieces.index(tree.branches[each].piece) for each in tree.path(place))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("beam", [1, 2, 4])
def test_what_ended_is_what_the_search_returns_with_its_scores(seed: int, beam: int) -> None:
    _, tree, pieces, scores = grown(seed, beam)
    ended = {said(tree, place)[:-1]: branch for place, branch in enumerate(tree.branches) if branch.fate == "ended"}
    assert set(ended) == set(pieces)
    for wanted, score in zip(pieces, scores, strict=True):
        assert ended[wanted].score == pytest.approx(score, abs=1e-5)
    assert said(tree, tree.best)[:-1] == pieces[0]
    assert all((branch.score is not None) == (branch.fate == "ended") for branch in tree.branches)


@pytest.mark.parametrize("beam", [1, 3])
def test_every_figure_is_the_models_own(beam: int) -> None:
    scorer, tree, _, _ = grown(2, beam)
    for place, branch in enumerate(tree.branches):
        pieces = said(tree, place)
        own = log_probs_of(scorer, SOURCE, pieces)[: len(pieces)]
        assert branch.log_probability == pytest.approx(own[-1], abs=1e-5)
        assert branch.total == pytest.approx(math.fsum(own), abs=1e-5)
        assert branch.step == len(pieces) - 1


@pytest.mark.parametrize("beam", [1, 2, 4])
def test_at_each_step_the_best_come_first_and_only_what_is_kept_goes_on(beam: int) -> None:
    _, tree, _, _ = grown(1, beam)
    last = tree.branches[-1].step
    parents = {branch.parent for branch in tree.branches}
    for step in range(last + 1):
        at = [branch for branch in tree.branches if branch.step == step]
        assert [branch.total for branch in at] == sorted((branch.total for branch in at), reverse=True)
        assert len(at) <= 2 * beam
        assert sum(branch.fate in ("kept", "left") for branch in at) <= beam
        assert all(branch.fate != "left" for branch in at) or step == last
    for place, branch in enumerate(tree.branches):
        assert place not in parents or branch.fate == "kept"


def test_an_output_of_another_search_is_no_winner() -> None:
    scorer = ToyScorer(ABC, 1)
    gardener = Gardener(lambda piece: ABC.pieces[piece], 1, ALPHA)
    beam_search(scorer, batch(SOURCE), beam=1, max_lengths_B=[CAP], listener=gardener)
    other = beam_search(scorer, batch([9]), beam=4, max_lengths_B=[CAP])[0]
    grown = Tree(1, tuple(gardener.branches), 0)
    own = {said(grown, place)[:-1] for place, branch in enumerate(grown.branches) if branch.fate == "ended"}
    stranger = next(each for each in other if each.pieces not in own)
    with pytest.raises(ValueError, match="did not come out"):
        gardener.tree(stranger)
