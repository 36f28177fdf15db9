"""What may a search ask of a model, and what does a search give back?

A model that can be searched is a `StepScorer`: given the pieces so far it says how likely each
next piece is. Constraints, prefixes, length and ranking live in the search, not in the model.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from dragoman.contracts import PieceTable

if TYPE_CHECKING:
    from torch import Tensor

LengthForm = Literal["power", "gnmt"]


@dataclass(frozen=True, slots=True)
class Step:
    """What a model says about the next piece of K hypotheses for each of B sentences.

    log_probs_BKV: natural logs; each row sums to 1 as probabilities. A fresh tensor: it belongs to the
    search from now on, which writes -inf over what may not be said.
    state: to be used for the next call; the state that was passed in is spent.
    ids_V: the piece id of each column where V is a shortlist; None when column = id.
    attention_BKS: weights over the source positions, each row sums to 1; None when the model has none.
    """

    log_probs_BKV: Tensor
    state: Any
    ids_V: Tensor | None = None
    attention_BKS: Tensor | None = None


class StepScorer(Protocol):
    """All that a search may ask of a model. States are linear: after `step` or `select` the state
    that was passed in must not be used again, so the model may reuse its memory."""

    @property
    def pieces(self) -> PieceTable:
        """The output pieces."""
        ...

    def start(self, sources_BS: Tensor, beam: int, capacity: int) -> Any:
        """Read B sources (int64 ids, filled up with the source table's padding id) for at most `beam` hypotheses
        each; at most `capacity` calls of `step` follow."""
        ...

    def step(self, state: Any, last_BK: Tensor) -> Step:
        """Go on by the piece `last_BK`; at first by the start piece, and a search may then ask for one hypothesis
        a sentence, all being equal, and have `select` make K of it."""
        ...

    def select(self, state: Any, sentences_B: Tensor, beams_BK: Tensor) -> Any:
        """Keep the sentences with these indices (rising; often all of them, in which case only the
        hypotheses move); beams_BK: the old hypothesis from which each new one goes on."""
        ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """A finished output. pieces: without the end piece. token_log_probabilities: the model's own, one
    for each piece and one for the end piece. capped: the end was forced by the length limit while the
    model wanted to go on. attention: pieces by (padded) source positions, where asked for."""

    pieces: tuple[int, ...]
    token_log_probabilities: tuple[float, ...]
    capped: bool = False
    attention: np.ndarray[Any, np.dtype[np.float32]] | None = field(default=None, compare=False, repr=False)

    @property
    def log_probability(self) -> float:
        """log p(pieces, end | source), the plain sum."""
        return math.fsum(self.token_log_probabilities)

    def score(self, alpha: float, form: LengthForm = "power") -> float:
        """log p / normaliser(T), T counting the end piece."""
        return self.log_probability / normaliser(len(self.token_log_probabilities), alpha, form)


def normaliser(length: int, alpha: float, form: LengthForm = "power") -> float:
    """What a log-probability of `length` pieces, the end piece among them, is divided by.

    "power": T^alpha; "gnmt": ((5 + T) / 6)^alpha (Wu et al. 2016, eq. 14).

    >>> normaliser(4, 0.5), normaliser(7, 1.0, "gnmt"), normaliser(9, 0.0)
    (2.0, 2.0, 1.0)
    """
    base = float(length) if form == "power" else (5.0 + length) / 6.0
    return float(base**alpha)


def rank(candidates: Iterable[Candidate], alpha: float, form: LengthForm = "power") -> list[Candidate]:
    """Best score first; equal scores in the order of their pieces, so that the order is always the same."""
    return sorted(candidates, key=lambda candidate: (-candidate.score(alpha, form), candidate.pieces))
