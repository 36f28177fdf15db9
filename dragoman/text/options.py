"""Which choices are there about the units? (No heavy import: recipes are read by `--help`.)"""

from __future__ import annotations

from typing import Literal, Protocol

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

Units = Literal["unigram", "bpe", "words", "characters"]
Document = Literal["line", "block", "file"]


class Vocabulary(Protocol):
    """What decides on a vocabulary."""

    @property
    def units(self) -> Units: ...
    @property
    def pieces(self) -> int: ...
    @property
    def coverage(self) -> float: ...


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class TextOptions:
    """How text becomes ids."""

    units: Units = Field(
        default="unigram", description="unigram | bpe (subwords, nothing is unknown) | words | characters"
    )
    pieces: int = Field(
        default=8000, ge=400, le=1_000_000, description="vocabulary size; lowered where the corpus is small"
    )
    joint: bool = Field(default=True, description="one vocabulary for both languages")
    coverage: float = Field(
        default=0.9995,
        gt=0.5,
        le=1.0,
        description="share of running characters that are pieces of their own (subwords)",
    )
    max_pieces: int = Field(
        default=256, ge=4, le=100_000, description="longer pairs are set aside; counted without the end"
    )


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class RunningTextOptions:
    """How text in one language becomes ids."""

    units: Units = Field(
        default="characters", description="unigram | bpe (subwords, nothing is unknown) | words | characters"
    )
    pieces: int = Field(
        default=8000, ge=400, le=1_000_000, description="vocabulary size; lowered where the corpus is small"
    )
    coverage: float = Field(
        default=0.9995,
        gt=0.5,
        le=1.0,
        description="share of running characters that are pieces of their own (subwords)",
    )
    document: Document = Field(
        default="file",
        description="what is a text with a beginning and an end: a line, lines up to a blank one, a file",
    )
    max_pieces: int = Field(
        default=1000, ge=4, le=100_000, description="longer lines and blocks are set aside; a file may be of any length"
    )
