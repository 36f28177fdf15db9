"""Which Transformer fits this corpus, this machine and this time?

The vocabulary, the largest useful network and how much it is regularised follow from the number of pairs
(Sennrich & Zhang 2019, Araabi & Monz 2020: small corpora want few pieces, small networks, much dropout). Where time
is short the network shrinks until it sees the corpus often enough: a short measurement says how fast each one learns.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

import torch

from dragoman.contracts import Bitext, PieceTable, Progress, Work
from dragoman.durations import format_duration
from dragoman.neural import devices
from dragoman.neural.batches import Batch
from dragoman.neural.recipes import AutoTransformerRecipe, TrainingOptions, TransformerOptions, TransformerRecipe
from dragoman.neural.training import batch_loss
from dragoman.neural.transformer import Transformer
from dragoman.text.options import TextOptions
from dragoman.text.words import word_spans
from dragoman.wording import counted

SAMPLED = 5_000  # pairs whose lengths are looked at
PIECES_A_WORD = 1.3
MEASURED_SECONDS = 1.0
FOR_THE_REST = 0.9  # share of a time budget that is training
BATCH = 512
MANY_UPDATES = 20_000
LOOKS = 10
DROPOUTS = ((5, 0.0), (12, 0.1), (30, 0.2), (float("inf"), 0.3))  # passes over the corpus below which it is enough


class Size(NamedTuple):
    """A network's shape; as many layers read as write. passes: over the corpus that it takes to become better than the
    size below it (deep ones begin late to look at the source)."""

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


LADDER = (
    Size(128, 4, 2, 0),
    Size(192, 4, 2, 6),
    Size(256, 4, 2, 8),
    Size(256, 4, 3, 16),
    Size(384, 6, 4, 20),
    Size(512, 8, 6, 24),
)


class Tier(NamedTuple):
    """What a corpus of fewer than so many pairs gets. largest: of the ladder; epochs: without a time budget."""

    below: float
    pieces: int
    largest: int
    epochs: int
    label_smoothing: float


TIERS = (
    Tier(5_000, 2_000, 1, 100, 0.2),
    Tier(50_000, 4_000, 3, 40, 0.1),
    Tier(500_000, 8_000, 4, 20, 0.1),
    Tier(float("inf"), 16_000, 5, 10, 0.1),
)


class Lengths(NamedTuple):
    """Mean pieces of a sentence, about, the end piece included."""

    source: float
    target: float


def choose(recipe: AutoTransformerRecipe, train: Bitext, work: Work) -> TransformerRecipe:
    """The recipe for this corpus, each choice told with its reason."""

    def tell(choice: str, reason: str) -> None:
        work.report(Progress("choosing", note=f"{choice}: {reason}"))

    device = devices.pick(work.device, work.threads)
    tier = next(tier for tier in TIERS if len(train) < tier.below)
    lengths = mean_lengths(train)
    pairs = counted(len(train), "pair")
    tell(f"{tier.pieces:,} pieces", f"{pairs}; a piece that is seen seldom is learnt badly")
    speed_of = measured_speed(tier.pieces, lengths, recipe, device)
    pieces_an_epoch = len(train) * lengths.target
    size, epochs = fitting_size(recipe, tier, pieces_an_epoch, speed_of, tell)
    if recipe.max_updates and not recipe.time_budget:
        epochs = recipe.max_updates * BATCH / pieces_an_epoch
    dropout = dropout_for(epochs)
    tell(f"dropout {dropout:g}, label smoothing {tier.label_smoothing:g}", f"about {epochs:.0f} passes over {pairs}")
    tokens_per_batch, updates = BATCH, epochs * pieces_an_epoch / BATCH
    while updates > MANY_UPDATES:
        tokens_per_batch, updates = 2 * tokens_per_batch, updates / 2
    tell(f"{tokens_per_batch:,} pieces a batch", f"about {updates:,.0f} updates: many small ones where time is short")
    length = recipe.max_updates or max(LOOKS, round(updates))
    return TransformerRecipe(
        text=TextOptions(pieces=tier.pieces),
        model=size.options(dropout),
        training=TrainingOptions(
            max_updates=length,
            time_budget=recipe.time_budget,
            tokens_per_batch=tokens_per_batch,
            learning_rate=round(0.256 / size.width, 6),
            warmup_updates=max(1, length // 10),
            label_smoothing=tier.label_smoothing,
            validate_every=max(1, length // LOOKS),
            precision=recipe.precision,
        ),
        backtranslation=recipe.backtranslation,
    )


def fitting_size(
    recipe: AutoTransformerRecipe,
    tier: Tier,
    pieces_an_epoch: float,
    speed_of: Callable[[Size], float],
    tell: Callable[[str, str], None],
) -> tuple[Size, float]:
    """The largest network that sees the corpus often enough in the time, and how often."""
    for place in range(tier.largest, -1, -1):
        size = LADDER[place]
        speed = speed_of(size)
        if not recipe.time_budget:
            seconds = tier.epochs * pieces_an_epoch / speed
            tell(
                str(size), f"the largest that so many pairs feed; about {format_duration(round(seconds))} here, or less"
            )
            return size, tier.epochs
        epochs = FOR_THE_REST * recipe.time_budget * speed / pieces_an_epoch
        if epochs >= size.passes:
            break
    why = "the largest that so many pairs feed" if place == tier.largest else "a larger one would see too little"
    tell(
        str(size),
        f"{why}; at {speed:,.0f} pieces/s it sees each pair about {epochs:.1f} times in "
        f"{format_duration(recipe.time_budget)}",
    )
    return size, epochs


def dropout_for(epochs: float) -> float:
    """The more often a pair is seen, the more must be dropped lest it be learnt by heart; what is seen a few times
    is learnt faster with nothing dropped."""
    return next(dropout for below, dropout in DROPOUTS if epochs < below)


def mean_lengths(train: Bitext) -> Lengths:
    """Reckoned from words (a Chinese sign is one) of the first pairs: the pieces themselves are not yet known."""
    words = [(len(word_spans(pair.source)), len(word_spans(pair.target))) for pair in islice(train, SAMPLED)]
    source, target = (PIECES_A_WORD * sum(side) / len(words) + 1 for side in zip(*words, strict=True))
    return Lengths(source, target)


def measured_speed(
    pieces: int, lengths: Lengths, recipe: AutoTransformerRecipe, device: torch.device
) -> Callable[[Size], float]:
    """Target pieces a second that a size learns here, from a second of updates on made-up sentences."""
    products = devices.products_dtype(recipe.precision, device)
    rows = max(1, int(BATCH / max(lengths)))
    shapes = [(rows, max(2, round(length))) for length in lengths]
    table = PieceTable(("",) * pieces, padding=0, unknown=1, start=2, end=3)

    def speed(size: Size) -> float:
        with torch.random.fork_rng():
            network = Transformer(size.options(0.1), table, table, joint=True).to(device).train()
            optimiser = torch.optim.AdamW(network.parameters(), fused=True)
            done, began = 0, time.monotonic()
            while done < 3 or time.monotonic() - began < MEASURED_SECONDS:
                if done == 1:  # the first one warms up
                    began = time.monotonic()
                sources, targets = (torch.randint(table.end, pieces, shape, device=device) for shape in shapes)
                loss, _ = batch_loss(network, Batch(sources, targets, targets, 0), table.padding, 0.1, products)
                loss.smoothed.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
                done += 1
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return (done - 1) * targets.numel() / (time.monotonic() - began)

    return speed
