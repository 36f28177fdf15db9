"""Which path led to each finished hypothesis?

While a search runs it leaves, for every time step, the parent and the piece of each hypothesis in
tensors that were allocated once; nothing is copied when hypotheses move. The paths are walked
backwards when all is over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dragoman.search.steps import Candidate

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class History:
    """T steps of K hypotheses for B sentences, at each time t:

    parents_TBK, pieces_TBK, log_probs_TBK: the hypothesis of t - 1 that slot k goes on from (its own slot
    where nothing is written), by which piece, at which log-probability. ends_TBK: the log-probability of the
    end piece where hypothesis k of t - 1 ended, else NaN; capped_TBK: the limit made it end.
    attention_TBKS: weights of hypothesis k of t - 1 while it chose its piece.
    """

    parents_TBK: Tensor
    pieces_TBK: Tensor
    log_probs_TBK: Tensor
    ends_TBK: Tensor
    capped_TBK: Tensor
    attention_TBKS: Tensor | None

    @classmethod
    def empty(cls, times: int, sentences: int, beam: int, positions: int | None, device: torch.device) -> History:
        """Room for so many steps; `positions`: the source positions of attention, None to keep none."""
        shape = (times, sentences, beam)
        return cls(
            torch.arange(beam, device=device).expand(shape).contiguous(),
            torch.zeros(shape, dtype=torch.int64, device=device),
            torch.zeros(shape, dtype=torch.float32, device=device),
            torch.full(shape, torch.nan, dtype=torch.float32, device=device),
            torch.zeros(shape, dtype=torch.bool, device=device),
            None if positions is None else torch.zeros((*shape, positions), dtype=torch.float32, device=device),
        )

    def candidates(self) -> list[list[Candidate]]:
        """The finished hypotheses of each sentence, in the order in which they ended."""
        ends_TBK = self.ends_TBK.cpu().numpy()
        capped_TBK = self.capped_TBK.cpu().numpy()
        times_E, sentences_E, slots_E = np.nonzero(~np.isnan(ends_TBK))
        pieces_ET, log_probs_ET, slots_ET = self._walk_back(times_E, sentences_E, slots_E)
        attention_TBKS = None if self.attention_TBKS is None else self.attention_TBKS.cpu().numpy()
        found: list[list[Candidate]] = [[] for _ in range(ends_TBK.shape[1])]
        for event, (time, sentence, slot) in enumerate(zip(times_E, sentences_E, slots_E, strict=True)):
            last = float(ends_TBK[time, sentence, slot])
            attention = None
            if attention_TBKS is not None:
                attention = attention_TBKS[np.arange(time), sentence, slots_ET[event, :time]]
            found[sentence].append(
                Candidate(
                    pieces=tuple(pieces_ET[event, :time].tolist()),
                    token_log_probabilities=(*log_probs_ET[event, :time].tolist(), last),
                    capped=bool(capped_TBK[time, sentence, slot]),
                    attention=attention,
                )
            )
        return found

    def _walk_back(self, times_E: Array, sentences_E: Array, slots_E: Array) -> tuple[Array, Array, Array]:
        """Pieces, log-probabilities and parents at each time of the paths that ended in these slots."""
        parents_TBK = self.parents_TBK.cpu().numpy()
        pieces_TBK = self.pieces_TBK.cpu().numpy()
        log_probs_TBK = self.log_probs_TBK.cpu().numpy()
        shape = (len(times_E), int(times_E.max(initial=0)))
        pieces_ET = np.zeros(shape, dtype=np.int64)
        log_probs_ET = np.zeros(shape, dtype=np.float32)
        slots_ET = np.zeros(shape, dtype=np.int64)
        slot_E = slots_E.copy()
        for time in range(shape[1] - 1, -1, -1):
            rows = np.nonzero(times_E > time)[0]
            place = (time, sentences_E[rows], slot_E[rows])
            pieces_ET[rows, time] = pieces_TBK[place]
            log_probs_ET[rows, time] = log_probs_TBK[place]
            slot_E[rows] = parents_TBK[place]
            slots_ET[rows, time] = slot_E[rows]
        return pieces_ET, log_probs_ET, slots_ET
