"""Does a step change weights by the formula, and only those that have a gradient?"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from dragoman.neural.optimiser import AdamW

RATES = (0.1, 0.02, 0.5, 0.01)
BETAS, DECAY, EPSILON = (0.9, 0.98), 0.3, 1e-8


def transcribed(weight: np.ndarray, gradients: list[np.ndarray], decay: float) -> np.ndarray:
    """Loshchilov & Hutter 2019, algorithm 2, in double precision."""
    m, v = np.zeros_like(weight), np.zeros_like(weight)
    for t, (rate, gradient) in enumerate(zip(RATES, gradients, strict=True), 1):
        m = BETAS[0] * m + (1 - BETAS[0]) * gradient
        v = BETAS[1] * v + (1 - BETAS[1]) * gradient**2
        step = m / (1 - BETAS[0] ** t) / (np.sqrt(v / (1 - BETAS[1] ** t)) + EPSILON)
        weight = weight - rate * decay * weight - rate * step
    return weight


def test_steps_are_those_of_the_formula_and_vectors_do_not_decay() -> None:
    random = np.random.default_rng(1)
    shapes = {"matrix": (3, 4), "vector": (5,), "without a gradient": (2, 2)}
    begun = {name: random.normal(size=shape) for name, shape in shapes.items()}
    gradients = {name: [random.normal(size=shape) for _ in RATES] for name, shape in shapes.items()}
    parameters = {name: nn.Parameter(torch.tensor(value, dtype=torch.float32)) for name, value in begun.items()}
    optimiser = AdamW(parameters.values(), 1.0, BETAS, DECAY)
    for step, rate in enumerate(RATES):
        optimiser.rate = rate
        for name in ("matrix", "vector"):
            parameters[name].grad = torch.tensor(gradients[name][step], dtype=torch.float32)
        optimiser.step()
        optimiser.zero_grad()
        assert all(parameter.grad is None for parameter in parameters.values())
    wanted = {
        "matrix": transcribed(begun["matrix"], gradients["matrix"], DECAY),
        "vector": transcribed(begun["vector"], gradients["vector"], 0.0),
        "without a gradient": begun["without a gradient"],
    }
    for name, parameter in parameters.items():
        np.testing.assert_allclose(parameter.detach().numpy(), wanted[name], rtol=1e-5, atol=1e-6, err_msg=name)
    assert parameters["without a gradient"] not in optimiser.state
    assert [float(optimiser.state[parameters[name]]["step"]) for name in ("matrix", "vector")] == [len(RATES)] * 2
