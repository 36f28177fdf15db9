"""Backpropagation through time, written out in NumPy, against what torch's autograd says of the cells.

Each `*_back` goes one step back: from dL/dH_t (and dL/dC_t) to what flows on to H_{t-1} and the gradients of this
step's products; the weights' gradients are sums over the steps, H_{t-1} held constant in each term.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from dragoman.neural.cells import CELLS, Cell, State
from tests.neural.test_cells import inputs_and_state, made, sigmoid

Array = np.ndarray
LENGTH = 6


class Weights(NamedTuple):
    """inputs D x G, bias G, states H x (gates by state), candidate H x H of the GRU that resets before, inner H of the
    one that resets after."""

    inputs: Array
    bias: Array
    states: Array
    candidate: Array
    inner: Array


class Gradients(NamedTuple):
    """The same, and of the inputs of the step and of the products that its state makes."""

    state: tuple[Array, ...]
    made_BG: Array
    weights: dict[str, Array]


def rnn(made_BG: Array, state: tuple[Array, ...], w: Weights, relu: bool = False) -> tuple[Array, ...]:
    values = made_BG + state[0] @ w.states
    return (np.maximum(values, 0) if relu else np.tanh(values),)


def rnn_back(
    made_BG: Array, state: tuple[Array, ...], w: Weights, back: tuple[Array, ...], relu: bool = False
) -> Gradients:
    (new,) = rnn(made_BG, state, w, relu)
    inside = back[0] * ((new > 0) if relu else 1 - new**2)  # dL/dH_t * phi'_t
    return Gradients((inside @ w.states.T,), inside, {"states": state[0].T @ inside})


def lstm_gates(made_BG: Array, state: tuple[Array, ...], w: Weights) -> list[Array]:
    admit, forget, candidate, show = np.split(made_BG + state[0] @ w.states, 4, -1)
    return [sigmoid(admit), sigmoid(forget), np.tanh(candidate), sigmoid(show)]


def lstm(made_BG: Array, state: tuple[Array, ...], w: Weights) -> tuple[Array, ...]:
    admit, forget, candidate, show = lstm_gates(made_BG, state, w)
    memory = forget * state[1] + admit * candidate
    return show * np.tanh(memory), memory


def lstm_back(made_BG: Array, state: tuple[Array, ...], w: Weights, back: tuple[Array, ...]) -> Gradients:
    admit, forget, candidate, show = lstm_gates(made_BG, state, w)
    memory = forget * state[1] + admit * candidate
    of_memory = back[1] + back[0] * show * (1 - np.tanh(memory) ** 2)
    gates = [
        of_memory * candidate * admit * (1 - admit),
        of_memory * state[1] * forget * (1 - forget),
        of_memory * admit * (1 - candidate**2),
        back[0] * np.tanh(memory) * show * (1 - show),
    ]
    inside = np.concatenate(gates, -1)
    return Gradients((inside @ w.states.T, of_memory * forget), inside, {"states": state[0].T @ inside})


def gru_gates(made_BG: Array, state: tuple[Array, ...], w: Weights, after: bool) -> list[Array]:
    (old,) = state
    reset, update, candidate = np.split(made_BG, 3, -1)
    by_state = np.split(old @ w.states, 3 if after else 2, -1)
    reset, update = sigmoid(reset + by_state[0]), sigmoid(update + by_state[1])
    inner = by_state[2] + w.inner if after else (reset * old) @ w.candidate
    return [reset, update, np.tanh(candidate + (reset * inner if after else inner)), inner]


def gru(made_BG: Array, state: tuple[Array, ...], w: Weights, after: bool) -> tuple[Array, ...]:
    _, update, candidate, _ = gru_gates(made_BG, state, w, after)
    return (update * candidate + (1 - update) * state[0],)


def gru_back(made_BG: Array, state: tuple[Array, ...], w: Weights, back: tuple[Array, ...], after: bool) -> Gradients:
    (old,) = state
    reset, update, candidate, inner = gru_gates(made_BG, state, w, after)
    of_candidate = back[0] * update * (1 - candidate**2)
    of_update = back[0] * (candidate - old) * update * (1 - update)
    of_reset = of_candidate * inner if after else of_candidate @ w.candidate.T * old
    of_reset = of_reset * reset * (1 - reset)
    made = np.concatenate([of_reset, of_update, of_candidate], -1)
    if after:
        by_state = np.concatenate([of_reset, of_update, of_candidate * reset], -1)
        more = {"inner": (of_candidate * reset).sum(0)}
        flows = by_state @ w.states.T
    else:
        by_state = np.concatenate([of_reset, of_update], -1)
        more = {"candidate": (reset * old).T @ of_candidate}
        flows = by_state @ w.states.T + of_candidate @ w.candidate.T * reset
    return Gradients((flows + back[0] * (1 - update),), made, {"states": old.T @ by_state, **more})


STEPS: dict[str, tuple[Callable[..., tuple[Array, ...]], Callable[..., Gradients], dict[str, bool]]] = {
    "rnn": (rnn, rnn_back, {}),
    "rnn-relu": (rnn, rnn_back, {"relu": True}),
    "lstm": (lstm, lstm_back, {}),
    "gru": (gru, gru_back, {"after": True}),
    "gru-before": (gru, gru_back, {"after": False}),
}


def backpropagation(
    name: str, inputs_BTD: Array, state: tuple[Array, ...], w: Weights, wanted_BTH: Array, window: int
) -> dict[str, Array]:
    """Gradients of L = sum of wanted H; what flows back stops at each border of a window of so many steps."""
    forth, back, form = STEPS[name]
    made, states = inputs_BTD @ w.inputs + w.bias, [state]
    for time in range(LENGTH):
        states.append(forth(made[:, time], states[-1], w, **form))
    total: dict[str, Array] = {"state": np.zeros_like(state[0])}
    of_made, flows = np.zeros_like(made), tuple(np.zeros_like(each) for each in state)
    for time in reversed(range(LENGTH)):
        comes = (flows[0] + wanted_BTH[:, time], *flows[1:])
        step = back(made[:, time], states[time], w, comes, **form)
        of_made[:, time] = step.made_BG
        for part, gradient in step.weights.items():
            total[part] = total.get(part, 0) + gradient
        flows = tuple(np.zeros_like(each) for each in state) if time % window == 0 and time else step.state
    flat = of_made.reshape(-1, of_made.shape[-1])
    total["inputs"], total["bias"] = inputs_BTD.reshape(len(flat), -1).T @ flat, flat.sum(0)
    total["state"], total["x"] = flows[0], of_made @ w.inputs.T
    return total


def weights_of(cell: Cell) -> Weights:
    given = {name: parameter.detach().numpy() for name, parameter in cell.named_parameters()}
    empty = np.zeros(0)
    return Weights(
        given["input.weight"].T,
        given["input.bias"],
        given["state.weight"].T,
        given.get("candidate.weight", empty).T,
        given.get("inner_bias_H", empty),
    )


def by_autograd(
    cell: Cell, inputs: torch.Tensor, state: State, wanted: torch.Tensor, window: int
) -> dict[str, np.ndarray]:
    """The same by torch, the state let go of at each border of a window."""
    began = state = tuple(each.clone().requires_grad_() for each in state)
    loss = torch.zeros((), dtype=torch.float64)
    for first in range(0, LENGTH, window):
        states, state = cell.run(inputs[:, first : first + window], state)
        loss = loss + (states * wanted[:, first : first + window]).sum()
        state = tuple(each.detach() for each in state)
    names = {"input.weight": "inputs", "input.bias": "bias", "state.weight": "states"}
    names |= {"candidate.weight": "candidate", "inner_bias_H": "inner"}
    asked: dict[str, Any] = {names[name]: parameter for name, parameter in cell.named_parameters()}
    asked |= {"x": inputs, "state": began[0]}
    found = torch.autograd.grad(loss, list(asked.values()))
    turned = {"inputs", "states", "candidate"}
    return {name: (each.mT if name in turned else each).numpy() for name, each in zip(asked, found, strict=True)}


def test_every_cell_is_written_out() -> None:
    assert set(STEPS) == set(CELLS)


@pytest.mark.parametrize("window", [1, 2, 4, LENGTH, LENGTH + 3])
@pytest.mark.parametrize("name", STEPS)
def test_autograd_is_backpropagation_through_time(name: str, window: int) -> None:
    cell = made(name)
    inputs, state = inputs_and_state(cell, length=LENGTH)
    wanted = torch.randn(3, LENGTH, 4, dtype=torch.float64)
    numbers = tuple(each.numpy() for each in state)
    written = backpropagation(name, inputs.detach().numpy(), numbers, weights_of(cell), wanted.numpy(), window)
    found = by_autograd(cell, inputs, state, wanted, window)
    assert set(found) == set(written)
    for part, gradient in written.items():
        np.testing.assert_allclose(found[part], gradient, rtol=0, atol=1e-6, err_msg=part)


@pytest.mark.parametrize("name", STEPS)
def test_truncated_equals_full_where_the_window_covers_the_text(name: str) -> None:
    cell = made(name)
    inputs, state = inputs_and_state(cell, length=LENGTH)
    wanted = torch.randn(3, LENGTH, 4, dtype=torch.float64)
    full, covering, short = (by_autograd(cell, inputs, state, wanted, window) for window in (LENGTH, 50, 2))
    for part in full:
        np.testing.assert_array_equal(covering[part], full[part])
    assert np.abs(short["states"] - full["states"]).max() > 1e-3  # and else it does not
