"""Which pairs of a bitext does an aligner not take for translations?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dragoman.cleaning.filters import AtLeast, Chunk, Filter, Scores
from dragoman.contracts import UserError
from dragoman.corpus.languages import same_language
from dragoman.system.store import load_model, read_card
from dragoman.system.verbs import require_verb

PRIVATE = "q"  # the languages of pairs of which nobody said any, qaa and qab


@dataclass(frozen=True)
class Aligned(AtLeast):
    """How probable an aligner finds the words of both sides, each given the word of the other side that explains it
    best: the mean of their log-probabilities. The aligner is loaded in the process that first asks."""

    folder: str
    name: ClassVar[str] = "poorly aligned"

    def score(self, chunk: Chunk) -> Scores:
        sources, targets = chunk.texts(range(len(chunk)))
        return np.array(self._aligner.plausibility(list(zip(sources, targets, strict=True))), dtype=np.float64)

    @cached_property
    def _aligner(self) -> Any:
        return load_model(Path(self.folder))


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
