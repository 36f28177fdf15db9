"""Convolutions against torch's own, and what each position of an encoder may see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dragoman.neural.cells import CELLS
from dragoman.neural.convolution import Convolution, ConvolutionBlock
from dragoman.neural.encoders import ENCODERS, ConvolutionEncoder
from dragoman.neural.quantised import at_precision
from dragoman.neural.recipes import RecurrentOptions
from tests.neural.test_recurrent import network

SHAPES = [(1, 1), (2, 1), (3, 1), (3, 2), (4, 3), (5, 2)]  # kernel, dilation
every_shape = pytest.mark.parametrize(("kernel", "dilation"), SHAPES)


@every_shape
@pytest.mark.parametrize("centred", [False, True])
def test_a_convolution_equals_torchs(kernel: int, dilation: int, centred: bool) -> None:
    torch.manual_seed(1)
    ours, theirs = Convolution(3, 4, kernel, dilation, centred).double(), nn.Conv1d(3, 4, kernel, dilation=dilation)
    theirs = theirs.double()
    with torch.no_grad():
        theirs.weight.copy_(ours.product.weight.view(4, kernel, 3).transpose(1, 2))
        assert theirs.bias is not None
        theirs.bias.copy_(ours.product.bias)
    inputs = torch.randn(2, 7, 3, dtype=torch.float64)
    behind = (kernel - 1) // 2 * dilation if centred else 0
    filled = nn.functional.pad(inputs.mT, ((kernel - 1) * dilation - behind, behind))
    torch.testing.assert_close(ours(inputs), theirs(filled).mT)


def test_a_dilation_wider_than_the_text_costs_nothing() -> None:
    made = Convolution(3, 4, 3, 10**12)
    inputs = torch.randn(1, 5, 3)
    torch.testing.assert_close(made(inputs), inputs @ made.product.weight[:, 6:].mT + made.product.bias)


@pytest.mark.parametrize("gated", [True, False])
def test_a_block_is_its_formula(gated: bool) -> None:
    torch.manual_seed(2)
    block = ConvolutionBlock(3, 2, 2, gated=gated).double()
    inputs = torch.randn(1, 4, 3, dtype=torch.float64)
    x, w = inputs[0].numpy(), {name: each.detach().numpy() for name, each in block.named_parameters()}
    for t in range(4):
        window = np.concatenate([x[t - 1] if t else np.zeros(3), x[t]])
        made = w["convolution.product.weight"] @ window + w["convolution.product.bias"]
        change = made[:2] / (1 + np.exp(-made[2:])) if gated else np.maximum(made, 0)
        expected = (w["road.weight"] @ x[t] + change) / np.sqrt(2)
        np.testing.assert_allclose(block(inputs)[0, t].detach().numpy(), expected)


@pytest.mark.parametrize(("gated", "least", "most"), [(True, 0.9, 1.1), (False, 1, 6)])
def test_embeddings_keep_their_scale_through_many_layers(gated: bool, least: float, most: float) -> None:
    torch.manual_seed(3)
    values = torch.randn(8, 40, 64) / 16
    for _ in range(12):
        values = ConvolutionBlock(64, 64, 3, gated=gated)(values)
    assert least < 16 * values.square().mean().sqrt().item() < most


def influence(encoder: nn.Module, length: int, width: int) -> Tensor:
    """T x S, does output t depend on input s? By gradients."""
    inputs = torch.randn(1, length, width, dtype=torch.float64, requires_grad=True)
    states, _ = encoder(inputs, None)
    rows = [torch.autograd.grad(states[0, t].square().sum(), inputs, retain_graph=True)[0] for t in range(length)]
    return torch.cat(rows).abs().sum(-1) > 0


def encoder(**changes: Any) -> nn.Module:
    torch.manual_seed(4)
    shape: dict[str, Any] = {"embedding": 6, "encoder_width": 6, "width": 6, "heads": 2, "inner": 8} | changes
    options = RecurrentOptions(**shape)
    return ENCODERS[options.encoder](options).double().eval()


@every_shape
@pytest.mark.parametrize("layers", [1, 3])
def test_a_causal_encoder_sees_what_its_windows_hold_and_nothing_behind_it(
    kernel: int, dilation: int, layers: int
) -> None:
    made = encoder(encoder="conv", kernel=kernel, dilation=dilation, encoder_layers=layers)
    reach = (kernel - 1) * sum(dilation**layer for layer in range(layers))
    seen = influence(made, 20, 6)
    back = torch.arange(20)[:, None] - torch.arange(20)
    assert not seen[(back < 0) | (back > reach)].any()
    if dilation <= kernel:  # without gaps
        assert seen[(back >= 0) & (back <= reach)].all()


@pytest.mark.parametrize(
    ("name", "least", "most"), [("uni", 0, 9), ("bi", -9, 9), ("conv-bi", -4, 4), ("attention", -9, 9)]
)
def test_how_far_the_other_encoders_see(name: Any, least: int, most: int) -> None:
    seen = influence(encoder(encoder=name, kernel=5, encoder_layers=2), 10, 6)
    back = torch.arange(10)[:, None] - torch.arange(10)
    assert torch.equal(seen, (back >= least) & (back <= most))


@pytest.mark.parametrize("name", ["conv", "conv-bi", "attention"])
def test_what_stands_behind_the_end_of_a_row_changes_nothing(name: str) -> None:
    made = encoder(encoder=name, encoder_layers=3, dilation=2)
    inputs, lengths = torch.randn(3, 6, 6, dtype=torch.float64), torch.tensor([6, 2, 4])
    present = torch.arange(6) < lengths[:, None]
    noisy = torch.where(present[..., None], inputs, 99.0)
    states, ((hidden, memory),) = made(noisy, present)
    assert hidden is memory  # an LSTM begins with the mean for both
    for row, length in enumerate(lengths.tolist()):
        alone, ((mean, _),) = made(inputs[row : row + 1, :length], None)
        torch.testing.assert_close(states[row : row + 1, :length], alone)
        torch.testing.assert_close(mean, alone.mean(1))
        torch.testing.assert_close(hidden[row : row + 1], mean)


@pytest.mark.parametrize("cell", CELLS)
def test_every_cell_can_begin_with_a_mean(cell: str) -> None:
    made = network(encoder="conv", cell=cell)
    assert len(made.bridge.parts) == CELLS[cell].memories


@pytest.mark.parametrize("name", ["conv", "conv-bi", "attention"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_an_encoder_stays_in_its_type(name: str, dtype: torch.dtype) -> None:
    made = encoder(encoder=name).to(dtype)
    present = torch.tensor([[True, True, False], [True] * 3])
    states, last = made(torch.randn(2, 3, 6).to(dtype), present)
    assert {each.dtype for each in (states, *last[0])} == {dtype}
    assert torch.isfinite(states).all()


@torch.inference_mode()
def test_in_fewer_bits_convolutions_are_products_like_others() -> None:
    made = network(encoder="conv", encoder_layers=2, width=32, encoder_width=32, embedding=32)
    assert isinstance(made.encoder, ConvolutionEncoder)
    sources, inputs = torch.tensor([[4, 5, 6, 3]]), torch.tensor([[2, 6, 7]])
    expected = made.hidden(sources, inputs)
    for precision in ("bf16", "int8"):
        fewer = at_precision(made, precision)
        kept = [name for name, part in fewer.named_modules() if isinstance(part, nn.Linear | nn.Conv1d)]
        assert kept == []
        found = fewer.hidden(sources, inputs)
        assert (found - expected).norm() < 0.1 * expected.norm()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"encoder": "attention", "encoder_width": 6, "heads": 4}, "heads=4 does not divide encoder_width=6"),
        ({"encoder": "conv", "turned": True}, "turned=true is for cells"),
        ({"encoder": "conv", "kernel": 0}, "greater than or equal to 1"),
        ({"encoder": "cnn"}, "'uni', 'bi', 'conv'"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        RecurrentOptions(**changes)
