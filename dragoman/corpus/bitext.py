"""Which pairs of all records are kept, and what became of the others?"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from dragoman.contracts import Link, Record, SentencePair, UserError
from dragoman.corpus.records import EXAMPLES_A_REASON, Warn, place_line, unheard
from dragoman.wording import summary_of

Walk = Callable[[Warn], Iterator[Record]]

LONGEST_SIDE = 3000
_EXAMPLE_LENGTH = 200
_WARNINGS_KEPT = 20


@dataclass(frozen=True)
class ListBitext:
    """Pairs in memory."""

    pairs: Sequence[SentencePair]
    source_language: str
    target_language: str

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint_of(self.pairs, self.source_language, self.target_language)

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[SentencePair]:
        return iter(self.pairs)


@dataclass(frozen=True)
class FileBitext:
    """Pairs in files, walked anew each time; made by `open_bitext`, which has walked them once.

    set_aside: how many records were left out, by reason; examples: the first few of each reason,
    long texts shortened; warnings: what else was noticed.
    """

    walk: Walk = field(repr=False)
    source_language: str
    target_language: str
    longest_side: int
    count: int
    fingerprint: str
    set_aside: Mapping[str, int]
    examples: tuple[Record, ...]
    warnings: tuple[str, ...]

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[SentencePair]:
        seen = 0
        for record in self.walk(unheard):
            if not fault_of(record, self.longest_side):
                seen += 1
                yield SentencePair(record.source, record.target, record.origin)
        if seen != self.count:
            raise UserError(f"the data changed while they were in use: {self.count:,} pairs before, {seen:,} now")

    def summary(self) -> str:
        """One line, such as "25,007 of 25,010 pairs kept: 2 blank target, 1 too long"."""
        return summary_of(self.count, self.set_aside)

    def details(self) -> list[str]:
        """One line for each reason with its first records, such as "fields=1: x.tsv:3, x.tsv:8 and 5 more"."""
        return [
            place_line(reason, count, [record.origin for record in self.examples if record.fault == reason])
            for reason, count in self.set_aside.items()
        ]


def fault_of(record: Record, longest_side: int) -> str:
    """Why a record is left out, or nothing; longest_side in characters."""
    if not record.fault and max(len(record.source), len(record.target)) > longest_side:
        return "too long"
    return record.fault


def count_records(
    walk: Walk,
    source_language: str,
    target_language: str,
    longest_side: int,
    name: str = "the files",
    may_be_empty: bool = False,
) -> FileBitext:
    """Walk once to count and to fingerprint. Raises UserError, in which they have a name, when no pair is kept and one
    has to be."""
    digest = PairDigest(source_language, target_language)
    set_aside: dict[str, int] = {}
    examples: list[Record] = []
    warnings = Warnings()
    count = 0
    for record in walk(warnings.hear):
        fault = fault_of(record, longest_side)
        if not fault:
            count += 1
            digest.add(record.source, record.target)
            continue
        set_aside[fault] = set_aside.get(fault, 0) + 1
        if set_aside[fault] <= EXAMPLES_A_REASON:
            examples.append(_shortened(replace(record, fault=fault)))
    if not count and not may_be_empty:
        first = f", as in {examples[0].origin}" if examples else ""
        told = summary_of(0, set_aside) if set_aside else "0 of 0 pairs kept: there are no records"
        raise UserError(f"{name}: {told}{first}")
    return FileBitext(
        walk,
        source_language,
        target_language,
        longest_side,
        count,
        digest.hexdigest(),
        set_aside,
        tuple(examples),
        warnings.told(),
    )


class PairDigest:
    """blake2b over the languages and the pairs in order, with their links where they were given."""

    def __init__(self, source_language: str, target_language: str) -> None:
        self._hash = hashlib.blake2b(digest_size=16)
        self.add(source_language, target_language)

    def add(self, source: str, target: str, links: Sequence[Link] | None = None) -> None:
        told = "" if links is None else f"{links}\0"
        self._hash.update(f"{source}\0{target}\0{told}".encode("utf-8", "surrogatepass"))

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


def fingerprint_of(pairs: Iterable[SentencePair], source_language: str, target_language: str) -> str:
    """The fingerprint of pairs and languages, the same for every kind of bitext."""
    digest = PairDigest(source_language, target_language)
    for pair in pairs:
        digest.add(pair.source, pair.target, pair.links)
    return digest.hexdigest()


def _shortened(record: Record) -> Record:
    return replace(record, source=record.source[:_EXAMPLE_LENGTH], target=record.target[:_EXAMPLE_LENGTH])


class Warnings:
    """The first warnings, and how many there were."""

    def __init__(self) -> None:
        self.first: list[str] = []
        self.count = 0

    def hear(self, warning: str) -> None:
        self.count += 1
        if len(self.first) < _WARNINGS_KEPT:
            self.first.append(warning)

    def told(self) -> tuple[str, ...]:
        more = self.count - len(self.first)
        return (*self.first, *([f"and {more:,} more warnings like these"] if more else []))
