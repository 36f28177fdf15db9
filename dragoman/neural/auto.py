"""Which network fits this corpus, this machine and this time?

The vocabulary, the largest useful network and how much it is regularised follow from the number of pairs
(Sennrich & Zhang 2019, Araabi & Monz 2020: small corpora want few pieces, small networks, much dropout). Where time
is short the network shrinks until it sees the corpus often enough: a short measurement says how fast each one learns.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import islice
from pkgutil import resolve_name
from typing import NamedTuple

import torch

from dragoman.contracts import Bitext, PieceTable, Progress, Work
from dragoman.durations import format_duration
from dragoman.neural import devices
from dragoman.neural.batches import Batch, rows_apart
from dragoman.neural.crew import Crew
from dragoman.neural.ladders import FAMILIES, TIERS, Family, Size, Tier
from dragoman.neural.network import Predictor
from dragoman.neural.optimiser import AdamW
from dragoman.neural.recipes import AutoRecipe, NetworkRecipe, TrainingOptions
from dragoman.neural.seq2seq import NETWORKS
from dragoman.neural.training import batch_loss
from dragoman.text.options import TextOptions
from dragoman.text.words import word_spans
from dragoman.wording import counted

SAMPLED = 5_000  # pairs whose lengths are looked at
PIECES_A_WORD = 1.3
MEASURED_SECONDS = 1.0
FOR_TRAINING = 0.9  # share of a time budget that is training
MANY_UPDATES = 20_000
LOOKS = 10
DROPOUTS = ((5, 0.0), (12, 0.1), (30, 0.2), (float("inf"), 0.3))  # passes over the corpus below which it is enough


class Lengths(NamedTuple):
    """Mean pieces of a sentence, about, the end piece included."""

    source: float
    target: float


def choose(recipe: AutoRecipe, train: Bitext, work: Work) -> NetworkRecipe:
    """The recipe for this corpus, each choice told with its reason."""

    def tell(choice: str, reason: str) -> None:
        work.report(Progress("choosing", note=f"{choice}: {reason}"))

    device, family = devices.pick(work.device, work.threads), FAMILIES[recipe.kind]
    tier = next(tier for tier in TIERS if len(train) < tier.below)
    lengths = mean_lengths(train)
    pairs = counted(len(train), "pair")
    tell(f"{tier.pieces:,} pieces", f"{pairs}; a piece that is seen seldom is learnt badly")
    speed_of = measured_speed(family, tier.pieces, lengths, recipe, device)
    pieces_an_epoch = len(train) * lengths.target
    size, epochs = fitting_size(recipe, family, tier, pieces_an_epoch, speed_of, tell)
    if recipe.max_updates and not recipe.time_budget:
        epochs = recipe.max_updates * family.batch / pieces_an_epoch
    dropout = dropout_for(epochs)
    tell(f"dropout {dropout:g}, label smoothing {tier.label_smoothing:g}", f"about {epochs:.0f} passes over {pairs}")
    tokens_per_batch, updates = family.batch, epochs * pieces_an_epoch / family.batch
    while updates > MANY_UPDATES:
        tokens_per_batch, updates = 2 * tokens_per_batch, updates / 2
    tell(f"{tokens_per_batch:,} pieces a batch", f"about {updates:,.0f} updates: many small ones where time is short")
    length = recipe.max_updates or max(LOOKS, round(updates))
    return family.recipe(
        text=TextOptions(pieces=tier.pieces),
        model=size.options(dropout),
        training=TrainingOptions(
            max_updates=length,
            time_budget=recipe.time_budget,
            tokens_per_batch=tokens_per_batch,
            learning_rate=round(family.rate(size.width), 6),
            warmup_updates=max(1, length // 10),
            label_smoothing=tier.label_smoothing,
            validate_every=max(1, length // LOOKS),
            precision=recipe.precision,
        ),
        backtranslation=recipe.backtranslation,
    )


def fitting_size(
    recipe: AutoRecipe,
    family: Family,
    tier: Tier,
    pieces_an_epoch: float,
    speed_of: Callable[[Size], float],
    tell: Callable[[str, str], None],
) -> tuple[Size, float]:
    """The largest network that sees the corpus often enough in the time, and how often."""
    for place in range(tier.largest, -1, -1):
        size = family.ladder[place]
        speed = speed_of(size)
        if not recipe.time_budget:
            seconds = tier.epochs * pieces_an_epoch / speed
            tell(
                str(size), f"the largest that so many pairs feed; about {format_duration(round(seconds))} here, or less"
            )
            return size, tier.epochs
        epochs = FOR_TRAINING * recipe.time_budget * speed / pieces_an_epoch
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
    family: Family, pieces: int, lengths: Lengths, recipe: AutoRecipe, device: torch.device
) -> Callable[[Size], float]:
    """Target pieces a second that a size learns here, from a second of updates on made-up sentences."""
    products = devices.products_dtype(recipe.precision, device)
    rows = max(1, int(family.batch / max(lengths)))
    shapes = [(rows, max(2, round(length))) for length in lengths]
    kind = resolve_name(NETWORKS[family.recipe.kind][0])
    table = PieceTable(("",) * pieces, padding=0, unknown=1, start=2, end=3)

    def learn_from(network: Predictor, part: Batch) -> None:
        loss, _ = batch_loss(network, part, table.padding, 0.1, products)
        loss.smoothed.backward()  # type: ignore[no-untyped-call]

    def speed(size: Size) -> float:
        with torch.random.fork_rng():
            network = kind(size.options(0.1), table, table, joint=True).to(device).train()
            optimiser = AdamW(network.parameters(), rate=1e-3)
            done, began = 0, time.monotonic()
            with Crew(network, device) as crew:
                while done < 3 or time.monotonic() - began < MEASURED_SECONDS:
                    if done == 1:  # the first one warms up
                        began = time.monotonic()
                    sources, targets = (torch.randint(table.end, pieces, shape, device=device) for shape in shapes)
                    parts = rows_apart(Batch(sources, targets, targets, 0), len(crew))
                    list(crew.each(learn_from, ((part,) for part in parts)))
                    crew.add_up()
                    optimiser.step()
                    done += 1
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return (done - 1) * targets.numel() / (time.monotonic() - began)

    return speed
