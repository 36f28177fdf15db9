"""Which pairs are worth learning from, and why are the others not?

Records go through in chunks: what is no pair, what is made uniform, what a filter rejects, what was there before, in
this order. The first reason counts; each rejected pair is handed on with it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked_dataclass

from dragoman.cleaning import filters
from dragoman.cleaning.duplicates import Repeated, Seen
from dragoman.cleaning.filters import Chunk, Filter, first_reasons
from dragoman.cleaning.normalising import Normalisations, Normaliser
from dragoman.contracts import Record, SentencePair, UserError
from dragoman.corpus.bitext import summary_of
from dragoman.corpus.records import record_of

AT_ONCE = 10_000
SIGNS_AT_ONCE = 4_000_000
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
        wanted: tuple[tuple[type[filters.AtMost] | type[filters.AtLeast], Limit], ...] = (
            (filters.TooShort, self.shortest),
            (filters.TooLong, self.longest),
            (filters.OddSigns, self.odd_signs),
            (filters.Mojibake, 0 if self.mojibake else None),
            (filters.WrongScript, self.script_share),
            (filters.FewLetters, self.punctuation_share),
            (filters.Identical, self.identical),
            (filters.LongWord, self.longest_word),
            (filters.Numbers, self.number_share),
            (filters.Links, self.link_share),
            (filters.Repeats, self.repeats),
        )
        found: list[Filter] = [made(limit) for made, limit in wanted if limit is not None]  # type: ignore[misc]
        if self.length_ratio is not None:
            found.insert(2, filters.LengthRatio(self.length_ratio, self.ratio_slack))
        return found


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
    """Judges records, in order; `report` is what it has seen so far."""

    def __init__(
        self,
        recipe: CleaningRecipe,
        languages: tuple[str, str],
        held_out: frozenset[int] = frozenset(),
        more: Sequence[Filter] = (),
        seed: int = 1,
    ) -> None:
        self.languages = languages
        self.filters = [*recipe.filters.filters(), *more]
        source, target = map(recipe.normalise.steps, languages)
        self.normaliser = Normaliser(source, target)
        self.seen = Seen(recipe.repeated, held_out)
        self.report = CleaningReport()
        self.draws = random.Random(seed)

    def judged(self, records: Iterable[Record]) -> Iterator[SentencePair | Rejected]:
        """Each record as a pair to keep or a rejected one, in their order."""
        for chunk in in_chunks(records):
            yield from self._chunk(chunk)
        self.report.changed = dict(self.normaliser.changed)
        self.report.changes = self.normaliser.samples
        self.report.again = dict(self.seen.again)

    def _chunk(self, records: Sequence[Record]) -> Iterator[SentencePair | Rejected]:
        uniform = [record if record.fault else self._uniform(record) for record in records]
        pairs = Chunk([record for record in uniform if not record.fault], self.languages)
        reasons = iter(first_reasons(pairs, self.filters))
        for read, record in zip(records, uniform, strict=True):
            reason, score = (record.fault, None) if record.fault else next(reasons)
            reason = reason or self.seen.reason(record)
            if reason:
                yield self._noted(Rejected(read, reason, score))
            else:
                self.report.kept += 1
                yield SentencePair(record.source, record.target, record.origin)

    def _uniform(self, record: Record) -> Record:
        """Normalised; what is blank then is a fault."""
        uniform = self.normaliser(record)
        return uniform if uniform is record else record_of(uniform.source, uniform.target, uniform.origin)

    def _noted(self, rejected: Rejected) -> Rejected:
        """Counted, and kept as a sample with the same chance as all others of its reason."""
        counts, samples = self.report.rejected, self.report.samples.setdefault(rejected.reason, [])
        counts[rejected.reason] = counts.get(rejected.reason, 0) + 1
        place = len(samples) if len(samples) < SAMPLES else self.draws.randrange(counts[rejected.reason])
        if place < SAMPLES:
            samples[place : place + 1] = [rejected]
        return rejected
