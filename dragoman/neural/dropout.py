"""How are activations dropped, exactly and cheaply?"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class _Own(threading.local):
    generator: torch.Generator | None = None


_own = _Own()


@contextmanager
def drawing(generator: torch.Generator) -> Iterator[None]:
    """What this thread drops inside is drawn from the generator, else from torch's own."""
    _own.generator = generator
    try:
        yield
    finally:
        _own.generator = None


def drop(values: Tensor, probability: float, training: bool) -> Tensor:
    """Inverted dropout: keep each value with 1 - p and divide by it (Srivastava et al. 2014).

    Four keep decisions are cut from each 64-bit draw, so p is rounded to k / 65,536; the scale uses
    that same k, which keeps the expectation exact. Off when not training or when p is 0.
    """
    if not training or probability == 0.0:
        return values
    dropped_of_65536 = round(probability * 65536)
    count = values.numel()
    draws = torch.empty((count + 3) // 4, dtype=torch.int64, device=values.device)
    draws.random_(-(2**63), None, generator=_own.generator)
    keep = draws.view(torch.int16)[:count].view(values.shape) >= dropped_of_65536 - 32768
    return values * (keep * (65536.0 / (65536 - dropped_of_65536)))


class Dropout(nn.Module):
    """`drop` as a module: follows train() and eval()."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability

    def forward(self, values: Tensor) -> Tensor:
        return drop(values, self.probability, self.training)
