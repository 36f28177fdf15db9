"""How do many hypotheses for many sentences go one piece further together?

What beam search and sampling share: asking the scorer, striking out what may not be said, keeping
the history, and letting finished sentences leave the batch. Choosing is left to the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dragoman.contracts import UserError
from dragoman.search.constraints import READY, ROOMS, START, OutputRules, forced_pieces
from dragoman.search.history import History
from dragoman.search.steps import Candidate, Step, StepScorer

USUAL = READY * ROOMS + ROOMS - 1  # the case of a hypothesis that may say anything ordinary


@dataclass(frozen=True)
class Scores:
    """scores_BKV: the model's log-probabilities, -inf where a piece may not be said; contiguous float32."""

    scores_BKV: Tensor
    ids_V: Tensor | None

    def pieces(self, columns: Tensor) -> Tensor:
        """The piece ids of these columns."""
        return columns if self.ids_V is None else self.ids_V[columns]


@dataclass(frozen=True)
class Limits:
    """What is known before the walk, on its device.

    forced_BT, caps_B: see `forced_pieces`; forced_times, cap_times: when any sentence has one.
    penalties_XV: a row for each case X = state and room of a hypothesis, see `OutputRules`; next_QV: the
    state after a piece; both None without rules.
    """

    forced_BT: Tensor
    caps_B: Tensor
    forced_times: frozenset[int]
    cap_times: frozenset[int]
    penalties_XV: Tensor | None
    next_QV: Tensor | None

    @classmethod
    def of(
        cls,
        end: int,
        max_lengths_B: Sequence[int],
        rules: OutputRules | None,
        prefixes: Sequence[Sequence[int]] | None,
        device: torch.device,
    ) -> Limits:
        """From what the caller of a search gives."""
        forced_BT, caps_B = forced_pieces(prefixes, max_lengths_B, rules, end)
        penalties_XV = next_QV = None
        if rules is not None:
            penalties_XV = torch.from_numpy(rules.penalties_QRV).to(device).flatten(0, 1)
            next_QV = torch.from_numpy(rules.next_QV).to(device).clamp(min=READY)
        return cls(
            torch.from_numpy(forced_BT).to(device),
            torch.from_numpy(caps_B).to(device),
            frozenset(np.flatnonzero((forced_BT >= 0).any(axis=0)).tolist()),
            frozenset((caps_B - 1).tolist()),
            penalties_XV,
            next_QV,
        )


@dataclass
class Walk:
    """A batch on its way. `alive_B`: the sentences still in it, by their row in the batch that was given;
    everything with a B below it is about these alone."""

    scorer: StepScorer
    limits: Limits
    history: History
    state: Any
    alive_B: Tensor
    caps_B: Tensor
    rules_states_BK: Tensor
    last_BK: Tensor
    time: int = 0
    columns: tuple[Tensor | None, Tensor, Tensor] | None = None  # for the last ids_V: penalties_XV, forbidden_F

    @classmethod
    def begin(
        cls,
        scorer: StepScorer,
        sources_BS: Tensor,
        beam: int,
        *,
        max_lengths_B: Sequence[int],
        rules: OutputRules | None,
        prefixes: Sequence[Sequence[int]] | None,
        attention: bool,
    ) -> Walk:
        """Let the scorer read the sources; nothing has been said."""
        (sentences, positions), device = sources_BS.shape, sources_BS.device
        limits = Limits.of(scorer.pieces.end, max_lengths_B, rules, prefixes, device)
        capacity = limits.forced_BT.shape[1]
        if len(limits.caps_B) != sentences:
            raise ValueError(f"{len(limits.caps_B)} length limits for {sentences} sentences")
        return cls(
            scorer,
            limits,
            History.empty(capacity, sentences, beam, positions if attention else None, device),
            scorer.start(sources_BS, beam, capacity),
            torch.arange(sentences, device=device),
            limits.caps_B,
            torch.full((sentences, beam), START, device=device),
            torch.full((sentences, beam), scorer.pieces.start, device=device),
        )

    def step(self) -> Scores:
        """Ask the scorer and strike out what may not be said now."""
        step = self._first_step() if self.time == 0 else self.scorer.step(self.state, self.last_BK)
        self.state = step.state
        if self.history.attention_TBKS is not None and step.attention_BKS is not None:
            self.history.attention_TBKS[self.time].index_copy_(0, self.alive_B, step.attention_BKS.float())
        scores_BKV = step.log_probs_BKV.float().contiguous()
        if self.time in self.limits.cap_times:
            self._note_capped(scores_BKV, step.ids_V)
        if self.time not in self.limits.forced_times:
            self._strike_out(scores_BKV, step.ids_V)
        else:
            rows_F, columns_F, log_probs_FK = self._forced(scores_BKV, step.ids_V)
            self._strike_out(scores_BKV, step.ids_V)
            scores_BKV[rows_F] = -torch.inf
            scores_BKV[rows_F, :, columns_F] = log_probs_FK
        return Scores(scores_BKV, step.ids_V)

    def end_hypotheses(self, ends_BK: Tensor) -> None:
        """Take note of the hypotheses that end now: the log-probability of their end piece, else NaN."""
        self.history.ends_TBK[self.time].index_copy_(0, self.alive_B, ends_BK)

    def advance(
        self, parents_BK: Tensor | None, pieces_BK: Tensor, log_probs_BK: Tensor, done_B: Tensor
    ) -> Tensor | None:
        """Go on with these hypotheses; parents_BK is None when each goes on in its own place. Sentences that
        are done or at their limit leave the batch; then the rows that stay are returned, else None.
        `alive_B` is empty when the walk is over."""
        history, time = self.history, self.time
        history.pieces_TBK[time].index_copy_(0, self.alive_B, pieces_BK)
        history.log_probs_TBK[time].index_copy_(0, self.alive_B, log_probs_BK)
        if parents_BK is not None:
            history.parents_TBK[time].index_copy_(0, self.alive_B, parents_BK)
            self.rules_states_BK = self.rules_states_BK.gather(1, parents_BK)
        if self.limits.next_QV is not None:
            self.rules_states_BK = self.limits.next_QV[self.rules_states_BK, pieces_BK].long()
        self.time, self.last_BK = time + 1, pieces_BK
        kept_B = (~done_B & (self.caps_B > self.time)).nonzero().squeeze(1)
        if len(kept_B) == len(done_B):
            if parents_BK is not None:
                self.state = self.scorer.select(self.state, kept_B, parents_BK)
            return None
        self.alive_B, self.caps_B = self.alive_B[kept_B], self.caps_B[kept_B]
        self.rules_states_BK, self.last_BK = self.rules_states_BK[kept_B], pieces_BK[kept_B]
        if len(kept_B):
            own_BK = torch.arange(pieces_BK.shape[1], device=kept_B.device).expand(len(kept_B), -1)
            parents_BK = own_BK if parents_BK is None else parents_BK[kept_B]
            self.state = self.scorer.select(self.state, kept_B, parents_BK)
        return kept_B

    def candidates(self) -> list[list[Candidate]]:
        """What was found for each sentence, at least one each."""
        found = self.history.candidates()
        if not all(found):
            raise UserError("the model's scores leave nothing to say: they are NaN or every probability is 0")
        return found

    def _first_step(self) -> Step:
        """All hypotheses are equal: the scorer is asked for one of them."""
        step = self.scorer.step(self.state, self.last_BK[:, :1])
        state = self.scorer.select(step.state, self.alive_B, torch.zeros_like(self.last_BK))
        shape = (-1, self.last_BK.shape[1], -1)
        attention_BKS = None if step.attention_BKS is None else step.attention_BKS.expand(shape)
        return Step(step.log_probs_BKV.expand(shape), state, step.ids_V, attention_BKS)

    def _strike_out(self, scores_BKV: Tensor, ids_V: Tensor | None) -> None:
        """Write -inf where the rules forbid a piece in the state and room of its hypothesis."""
        if self.limits.penalties_XV is None:
            return
        penalties_XV, forbidden_F = self._penalties(self.limits.penalties_XV, ids_V)
        room_B1 = (self.caps_B - self.time).clamp(max=ROOMS)[:, None]
        case_X = (self.rules_states_BK * ROOMS + room_B1 - 1).view(-1)
        scores_XV = scores_BKV.view(len(case_X), -1)
        special_R = (case_X != USUAL).nonzero().squeeze(1)
        if not len(special_R):
            scores_XV.index_fill_(1, forbidden_F, -torch.inf)
            return
        special_RV = scores_XV[special_R] + penalties_XV[case_X[special_R]]
        if len(special_R) < len(case_X):
            scores_XV.index_fill_(1, forbidden_F, -torch.inf)
        scores_XV[special_R] = special_RV

    def _penalties(self, penalties_XV: Tensor, ids_V: Tensor | None) -> tuple[Tensor, Tensor]:
        """The penalties of the columns, and the columns that are forbidden in the USUAL case."""
        if self.columns is None or self.columns[0] is not ids_V:
            own_XV = penalties_XV if ids_V is None else penalties_XV[:, ids_V]
            self.columns = ids_V, own_XV, own_XV[USUAL].isinf().nonzero().squeeze(1)
        return self.columns[1:]

    def _forced(self, scores_BKV: Tensor, ids_V: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """For the F sentences that have no choice now: row, column, and its log-probabilities."""
        forced_B = self.limits.forced_BT[self.alive_B, self.time]
        rows_F = (forced_B >= 0).nonzero().squeeze(1)
        own_BK = _log_probs_of(scores_BKV, ids_V, forced_B.clamp(min=0))
        return rows_F, _columns(ids_V, forced_B[rows_F])[0], own_BK[rows_F]

    def _note_capped(self, scores_BKV: Tensor, ids_V: Tensor | None) -> None:
        """Remember which hypotheses are cut off: those at their limit that would rather go on."""
        end_B = torch.full_like(self.alive_B, self.scorer.pieces.end)
        wants_more_BK = scores_BKV.amax(2) > _log_probs_of(scores_BKV, ids_V, end_B)
        at_cap_B1 = (self.caps_B == self.time + 1)[:, None]
        self.history.capped_TBK[self.time].index_copy_(0, self.alive_B, wants_more_BK & at_cap_B1)


def _log_probs_of(scores_BKV: Tensor, ids_V: Tensor | None, pieces_B: Tensor) -> Tensor:
    """log_probs_BK of one piece for each sentence, -inf for a piece outside the shortlist."""
    column_B, present_B = _columns(ids_V, pieces_B)
    column_BK1 = column_B[:, None, None].expand(-1, scores_BKV.shape[1], 1)
    return scores_BKV.gather(2, column_BK1).squeeze(2).masked_fill(~present_B[:, None], -torch.inf)


def _columns(ids_V: Tensor | None, pieces_B: Tensor) -> tuple[Tensor, Tensor]:
    """The column of each piece, and whether it has one (else column 0 is given)."""
    if ids_V is None:
        return pieces_B, torch.ones_like(pieces_B, dtype=torch.bool)
    match_BV = pieces_B[:, None] == ids_V
    return match_BV.int().argmax(1), match_BV.any(1)
