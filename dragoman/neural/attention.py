"""Which positions does a position look at, and what does it take from them?

The one place where scores are masked and normalised is `attend`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from dragoman.neural.dropout import drop

MANY_KEYS = 64


def attend(
    query_BHTD: Tensor,
    keys_BHSD: Tensor,
    values_BHSD: Tensor,
    allowed: Tensor | None = None,
    dropout: float = 0.0,
    training: bool = False,
    weighed: bool = True,
) -> tuple[Tensor, Tensor | None]:
    """softmax(Q K' / sqrt(d_k)) V (Vaswani et al. 2017, eq. 1); d_k is the width of one head's keys.

    allowed: bool, broadcastable to B x H x T x S, True where a query may look; None = everywhere.
    A query that may look nowhere gets zeros. Returns the context B x H x T x D and the weights B x H x T x S
    before dropout, in float32 whatever the products are in. Where nobody wants the weights (weighed=False), torch's
    fused attention may do the work, and they are None.
    """
    dropout = dropout if training else 0.0
    if not weighed and fused_is_faster(keys_BHSD, dropout):
        context_BHTD = functional.scaled_dot_product_attention(query_BHTD, keys_BHSD, values_BHSD, allowed, dropout)
        return context_BHTD, None
    scores_BHTS = (query_BHTD / math.sqrt(query_BHTD.shape[-1])) @ keys_BHSD.mT
    if allowed is None:
        weights_BHTS = scores_BHTS.softmax(-1, dtype=torch.float32)
    else:
        weights_BHTS = scores_BHTS.masked_fill(~allowed, -math.inf).softmax(-1, dtype=torch.float32)
        if not allowed.any(-1).all():
            weights_BHTS = weights_BHTS.masked_fill(~allowed.any(-1, keepdim=True), 0.0)
    return drop(weights_BHTS, dropout, training).to(values_BHSD.dtype) @ values_BHSD, weights_BHTS


def fused_is_faster(keys_BHSD: Tensor, dropout: float) -> bool:
    """On CUDA; on a CPU over many keys, but neither with dropout nor in bfloat16 (docs/decisions/18)."""
    if keys_BHSD.is_cuda:
        return True
    narrow = torch.is_autocast_enabled("cpu") or keys_BHSD.dtype != torch.float32
    return not narrow and dropout == 0.0 and keys_BHSD.shape[-2] >= MANY_KEYS


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = [head_1; ...; head_H] W_o, head_i = attend(Q W_i^Q, K W_i^K, V W_i^V).

    Vaswani et al. 2017, section 3.2.2; W_o is (H d_v) x d. Keys and values are projected by `remember`,
    so that a decoder can keep them; queries by `forward`.
    """

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"{heads} heads do not divide a width of {width}")
        self.heads = heads
        self.dropout = dropout
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.output = nn.Linear(width, width)

    def split(self, states_BTD: Tensor) -> Tensor:
        """B x T x (H D) -> B x H x T x D."""
        batch, length, _ = states_BTD.shape
        return states_BTD.view(batch, length, self.heads, -1).transpose(1, 2)

    def remember(self, states_BSD: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values, each B x H x S x D, of the positions that may be looked at."""
        keys_BSD, values_BSD = self.key_value(states_BSD).chunk(2, dim=-1)
        return self.split(keys_BSD), self.split(values_BSD)

    def forward(
        self,
        states_BTD: Tensor,
        keys_BHSD: Tensor,
        values_BHSD: Tensor,
        allowed: Tensor | None,
        weighed: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """The attended values B x T x D and, if they are wanted (weighed), the weights B x H x T x S."""
        query_BHTD = self.split(self.query(states_BTD))
        context_BHTD, weights_BHTS = attend(
            query_BHTD, keys_BHSD, values_BHSD, allowed, self.dropout, self.training, weighed
        )
        return self.output(context_BHTD.transpose(1, 2).flatten(2)), weights_BHTS


def causal(length: int, device: torch.device | None = None) -> Tensor:
    """T x T, True where a position may look: at itself and at what came before (inputs are shifted)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()
