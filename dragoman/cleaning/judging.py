"""What is to be said of many pairs, whoever comes before or after them?

Pairs are judged in chunks, each by itself, so that several processes can share the work: what is made uniform, which
filter rejects which pair, and what each pair says (its keys, by which repeated ones are found).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dragoman.cleaning.duplicates import pair_keys
from dragoman.cleaning.filters import Chunk, Filter
from dragoman.cleaning.normalising import Changes, Step, made_uniform
from dragoman.cleaning.signs import Signs
from dragoman.corpus.records import blank_fault

Reason = tuple[str, float | None]
"""Why a pair is rejected ("" where it is not), and the score there, if any."""


@dataclass(frozen=True)
class Judgement:
    """Of N pairs. uniform: those that were changed, by their row. keys: of pair, source and target."""

    uniform: dict[int, tuple[str, str]]
    reasons: Sequence[Reason]
    keys: tuple[Sequence[int], Sequence[int], Sequence[int]]
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
        pairs, one, other = (keys_N.tolist() for keys_N in (pair_keys(*chunk.keys), *chunk.keys))
        return Judgement(uniform, first_reasons(chunk, self.filters, faults), (pairs, one, other), changes)


def _differing(
    sources: Sequence[str], targets: Sequence[str], source: Signs, target: Signs
) -> dict[int, tuple[str, str]]:
    """Rows of which a side is another one now, and both sides."""
    pairs = zip(sources, targets, source.texts, target.texts, strict=True)
    return {row: (now, new) for row, (one, other, now, new) in enumerate(pairs) if one != now or other != new}


def first_reasons(chunk: Chunk, filters: Iterable[Filter], faults: Mapping[int, str] | None = None) -> list[Reason]:
    """For each pair its fault, or the first filter that rejects it and the score there; ("", None) for a pair that all
    accept."""
    reasons: list[Reason] = [("", None)] * len(chunk)
    for row, fault in (faults or {}).items():
        reasons[row] = fault, None
    for one in filters:
        scores_N = one.score(chunk)
        for row in np.flatnonzero(~one.accept(scores_N)).tolist():
            if not reasons[row][0]:
                reasons[row] = one.name, float(scores_N[row])
    return reasons
