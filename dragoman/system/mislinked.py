"""What does an aligner fail to link in some pairs, and what helps?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from dragoman.abilities import Coverage
from dragoman.cleaning.cleaner import CLEANING
from dragoman.contracts import SentencePair
from dragoman.links import Aligner, TextPair
from dragoman.system.diagnosis import MUCH, Finding, Level, shown_share, unknown_finding
from dragoman.wording import counted

UNLINKED = ((0.5, "warning"), (0.25, "note"))  # shares of words without a link


class Knowing(Aligner, Protocol):
    """An aligner that can say what it knows of pairs."""

    def coverage(self, pairs: Sequence[TextPair]) -> tuple[Coverage, Coverage]:
        """Of the sources and of the targets, what it never saw; too long is what it would not have learnt from."""
        ...

    def plausibility(self, pairs: Sequence[TextPair]) -> list[float]:
        """How probable the words of each pair are, given each other: the mean of their log-probabilities."""
        ...


def mislinked_findings(aligner: Knowing, pairs: Sequence[SentencePair]) -> list[Finding]:
    """Words that it never saw, words without a link, pairs that it does not take for translations."""
    languages = aligner.source_language, aligner.target_language
    unknown = [unknown_finding(cover, "place alone links them") for cover in aligner.coverage(pairs)]
    findings = [replace(one, what=f"{name}: {one.what}") for one, name in zip(unknown, languages, strict=True)]
    return [*findings, *_links(aligner, pairs, languages), *_strangers(aligner, pairs)]


def _links(aligner: Knowing, pairs: Sequence[SentencePair], languages: tuple[str, str]) -> Iterator[Finding]:
    words, linked, faults = [0, 0], [0, 0], 0
    for pair, alignment in zip(pairs, aligner.align(pairs), strict=True):
        faults += bool(alignment.fault)
        for side, count in enumerate(aligner.word_counts(pair)):
            words[side] += count
            linked[side] += len({link[side] for link in alignment.links})
    for language, count, has in zip(languages, words, linked, strict=True):
        level = next((level for least, level in UNLINKED if count - has >= least * count), "good")
        yield Finding(
            level,  # type: ignore[arg-type]
            f"{language}: {shown_share(count - has, count)} of words have no link",
            "" if level == "good" else "are these translations, and the languages right? Else train on text like this",
        )
    if faults:
        yield Finding("note", f"{counted(faults, 'pair')} too long to be linked", "a sentence a line is better")


def _strangers(aligner: Knowing, pairs: Sequence[SentencePair]) -> Iterator[Finding]:
    limit = CLEANING.filters.alignment
    if limit is None:
        return
    strange = sum(score < limit for score in aligner.plausibility(pairs))
    level: Level = "good" if not strange else "warning" if strange >= MUCH * len(pairs) else "note"
    told = f"{shown_share(strange, len(pairs))} of pairs are hardly translations to it"
    advice = "`dragoman corpus clean --aligner` sets them aside" if strange else ""
    yield Finding(level, f"{told} (mean log-probability below {limit:g})", advice)
