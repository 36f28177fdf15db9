"""What do the rooms say to each other of words and the links between them?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from dragoman.contracts import Link, Product, SentencePair, Span

TextPair = SentencePair | tuple[str, str]


@dataclass(frozen=True, slots=True)
class Alignment:
    """The links of one pair, sorted, each with its probability: sqrt(p q) of the two directions, 0 to 1.

    source_words, target_words: the spans that the links count. fault: why a pair with words on both sides has no links.
    """

    links: tuple[Link, ...]
    probabilities: tuple[float, ...]
    source_words: tuple[Span, ...] = ()
    target_words: tuple[Span, ...] = ()
    fault: str = ""


class Aligner(Product, Protocol):
    """Pairs of texts in, links between their words out; a blank text has none."""

    @property
    def source_language(self) -> str: ...
    @property
    def target_language(self) -> str: ...
    def align(self, pairs: Sequence[TextPair], symmetry: str = "") -> list[Alignment]:
        """The links of each pair. symmetry: how both directions become one, "" being what the model has stored."""
        ...

    def word_counts(self, pair: SentencePair) -> tuple[int, int]:
        """How many words the links of a pair may name."""
        ...
