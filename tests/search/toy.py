"""A model small enough to list all its outputs, which watches that its states are used once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from dragoman.contracts import PieceTable
from dragoman.search.steps import Step

SOURCE_PADDING = 0
PADDING, UNKNOWN, START_ID, END = 0, 1, 2, 3


def piece_table(*texts: str, byte_pieces: bool = False) -> PieceTable:
    """Padding 0, unknown 1, start 2, end 3, then these texts, then perhaps the 256 byte pieces."""
    pieces = ["<pad>", "<unk>", "<s>", "</s>", *texts]
    byte_ids: tuple[int, ...] = ()
    if byte_pieces:
        byte_ids = tuple(range(len(pieces), len(pieces) + 256))
        pieces += [f"<0x{byte:02X}>" for byte in range(256)]
    return PieceTable(tuple(pieces), PADDING, UNKNOWN, START_ID, END, (), byte_ids)


@dataclass
class ToyState:
    """A number for each hypothesis, made of all that it has said; the sources once for a sentence."""

    number_BK: Tensor
    sources_BS: Tensor
    steps_left: int
    spent: bool = False

    def use(self) -> None:
        assert not self.spent, "a state was used twice"
        self.spent = True


@dataclass
class ToyScorer:
    """log p(piece | everything before, source): a row of a random table, picked by a number that each
    piece changes. `first`: the first columns alone are possible, as a shortlist `ids_V`."""

    pieces: PieceTable
    seed: int = 1
    sharpness: float = 1.0
    rows: int = 211
    first: int = 0
    end_bonus: float = 0.0
    never: Sequence[int] = (PADDING, UNKNOWN, START_ID)
    widths: list[int] = field(default_factory=list)
    table_NV: Tensor = field(init=False)

    def __post_init__(self) -> None:
        generator = torch.Generator().manual_seed(self.seed)
        logits_NV = torch.randn(self.rows, len(self.pieces), generator=generator) * self.sharpness
        logits_NV[:, END] += self.end_bonus
        logits_NV[:, list(self.never)] = -torch.inf
        if self.first:
            logits_NV[:, self.first :] = -torch.inf
        self.table_NV = torch.log_softmax(logits_NV, 1)

    def start(self, sources_BS: Tensor, beam: int, capacity: int) -> ToyState:
        number_B = (sources_BS * torch.arange(1, sources_BS.shape[1] + 1)).sum(1) % self.rows
        return ToyState(number_B[:, None], sources_BS, capacity)

    def step(self, state: ToyState, last_BK: Tensor) -> Step:
        state.use()
        assert state.steps_left > 0, "more steps than were announced"
        self.widths.append(len(last_BK))
        number_BK = (state.number_BK * 31 + last_BK * 17 + 5) % self.rows
        log_probs_BKV = self.table_NV[number_BK]
        position_S = torch.arange(state.sources_BS.shape[1])
        weights_BKS = ((number_BK[:, :, None] * 7 + position_S * 13) % 29 + 1) * (
            state.sources_BS != SOURCE_PADDING
        ).unsqueeze(1)
        attention_BKS = weights_BKS / weights_BKS.sum(2, keepdim=True)
        after = ToyState(number_BK, state.sources_BS, state.steps_left - 1)
        if self.first:
            return Step(log_probs_BKV[:, :, : self.first], after, torch.arange(self.first), attention_BKS)
        return Step(log_probs_BKV, after, None, attention_BKS)

    def select(self, state: ToyState, sentences_B: Tensor, beams_BK: Tensor) -> ToyState:
        state.use()
        return ToyState(
            state.number_BK[sentences_B].gather(1, beams_BK), state.sources_BS[sentences_B], state.steps_left
        )


def log_probs_of(scorer: ToyScorer, source: Sequence[int], pieces: Sequence[int]) -> list[float]:
    """By hand: the log-probability of each piece and of the end."""
    number = sum(sign * place for place, sign in enumerate(source, start=1)) % scorer.rows
    last, found = START_ID, []
    for piece in [*pieces, END]:
        number = (number * 31 + last * 17 + 5) % scorer.rows
        found.append(float(scorer.table_NV[number, piece]))
        last = piece
    return found


def batch(*sources: Sequence[int]) -> Tensor:
    """Sources side by side, filled up."""
    longest = max(map(len, sources))
    return torch.tensor([[*source, *[SOURCE_PADDING] * (longest - len(source))] for source in sources])
