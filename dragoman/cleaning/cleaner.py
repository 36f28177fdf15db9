"""Which pairs are worth learning from, and why are the others not?

Records go through in chunks: what is no pair, what is made uniform, what a filter rejects, what was there before, in
this order. The first reason counts; each rejected pair is handed on with it.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked_dataclass

from dragoman.cleaning import filters
from dragoman.cleaning.duplicates import Repeated, Seen
from dragoman.cleaning.filters import Filter
from dragoman.cleaning.judging import Judge, Judgement
from dragoman.cleaning.normalising import Changes, Normalisations
from dragoman.contracts import Record, SentencePair, UserError
from dragoman.corpus.bitext import summary_of
from dragoman.processes import Worker, cores, end, in_order, started

AT_ONCE = 2_000
SIGNS_AT_ONCE = 1_000_000
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
        description="what may not come twice (case, punctuation and spaces apart): pairs, or a side of them too",
    )


CLEANING = CleaningRecipe()


@dataclass(frozen=True)
class Rejected:
    """A pair that is left out, its text as it was read. score: where the filter counts or measures."""

    record: Record
    reason: str
    score: float | None = None


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


def in_chunks(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Lists of at most AT_ONCE records, and of not many more than SIGNS_AT_ONCE characters."""
    chunk: list[Record] = []
    signs = 0
    for record in records:
        chunk.append(record)
        signs += len(record.source) + len(record.target)
        if len(chunk) >= AT_ONCE or signs >= SIGNS_AT_ONCE:
            yield chunk
            chunk, signs = [], 0
    if chunk:
        yield chunk


class NothingKept(UserError):
    """Every record was rejected, or there were none."""


class Cleaner:
    """Judges records, in order; `report` is what it has seen so far.

    more: filters besides those of the recipe, which know more (a model). crew: processes that judge, made by
    `judge_for` with the same recipe, languages and test sentences; none where the work is done here.
    """

    def __init__(
        self,
        recipe: CleaningRecipe,
        languages: tuple[str, str],
        held_out: frozenset[int] = frozenset(),
        more: Sequence[Filter] = (),
        crew: Sequence[Worker] = (),
        seed: int = 1,
    ) -> None:
        self.judge = judge_for(recipe, languages, held_out, more)
        self.crew = crew
        self.seen = Seen(recipe.repeated)
        self.report = CleaningReport()
        self.draws = random.Random(seed)

    def judged(self, records: Iterable[Record]) -> Iterator[SentencePair | Rejected]:
        """Each record as a pair to keep or a rejected one, in their order."""
        changes = Changes()
        for chunk, judgement in self._judgements(in_chunks(records)):
            changes.add(judgement.changes)
            yield from self._settled(chunk, judgement)
        self.report.changed, self.report.changes = dict(changes.counts), changes.samples
        self.report.again = dict(self.seen.again)

    def _judgements(self, chunks: Iterable[Sequence[Record]]) -> Iterator[tuple[Sequence[Record], Judgement]]:
        """What is said of each chunk, here or by the crew."""
        taken = deque[Sequence[Record]]()

        def tasks() -> Iterator[tuple[list[str], list[str]]]:
            for chunk in chunks:
                taken.append(chunk)
                pairs = [record for record in chunk if not record.fault]
                yield [record.source for record in pairs], [record.target for record in pairs]

        answers = in_order(self.crew, tasks()) if self.crew else (self.judge(*task) for task in tasks())
        for judgement in answers:
            yield taken.popleft(), judgement

    def _settled(self, records: Sequence[Record], judgement: Judgement) -> Iterator[SentencePair | Rejected]:
        """What becomes of each record, those before it being known."""
        rows = enumerate(zip(judgement.reasons, *judgement.keys, strict=True))
        for record in records:
            if record.fault:
                yield self._noted(Rejected(record, record.fault))
                continue
            row, ((reason, score), *keys) = next(rows)
            reason = reason or self.seen.reason(*keys)
            if reason:
                yield self._noted(Rejected(record, reason, score))
            else:
                self.report.kept += 1
                source, target = judgement.uniform.get(row) or (record.source, record.target)
                yield SentencePair(source, target, record.origin)

    def _noted(self, rejected: Rejected) -> Rejected:
        """Counted, and kept as a sample with the same chance as all others of its reason."""
        counts, samples = self.report.rejected, self.report.samples.setdefault(rejected.reason, [])
        counts[rejected.reason] = counts.get(rejected.reason, 0) + 1
        place = len(samples) if len(samples) < SAMPLES else self.draws.randrange(counts[rejected.reason])
        if place < SAMPLES:
            samples[place : place + 1] = [rejected]
        return rejected


def judge_for(
    recipe: CleaningRecipe,
    languages: tuple[str, str],
    held_out: frozenset[int] = frozenset(),
    more: Sequence[Filter] = (),
) -> Judge:
    """What a recipe asks of each pair by itself."""
    source, target = map(recipe.normalise.steps, languages)
    return Judge(languages, (source, target), (*recipe.filters.filters(), *more, filters.InTestSet(0, held_out)))


@contextmanager
def crew_for(
    recipe: CleaningRecipe, languages: tuple[str, str], held_out: frozenset[int], size: int, workers: int = 0
) -> Iterator[list[Worker]]:
    """Processes for `Cleaner`, ended with the block: so many, or one for each core for LARGE files (size: their bytes);
    none where one would do."""
    count = workers or (min(cores(), MOST) if size >= LARGE else 1)
    crew = started(partial(judge_for, recipe, languages, held_out), count) if count > 1 else []
    try:
        yield crew
    finally:
        end(crew)
