"""Which choices are there about the units? (No heavy import: recipes are read by `--help`.)"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

Units = Literal["unigram", "bpe", "words", "characters"]
Document = Literal["line", "block", "file"]


_UNITS = "what pieces are; unigram and bpe are subwords, of which nothing is unknown"


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Vocabulary:
    """What decides on a vocabulary."""

    units: Units = Field(default="unigram", description=_UNITS)
    pieces: int = Field(
        default=8000, ge=400, le=1_000_000, description="vocabulary size; lowered where the corpus is small"
    )
    coverage: float = Field(
        default=0.9995,
        gt=0.5,
        le=1.0,
        description="share of running characters that are pieces of their own (subwords)",
    )


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class TextOptions(Vocabulary):
    """How text becomes ids."""

    joint: bool = Field(default=True, description="one vocabulary for both languages")
    max_pieces: int = Field(
        default=256, ge=4, le=100_000, description="longer pairs are set aside; counted without the end"
    )


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class RunningTextOptions(Vocabulary):
    """How text in one language becomes ids."""

    units: Units = Field(default="characters", description=_UNITS)
    document: Document = Field(
        default="file",
        description="what is a text with a beginning and an end: a line, lines up to a blank one, a file",
    )
    max_pieces: int = Field(
        default=1000, ge=4, le=100_000, description="longer lines and blocks are set aside; a file may be of any length"
    )
