"""How does a model get a shortlist, and how much of the translations that people wrote does it leave out?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self, runtime_checkable

from dragoman.abilities import inability
from dragoman.contracts import Ability, Bitext, Product, Progress, SentencePair, UserError, Work, quiet
from dragoman.system import store
from dragoman.system.stream import kinds_with

MOST_PAIRS = 200_000  # more of them add rare partners only
HELD_OUT, LOOKED_AT = 20, 2_000  # one pair in 20, and about so many at most, tell how good a shortlist is


@dataclass(frozen=True)
class Kept:
    """Of pairs that were not learnt from: pieces that may be said of a source, on average, of how many; share of the
    target pieces among them."""

    pairs: int
    sayable: float
    pieces: int
    share: float

    def __str__(self) -> str:
        many = f"{self.sayable:,.0f} of {self.pieces:,} pieces for a sentence ({self.sayable / self.pieces:.1%})"
        return f"{many}; {self.share:.1%} of what {self.pairs:,} other translations say"


@runtime_checkable
class HasShortlist(Product, Protocol):
    """A translator with Ability.SHORTLIST."""

    def with_shortlist(self, pairs: Sequence[SentencePair], partners: int, frequent: int, work: Work) -> Self: ...
    def shortlist_covers(self, pairs: Sequence[SentencePair]) -> tuple[float, int, float]:
        """Pieces that may be said of a sentence, on average; of how many; share of the targets' pieces among them."""
        ...


def add_shortlist(
    folder: Path,
    train: Bitext,
    partners: int,
    frequent: int,
    *,
    threads: int = 0,
    report: Callable[[Progress], None] = quiet,
) -> Kept:
    """Learn a shortlist from pairs, at most about MOST_PAIRS of them, and put the model with it in the model's place.

    UserError for a kind that has no use for one.
    """
    store.read_card(folder)
    with store.published(folder) as aside:
        model = store.load_model(folder)
        if not isinstance(model, HasShortlist):
            raise UserError(f"{folder}: {inability(model.kind, Ability.SHORTLIST, kinds_with(Ability.SHORTLIST))}")
        step = -(-len(train) // MOST_PAIRS)
        pairs = [pair for number, pair in enumerate(train) if number % step == 0]
        apart = max(HELD_OUT, len(pairs) // LOOKED_AT)
        learnt = [pair for number, pair in enumerate(pairs) if number % apart]
        if not learnt:
            raise UserError(f"{len(train)} pair is too few to learn a shortlist from")
        made = model.with_shortlist(learnt, partners, frequent, Work(folder, report, threads=threads))
        store.save_changed(made, folder, aside)
    return Kept(len(pairs[::apart]), *made.shortlist_covers(pairs[::apart]))
