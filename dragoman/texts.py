"""What do the rooms say to each other of text in one language?

The data of a language model, and what may be relied on of one, whatever it is made of: a network, or counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, runtime_checkable

from dragoman.contracts import Flag, Origin, Product, Progress, Sampling, Score, UserError, quiet

MOST = 1_000_000  # texts, and pieces of one, that are written at once


@runtime_checkable
class Text(Protocol):
    """Lines in one language in their order, blank ones too; walked many times, and perhaps not fit for memory."""

    @property
    def language(self) -> str:
        """Its code, "und" where it is not known."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hex digest of language and lines, and of where files end: equal content, equal fingerprint."""
        ...

    @property
    def lengths(self) -> Sequence[int]:
        """How many lines each file has, in order; together they are all lines."""
        ...

    def origin(self, number: int) -> Origin:
        """Where a line stands, the first of all being number 0."""
        ...

    def __len__(self) -> int:
        """Lines."""
        ...

    def __iter__(self) -> Iterator[str]: ...


@dataclass(frozen=True)
class TextFigures:
    """How well a language model predicts a text.

    log_probability: of all of it, natural log. tokens: what was predicted, line ends and ends of texts among them, but
    no beginning; unknown: how many of these are units that the model does not know, unknown_log_probability: their
    part. words: those of `word_spans`, and one more for each line; characters: those of the lines, and one more for
    each line: its end is predicted too. So two models of the same text are compared by word or by character, whatever
    their tokens are.
    """

    log_probability: float
    tokens: int
    words: int
    characters: int
    lines: int
    unknown: int = 0
    unknown_log_probability: float = 0.0

    def __add__(self, other: TextFigures) -> TextFigures:
        """The figures of both texts."""
        return TextFigures(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    @property
    def loss(self) -> float:
        """Nats a token."""
        return -self.log_probability / max(self.tokens, 1)

    @property
    def perplexity(self) -> float:
        """exp(-1/N log p), N being the tokens."""
        return _exp(self.loss)

    @property
    def perplexity_of_known(self) -> float:
        """The same over the tokens that the model knows; those before them may be unknown."""
        known = self.tokens - self.unknown
        return _exp((self.unknown_log_probability - self.log_probability) / max(known, 1))

    @property
    def word_perplexity(self) -> float:
        """exp(-1/W log p), W being the words and the ends of lines."""
        return _exp(-self.log_probability / max(self.words, 1))

    @property
    def bits_per_character(self) -> float:
        """-log2 p / characters."""
        return -self.log_probability / math.log(2) / max(self.characters, 1)

    def to_json(self) -> dict[str, float]:
        """Plain numbers by name."""
        return {
            "perplexity": self.perplexity,
            "perplexity_of_known": self.perplexity_of_known,
            "word_perplexity": self.word_perplexity,
            "bits_per_character": self.bits_per_character,
            "log_probability": self.log_probability,
            "tokens": self.tokens,
            "unknown": self.unknown,
            "words": self.words,
            "characters": self.characters,
            "lines": self.lines,
        }


@dataclass(frozen=True, slots=True)
class Generating:
    """How texts are drawn. longest: pieces of a text, those of the prefix not counted. sampling: a temperature of 0
    takes the likeliest piece each time."""

    count: int = 1
    longest: int = 500
    sampling: Sampling = Sampling()


def settled(options: Generating) -> Sampling:
    """How to draw: at a temperature of 0 the likeliest piece alone. UserError for what makes no sense."""
    if not 1 <= options.count <= MOST or not 1 <= options.longest <= MOST:
        raise UserError(f"{options.count:,} texts of {options.longest:,} pieces: both are numbers from 1 to {MOST:,}")
    sampling = options.sampling
    if sampling.temperature == 0:
        sampling = replace(sampling, temperature=1.0, top_k=1)
    check_sampling(sampling)
    return sampling


def check_sampling(sampling: Sampling) -> None:
    """UserError for what cannot be drawn from."""
    if not 0 < sampling.temperature < math.inf:
        raise UserError(f"temperature {sampling.temperature}: must be above 0 and finite")
    if sampling.top_k < 0:
        raise UserError(f"top_k {sampling.top_k}: must be 0 (off) or more")
    if not 0 < sampling.top_p <= 1:
        raise UserError(f"top_p {sampling.top_p}: must be above 0 and at most 1 (off)")


@dataclass(frozen=True)
class Generated:
    """A text that a model wrote, its prefix included. log_probability: of what was written, given the prefix; natural
    log, by the model itself, before temperature and the like. Flag.LENGTH_CAP: it did not come to an end."""

    text: str
    log_probability: float
    token_log_probabilities: tuple[float, ...] = ()
    flags: tuple[Flag, ...] = ()


class LanguageModel(Product, Protocol):
    """Raw text in, figures and text out."""

    @property
    def language(self) -> str: ...
    def score(self, texts: Sequence[str]) -> list[Score]:
        """How probable each line is, its end included, on its own; `score` and `log_probability` are the same."""
        ...

    def evaluate(self, text: Text, report: Callable[[Progress], None] = quiet) -> TextFigures:
        """How well the text is predicted, each token once."""
        ...

    def all_next(self, prefix: str = "") -> Mapping[str, float]:
        """The natural log-probability of every token that may follow; as probabilities they sum to 1."""
        ...

    def generate(self, prefix: str = "", options: Generating = Generating()) -> list[Generated]:
        """`options.count` texts that begin with the prefix, drawn independently."""
        ...


def languages_of(thing: Any) -> tuple[str, ...]:
    """The languages of data or of a product: (source, target) of a bitext, the one of a text."""
    if hasattr(thing, "source_language"):
        return thing.source_language, thing.target_language
    return (thing.language,)


def facts_of_figures(figures: TextFigures) -> Mapping[str, float]:
    """What is told of a look at a dev set."""
    return {
        "loss": figures.loss,
        "perplexity": figures.perplexity,
        "bits_per_character": figures.bits_per_character,
    }


def _exp(value: float) -> float:
    """exp, infinite where that is beyond all numbers."""
    return math.exp(value) if value < 700 else math.inf
