"""What speaks against a pair, and how much of it is too much?

A filter scores the pairs of a chunk. Whether a score is accepted is another question: its threshold answers that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from dragoman.cleaning.agreement import has_link, same_links, same_numbers, text_alone, without_links
from dragoman.cleaning.duplicates import duplicate_key
from dragoman.cleaning.normalising import is_mojibake
from dragoman.cleaning.signs import DIGIT, ODD, OTHER, PUNCTUATION, SCRIPTS, UNSPACED, Signs, scripts_of
from dragoman.contracts import Record

Scores = NDArray[np.float64]
Verdicts = NDArray[np.bool_]

FEWEST_LETTERS = 3  # of fewer nobody can say in which script a text is

LETTERS_A_WORD = 3.0  # what a letter of a script without spaces weighs beside one of a script with spaces
LONGEST_NAME = 2  # units
LONGEST_RUN = 8  # units that are repeated together


@dataclass(frozen=True)
class Chunk:
    """Pairs that are judged together, and what several filters want to know of them."""

    records: Sequence[Record]
    languages: tuple[str, str]

    def __len__(self) -> int:
        return len(self.records)

    @cached_property
    def sides(self) -> tuple[Signs, Signs]:
        """Of the sources and of the targets."""
        return Signs([record.source for record in self.records]), Signs([record.target for record in self.records])

    def worse(self, score: Callable[[Signs], Scores]) -> Scores:
        """The higher score of the two sides."""
        return np.maximum(*map(score, self.sides))

    def where(self, wanted_N: Verdicts, score: Callable[[Record], float], otherwise: float = 0.0) -> Scores:
        """Scores of pairs that are looked at one by one, and of those that need not be."""
        scores_N = np.full(len(self), otherwise)
        for place in np.flatnonzero(wanted_N).tolist():
            scores_N[place] = score(self.records[place])
        return scores_N


class Filter(Protocol):
    """`name` is the reason that is counted. A score a pair; a verdict is True for the pairs to keep."""

    @property
    def name(self) -> str: ...
    def score(self, chunk: Chunk) -> Scores: ...
    def accept(self, scores_N: Scores) -> Verdicts: ...


@dataclass(frozen=True)
class AtMost:
    """Accepts scores up to its limit."""

    limit: float

    def accept(self, scores_N: Scores) -> Verdicts:
        return scores_N <= self.limit


@dataclass(frozen=True)
class AtLeast:
    """Accepts scores from its limit on."""

    limit: float

    def accept(self, scores_N: Scores) -> Verdicts:
        return scores_N >= self.limit


# --- length -------------------------------------------------------------------------------------


class TooLong(AtMost):
    """Words of the longer side, which letters of scripts without spaces are parts of."""

    name = "too long"

    def score(self, chunk: Chunk) -> Scores:
        return chunk.worse(lambda side: side.words_N)


class TooShort(AtLeast):
    """Units of the shorter side: words, or letters where a script has no spaces between words."""

    name = "too short"

    def score(self, chunk: Chunk) -> Scores:
        return -chunk.worse(lambda side: -side.units_N.astype(float))


@dataclass(frozen=True)
class LengthRatio(AtMost):
    """(longer + slack) / (shorter + slack), in words, about: of a few words the ratio says little."""

    slack: float = 0.0
    name: ClassVar[str] = "length ratio"

    def score(self, chunk: Chunk) -> Scores:
        one_N, other_N = (np.maximum(side.words_N + self.slack, 1e-9) for side in chunk.sides)
        ratios_N: Scores = np.maximum(one_N, other_N) / np.minimum(one_N, other_N)
        return ratios_N


class LongWord(AtMost):
    """Characters of the longest word that is no link."""

    name = "long word"

    def score(self, chunk: Chunk) -> Scores:
        lengths_N = chunk.worse(lambda side: side.longest_word_N.astype(float))
        return np.where(lengths_N > self.limit, chunk.where(lengths_N > self.limit, _longest_word), lengths_N)


def _longest_word(record: Record) -> float:
    """Without links; what stands between slashes in a path counts as words."""
    return float(
        Signs([without_links(side).replace("/", " ") for side in (record.source, record.target)]).longest_word_N.max()
    )


# --- signs --------------------------------------------------------------------------------------


class WrongScript(AtLeast):
    """The share of a side's letters that are in a script of its language; the lower one of the two sides.

    A letter of a script without spaces weighs as much as LETTERS_A_WORD others, for it says about as much. Where the
    share is too low, links, tags and placeholders are left out: they are the same in all languages, as are names of
    up to LONGEST_NAME words.
    """

    name = "wrong script"

    def score(self, chunk: Chunk) -> Scores:
        scores_N = self._of(chunk)
        low_N = np.flatnonzero(scores_N < self.limit)
        if len(low_N):
            alone = Chunk([_text_alone(chunk.records[place]) for place in low_N.tolist()], chunk.languages)
            names_N = (_same_sides(alone) > 0) & (alone.sides[0].units_N <= LONGEST_NAME)
            scores_N[low_N] = np.where(names_N, 1.0, self._of(alone))
        return scores_N

    def _of(self, chunk: Chunk) -> Scores:
        return np.minimum(*(_script_share(side, code) for side, code in zip(chunk.sides, chunk.languages, strict=True)))


def _text_alone(record: Record) -> Record:
    source, target = (text_alone(side) for side in (record.source, record.target))
    return replace(record, source=source, target=target)


def _script_share(side: Signs, language: str) -> Scores:
    shares_N = _weight(side, scripts_of(language)) / np.maximum(_weight(side, SCRIPTS) + side.counts_NC[:, OTHER], 1)
    return np.where(side.letters_N < FEWEST_LETTERS, 1.0, shares_N)


def _weight(side: Signs, scripts: Sequence[str]) -> Scores:
    """Letters of these scripts, those without spaces weighing as much as LETTERS_A_WORD others."""
    unspaced = [script for script in scripts if script in UNSPACED]
    others = [script for script in scripts if script not in UNSPACED]
    return (LETTERS_A_WORD * side.of_scripts(unspaced) + side.of_scripts(others)).astype(np.float64)


class FewLetters(AtMost):
    """The share of punctuation and digits among a side's signs (white space apart); the higher one of the two.

    Letters without spaces weigh as in WrongScript; tags and placeholders are left out where the share is too high.
    """

    name = "punctuation and digits"

    def score(self, chunk: Chunk) -> Scores:
        scores_N = chunk.worse(_other_share)
        high_N = np.flatnonzero(scores_N > self.limit)
        if len(high_N):
            alone = Chunk([_text_alone(chunk.records[place]) for place in high_N.tolist()], chunk.languages)
            scores_N[high_N] = alone.worse(_other_share)
        return scores_N


def _other_share(side: Signs) -> Scores:
    others_N = side.counts_NC[:, DIGIT] + side.counts_NC[:, PUNCTUATION]
    letters_N = _weight(side, SCRIPTS) + side.counts_NC[:, OTHER]
    shares_N: Scores = others_N / np.maximum(others_N + letters_N, 1)
    return shares_N


class OddSigns(AtMost):
    """Controls, private use, unassigned and lost signs (U+FFFD) in both sides."""

    name = "odd signs"

    def score(self, chunk: Chunk) -> Scores:
        one, other = chunk.sides
        return (one.counts_NC[:, ODD] + other.counts_NC[:, ODD]).astype(float)


class Mojibake(AtMost):
    """Sides that were decoded wrongly."""

    name = "mojibake"

    def score(self, chunk: Chunk) -> Scores:
        bad = (is_mojibake(record.source) + is_mojibake(record.target) for record in chunk.records)
        return np.fromiter(bad, dtype=float, count=len(chunk))


# --- what the sides say -------------------------------------------------------------------------


class Identical(AtMost):
    """Units of two sides that say the same, case, punctuation and spaces apart, 0 where they differ: a few are often a
    name."""

    name = "identical sides"

    def score(self, chunk: Chunk) -> Scores:
        return _same_sides(chunk)


def _same_sides(chunk: Chunk) -> Scores:
    """Units of the sources that are their own targets, 0 of the others."""
    one, other = chunk.sides
    alike_N = np.abs(one.letters_N - other.letters_N) <= 2  # most pairs need not be looked at
    return chunk.where(alike_N, lambda record: _same(record.source, record.target)) * one.units_N


def _same(source: str, target: str) -> bool:
    return duplicate_key(source) == duplicate_key(target)


class Numbers(AtLeast):
    """2 |A ∩ B| / (|A| + |B|) of the numbers of both sides, as multisets; 1 where only one side has a number without a
    partner: the other may spell it.

    1,000.5 and 1.000,5 are the same numbers (1000 and 5), and so are 10 000 and 10,000, ３ and 3. Hours are the same
    before and after noon, years with and without their century. Beside a word or sign for thousands or more nobody
    can say what a number is worth, and the pair has 1.
    """

    name = "other numbers"

    def score(self, chunk: Chunk) -> Scores:
        one, other = chunk.sides
        digits_N = (one.counts_NC[:, DIGIT] > 0) & (other.counts_NC[:, DIGIT] > 0)
        return chunk.where(digits_N, lambda record: same_numbers(record.source, record.target), 1.0)


class Links(AtLeast):
    """The share of links and mail addresses that both sides have, by their hosts; 1 where there are none."""

    name = "other links"

    def score(self, chunk: Chunk) -> Scores:
        marked = (has_link(record.source) or has_link(record.target) for record in chunk.records)
        return chunk.where(
            np.fromiter(marked, dtype=bool, count=len(chunk)),
            lambda record: same_links(record.source, record.target),
            1.0,
        )


class Repeats(AtMost):
    """How often a run of up to LONGEST_RUN words stands in a row, or a run of letters in scripts without spaces;
    1 unless it is too often. The higher one of the two sides."""

    name = "repeats itself"

    def score(self, chunk: Chunk) -> Scores:
        often = int(self.limit) + 1
        return np.where(chunk.worse(lambda side: _repeating(side, often).astype(float)) > 0, float(often), 1.0)


def _repeating(side: Signs, often: int) -> Verdicts:
    """Which texts repeat a run so often."""
    found_N = np.zeros(len(side.texts), dtype=bool)
    sizes = range(1, LONGEST_RUN + 1) if side.unspaced_M.any() else ()
    for size in sizes:  # letters, all texts at once
        alike_M = (side.points_M[size:] == side.points_M[:-size]) & side.unspaced_M[size:]
        alike_M &= side.rows_M[size:] == side.rows_M[:-size]
        ends_M = np.flatnonzero(_stretches(alike_M, size * (often - 1)))
        found_N[side.rows_M[ends_M + size]] = True
    for place, text in enumerate(side.texts):
        words = text.split()
        if len(words) - len(set(words)) >= often - 1:
            found_N[place] |= _words_repeat(words, often)
    return found_N


def _stretches(alike_M: Verdicts, length: int) -> Verdicts:
    """True at the first of so many places in a row that are all True."""
    if len(alike_M) < length:
        return np.zeros(0, dtype=bool)
    sums_M = np.concatenate([[0], np.cumsum(alike_M)])
    whole_M: Verdicts = sums_M[length:] - sums_M[:-length] == length
    return whole_M


def _words_repeat(words: Sequence[str], often: int) -> bool:
    for size in range(1, min(LONGEST_RUN, len(words) // often) + 1):
        alike = 0
        for earlier, word in zip(words, words[size:], strict=False):
            alike = alike + 1 if word == earlier and any(map(str.isalpha, word)) else 0
            if alike == size * (often - 1):
                return True
    return False


# --- together -----------------------------------------------------------------------------------


def first_reasons(chunk: Chunk, filters: Iterable[Filter]) -> list[tuple[str, float | None]]:
    """For each pair the first filter that rejects it and the score there; ("", None) for a pair that all accept."""
    reasons: list[tuple[str, float | None]] = [("", None)] * len(chunk)
    for one in filters:
        scores_N = one.score(chunk)
        for place in np.flatnonzero(~one.accept(scores_N)).tolist():
            if not reasons[place][0]:
                reasons[place] = one.name, float(scores_N[place])
    return reasons
