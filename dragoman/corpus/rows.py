"""How do many records go through at once? As columns: a record alone costs more to make than to look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from dragoman.contracts import Origin, Record
from dragoman.corpus.records import blank_fault

AT_ONCE = 4_000
SIGNS_AT_ONCE = 1_000_000


@dataclass(frozen=True, slots=True)
class Rows:
    """Records of one file in their order. lines: where each one stands; faults: by row, of those that are no pair."""

    sources: Sequence[str]
    targets: Sequence[str]
    file: str
    lines: Sequence[int]
    faults: Mapping[int, str]

    def __len__(self) -> int:
        return len(self.sources)

    def record(self, row: int) -> Record:
        origin = Origin(self.file, self.lines[row])
        return Record(self.sources[row], self.targets[row], origin, self.faults.get(row, ""))

    def records(self) -> Iterator[Record]:
        return map(self.record, range(len(self)))

    def parts(self) -> Iterator[Rows]:
        """The rows in parts of at most AT_ONCE, and of not many more than SIGNS_AT_ONCE characters."""
        if len(self) <= AT_ONCE and sum(map(len, self.sources)) + sum(map(len, self.targets)) < SIGNS_AT_ONCE:
            yield self
            return
        first = signs = 0
        for row, (source, target) in enumerate(zip(self.sources, self.targets, strict=True)):
            signs += len(source) + len(target)
            if signs >= SIGNS_AT_ONCE or row + 1 - first >= AT_ONCE or row + 1 == len(self):
                yield self._part(first, row + 1)
                first, signs = row + 1, 0

    def _part(self, first: int, end: int) -> Rows:
        faults = {row - first: fault for row, fault in self.faults.items() if first <= row < end}
        return Rows(self.sources[first:end], self.targets[first:end], self.file, self.lines[first:end], faults)


def rows_beside(
    sources: Sequence[str], targets: Sequence[str], file: str, lines: Sequence[int], faults: Mapping[int, str]
) -> Rows:
    """Rows of texts that stand side by side; a blank side is a fault."""
    blank = {
        row: blank_fault(sources[row], targets[row]) for row in sorted({*blank_rows(sources), *blank_rows(targets)})
    }
    return Rows(sources, targets, file, lines, {**blank, **faults})


def blank_rows(texts: Sequence[str]) -> list[int]:
    """The rows of texts without a sign that is no white space."""
    if all(texts) and not any(map(str.isspace, texts)):  # nearly always, and soon said
        return []
    return [row for row, text in enumerate(texts) if not text or text.isspace()]


def rows_of(records: Iterable[Record]) -> Iterator[Rows]:
    """Records gathered to rows; they are given on when so many are there, or when another file begins."""
    for file, some in groupby(records, key=lambda record: record.origin.file):
        gathered: list[Record] = []
        signs = 0
        for record in some:
            gathered.append(record)
            signs += len(record.source) + len(record.target)
            if len(gathered) >= AT_ONCE or signs >= SIGNS_AT_ONCE:
                yield _gathered(file, gathered)
                gathered, signs = [], 0
        if gathered:
            yield _gathered(file, gathered)


def _gathered(file: str, records: Sequence[Record]) -> Rows:
    return Rows(
        [record.source for record in records],
        [record.target for record in records],
        file,
        [record.origin.line for record in records],
        {row: record.fault for row, record in enumerate(records) if record.fault},
    )


def without_faults(texts: Sequence[str], faults: Mapping[int, str]) -> Sequence[str]:
    """The texts of the rows that are pairs."""
    return [text for row, text in enumerate(texts) if row not in faults] if faults else texts


def packed(texts: Sequence[str]) -> str | Sequence[str]:
    """Many texts as one, which is soon sent to another process; as they are where one of them has several lines."""
    joined = "\n".join(texts)
    return joined if texts and joined.count("\n") == len(texts) - 1 else texts


def unpacked(texts: str | Sequence[str]) -> Sequence[str]:
    """What was packed."""
    return texts.split("\n") if isinstance(texts, str) else texts
