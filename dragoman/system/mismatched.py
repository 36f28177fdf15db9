"""Which pairs of a bitext does an aligner hardly find links in?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dragoman.cleaning.filters import AtLeast, Chunk, Filter, Scores
from dragoman.contracts import UserError
from dragoman.corpus.languages import same_language
from dragoman.links import Alignment
from dragoman.system.store import load_model, read_card
from dragoman.system.verbs import require_verb

PRIVATE = "q"  # the languages of pairs of which nobody said any, qaa and qab


@dataclass(frozen=True)
class Aligned(AtLeast):
    """The share of the words of both sides that have a link in which both directions believe (sqrt(p q) > 0.4).

    A pair that cannot be linked, for its length, has 1. The aligner is loaded in the process that first asks.
    """

    folder: str
    name: ClassVar[str] = "poorly aligned"

    def score(self, chunk: Chunk) -> Scores:
        sources, targets = chunk.texts(range(len(chunk)))
        found = self._aligner.align(list(zip(sources, targets, strict=True)), "agreement")
        return np.array([_share(alignment) for alignment in found], dtype=np.float64)

    @cached_property
    def _aligner(self) -> Any:
        return load_model(Path(self.folder))


def _share(alignment: Alignment) -> float:
    words = len(alignment.source_words) + len(alignment.target_words)
    if alignment.fault or not words:
        return 1.0
    return sum(len({link[side] for link in alignment.links}) for side in (0, 1)) / words


def aligned_filter(folder: str, limit: float | None, languages: tuple[str, str]) -> Filter:
    """UserError where there is no aligner, one of other languages, or no limit."""
    require_verb(folder, "align")
    card = read_card(Path(folder))
    for given, own in zip(languages, card.languages, strict=True):
        if not own.startswith(PRIVATE) and not same_language(given, own):
            raise UserError(f"{folder}: links {'-'.join(card.languages)}, not {'-'.join(languages)}")
    if limit is None:
        raise UserError("filters.alignment is none: --aligner would be dropped")
    return Aligned(limit, folder)
