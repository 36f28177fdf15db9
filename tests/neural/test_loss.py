"""The chunked loss against torch's cross-entropy, values and gradients."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from dragoman.neural.loss import CHUNK, cross_entropy


@pytest.mark.parametrize("rows", [1, CHUNK, CHUNK + 37])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_equals_torch(rows: int, smoothing: float) -> None:
    torch.manual_seed(3)
    states, output = torch.randn(rows, 16), torch.randn(23, 16)
    targets = torch.randint(0, 23, (rows,))
    ours = (states.clone().requires_grad_(), output.clone().requires_grad_())
    theirs = (states.clone().requires_grad_(), output.clone().requires_grad_())
    found = cross_entropy(*ours, targets, smoothing)
    expected = functional.cross_entropy(theirs[0] @ theirs[1].mT, targets, label_smoothing=smoothing, reduction="sum")
    torch.autograd.backward(found.smoothed / 7)
    torch.autograd.backward(expected / 7)
    torch.testing.assert_close(found.smoothed, expected, rtol=1e-5, atol=1e-3)
    plain = functional.cross_entropy(states @ output.mT, targets, reduction="sum")
    torch.testing.assert_close(found.negative_log_likelihood, plain, rtol=1e-5, atol=1e-3)
    for mine, yours in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.grad, yours.grad, rtol=1e-4, atol=1e-5)


def test_products_in_bfloat16_are_near_and_gradients_are_fp32() -> None:
    torch.manual_seed(3)
    states, output, targets = torch.randn(40, 16), torch.randn(23, 16), torch.randint(0, 23, (40,))
    found = []
    for products in (torch.float32, torch.bfloat16):
        sides = (states.clone().requires_grad_(), output.clone().requires_grad_())
        loss = cross_entropy(*sides, targets, 0.1, products)
        torch.autograd.backward(loss.smoothed)
        found.append((loss.smoothed.detach(), *(side.grad for side in sides)))
    for exact, rough in zip(*found, strict=True):
        assert rough is not None
        assert rough.dtype == torch.float32
        torch.testing.assert_close(rough, exact, rtol=0.02, atol=0.05)


def test_without_gradients_nothing_is_kept() -> None:
    with torch.inference_mode():
        loss = cross_entropy(torch.zeros(2, 4), torch.zeros(8, 4), torch.tensor([1, 2]), 0.0)
    torch.testing.assert_close(loss.smoothed, 2 * torch.tensor(8.0).log())
