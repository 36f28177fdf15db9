"""attend() and multi-head attention against torch's own."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional

from dragoman.neural import attention
from dragoman.neural.attention import SCORES, Additive, Attention, MultiHeadAttention, attend, causal


@pytest.mark.parametrize("keys", [7, 80])
@pytest.mark.parametrize("masked", [False, True])
def test_written_out_and_fused_attention_are_equal(keys: int, masked: bool) -> None:
    torch.manual_seed(1)
    states = query, memory, values = tuple(
        torch.randn(2, 3, length, 8, requires_grad=True) for length in (5, keys, keys)
    )
    allowed = torch.rand(2, 1, 5, keys) > 0.4
    allowed[..., 0], allowed[0, :, 2] = True, False
    mask = allowed if masked else None
    context, weights = attend(query, memory, values, mask)
    assert weights is not None
    chosen, none = attend(query, memory, values, mask, weighed=False)
    assert (none is None) == (keys >= attention.MANY_KEYS)
    torch.testing.assert_close(weights.sum(-1), 1.0 - (~allowed).all(-1).float().expand(2, 3, 5) * masked)
    for other in (chosen, functional.scaled_dot_product_attention(query, memory, values, mask)):
        torch.testing.assert_close(context, other)
        gradients = (torch.autograd.grad(one.square().sum(), states, retain_graph=True) for one in (context, other))
        for ours, theirs in zip(*gradients, strict=True):
            torch.testing.assert_close(ours, theirs)


def test_the_choice_of_the_fused_attention() -> None:
    keys = torch.zeros(1, 1, 80, 4)
    assert attention.fused_is_faster(keys, 0.0)
    assert not attention.fused_is_faster(keys, 0.1)
    assert not attention.fused_is_faster(keys.bfloat16(), 0.0)
    assert not attention.fused_is_faster(keys[:, :, :20], 0.0)
    with torch.autocast("cpu", torch.bfloat16):
        assert not attention.fused_is_faster(keys, 0.0)


def test_bfloat16_products_have_a_softmax_in_fp32() -> None:
    torch.manual_seed(1)
    query, keys, values = (torch.randn(2, 3, length, 8) for length in (5, 90, 90))
    with torch.autocast("cpu", torch.bfloat16):
        context, weights = attend(query, keys, values, weighed=False)
    assert weights is not None
    assert (context.dtype, weights.dtype) == (torch.bfloat16, torch.float32)
    torch.testing.assert_close(context.float(), attend(query, keys, values)[0], rtol=0.05, atol=0.05)


@pytest.mark.parametrize("keys", [3, 70])
def test_a_query_that_may_look_nowhere_gets_zeros_and_finite_gradients(keys: int) -> None:
    query = torch.randn(1, 1, 2, 4, requires_grad=True)
    allowed = torch.tensor([[True], [False]]).expand(2, keys)
    for weighed in (True, False):
        context, _ = attend(query, torch.randn(1, 1, keys, 4), torch.randn(1, 1, keys, 4), allowed, weighed=weighed)
        assert context[0, 0, 1].abs().sum() == 0
        query.grad = None
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
    found, found_weights = ours(states, *ours.remember(memory), ~padded[:, None, None, :], weighed=True)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(found_weights, weights)


def test_heads_must_divide_the_width() -> None:
    with pytest.raises(ValueError, match="5 heads do not divide a width of 12"):
        MultiHeadAttention(12, 5, 0.0)


def test_scores_by_their_formulas() -> None:
    torch.manual_seed(5)
    query, keys = torch.randn(2, 3, 5), torch.randn(2, 4, 5)
    distance = torch.cdist(query, keys).square()
    made = {name: score(5, 5) for name, score in SCORES.items()}
    found = {name: score(query, score.remember(keys)) for name, score in made.items()}
    products = query @ keys.mT
    torch.testing.assert_close(found["dot"], products)
    torch.testing.assert_close(found["scaled"], products / 5**0.5)
    torch.testing.assert_close(found["kernel"], -distance / (2 * 5**0.5), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(found["learnt-kernel"], found["kernel"])
    assert found["average"].abs().sum() == 0
    learnt = [name for name, score in made.items() if list(score.parameters())]
    assert learnt == ["general", "additive", "learnt-kernel"]


@pytest.mark.parametrize("name", ["dot", "scaled", "kernel", "learnt-kernel"])
def test_scores_that_compare_alike_want_equal_widths(name: str) -> None:
    with pytest.raises(ValueError, match="a query of 4 features, keys of 6"):
        Attention(name, 4, 6)


def test_the_additive_score_is_a_tanh_but_for_a_constant() -> None:
    torch.manual_seed(1)
    score = Additive(6, 10)
    query, keys = torch.randn(2, 3, 6), torch.randn(2, 4, 10)
    inner = (score.query(query)[:, :, None] + score.key(keys)[:, None]).tanh()
    expected = score.judge(inner).squeeze(-1) + score.judge.weight.sum()
    torch.testing.assert_close(score(query, score.remember(keys)), expected)


@pytest.mark.parametrize("name", ["general", "additive", "average"])
def test_other_scores_do_not(name: str) -> None:
    attention = Attention(name, 4, 6)
    context, _ = attention(torch.randn(1, 2, 4), *attention.remember(torch.randn(1, 3, 6)), None)
    assert context.shape == (1, 2, 6)
