"""What do several models say when they decide together?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from dragoman.contracts import PieceTable, UserError
from dragoman.search.steps import Step, StepScorer


@dataclass(frozen=True)
class Ensemble:
    """log of the mean probability: log p(y) = log sum_m p_m(y) - log M, at every step.

    The members must have equal output pieces (UserError) and read the same source ids. Attention is the
    mean over the members, None where a member has none. A piece outside a member's shortlist has
    probability 0 in that member.
    """

    scorers: Sequence[StepScorer]

    def __post_init__(self) -> None:
        if not self.scorers:
            raise UserError("an ensemble needs at least one model")
        for number, scorer in enumerate(self.scorers[1:], start=2):
            if scorer.pieces != self.scorers[0].pieces:
                raise UserError(f"models 1 and {number} have different output pieces and cannot be an ensemble")

    @property
    def pieces(self) -> PieceTable:
        """The output pieces of all members."""
        return self.scorers[0].pieces

    def start(self, sources_BS: Tensor, beam: int, capacity: int) -> tuple[Any, ...]:
        """One state for each member."""
        return tuple(scorer.start(sources_BS, beam, capacity) for scorer in self.scorers)

    def step(self, state: tuple[Any, ...], last_BK: Tensor) -> Step:
        """Every member goes on by the same piece."""
        steps = [scorer.step(old, last_BK) for scorer, old in zip(self.scorers, state, strict=True)]
        log_probs_BKV = all_log_probs(steps[0], len(self.pieces))
        for step in steps[1:]:
            log_probs_BKV = torch.logaddexp(log_probs_BKV, all_log_probs(step, len(self.pieces)))
        attentions = [step.attention_BKS for step in steps if step.attention_BKS is not None]
        return Step(
            log_probs_BKV - math.log(len(steps)),
            tuple(step.state for step in steps),
            attention_BKS=torch.stack(attentions).mean(0) if len(attentions) == len(steps) else None,
        )

    def select(self, state: tuple[Any, ...], sentences_B: Tensor, beams_BK: Tensor) -> tuple[Any, ...]:
        """Every member keeps the same."""
        return tuple(scorer.select(old, sentences_B, beams_BK) for scorer, old in zip(self.scorers, state, strict=True))


def all_log_probs(step: Step, pieces: int) -> Tensor:
    """log_probs_BKV over all pieces: -inf outside the shortlist."""
    if step.ids_V is None:
        return step.log_probs_BKV
    full = step.log_probs_BKV.new_full((*step.log_probs_BKV.shape[:2], pieces), -torch.inf)
    full[:, :, step.ids_V] = step.log_probs_BKV
    return full
