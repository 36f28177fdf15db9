"""Which words of the training pairs does a file link?

It has a line of links (`corpus/links.py`) for each record of the pairs, in their order, also for those that are set
aside. Words are those of `text/words.py` in the raw text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from dragoman.contracts import Ability, Link, Recipe, Record, SentencePair, UserError
from dragoman.corpus.bitext import FileBitext, fault_of
from dragoman.corpus.lines import Line, OnBadLine, read_lines
from dragoman.corpus.links import read_links
from dragoman.corpus.records import unheard
from dragoman.corpus.streams import InputFile, repeatable
from dragoman.system.catalogue import product_class
from dragoman.system.stream import kinds_with
from dragoman.text.words import word_spans
from dragoman.wording import counted

SHOWN = 3
Hear = Callable[[str], None]


@dataclass(frozen=True)
class LinkedBitext:
    """The pairs of some files with their links; made by `with_links`, which has walked them once.

    linked: pairs with at least one link. unusable: lines that were taken for blank ones; examples: the first of them.
    """

    pairs: FileBitext
    file: InputFile
    on_bad_line: OnBadLine
    fingerprint: str = ""
    linked: int = 0
    unusable: int = 0
    examples: tuple[str, ...] = ()

    @property
    def source_language(self) -> str:
        return self.pairs.source_language

    @property
    def target_language(self) -> str:
        return self.pairs.target_language

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[SentencePair]:
        return self.walk(unheard)

    def walk(self, hear: Hear) -> Iterator[SentencePair]:
        """The pairs; `hear` is told of each line that cannot be used. UserError for such a line unless these are
        skipped, and for another number of lines than records."""
        lines = read_lines(self.file.path, self.on_bad_line, name=self.file.name)
        records = self.pairs.walk(unheard)
        for number, (record, line) in enumerate(zip_longest(records, lines), start=1):
            if record is None or line is None:
                rest = sum(1 for _ in (lines if record is None else records))
                counts = [number - 1 if one is None else number + rest for one in (line, record)]
                raise UserError(
                    f"{self.file.name}: {counted(counts[0], 'line')}, but the training data has "
                    f"{counted(counts[1], 'record')}: each has its line of links, blank where there are none"
                )
            if not fault_of(record, self.pairs.longest_side):
                yield SentencePair(record.source, record.target, record.origin, self.links(record, line, hear))

    def links(self, record: Record, line: Line, hear: Hear) -> tuple[Link, ...]:
        fault = line.fault
        try:
            links = read_links(line.text)
            fault = fault or out_of_range(links, record)
        except ValueError as error:
            fault = str(error)
        if not fault:
            return links
        told = f"{self.file.name}:{line.number}: {fault}"
        if self.on_bad_line == "stop":
            raise UserError(told)
        hear(told)
        return ()

    def summary(self) -> str:
        """One line, such as "links for 9 of 10 pairs"."""
        bad = f"; {counted(self.unusable, 'line')} set aside: {'; '.join(self.examples)}" if self.unusable else ""
        return f"links for {self.linked:,} of {counted(len(self), 'pair')}{bad}"


def out_of_range(links: tuple[Link, ...], record: Record) -> str:
    """What is wrong with links to words that are not there, or nothing."""
    for place, (name, text) in enumerate((("source", record.source), ("target", record.target))):
        last = max((link[place] for link in links), default=-1)
        words = len(word_spans(text)) if last >= 0 else 0
        if last >= words:
            worst = next(link for link in links if link[place] == last)
            return f"link {worst[0]}-{worst[1]}, but the {name} at {record.origin} has {counted(words, 'word')}"
    return ""


def with_links(pairs: FileBitext, file: str, on_bad_line: OnBadLine = "stop") -> LinkedBitext:
    """The pairs with the links of a file (`-` is standard input), walked once. Other links, another fingerprint."""
    bitext = LinkedBitext(pairs, repeatable(file), on_bad_line)
    digest, faults, linked = hashlib.blake2b(pairs.fingerprint.encode(), digest_size=16), list[str](), 0
    unusable = 0

    def hear(fault: str) -> None:
        nonlocal unusable
        unusable += 1
        if len(faults) < SHOWN:
            faults.append(fault)

    for pair in bitext.walk(hear):
        digest.update(f"{pair.links}\n".encode())
        linked += bool(pair.links)
    return LinkedBitext(pairs, bitext.file, on_bad_line, digest.hexdigest(), linked, unusable, tuple(faults))


def refuse_unteachable(recipe: Recipe[Any, Any]) -> None:
    """UserError for a kind that has no attention to be taught."""
    if Ability.ATTENTION not in product_class(recipe.kind).abilities:
        able = ", ".join(kinds_with(Ability.ATTENTION))
        raise UserError(f"--links teaches attention, and kind {recipe.kind!r} has none; kinds that do: {able}")
