"""Which sizes of a network are worth trying, from the smallest up, and which of them does a corpus feed?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from dragoman.neural.recipes import (
    AttentionOptions,
    AutoRecurrentRecipe,
    AutoTransformerRecipe,
    NetworkRecipe,
    RecurrentOptions,
    RecurrentRecipe,
    TransformerOptions,
    TransformerRecipe,
)


class Size(Protocol):
    """A network's shape. passes: over the corpus that it takes to become better than the size below it."""

    @property
    def width(self) -> int: ...
    @property
    def passes(self) -> float: ...
    def options(self, dropout: float) -> TransformerOptions | RecurrentOptions: ...
    def __str__(self) -> str: ...


class TransformerSize(NamedTuple):
    """As many layers read as write. Deep ones begin late to look at the source."""

    width: int
    heads: int
    layers: int
    passes: float

    def options(self, dropout: float) -> TransformerOptions:
        return TransformerOptions(
            width=self.width,
            inner=4 * self.width,
            heads=self.heads,
            encoder_layers=self.layers,
            decoder_layers=self.layers,
            dropout=dropout,
            attention_dropout=min(dropout, 0.1),
            inner_dropout=dropout,
        )

    def __str__(self) -> str:
        return f"{self.width} wide, {self.layers}+{self.layers} layers"


class RecurrentSize(NamedTuple):
    """LSTMs that read in both directions, half the width each, and ask after the step: no context enters a cell, so
    that whole sentences run through fused kernels."""

    width: int
    layers: int
    passes: float

    def options(self, dropout: float) -> AttentionOptions:
        return AttentionOptions(
            embedding=self.width,
            width=self.width,
            encoder_width=self.width // 2,
            encoder="bi",
            encoder_layers=self.layers,
            decoder_layers=self.layers,
            dropout=dropout,
        )

    def __str__(self) -> str:
        return f"{self.width} wide, {self.layers}+{self.layers} layers"


@dataclass(frozen=True)
class Family:
    """What networks of one kind have in common. ladder: a size for each rung; batch: pieces of a batch where the time
    allows few updates; rate: the learning rate for a width."""

    recipe: type[NetworkRecipe]
    ladder: tuple[Size, ...]
    batch: int
    rate: Callable[[int], float]


FAMILIES: dict[str, Family] = {
    AutoTransformerRecipe.kind: Family(
        TransformerRecipe,
        (
            TransformerSize(128, 4, 2, 0),
            TransformerSize(192, 4, 2, 6),
            TransformerSize(256, 4, 2, 8),
            TransformerSize(256, 4, 3, 16),
            TransformerSize(384, 6, 4, 20),
            TransformerSize(512, 8, 6, 24),
        ),
        batch=512,
        rate=lambda width: 0.256 / width,
    ),
    AutoRecurrentRecipe.kind: Family(
        RecurrentRecipe,
        (
            RecurrentSize(128, 1, 0),
            RecurrentSize(192, 1, 4),
            RecurrentSize(256, 1, 6),
            RecurrentSize(256, 2, 12),
            RecurrentSize(384, 2, 20),
            RecurrentSize(512, 2, 24),
        ),
        batch=512,
        rate=lambda width: 0.512 / width,
    ),
}


class Tier(NamedTuple):
    """What a corpus of fewer than so many pairs gets. largest: rung of a ladder; epochs: without a time budget."""

    below: float
    pieces: int
    largest: int
    epochs: int
    label_smoothing: float


TIERS = (
    Tier(5_000, 2_000, 1, 100, 0.2),
    Tier(50_000, 4_000, 3, 25, 0.1),
    Tier(500_000, 8_000, 4, 20, 0.1),
    Tier(float("inf"), 16_000, 5, 10, 0.1),
)
