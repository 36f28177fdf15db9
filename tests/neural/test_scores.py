"""The contract of attention, which every row of SCORES keeps, alone and in several heads."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from dragoman.neural.attention import SCORES, Attention, MultiHeadAttention

LARGE = 1e4
every_score = pytest.mark.parametrize("name", SCORES)
heads = pytest.mark.parametrize("heads", [0, 3])  # 0: one head, whose values are the states


def attention_of(name: str, heads: int) -> Attention | MultiHeadAttention:
    torch.manual_seed(5)
    return MultiHeadAttention(6, heads, 0.0, score=name) if heads else Attention(name, 6, 6)


def look(
    attention: Attention | MultiHeadAttention, query: Tensor, states: Tensor, allowed: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Contexts B x T x D, weights B x H x T x S (H = 1 without heads). allowed: B x T x S."""
    keys, values = attention.remember(states)
    if isinstance(attention, Attention):
        context, weights = attention(query, keys, values, allowed)
        return context, weights[:, None]
    context, found = attention(query, keys, values, None if allowed is None else allowed[:, None], weighed=True)
    assert found is not None
    return context, found


def drawn(scale: float = 1.0) -> tuple[Tensor, Tensor]:
    torch.manual_seed(6)
    return (torch.randn(2, 3, 6) * scale).requires_grad_(), (torch.randn(2, 5, 6) * scale).requires_grad_()


SOME = [False, True, False, True, True]
MASK = torch.tensor([[[True, True, True, False, False]] * 3, [SOME, [False] * 5, [True] * 5]])


@every_score
@heads
def test_weights_sum_to_one_and_the_masked_get_nothing(name: str, heads: int) -> None:
    attention, (query, states) = attention_of(name, heads), drawn()
    _, weights = look(attention, query, states, MASK)
    assert weights.shape == (2, max(1, heads), 3, 5)
    sums = MASK.any(-1).float()[:, None].expand(weights.shape[:-1])  # 0 where nothing may be looked at
    torch.testing.assert_close(weights.sum(-1), sums)
    assert (weights.masked_select(~MASK[:, None]) == 0).all()
    assert (weights.masked_select(MASK[:, None]) > 0).all()
    _, everywhere = look(attention, query, states, None)
    torch.testing.assert_close(everywhere.sum(-1), torch.ones(weights.shape[:-1]))


@every_score
@heads
def test_who_may_look_nowhere_gets_zeros(name: str, heads: int) -> None:
    attention, (query, states) = attention_of(name, heads), drawn()
    context, _ = look(attention, query, states, MASK)
    nothing = torch.zeros(6) if isinstance(attention, Attention) else attention.output.bias
    torch.testing.assert_close(context[1, 1], nothing)
    gradients = torch.autograd.grad(context[1, 1].sum(), [query, states], allow_unused=True)
    assert all(each is None or torch.equal(each, torch.zeros_like(each)) for each in gradients)


@every_score
@heads
def test_what_is_masked_is_as_if_it_were_not_there(name: str, heads: int) -> None:
    attention, (query, states) = attention_of(name, heads), drawn()
    context, weights = look(attention, query, states, MASK)
    shorter, fewer = look(attention, query[:1], states[:1, :3], None)
    torch.testing.assert_close(context[:1], shorter)
    torch.testing.assert_close(weights[:1, ..., :3], fewer)


@every_score
@heads
def test_the_order_of_the_keys_does_not_matter(name: str, heads: int) -> None:
    attention, (query, states) = attention_of(name, heads), drawn()
    order = torch.tensor([3, 0, 4, 2, 1])
    context, weights = look(attention, query, states, MASK)
    again, moved = look(attention, query, states[:, order], MASK[..., order])
    torch.testing.assert_close(again, context)
    torch.testing.assert_close(moved, weights[..., order])


@every_score
@heads
def test_the_context_is_the_weighted_sum_of_the_values(name: str, heads: int) -> None:
    attention, (query, states) = attention_of(name, heads), drawn()
    context, weights = look(attention, query, states, MASK)
    if isinstance(attention, Attention):
        expected = weights[:, 0] @ states
    else:
        values = attention.key_value(states)[..., 6:].unflatten(-1, (3, 2)).transpose(1, 2)
        expected = attention.output((weights @ values).transpose(1, 2).flatten(2))
    torch.testing.assert_close(context, expected)


@every_score
@heads
@pytest.mark.parametrize("scale", [LARGE, 0.0])
def test_gradients_stay_finite(name: str, heads: int, scale: float) -> None:
    attention, (query, states) = attention_of(name, heads), drawn(scale)
    context, weights = look(attention, query, states, MASK)
    assert torch.isfinite(context).all()
    assert torch.isfinite(weights).all()
    torch.autograd.backward(context.square().mean())
    asked = [query, states, *attention.parameters()]
    assert all(torch.isfinite(each.grad).all() for each in asked if each.grad is not None)
    assert states.grad is not None


@every_score
def test_heads_look_for_themselves(name: str) -> None:
    """What one head asks changes its own weights only."""
    attention, (query, states) = attention_of(name, 3), drawn()
    assert isinstance(attention, MultiHeadAttention)
    _, before = look(attention, query, states, None)
    with torch.no_grad():
        attention.query.bias[2:4] += 1.0
    _, after = look(attention, query, states, None)
    torch.testing.assert_close(after[:, [0, 2]], before[:, [0, 2]])
    assert torch.equal(after[:, 1], before[:, 1]) == (name == "average")  # of which nothing is asked
