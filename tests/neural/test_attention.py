"""attend() and multi-head attention against torch's own."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional

from dragoman.neural.attention import MultiHeadAttention, attend, causal


def test_attend_equals_torch_with_and_without_a_mask() -> None:
    torch.manual_seed(1)
    query, keys, values = torch.randn(2, 3, 5, 8), torch.randn(2, 3, 7, 8), torch.randn(2, 3, 7, 8)
    allowed = torch.rand(2, 1, 5, 7) > 0.4
    allowed[..., 0] = True
    for mask in (None, allowed):
        context, weights = attend(query, keys, values, mask)
        torch.testing.assert_close(
            context, functional.scaled_dot_product_attention(query, keys, values, attn_mask=mask)
        )
        torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, 5))


def test_a_query_that_may_look_nowhere_gets_zeros_and_finite_gradients() -> None:
    query = torch.randn(1, 1, 2, 4, requires_grad=True)
    allowed = torch.tensor([[True, True, True], [False, False, False]])
    context, weights = attend(query, torch.randn(1, 1, 3, 4), torch.randn(1, 1, 3, 4), allowed)
    assert context[0, 0, 1].abs().sum() == 0
    assert weights[0, 0, 1].abs().sum() == 0
    torch.autograd.backward(context.sum())
    assert query.grad is not None
    assert torch.isfinite(query.grad).all()


def test_causal_admits_the_position_itself() -> None:
    assert causal(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]


def test_multi_head_attention_equals_torchs() -> None:
    torch.manual_seed(2)
    ours, theirs = MultiHeadAttention(12, 3, 0.0), nn.MultiheadAttention(12, 3, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.query.weight, ours.key_value.weight]))
        theirs.in_proj_bias.copy_(torch.cat([ours.query.bias, ours.key_value.bias]).normal_())
        ours.query.bias.copy_(theirs.in_proj_bias[:12])
        ours.key_value.bias.copy_(theirs.in_proj_bias[12:])
        theirs.out_proj.weight.copy_(ours.output.weight)
        theirs.out_proj.bias.copy_(ours.output.bias)
    states, memory = torch.randn(2, 4, 12), torch.randn(2, 6, 12)
    padded = torch.tensor([[False] * 6, [False] * 4 + [True] * 2])
    expected, weights = theirs(states, memory, memory, key_padding_mask=padded, average_attn_weights=False)
    found, found_weights = ours(states, *ours.remember(memory), ~padded[:, None, None, :])
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(found_weights, weights)


def test_heads_must_divide_the_width() -> None:
    with pytest.raises(ValueError, match="5 heads do not divide a width of 12"):
        MultiHeadAttention(12, 5, 0.0)
