"""A shortlist: what is learnt, who may say what, and that nothing but the choice of pieces changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from dragoman.contracts import PieceTable, UserError, Work
from dragoman.neural.network import Network, OutputLayer, Saying, everything
from dragoman.neural.quantised import BFloat16Product, Int8Product
from dragoman.neural.recipes import AttentionOptions, TransformerOptions
from dragoman.neural.recurrent import Recurrent
from dragoman.neural.shortlist import NAME, Shortlist
from dragoman.neural.shortlisting import learn_shortlist
from dragoman.neural.transformer import Transformer
from dragoman.search.beam import beam_search
from dragoman.search.combine import Ensemble
from dragoman.search.steps import Candidate

PIECES = PieceTable(tuple("pusexyzwab"), padding=0, unknown=1, start=2, end=3)
SOURCES = torch.tensor([[4, 5, 3, 0, 0], [6, 7, 8, 4, 3], [9, 3, 0, 0, 0]])
NONE = np.full((10, 1), -1, np.int32)
EVERY = Shortlist(np.arange(10, dtype=np.int32), NONE)
MIRROR = Shortlist(  # piece 4 + k becomes piece 9 - k, and 6 may always be said
    np.array([3, 6], np.int32), np.where(np.arange(10) > 3, 13 - np.arange(10), -1).astype(np.int32)[:, None]
)


def networks() -> list[Network]:
    torch.manual_seed(3)
    transformer = TransformerOptions(width=8, inner=16, heads=2, encoder_layers=1, decoder_layers=2)
    recurrent = AttentionOptions(embedding=8, width=8, encoder_width=8)
    made: list[Network] = [Transformer(transformer, PIECES, PIECES, True), Recurrent(recurrent, PIECES, PIECES, True)]
    with torch.no_grad():
        for network in made:
            for parameter in network.parameters():
                parameter.add_(torch.randn_like(parameter) * 0.3)
    return [network.eval() for network in made]


every_network = pytest.mark.parametrize("network", networks(), ids=lambda network: type(network).__name__)


def saying(shortlist: Shortlist, prefixes: Sequence[Sequence[int]] | None = None) -> Saying:
    return partial(shortlist.sayable, pieces=len(PIECES), prefixes=prefixes)


def searched(network: Network, say: Saying, sources_BS: Tensor = SOURCES) -> list[list[Candidate]]:
    return beam_search(network.scorer(say), sources_BS, beam=3, max_lengths_B=[6] * len(sources_BS))


@every_network
def test_a_shortlist_of_all_pieces_changes_nothing(network: Network) -> None:
    found, expected = searched(network, saying(EVERY)), searched(network, everything)
    for some, others in zip(found, expected, strict=True):
        assert [each.pieces for each in some] == [each.pieces for each in others]
        for one, other in zip(some, others, strict=True):
            assert one.token_log_probabilities == pytest.approx(other.token_log_probabilities, abs=1e-5)


@every_network
def test_a_sentence_says_what_its_own_pieces_call_for_whatever_its_company(network: Network) -> None:
    together = searched(network, saying(MIRROR))
    for row, source in enumerate(SOURCES):
        may = {6, *(13 - piece for piece in source.tolist() if piece > 3)}
        said = {piece for each in together[row] for piece in each.pieces}
        assert said
        assert said <= may
        (alone,) = searched(network, saying(MIRROR), source[None, : int((source != 0).sum())])
        assert [each.pieces for each in alone] == [each.pieces for each in together[row]]


@every_network
def test_probabilities_are_shares_of_what_may_be_said(network: Network) -> None:
    scorer = network.scorer(saying(MIRROR))
    step = scorer.step(scorer.start(SOURCES, 1, 3), torch.full((3, 1), PIECES.start))
    whole = network.scorer()
    all_BV = whole.step(whole.start(SOURCES, 1, 3), torch.full((3, 1), PIECES.start)).log_probs_BKV[:, 0]
    assert step.ids_V is not None
    for row, source in enumerate(SOURCES):
        may = sorted({3, 6, *(13 - piece for piece in source.tolist() if piece > 3)})
        expected = all_BV[row, may].log_softmax(-1)
        columns = [step.ids_V.tolist().index(piece) for piece in may]
        torch.testing.assert_close(step.log_probs_BKV[row, 0, columns], expected, atol=1e-5, rtol=1e-5)
        rest = [column for column in range(len(step.ids_V)) if column not in columns]
        assert (step.log_probs_BKV[row, 0, rest] == -torch.inf).all()


@every_network
def test_a_prefix_may_be_what_no_source_piece_calls_for(network: Network) -> None:
    prefixes = [[8], [9], [5, 5]]
    found = beam_search(
        network.scorer(saying(MIRROR, prefixes)), SOURCES, beam=2, max_lengths_B=[6] * 3, prefixes=prefixes
    )
    for prefix, candidates in zip(prefixes, found, strict=True):
        assert all(list(each.pieces[: len(prefix)]) == prefix for each in candidates)
        assert all(np.isfinite(each.log_probability) for each in candidates)


def test_members_of_an_ensemble_take_the_same_list() -> None:
    scorers = [network.scorer(saying(MIRROR)) for network in networks()]
    found = beam_search(Ensemble(scorers), SOURCES[:1], beam=2, max_lengths_B=[6])
    assert {piece for each in found[0] for piece in each.pieces} <= {6, 8, 9}


@pytest.mark.parametrize("product", [OutputLayer, Int8Product.quantised, BFloat16Product])
def test_some_rows_of_a_product_are_the_same_numbers(product: Callable[[torch.Tensor], Any]) -> None:
    torch.manual_seed(1)
    whole = product(torch.randn(24, 16))
    states, some = torch.randn(5, 16), torch.tensor([2, 3, 11, 23])
    torch.testing.assert_close(whole.of(some)(states), whole(states)[:, some], atol=1e-6, rtol=1e-6)
    assert whole(states).shape == (5, 24)


def test_what_stands_together_is_learnt_and_a_piece_may_be_copied() -> None:
    sources = [[4, 5], [4, 6], [7, 5], [7, 6], [8]] * 3
    targets = [[5, 4], [5, 7], [6, 4], [6, 7], [8, 9]] * 3  # 4 is 5, 5 is 4, 6 is 7, 7 is 6
    other = PieceTable(tuple("PUSEyxwzab"), padding=0, unknown=1, start=2, end=3)
    made = learn_shortlist(sources, targets, (PIECES, other), 1, 2, Work(Path(), threads=1))
    translations = {source: int(made.partners_VN[source, 1]) for source in range(4, 10)}
    assert translations == {4: 5, 5: 4, 6: 7, 7: 6, 8: 8, 9: -1}
    copied = {source: int(made.partners_VN[source, 0]) for source in range(10)}
    assert copied == {0: -1, 1: -1, 2: -1, 3: -1, 4: 5, 5: 4, 6: 7, 7: 6, 8: 8, 9: 9}
    assert made.always_A.tolist() == [3, 4, 5]  # the end, and the first two of those that stand there six times
    assert made.covers([[8], [4]], [[8, 9], [5]], 10) == (3.5, 10, 2 / 3)


def test_a_folder_has_one_or_none_or_it_is_damaged(tmp_path: Path) -> None:
    assert Shortlist.load(tmp_path) is None
    MIRROR.save(tmp_path)
    kept = Shortlist.load(tmp_path)
    assert kept is not None
    assert np.array_equal(kept.partners_VN, MIRROR.partners_VN)
    assert np.array_equal(kept.always_A, MIRROR.always_A)
    (tmp_path / NAME).write_bytes(b"no tensors")
    with pytest.raises(UserError, match="damaged"):
        Shortlist.load(tmp_path)
