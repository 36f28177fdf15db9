"""Which pairs are worth learning from, and why are the others not?

Records go through in chunks: what is no pair, what is made uniform, what a filter rejects, what was there before, in
this order. The first reason counts; each rejected pair is handed on with it.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked_dataclass

from dragoman.cleaning import filters
from dragoman.cleaning.beyond import InTestSet, OtherLanguage
from dragoman.cleaning.duplicates import Repeated, Seen
from dragoman.cleaning.filters import Filter
from dragoman.cleaning.judging import Judge, Judgement, Reason
from dragoman.cleaning.normalising import Changes, Normalisations
from dragoman.contracts import Record, SentencePair, UserError
from dragoman.corpus.rows import Rows, packed, rows_of, unpacked, without_faults
from dragoman.processes import Worker, cores, end, in_order, keep_freed_memory, started
from dragoman.wording import summary_of

LARGE = 20_000_000  # bytes of files from which on it pays to start processes
MOST = 8  # processes that are started unasked
SAMPLES = 10  # rejected pairs that a report shows for each reason

Limit = float | None


@checked_dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class FilterOptions:
    """Thresholds; "none" switches a filter off. Lengths are in words, or letters where no spaces are written."""

    longest: Limit = Field(default=250, ge=1, description="words of the longer side at most")
    shortest: Limit = Field(default=1, ge=0, description="words or letters of the shorter side at least")
    length_ratio: Limit = Field(default=3.0, ge=1, description="(longer + slack) / (shorter + slack) at most")
    ratio_slack: float = Field(
        default=3.0, ge=0, description="slack of the length ratio, which leaves short pairs room"
    )
    longest_word: Limit = Field(default=60, ge=1, description="characters of a word that is no link at most")
    script_share: Limit = Field(
        default=0.15, ge=0, le=1, description="share of letters in a script of the side's language at least"
    )
    punctuation_share: Limit = Field(
        default=0.7, ge=0, le=1, description="share of punctuation and digits among the signs of a side at most"
    )
    odd_signs: Limit = Field(default=0, ge=0, description="controls, private use, U+FFFD and the like at most")
    mojibake: bool = Field(default=True, description="reject what was decoded wrongly and cannot be put right")
    identical: Limit = Field(
        default=2, ge=0, description="words of two identical sides at most: a few are often a name"
    )
    number_share: Limit = Field(default=0.5, ge=0, le=1, description="share of numbers that both sides have at least")
    link_share: Limit = Field(default=0.5, ge=0, le=1, description="share of links that both sides have at least")
    repeats: Limit = Field(default=6, ge=1, description="the same words in a row, so often at most")
    language: Limit = Field(
        default=None, ge=0, le=1, description="likelihood of each side's language by a guess, which is slow, at least"
    )
    alignment: Limit = Field(
        default=-4.0, le=0, description="with --aligner: mean log-probability of the words, each given its best partner"
    )

    def filters(self) -> list[Filter]:
        """Those that are on, in the order in which they give reasons."""
        wanted: list[tuple[Callable[[float], Filter], Limit]] = [
            (filters.TooShort, self.shortest),
            (filters.TooLong, self.longest),
            (partial(filters.LengthRatio, slack=self.ratio_slack), self.length_ratio),
            (filters.OddSigns, self.odd_signs),
            (filters.Mojibake, 0 if self.mojibake else None),
            (filters.WrongScript, self.script_share),
            (filters.FewLetters, self.punctuation_share),
            (filters.Identical, self.identical),
            (filters.LongWord, self.longest_word),
            (filters.Numbers, self.number_share),
            (filters.Links, self.link_share),
            (filters.Repeats, self.repeats),
            (OtherLanguage, self.language),
        ]
        return [made(limit) for made, limit in wanted if limit is not None]


@checked_dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class CleaningRecipe:
    """What is made uniform in a bitext, and which pairs are left out of it."""

    kind: ClassVar[str] = "cleaning"

    normalise: Normalisations = Field(default=Normalisations(), description="before pairs are judged")
    filters: FilterOptions = Field(default=FilterOptions(), description="thresholds, each of a filter")
    repeated: Repeated = Field(
        default="pairs",
        description="what may not come twice (case, punctuation and spaces apart): none, pairs, or a side of them too",
    )


CLEANING = CleaningRecipe()


@dataclass(frozen=True)
class Rejected:
    """A pair that is left out, its text as it was read. score: where the filter counts or measures."""

    record: Record
    reason: str
    score: float | None = None

    def to_json(self) -> dict[str, object]:
        """Plain values by name, the reason apart."""
        record = self.record
        return {
            "score": self.score,
            "origin": str(record.origin),
            "source": record.source,
            "target": record.target,
        }


@dataclass
class CleaningReport:
    """What became of how many pairs. samples: some rejected pairs of each reason, drawn evenly from all of them."""

    kept: int = 0
    rejected: dict[str, int] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    again: dict[str, int] = field(default_factory=dict)
    samples: dict[str, list[Rejected]] = field(default_factory=dict)
    changes: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return self.kept + sum(self.rejected.values())

    def summary(self) -> str:
        """One line, such as "25,007 of 25,010 pairs kept: 2 duplicate, 1 too long"."""
        return summary_of(self.kept, self.rejected)


@dataclass(frozen=True)
class Settled:
    """What became of some rows. uniform: both sides of those that were changed; kept, rejected: in their order."""

    rows: Rows
    kept: Sequence[int]
    uniform: Mapping[int, tuple[str, str]]
    rejected: Mapping[int, Rejected]

    def columns(self) -> tuple[list[str], list[str]]:
        """Sources and targets of the pairs that are kept."""
        sources, targets = list(self.rows.sources), list(self.rows.targets)
        for row, sides in self.uniform.items():
            sources[row], targets[row] = sides
        return [sources[row] for row in self.kept], [targets[row] for row in self.kept]

    def in_order(self) -> Iterator[SentencePair | Rejected]:
        """Every row."""
        pairs = dict(zip(self.kept, zip(*self.columns(), strict=True), strict=True))
        for row in range(len(self.rows)):
            if row in self.rejected:
                yield self.rejected[row]
            else:
                yield SentencePair(*pairs[row], self.rows.record(row).origin)


class NothingKept(UserError):
    """Every record was rejected, or there were none."""


class Cleaner:
    """Judges records, in order; `report` is what it has seen so far.

    more: filters besides those of the recipe, which know more (a model, a format). crew: processes that judge, made by
    `crew_for` with the same recipe, languages, test sentences and filters; none where the work is done here.
    """

    def __init__(
        self,
        recipe: CleaningRecipe,
        languages: tuple[str, str],
        held_out: frozenset[int] = frozenset(),
        more: Sequence[Filter] = (),
        crew: Sequence[Worker] = (),
    ) -> None:
        self.judge = judge_for(recipe, languages, held_out, more)
        self.crew = crew
        self.seen = Seen(recipe.repeated)
        self.report = CleaningReport()
        self.draws = random.Random(1)

    def judged(self, records: Iterable[Record]) -> Iterator[SentencePair | Rejected]:
        """Each record as a pair to keep or a rejected one, in their order."""
        for settled in self.settled(rows_of(records)):
            yield from settled.in_order()

    def settled(self, walked: Iterable[Rows]) -> Iterator[Settled]:
        """What becomes of the rows, part by part, in their order."""
        changes = Changes()
        for part, judgement in self._judgements(part for rows in walked for part in rows.parts()):
            changes.add(judgement.changes)
            yield self._settle(part, judgement)
        self.report.changed, self.report.changes = dict(changes.counts), changes.samples
        self.report.again = self.seen.again()

    def _judgements(self, parts: Iterable[Rows]) -> Iterator[tuple[Rows, Judgement]]:
        """What is said of each part, here or by the crew."""
        taken = deque[Rows]()

        def tasks() -> Iterator[tuple[Sequence[str], Sequence[str]]]:
            for rows in parts:
                taken.append(rows)
                yield without_faults(rows.sources, rows.faults), without_faults(rows.targets, rows.faults)

        if self.crew:
            answers = in_order(self.crew, ((packed(sources), packed(targets)) for sources, targets in tasks()))
        else:
            answers = (self.judge(*task) for task in tasks())
        for judgement in answers:
            yield taken.popleft(), judgement

    def _settle(self, rows: Rows, judgement: Judgement) -> Settled:
        """What becomes of these rows, those before them being known."""
        faults = rows.faults
        pairs = [row for row in range(len(rows)) if row not in faults] if faults else range(len(rows))
        accepted = [row for place, row in enumerate(pairs) if place not in judgement.rejected]
        reasons: dict[int, Reason] = {row: (fault, None) for row, fault in faults.items()}
        reasons.update((pairs[place], reason) for place, reason in judgement.rejected.items())
        reasons.update((accepted[place], (why, None)) for place, why in self.seen.repeated(judgement.keys).items())
        kept = [row for row in accepted if row not in reasons]
        uniform = {pairs[place]: sides for place, sides in judgement.uniform.items()}
        rejected = {row: self._noted(Rejected(rows.record(row), *reasons[row])) for row in sorted(reasons)}
        self.report.kept += len(kept)
        return Settled(rows, kept, uniform, rejected)

    def _noted(self, rejected: Rejected) -> Rejected:
        """Counted, and kept as a sample with the same chance as all others of its reason."""
        counts, samples = self.report.rejected, self.report.samples.setdefault(rejected.reason, [])
        counts[rejected.reason] = counts.get(rejected.reason, 0) + 1
        place = len(samples) if len(samples) < SAMPLES else int(self.draws.random() * counts[rejected.reason])
        if place < SAMPLES:
            samples[place : place + 1] = [rejected]
        return rejected


def judge_for(
    recipe: CleaningRecipe, languages: tuple[str, str], held_out: frozenset[int], more: Sequence[Filter]
) -> Judge:
    """What a recipe asks of each pair by itself; made in the process that will judge."""
    keep_freed_memory()
    source, target = map(recipe.normalise.steps, languages)
    return Judge(languages, (source, target), (*recipe.filters.filters(), *more, InTestSet(0, held_out)))


def unpacking_judge_for(*choices: Any) -> Callable[[str | Sequence[str], str | Sequence[str]], Judgement]:
    """The same for a process of the crew, which is sent the texts packed."""
    judge = judge_for(*choices)
    return lambda sources, targets: judge(unpacked(sources), unpacked(targets))


@contextmanager
def crew_for(
    recipe: CleaningRecipe,
    languages: tuple[str, str],
    held_out: frozenset[int],
    size: int,
    workers: int = 0,
    more: Sequence[Filter] = (),
) -> Iterator[list[Worker]]:
    """Processes for `Cleaner`, ended with the block: so many, or one for each core for LARGE files (size: their bytes);
    none where one would do. more: as of the Cleaner."""
    count = workers or (min(cores(), MOST) if size >= LARGE else 1)
    crew = started(partial(unpacking_judge_for, recipe, languages, held_out, more), count) if count > 1 else []
    try:
        yield crew
    finally:
        end(crew)
