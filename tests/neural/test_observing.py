"""What is observed is what the network computes, and it computes the same when nobody looks any more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from dragoman.neural.cells import CELLS, Cell, LstmCell
from dragoman.neural.gating import fresh_fadings
from dragoman.neural.observing import observed_attention, observed_cells
from dragoman.neural.recipes import RecurrentOptions, TransformerOptions
from dragoman.neural.recurrent import Recurrent
from dragoman.neural.transformer import Transformer
from tests.neural.test_recurrent import INPUTS, PIECES, SOURCE, network


def sigmoid(values: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-values)))


@torch.inference_mode()
def test_gates_and_states_of_an_lstm_are_those_of_its_equations() -> None:
    torch.manual_seed(3)
    cell = LstmCell(5, 4)
    inputs_BTD = torch.randn(1, 6, 5)
    fused, _ = cell.run(inputs_BTD)
    with observed_cells(cell) as seen:
        states_BTH, _ = cell.run(inputs_BTD)
    (steps,) = seen.values()
    w = {name: parameter.numpy() for name, parameter in cell.named_parameters()}
    h, c = np.zeros(4), np.zeros(4)
    for step, x in zip(steps, inputs_BTD[0].numpy(), strict=True):
        i, f, g, o = np.split(x @ w["input.weight"].T + w["input.bias"] + h @ w["state.weight"].T, 4)
        i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
        c = f * c + i * g
        h = o * np.tanh(c)
        for name, value in (("admit", i), ("forget", f), ("candidate", g), ("show", o)):
            np.testing.assert_allclose(step.gates[name][0], value, atol=1e-6)
        np.testing.assert_allclose(step.state[0][0], h, atol=1e-6)
        np.testing.assert_allclose(step.state[1][0], c, atol=1e-6)
    torch.testing.assert_close(states_BTH, fused, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_is_as_it_was_afterwards(name: str) -> None:
    cell = CELLS[name](3, 4)
    path, inputs_BTD = cell.path, torch.randn(2, 5, 3)
    before = cell.run(inputs_BTD)[0]
    with observed_cells(cell) as seen, torch.no_grad():
        assert cell.path == "step by step"
        torch.testing.assert_close(cell.run(inputs_BTD)[0], before, atol=1e-6, rtol=1e-5)
    assert len(next(iter(seen.values()))) == 5
    with pytest.raises(RuntimeError), observed_cells(cell):
        raise RuntimeError
    assert cell.path == path
    assert "step" not in vars(cell)
    torch.testing.assert_close(cell.run(inputs_BTD)[0], before, atol=0, rtol=0)


@pytest.mark.parametrize("changes", [{}, {"ask": "before", "fuse": "inside", "score": "additive"}])
@torch.inference_mode()
def test_the_weights_of_a_recurrent_network_are_those_of_its_search(changes: dict[str, Any]) -> None:
    made = network(**changes)
    with observed_attention(made) as seen:
        made.hidden(SOURCE, INPUTS)
    weights_TS = torch.cat(seen["attention"], -2)[0]
    torch.testing.assert_close(weights_TS, stepped(made), atol=1e-6, rtol=1e-5)
    made.hidden(SOURCE, INPUTS)
    assert sum(len(each) for each in seen.values()) == len(seen["attention"])  # nothing is kept behind the block


@torch.inference_mode()
def test_every_head_of_a_transformer_is_seen_and_one_layer_is_what_its_search_shows() -> None:
    torch.manual_seed(5)
    options = TransformerOptions(width=16, inner=16, heads=4, encoder_layers=2, decoder_layers=2)
    made = Transformer(options, PIECES, PIECES, joint=True).eval()
    expected = made.hidden(SOURCE, INPUTS)
    with observed_attention(made) as seen:
        torch.testing.assert_close(made.hidden(SOURCE, INPUTS), expected)
    layers = [f"encoder.{n}.self_attention" for n in (0, 1)]
    layers += [f"decoder.{n}.{which}_attention" for n in (0, 1) for which in ("self", "cross")]
    assert set(seen) == set(layers)
    for (weights_BHTS,) in seen.values():
        assert weights_BHTS.shape[:2] == (1, 4)
        torch.testing.assert_close(weights_BHTS.sum(-1), torch.ones(weights_BHTS.shape[:3]))
    (shown_BHTS,) = seen[f"decoder.{made.watched.layer}.cross_attention"]
    torch.testing.assert_close(made.watched.of(shown_BHTS)[0], stepped(made), atol=1e-6, rtol=1e-5)


def stepped(made: Recurrent | Transformer) -> torch.Tensor:
    """What the scorer says that it looked at while it read INPUTS."""
    scorer: Any = made.scorer()
    state, rows = scorer.start(SOURCE, 1, INPUTS.shape[1]), []
    for time in range(INPUTS.shape[1]):
        step = scorer.step(state, INPUTS[:, time : time + 1])
        state = step.state
        assert step.attention_BKS is not None
        rows.append(step.attention_BKS[0])
    return torch.cat(rows)


def test_both_directions_of_a_deep_encoder_are_seen() -> None:
    made = network(kind=RecurrentOptions, encoder="bi", encoder_layers=2, decoder_layers=2)
    with observed_cells(made) as seen:
        made.hidden(SOURCE, INPUTS)
    assert {name: len(steps) for name, steps in seen.items()} == {
        **{f"encoder.layers.{layer}.{direction}": SOURCE.shape[1] for layer in (0, 1) for direction in (0, 1)},
        **{f"decoder.{layer}": INPUTS.shape[1] for layer in (0, 1)},
    }


def test_gradients_of_fresh_cells_vanish_and_explode_as_their_matrices_say() -> None:
    norms = {each.name: each.norms for each in fresh_fadings(16, steps=40, runs=8)}
    assert {name.split(",")[0] for name in norms} == set(CELLS)
    assert all(each[0] == pytest.approx(1) for each in norms.values())  # L = v'h_T, |v| = 1
    assert norms["lstm"][-1] > 10 * norms["rnn"][-1]
    assert 1 > norms["rnn"][-1] > 1000 * norms["rnn, W_h x 0.5"][-1]
    assert norms["rnn-relu, W_h x 2"][-1] > 1000 > 1 > norms["rnn-relu"][-1]
    assert fresh_fadings(16, steps=5, runs=2) == fresh_fadings(16, steps=5, runs=2)


def test_a_linear_chain_by_hand() -> None:
    """h_t = relu(W h_{t-1}) with W = 2 I and h_0 > 0: |dL/dh_k| = 2^(T - k) |v|."""
    cell = CELLS["rnn-relu"](1, 3)
    with torch.no_grad():
        cell.state.weight.copy_(2 * torch.eye(3))
        cell.input.weight.zero_()
    with observed_cells(cell) as seen:
        states_BTH, _ = cell.run(torch.zeros(1, 4, 1), (torch.ones(1, 3, requires_grad=True),))
    v = torch.tensor([3.0, 4.0, 0.0])
    states = [step.state[0] for step in next(iter(seen.values()))]
    gradients = torch.autograd.grad((states_BTH[0, -1] * v).sum(), states)
    assert [float(each.norm()) for each in gradients] == pytest.approx([40, 20, 10, 5])


def test_a_cell_without_gates_shows_its_state_alone() -> None:
    cell: Cell = CELLS["rnn"](2, 2)
    with observed_cells(cell) as seen, torch.no_grad():
        cell.run(torch.randn(1, 3, 2))
    assert all(step.gates == {} and len(step.state) == 1 for step in next(iter(seen.values())))
