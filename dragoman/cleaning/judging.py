"""What is to be said of many pairs, whoever comes before or after them?

Pairs are judged in chunks, each by itself, so that several processes can share the work: what is made uniform, which
filter rejects which pair, and what each pair says (its keys, by which repeated ones are found).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dragoman.cleaning.duplicates import PairKeys, keys_of, keys_of_pairs
from dragoman.cleaning.filters import Chunk, Filter
from dragoman.cleaning.normalising import Changes, Step, made_uniform
from dragoman.cleaning.signs import Signs
from dragoman.corpus.records import blank_fault

Reason = tuple[str, float | None]
"""Why a pair is rejected, and the score there, if any."""


@dataclass(frozen=True)
class Judgement:
    """Of some pairs. uniform: those that were changed; rejected: why; both by place. keys: of the N others."""

    uniform: dict[int, tuple[str, str]]
    rejected: dict[int, Reason]
    keys: PairKeys
    changes: Changes


@dataclass(frozen=True)
class Judge:
    """What is asked of each pair. steps: of the sources and of the targets; filters: the first that rejects gives the
    reason."""

    languages: tuple[str, str]
    steps: tuple[dict[str, Step], dict[str, Step]]
    filters: Sequence[Filter]

    def __call__(self, sources: Sequence[str], targets: Sequence[str]) -> Judgement:
        """Judge pairs of which no side is blank."""
        changes = Changes()
        sides = made_uniform(sources, self.steps[0], changes), made_uniform(targets, self.steps[1], changes)
        uniform = _differing(sources, targets, *sides) if changes.counts else {}
        faults = {row: fault for row, pair in uniform.items() if (fault := blank_fault(*pair))}
        chunk = Chunk(sides, self.languages)
        rejected = first_reasons(chunk, self.filters, faults)
        sources, targets = chunk.texts([place for place in range(len(chunk)) if place not in rejected])
        return Judgement(uniform, rejected, keys_of_pairs(keys_of(sources), keys_of(targets)), changes)


def _differing(
    sources: Sequence[str], targets: Sequence[str], source: Signs, target: Signs
) -> dict[int, tuple[str, str]]:
    """Rows of which a side is another one now, and both sides."""
    pairs = zip(sources, targets, source.texts, target.texts, strict=True)
    return {row: (now, new) for row, (one, other, now, new) in enumerate(pairs) if one != now or other != new}


def first_reasons(
    chunk: Chunk, filters: Iterable[Filter], faults: Mapping[int, str] | None = None
) -> dict[int, Reason]:
    """Of each pair that is rejected its fault, or the name of the first filter that rejects it and the score there."""
    reasons: dict[int, Reason] = {place: (fault, None) for place, fault in (faults or {}).items()}
    for one in filters:
        scores_N = one.score(chunk)
        for place in np.flatnonzero(~one.accept(scores_N)).tolist():
            reasons.setdefault(place, (one.name, float(scores_N[place])))
    return reasons
