"""The recurrent encoder-decoder: its papers' equations, and its two ways of predicting against each other."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from dragoman.contracts import PieceTable
from dragoman.neural.attention import SCORES
from dragoman.neural.cells import CELLS
from dragoman.neural.encoders import turned
from dragoman.neural.recipes import AttentionOptions, RecurrentOptions
from dragoman.neural.recurrent import Recurrent
from dragoman.search.beam import beam_search
from dragoman.search.exact import enumerate_all, exact_search
from dragoman.search.steps import rank

PIECES = PieceTable(tuple("pusexyzw"), padding=0, unknown=1, start=2, end=3)
SMALL = {"embedding": 8, "width": 6, "encoder_width": 6, "encoder_layers": 1, "decoder_layers": 1}


def network(kind: type[RecurrentOptions] = AttentionOptions, **changes: Any) -> Recurrent:
    torch.manual_seed(6)
    made = Recurrent(kind(**SMALL | changes), PIECES, PIECES, joint=True).eval()
    with torch.no_grad():  # far from symmetry, so that mistakes show
        for parameter in made.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return made


SETTINGS: list[dict[str, Any]] = [
    {"ask": ask, "fuse": fuse, "input_feeding": feeding, "encoder": encoder}
    for ask, fuse, feeding, encoder in product(("before", "after"), ("inside", "outside"), (False, True), ("uni", "bi"))
]
EVERY = [
    *SETTINGS,
    *({"score": score} for score in SCORES),
    *({"cell": cell} for cell in CELLS),
    {"kind": RecurrentOptions, "turned": True, "encoder_layers": 2, "decoder_layers": 2},
    {"kind": RecurrentOptions, "encoder": "bi", "decoder_layers": 2},
    {"encoder_layers": 3, "decoder_layers": 3, "residual": True, "layer_norm": True, "cell": "gru-before"},
    {"decoder_layers": 3, "residual": True, "input_feeding": True, "turned": True, "tied": False},
    {"encoder": "conv", "encoder_layers": 3, "dilation": 2, "layer_norm": True, "ask": "before"},
    {"encoder": "conv-bi", "encoder_layers": 2, "gated": False, "kernel": 4, "score": "additive", "embedding": 5},
    {"encoder": "attention", "encoder_layers": 2, "heads": 2, "inner": 9, "fuse": "inside", "embedding": 6},
    {"kind": RecurrentOptions, "encoder": "attention", "heads": 3, "cell": "gru", "decoder_layers": 2},
    {"kind": RecurrentOptions, "encoder": "conv", "encoder_layers": 2},
]
every_network = pytest.mark.parametrize("changes", EVERY, ids=lambda changes: " ".join(map(str, changes.values())))


@every_network
def test_step_by_step_equals_all_at_once(changes: dict[str, Any]) -> None:
    made = network(**changes)
    sources = torch.tensor([[4, 5, 3, 0], [6, 7, 4, 3]])
    inputs = torch.tensor([[2, 6, 7, 5], [2, 4, 4, 6]])
    expected = made.output(made.hidden(sources, inputs)).log_softmax(-1)
    scorer = made.scorer()
    with torch.inference_mode():
        state = scorer.start(sources, 1, 4)
        for time in range(4):
            step = scorer.step(state, inputs[:, time : time + 1])
            torch.testing.assert_close(step.log_probs_BKV[:, 0], expected[:, time], atol=1e-5, rtol=1e-5)
            if made.attention is not None:
                assert step.attention_BKS is not None
                torch.testing.assert_close(step.attention_BKS.sum(-1), torch.ones(2, 1))
                assert step.attention_BKS[0, 0, 3] == 0
            state = step.state


@every_network
def test_padding_changes_nothing(changes: dict[str, Any]) -> None:
    made = network(**changes)
    alone = made.hidden(torch.tensor([[4, 5, 3]]), torch.tensor([[2, 6, 7]]))
    together = made.hidden(torch.tensor([[4, 5, 3, 0, 0], [4, 5, 6, 7, 3]]), torch.tensor([[2, 6, 7, 0], [2, 6, 6, 5]]))
    torch.testing.assert_close(together[:1, :3], alone, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("changes", [{"fuse": "inside", "input_feeding": True}, {"kind": RecurrentOptions}])
def test_select_moves_beams_and_drops_sentences(changes: dict[str, Any]) -> None:
    made = network(**changes)
    scorer = made.scorer()
    sources = torch.tensor([[4, 5, 3], [6, 7, 3], [5, 5, 3]])
    with torch.inference_mode():
        step = scorer.step(scorer.start(sources, 2, 5), torch.full((3, 2), 2))
        step = scorer.step(step.state, torch.tensor([[4, 5], [6, 7], [4, 6]]))
        state = scorer.select(step.state, torch.tensor([0, 2]), torch.tensor([[1, 1], [1, 0]]))
        found = scorer.step(state, torch.tensor([[6, 7], [5, 5]])).log_probs_BKV
    paths = [[[2, 5, 6], [2, 5, 7]], [[2, 6, 5], [2, 4, 5]]]
    for row, sentence in enumerate((0, 2)):
        for beam in range(2):
            hidden = made.hidden(sources[sentence : sentence + 1], torch.tensor([paths[row][beam]]))
            expected = made.output(hidden[0, -1]).log_softmax(-1)
            torch.testing.assert_close(found[row, beam], expected, atol=1e-5, rtol=1e-5)


@torch.inference_mode()
@pytest.mark.parametrize("changes", [{}, {"ask": "before", "fuse": "inside"}, {"kind": RecurrentOptions}])
def test_beam_and_exact_search_agree_with_enumeration(changes: dict[str, Any]) -> None:
    made = network(**changes)
    source = torch.tensor([4, 6, 5, 3])
    everything = enumerate_all(made.scorer(), source, max_length=4)
    best = rank(everything, 0.7)[0]
    wide = beam_search(made.scorer(), source[None], beam=600, max_lengths_B=[4])[0]
    assert rank(wide, 0.7)[0].pieces == best.pieces
    exact = exact_search(made.scorer(), source, max_length=4, alpha=0.7)
    assert exact.candidate is not None
    assert exact.candidate.pieces == best.pieces


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def numbers(made: Recurrent) -> dict[str, np.ndarray]:
    return {name: parameter.detach().numpy() for name, parameter in made.named_parameters()}


SOURCE, INPUTS = torch.tensor([[4, 6, 5, 3]]), torch.tensor([[2, 6, 7]])


def test_luong_by_numpy() -> None:
    """The states of both sides are taken from the cells; what is asked and how it is fused is Luong et al.'s."""
    made = network(score="general", ask="after", fuse="outside")
    with torch.no_grad():
        states_SH, last = made.encoder(8**0.5 * made.source_embedding(SOURCE), None)
        written_TH, _ = made.cells[0].run(8**0.5 * made.target_embedding(INPUTS), made.bridge(last)[0])
    h, s, w = written_TH[0].numpy(), states_SH[0].numpy(), numbers(made)
    weights = softmax(h @ w["attention.score.key.weight"] @ s.T)
    both = np.concatenate([h, weights @ s], -1)
    expected = np.tanh(both @ w["mix.weight"].T + w["mix.bias"])
    np.testing.assert_allclose(made.hidden(SOURCE, INPUTS)[0].detach().numpy(), expected, atol=1e-6)


def test_bahdanau_by_numpy() -> None:
    """h_{t-1} asks, the context enters the cell beside the last piece, and h_t predicts."""
    made = network(score="additive", ask="before", fuse="inside", encoder="bi", cell="rnn")
    with torch.no_grad():
        states_SE, last = made.encoder(8**0.5 * made.source_embedding(SOURCE), None)
        begin = made.bridge(last)[0][0]
    s, w, h = states_SE[0].numpy(), numbers(made), begin[0].numpy()
    score = "attention.score."
    for time, piece in enumerate(INPUTS[0].tolist()):
        inner = np.tanh(h @ w[score + "query.weight"].T + s @ w[score + "key.weight"].T + w[score + "key.bias"])
        context = softmax(inner @ w[score + "judge.weight"][0]) @ s
        x = 8**0.5 * w["target_embedding.weight"][piece]
        fed = x @ w["decoder.0.input.weight"].T + w["decoder.0.input.bias"] + context @ w["feed.weight"].T
        h = np.tanh(fed + h @ w["decoder.0.state.weight"].T)
        expected = h @ w["mix.weight"].T + w["mix.bias"]
        np.testing.assert_allclose(made.hidden(SOURCE, INPUTS)[0, time].detach().numpy(), expected, atol=1e-5)


def test_a_context_asked_for_after_the_step_enters_the_next_one() -> None:
    made = network(ask="after", fuse="inside")
    first = made.hidden(SOURCE, INPUTS)[:, :1]
    other = made.hidden(torch.tensor([[7, 7, 7, 3]]), INPUTS)[:, :1]
    with torch.no_grad():
        same_start = made.read(SOURCE)[1]
    made.bridge.forward = lambda last: same_start  # type: ignore[method-assign]
    changed = made.hidden(torch.tensor([[7, 7, 7, 3]]), INPUTS)
    torch.testing.assert_close(changed[:, :1], first)  # c_0 = 0: the source is not seen yet
    assert not torch.allclose(other, first)
    assert not torch.allclose(changed[:, 1:], made.hidden(SOURCE, INPUTS)[:, 1:])


def test_a_source_that_is_read_from_its_end() -> None:
    forward, backward = network(), network(turned=True)
    backward.load_state_dict(forward.state_dict())
    states, last = forward.encoder(forward.source_embedding(SOURCE), None)
    other, other_last = backward.encoder(backward.source_embedding(SOURCE.flip(1)), None)
    torch.testing.assert_close(other, states.flip(1))
    torch.testing.assert_close(other_last, last)


def test_turning_twice_changes_nothing() -> None:
    values, lengths = torch.randn(3, 5, 2), torch.tensor([5, 1, 3])
    torch.testing.assert_close(turned(turned(values, lengths), lengths), values)
    torch.testing.assert_close(turned(values, lengths)[2, 3:], values[2, 3:])


def test_a_score_that_compares_alike_wants_equal_widths() -> None:
    with pytest.raises(ValueError, match="a query of 6 features, keys of 12"):
        network(score="dot", encoder="bi")


def test_the_states_of_the_encoder_are_handed_on_where_they_fit() -> None:
    made = network(kind=RecurrentOptions, encoder_layers=2, decoder_layers=2)
    assert len(made.bridge.parts) == 0
    assert len(network(encoder="bi").bridge.parts) == 2


def test_info_says_which_way_the_cells_run() -> None:
    assert network().facts() == {"encoder runs": "fused", "decoder learns": "fused"}
    assert network(fuse="inside").facts() == {"encoder runs": "fused", "decoder learns": "step by step"}
