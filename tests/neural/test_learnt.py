"""Do recurrent networks learn to copy and to turn sequences that they have never seen, in seconds?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from dragoman.contracts import PieceTable
from dragoman.neural.batches import collate, pad
from dragoman.neural.optimiser import AdamW
from dragoman.neural.recipes import BAHDANAU, FIXED, RecurrentOptions, TrainingOptions
from dragoman.neural.recurrent import Recurrent
from dragoman.neural.training import batch_loss, rate
from dragoman.search.beam import beam_search

SIGNS, BATCH, HELD_OUT = 8, 32, 100
PIECES = PieceTable(tuple("puseabcdefgh"), padding=0, unknown=1, start=2, end=3)
CPU = torch.device("cpu")


def sequences(count: int, longest: int, draw: torch.Generator) -> list[tuple[int, ...]]:
    lengths = torch.randint(1, longest + 1, (count,), generator=draw).tolist()
    return [tuple(torch.randint(4, 4 + SIGNS, (length,), generator=draw).tolist()) for length in lengths]


def accuracy(options: RecurrentOptions, backwards: bool, longest: int, updates: int) -> float:
    """The share of held-out sequences that greedy search gets wholly right after so many updates."""
    torch.manual_seed(1)
    draw = torch.Generator().manual_seed(1)
    network = Recurrent(options, PIECES, PIECES, joint=True).train()
    training = TrainingOptions(learning_rate=1e-2, warmup_updates=updates // 10)
    optimiser = AdamW(network.parameters(), training.learning_rate, betas=(0.9, 0.98))
    held_out = set(sequences(HELD_OUT, longest, draw))
    for update in range(updates):
        sources = [each for each in sequences(BATCH, longest, draw) if each not in held_out]
        batch = collate(sources, [each[::-1] if backwards else each for each in sources], PIECES, PIECES, CPU)
        optimiser.zero_grad()
        loss, _ = batch_loss(network, batch, PIECES.padding, 0.0)
        torch.autograd.backward(loss.smoothed / batch.target_tokens)
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.rate = rate(update, updates, training)
        optimiser.step()
    network.eval()
    asked = sorted(held_out)
    sources_BS = torch.from_numpy(pad(asked, PIECES.padding, PIECES.end))
    with torch.inference_mode():
        found = beam_search(network.scorer(), sources_BS, beam=1, max_lengths_B=[longest + 4] * len(asked))
    right = [best[0].pieces == (each[::-1] if backwards else each) for best, each in zip(found, asked, strict=True)]
    return sum(right) / len(right)


SMALL: dict[str, Any] = {
    "embedding": 32, "width": 32, "encoder_width": 32, "encoder_layers": 1, "decoder_layers": 1, "dropout": 0.0
}  # fmt: skip
LOOKS, FIXED_VECTOR = replace(BAHDANAU.model, **SMALL), replace(FIXED.model, **SMALL)


@pytest.mark.parametrize("backwards", [False, True], ids=["copy", "turn"])
@pytest.mark.parametrize(
    ("options", "longest", "updates"), [(LOOKS, 5, 120), (FIXED_VECTOR, 3, 150)], ids=["looks", "fixed"]
)
def test_copying_and_turning_are_learnt(options: RecurrentOptions, longest: int, updates: int, backwards: bool) -> None:
    """With attention at any length up to 5; from one vector at short ones."""
    assert accuracy(options, backwards, longest, updates) >= 0.9
