"""Which choices are there about the units? (No heavy import: recipes are read by `--help`.)"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

Units = Literal["unigram", "bpe", "words", "characters"]


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
