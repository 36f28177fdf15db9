"""Bahdanau et al. 2015 and Luong et al. 2015, whole networks written out in NumPy sentence by sentence.

Encoder, first state, attention, decoder and output: nothing of the code under test but its weights. The batch has
sentences of unequal length, so padding is included.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from dragoman.neural.recipes import BAHDANAU, LUONG, RecurrentRecipe
from dragoman.neural.recurrent import Recurrent
from tests.neural.test_cells import sigmoid
from tests.neural.test_recurrent import network, numbers, softmax

SOURCES = [[4, 6, 5, 7, 3], [5, 3], [7, 4, 3]]
INPUTS = [[2, 6, 7, 4], [2, 5], [2, 4, 4]]
Weights = dict[str, np.ndarray]


def gru_step(w: Weights, cell: str, made: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Bahdanau et al. 2015, section A.1.1: their z admits the new state, r resets before the product."""
    x_r, x_z, x_c = np.split(made, 3)
    u_r, u_z = np.split(w[f"{cell}.state.weight"] @ h, 2)
    r, z = sigmoid(x_r + u_r), sigmoid(x_z + u_z)
    proposed = np.tanh(x_c + w[f"{cell}.candidate.weight"] @ (r * h))
    return np.asarray((1 - z) * h + z * proposed)


def lstm_step(w: Weights, cell: str, made: np.ndarray, h: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    i, f, new, o = np.split(made + w[f"{cell}.state.weight"] @ h, 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(new)
    return np.asarray(sigmoid(o) * np.tanh(c)), c


def product(w: Weights, name: str, x: np.ndarray) -> np.ndarray:
    return np.asarray(w[f"{name}.weight"] @ x + w.get(f"{name}.bias", 0))


def embedded(w: Weights, piece: int) -> np.ndarray:
    """As the cells read it: sqrt(d) times the row, which is also the output matrix's."""
    row = w["target_embedding.weight"][piece]
    return np.asarray(row * np.sqrt(len(row)))


def log_probabilities(w: Weights, predicted: list[np.ndarray]) -> np.ndarray:
    return np.asarray(np.log(softmax(np.stack(predicted) @ w["target_embedding.weight"].T)))


def bahdanau(w: Weights, source: list[int], inputs: list[int]) -> np.ndarray:
    """log p of every piece at each step, T x V."""
    x = [embedded(w, piece) for piece in source]
    directions = []
    for number, order in enumerate((range(len(x)), range(len(x) - 1, -1, -1))):
        cell, h, states = f"encoder.layers.0.{number}", np.zeros(6), [np.zeros(6)] * len(x)
        for j in order:
            h = states[j] = gru_step(w, cell, product(w, f"{cell}.input", x[j]), h)
        directions.append((states, h))
    (forwards, last), (backwards, first) = directions
    annotations = [np.concatenate(both) for both in zip(forwards, backwards, strict=True)]
    s = np.tanh(product(w, "bridge.parts.0", np.concatenate([last, first])))
    predicted = []
    for piece in inputs:
        query = product(w, "attention.score.query", s)
        energies = [
            w["attention.score.judge.weight"][0] @ np.tanh(query + product(w, "attention.score.key", h))
            for h in annotations
        ]
        context = softmax(np.array(energies)) @ np.stack(annotations)
        y = embedded(w, piece)
        s = gru_step(w, "decoder.0", product(w, "decoder.0.input", y) + product(w, "feed", context), s)
        predicted.append(product(w, "mix", s))
    return log_probabilities(w, predicted)


def luong(w: Weights, source: list[int], inputs: list[int], feeding: bool) -> np.ndarray:
    """log p of every piece at each step, T x V: two layers on both sides, equations 5 and 8 ("general")."""
    layers = [(np.zeros(6), np.zeros(6)), (np.zeros(6), np.zeros(6))]
    memory = []
    for piece in source:
        x = embedded(w, piece)
        for layer in (0, 1):
            cell = f"encoder.layers.{layer}.0"
            layers[layer] = lstm_step(w, cell, product(w, f"{cell}.input", x), *layers[layer])
            x = layers[layer][0]
        memory.append(x)
    predicted, attentional = [], np.zeros(8)
    for piece in inputs:
        made = product(w, "decoder.0.input", embedded(w, piece))
        if feeding:
            made = made + product(w, "feed", attentional)
        layers[0] = lstm_step(w, "decoder.0", made, *layers[0])
        layers[1] = lstm_step(w, "decoder.1", product(w, "decoder.1.input", layers[0][0]), *layers[1])
        h = layers[1][0]
        aligned = softmax(np.array([h @ w["attention.score.key.weight"] @ state for state in memory]))
        context = aligned @ np.stack(memory)
        attentional = np.tanh(product(w, "mix", np.concatenate([h, context])))
        predicted.append(attentional)
    return log_probabilities(w, predicted)


def like(recipe: RecurrentRecipe, **changes: Any) -> Recurrent:
    """A preset's own settings at a tiny size."""
    names = ("cell", "encoder", "encoder_layers", "decoder_layers", "score", "ask", "fuse", "input_feeding")
    return network(**{name: getattr(recipe.model, name) for name in names} | changes).double()


def filled(rows: list[list[int]]) -> torch.Tensor:
    longest = max(map(len, rows)) + 2
    return torch.tensor([row + [0] * (longest - len(row)) for row in rows])


def compare(made: Recurrent, expected: list[np.ndarray]) -> None:
    with torch.no_grad():
        found = made.output(made.hidden(filled(SOURCES), filled(INPUTS))).log_softmax(-1).numpy()
    for row, log_probs in enumerate(expected):
        np.testing.assert_allclose(found[row, : len(log_probs)], log_probs, rtol=0, atol=1e-6)  # weights are fp32


def test_bahdanau() -> None:
    made = like(BAHDANAU, cell="gru-before", encoder="bi", encoder_layers=1, decoder_layers=1)
    w = numbers(made)
    compare(made, [bahdanau(w, source, inputs) for source, inputs in zip(SOURCES, INPUTS, strict=True)])


@pytest.mark.parametrize("feeding", [False, True])
def test_luong(feeding: bool) -> None:
    made = like(LUONG, cell="lstm", encoder="uni", encoder_layers=2, decoder_layers=2, input_feeding=feeding)
    w = numbers(made)
    compare(made, [luong(w, source, inputs, feeding) for source, inputs in zip(SOURCES, INPUTS, strict=True)])
