"""Which positions does a position look at, and what does it take from them?

A query asks, keys answer: a score says how well (SCORES). The one place where scores are masked and normalised is
`attend`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from dragoman.neural.dropout import drop

MANY_KEYS = 64


# --- scores -------------------------------------------------------------------------------------


class Score(nn.Module):
    """How well the keys answer the queries: ... x T x S, before mask and softmax. Widths are those of one query and
    of one key; ValueError where a score cannot compare them."""

    def __init__(self, query_width: int, key_width: int) -> None:
        super().__init__()
        self.query_width, self.key_width = query_width, key_width

    def remember(self, keys_BSD: Tensor) -> Tensor:
        """What of the keys does not depend on who asks, ... x S x any."""
        return keys_BSD

    def forward(self, query_BTD: Tensor, keys_BSD: Tensor) -> Tensor:
        """keys_BSD: as `remember` left them."""
        raise AssertionError("each score compares in its own way")


class _Alike(Score):
    """A score for queries and keys of one width."""

    def __init__(self, query_width: int, key_width: int) -> None:
        super().__init__(query_width, key_width)
        if query_width != key_width:
            raise ValueError(f"this score compares alike: a query of {query_width} features, keys of {key_width}")


class Dot(_Alike):
    """q'k (Luong et al. 2015, eq. 8, "dot")."""

    def forward(self, query_BTD: Tensor, keys_BSD: Tensor) -> Tensor:
        return query_BTD @ keys_BSD.mT


class ScaledDot(_Alike):
    """q'k / sqrt(d), d the width of a key (Vaswani et al. 2017, eq. 1): the variance of q'k grows with d, and a softmax
    of large numbers has next to no gradient."""

    def forward(self, query_BTD: Tensor, keys_BSD: Tensor) -> Tensor:
        return scaled_dot(query_BTD, keys_BSD)


class General(Score):
    """q'W k (Luong et al. 2015, eq. 8, "general")."""

    def __init__(self, query_width: int, key_width: int) -> None:
        super().__init__(query_width, key_width)
        self.key = nn.Linear(key_width, query_width, bias=False)

    def remember(self, keys_BSD: Tensor) -> Tensor:
        asked_BSD: Tensor = self.key(keys_BSD)
        return asked_BSD

    def forward(self, query_BTD: Tensor, keys_BSD: Tensor) -> Tensor:
        return query_BTD @ keys_BSD.mT


class Additive(Score):
    """v' tanh(W q + U k), as many features inside as a query has (Bahdanau et al. 2015, section A.1.2).

    Since tanh x = 2 sigma(2x) - 1, and torch takes a third of the time for sigma, these are 2 v' sigma(2 W q + 2 U k):
    greater by the sum of v for every key, which no softmax sees.
    """

    def __init__(self, query_width: int, key_width: int) -> None:
        super().__init__(query_width, key_width)
        self.query = nn.Linear(query_width, query_width, bias=False)
        self.key = nn.Linear(key_width, query_width)
        self.judge = nn.Linear(query_width, 1, bias=False)

    def remember(self, keys_BSD: Tensor) -> Tensor:
        doubled_BSD: Tensor = 2 * self.key(keys_BSD)
        return doubled_BSD

    def forward(self, query_BTD: Tensor, keys_BSD: Tensor) -> Tensor:
        doubled_BTSD = (2 * self.query(query_BTD))[..., :, None, :] + keys_BSD[..., None, :, :]
        scores_BTS: Tensor = 2 * self.judge(doubled_BTSD.sigmoid_()).squeeze(-1)
        return scores_BTS


class Average(Score):
    """0: whatever is asked, every key answers alike."""

    def forward(self, query_BTD: Tensor, keys_BSD: Tensor) -> Tensor:
        return query_BTD.new_zeros(query_BTD.shape[:-1] + keys_BSD.shape[-2:-1])


class Kernel(_Alike):
    """-|q - k|^2 / (2 w^2): pooling with a Gaussian kernel (Nadaraya 1964, Watson 1964), whose width w is fixed.

    w = d^(1/4), with which products have the scale that they have in the scaled dot.
    """

    def __init__(self, query_width: int, key_width: int) -> None:
        super().__init__(query_width, key_width)
        self.register_buffer("log_width", torch.tensor(math.log(key_width) / 4))

    def forward(self, query_BTD: Tensor, keys_BSD: Tensor) -> Tensor:
        squares_BTS = query_BTD.square().sum(-1)[..., :, None] + keys_BSD.square().sum(-1)[..., None, :]
        return (query_BTD @ keys_BSD.mT - squares_BTS / 2) * (-2 * self.log_width).exp()

    log_width: Tensor


class LearntKernel(Kernel):
    """The same with a width that is learnt."""

    def __init__(self, query_width: int, key_width: int) -> None:
        super().__init__(query_width, key_width)
        start = self.log_width
        del self.log_width
        self.log_width = nn.Parameter(start)


SCORES: dict[str, type[Score]] = {
    "dot": Dot,
    "scaled": ScaledDot,
    "general": General,
    "additive": Additive,
    "average": Average,
    "kernel": Kernel,
    "learnt-kernel": LearntKernel,
}
"""A new score is a class above and a row here."""


def score_named(name: str, query_width: int, key_width: int) -> Score:
    """A fresh one of a row. ValueError for a name that is none, and for widths that it cannot compare."""
    if name not in SCORES:
        raise ValueError(f"no score {name!r}: there are {', '.join(SCORES)}")
    return SCORES[name](query_width, key_width)


def scaled_dot(query_BTD: Tensor, keys_BSD: Tensor) -> Tensor:
    """q'k / sqrt(d), see `ScaledDot`."""
    return (query_BTD / math.sqrt(query_BTD.shape[-1])) @ keys_BSD.mT


# --- attention ----------------------------------------------------------------------------------


def attend(
    query_BHTD: Tensor,
    keys_BHSD: Tensor,
    values_BHSD: Tensor,
    allowed: Tensor | None = None,
    dropout: float = 0.0,
    training: bool = False,
    weighed: bool = True,
    score: Callable[[Tensor, Tensor], Tensor] = scaled_dot,
) -> tuple[Tensor, Tensor | None]:
    """softmax(score(Q, K)) V; with the score that is usual, Q K' / sqrt(d_k), Vaswani et al. 2017, eq. 1, d_k being
    the width of one head's keys.

    allowed: bool, broadcastable to B x H x T x S, True where a query may look; None = everywhere.
    A query that may look nowhere gets zeros. Returns the context B x H x T x D and the weights B x H x T x S
    before dropout, in float32 whatever the products are in (where there are no heads, no H). Where nobody wants the
    weights (weighed=False), torch's fused attention may do the work, and they are None.
    """
    dropout = dropout if training else 0.0
    if not weighed and score is scaled_dot and fused_is_faster(keys_BHSD, dropout):
        context_BHTD = functional.scaled_dot_product_attention(query_BHTD, keys_BHSD, values_BHSD, allowed, dropout)
        return context_BHTD, None
    scores_BHTS = score(query_BHTD, keys_BHSD)
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


class Attention(nn.Module):
    """One head whose values are the states themselves: c_t = sum_s a_ts h_s, a_t = softmax of a row of SCORES."""

    def __init__(self, score: str, query_width: int, key_width: int) -> None:
        super().__init__()
        self.score = score_named(score, query_width, key_width)

    def remember(self, states_BSD: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of the positions that may be looked at."""
        return self.score.remember(states_BSD), states_BSD

    def forward(
        self, query_BTD: Tensor, keys_BSD: Tensor, values_BSD: Tensor, allowed_B1S: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """The context B x T x D and the weights B x T x S."""
        context_BTD, weights_BTS = attend(query_BTD, keys_BSD, values_BSD, allowed_B1S, score=self.score)
        assert weights_BTS is not None  # they were asked for
        return context_BTD, weights_BTS


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = [head_1; ...; head_H] W_o, head_i = attend(Q W_i^Q, K W_i^K, V W_i^V).

    Vaswani et al. 2017, section 3.2.2; W_o is (H d_v) x d. Keys and values are projected by `remember`,
    so that a decoder can keep them; queries by `forward`. score: a row of SCORES, which all heads share.
    """

    def __init__(self, width: int, heads: int, dropout: float, score: str = "scaled") -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"{heads} heads do not divide a width of {width}")
        self.heads = heads
        self.dropout = dropout
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.output = nn.Linear(width, width)
        self.score = None if score == "scaled" else score_named(score, width // heads, width // heads)

    def split(self, states_BTD: Tensor) -> Tensor:
        """B x T x (H D) -> B x H x T x D."""
        batch, length, _ = states_BTD.shape
        return states_BTD.view(batch, length, self.heads, -1).transpose(1, 2)

    def remember(self, states_BSD: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values, each B x H x S x D, of the positions that may be looked at."""
        keys_BSD, values_BSD = self.key_value(states_BSD).chunk(2, dim=-1)
        keys_BHSD = self.split(keys_BSD)
        return keys_BHSD if self.score is None else self.score.remember(keys_BHSD), self.split(values_BSD)

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
            query_BHTD, keys_BHSD, values_BHSD, allowed, self.dropout, self.training, weighed, self.score or scaled_dot
        )
        return self.output(context_BHTD.transpose(1, 2).flatten(2)), weights_BHTS


def causal(length: int, device: torch.device | None = None) -> Tensor:
    """T x T, True where a position may look: at itself and at what came before (inputs are shifted)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()
