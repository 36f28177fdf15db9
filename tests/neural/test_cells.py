"""Recurrent cells: each step against its equations, each sequence against torch's own layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dragoman.neural.cells import CELLS, Cell, GruAfterCell, GruCell, LstmCell, State

every_cell = pytest.mark.parametrize("name", CELLS)


def made(name: str, inputs: int = 5, width: int = 4, **options: Any) -> Cell:
    """A cell far from symmetry, so that mistakes show."""
    torch.manual_seed(3)
    cell = CELLS[name](inputs, width, **options).double()
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.5)
    return cell


def inputs_and_state(cell: Cell, batch: int = 3, length: int = 6) -> tuple[Tensor, State]:
    torch.manual_seed(4)
    inputs = torch.randn(batch, length, 5, dtype=torch.float64, requires_grad=True)
    return inputs, tuple(torch.randn(batch, 4, dtype=torch.float64) for _ in range(cell.memories))


def by_steps(cell: Cell, inputs: Tensor, state: State) -> tuple[Tensor, State]:
    states = []
    for time in range(inputs.shape[1]):
        state = cell.step(cell.products(inputs[:, time]), state)
        states.append(state[0])
    return torch.stack(states, 1), state


@every_cell
def test_a_sequence_is_its_steps(name: str) -> None:
    cell = made(name)
    inputs, state = inputs_and_state(cell)
    parameters = [inputs, *cell.parameters()]
    run, last = cell.run(inputs, state)
    stepped, stepped_last = by_steps(cell, inputs, state)
    torch.testing.assert_close(run, stepped)
    torch.testing.assert_close(last, stepped_last)
    gradients = (torch.autograd.grad(each.square().sum(), parameters) for each in (run, stepped))
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


def test_which_cells_have_a_kernel() -> None:
    paths = {name: made(name).path for name in CELLS}
    assert paths == {name: "step by step" if name == "gru-before" else "fused" for name in CELLS}
    assert {made(name, layer_norm=True).path for name in CELLS} == {"step by step"}


THEIRS: dict[str, Any] = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN, "rnn-relu": nn.RNN}


@pytest.mark.parametrize("name", THEIRS)
def test_cells_equal_torchs_layers(name: str) -> None:
    cell = made(name)
    options = {"nonlinearity": "relu"} if name == "rnn-relu" else {}
    layer = THEIRS[name](5, 4, batch_first=True, **options).double()
    with torch.no_grad():
        for own, weight in zip(layer.parameters(), cell.kernel_weights(), strict=True):
            own.copy_(weight)
    inputs, state = inputs_and_state(cell)
    begin = tuple(each[None] for each in state)
    expected, last = layer(inputs, begin if name == "lstm" else begin[0])
    found, found_last = by_steps(cell, inputs, state)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(found_last, tuple(each[0] for each in (last if name == "lstm" else (last,))))


def sigmoid(values: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-values)))


def test_the_gru_that_resets_before_the_product_is_that_of_the_notes() -> None:
    cell = made("gru-before")
    assert isinstance(cell, GruCell)
    inputs, (state,) = inputs_and_state(cell, length=1)
    x, h = inputs.detach()[:, 0].numpy(), state.numpy()
    w_r, w_u, w_c = np.split(cell.input.weight.detach().numpy(), 3)
    b_r, b_u, b_c = np.split(cell.input.bias.detach().numpy(), 3)
    v_r, v_u = np.split(cell.state.weight.detach().numpy(), 2)
    reset, update = sigmoid(x @ w_r.T + h @ v_r.T + b_r), sigmoid(x @ w_u.T + h @ v_u.T + b_u)
    candidate = np.tanh(x @ w_c.T + (reset * h) @ cell.candidate.weight.detach().numpy().T + b_c)
    found = cell.step(cell.products(inputs[:, 0]), (state,))[0].detach().numpy()
    np.testing.assert_allclose(found, update * candidate + (1 - update) * h)


def test_gates_have_names() -> None:
    lstm, gru = made("lstm"), made("gru")
    assert isinstance(lstm, LstmCell)
    assert isinstance(gru, GruAfterCell)
    inputs, state = inputs_and_state(lstm)
    gates = lstm.open(lstm.products(inputs[:, 0]), state)
    hidden, memory = lstm.step(lstm.products(inputs[:, 0]), state)
    torch.testing.assert_close(memory, gates.forget * state[1] + gates.admit * gates.candidate)
    torch.testing.assert_close(hidden, gates.show * memory.tanh())
    assert gru.open(gru.products(inputs[:, 0]), state[:1])._fields == ("reset", "update", "candidate")


@every_cell
@pytest.mark.parametrize("layer_norm", [False, True])
def test_what_stands_behind_the_end_of_a_row_changes_nothing(name: str, layer_norm: bool) -> None:
    cell = made(name, layer_norm=layer_norm)
    inputs, state = inputs_and_state(cell)
    lengths = torch.tensor([6, 2, 4])
    present = torch.arange(6) < lengths[:, None]
    states, last = cell.run(inputs, state, present)
    noisy = torch.where(present[..., None], inputs, torch.randn_like(inputs) * 9)
    _, noisy_last = cell.run(noisy, state, present)
    for row, length in enumerate(lengths.tolist()):
        alone, alone_last = cell.run(inputs[row : row + 1, :length], tuple(each[row : row + 1] for each in state))
        torch.testing.assert_close(states[row : row + 1, :length], alone)
        for found, noised, expected in zip(last, noisy_last, alone_last, strict=True):
            torch.testing.assert_close(found[row : row + 1], expected)
            torch.testing.assert_close(noised[row : row + 1], expected)


@every_cell
def test_gradients_do_not_flow_from_behind_the_end(name: str) -> None:
    cell = made(name)
    inputs, state = inputs_and_state(cell)
    present = torch.arange(6) < torch.tensor([6, 2, 4])[:, None]
    _, last = cell.run(inputs, state, present)
    (gradient,) = torch.autograd.grad(sum((each.sum() for each in last), torch.zeros(())), inputs)
    assert gradient[~present].abs().sum() == 0
    assert gradient[present].abs().sum() > 0


def test_the_forget_gate_begins_open() -> None:
    cell = LstmCell(5, 4)
    assert cell.input.bias.tolist() == [0.0] * 4 + [1.0] * 4 + [0.0] * 8
