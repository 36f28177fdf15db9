"""What speaks against a pair, and how much of it is too much?

A filter scores the pairs of a chunk. Whether a score is accepted is another question: its threshold answers that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
import regex
from numpy.typing import NDArray

from dragoman.cleaning.normalising import is_mojibake
from dragoman.cleaning.signs import DIGIT, ODD, OTHER, PUNCTUATION, SCRIPTS, SPACE, UNSPACED, Signs, scripts_of
from dragoman.contracts import Record

Scores = NDArray[np.float64]
Verdicts = NDArray[np.bool_]

FEWEST_LETTERS = 3  # of fewer nobody can say in which script a text is
SPELT = 100  # up to here numbers are often written as words
LONGEST_NUMBER = 1000  # digits; what is longer is none
LETTERS_A_WORD = 3.0  # what a letter of a script without spaces weighs beside one of a script with spaces
LONGEST_RUN = 8  # units that are repeated together
_NUMBER = regex.compile(r"\p{Nd}+(?:[.,'’\u00a0\u202f]\p{Nd}+)*")
_NO_SEPARATORS = dict.fromkeys(map(ord, ".,'’\u00a0\u202f"))
_CHINESE_NUMERAL = regex.compile("[〇零一二三四五六七八九十百千万萬亿億两兩]")
_LINK = regex.compile(
    r"(?:https?://|ftp://|www\.)[^\s\p{Han}<>\"'(){}\[\]，。；：、！？）】》」”]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    regex.ASCII,
)
_NO_TEXT = regex.compile(r"<[^<>]*>|%\(\w+\)\w|%[\d$.]*\w|\$?\{[^{}]*\}")
_LINK_MARKS = ("://", "www.", "@")


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
    """Units of the longer side: words, or letters where a script has no spaces between words."""

    name = "too long"

    def score(self, chunk: Chunk) -> Scores:
        return chunk.worse(lambda side: side.units_N.astype(float))


class TooShort(AtLeast):
    """Units of the shorter side."""

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
    """Without links."""
    return float(Signs([_LINK.sub(" ", side) for side in (record.source, record.target)]).longest_word_N.max())


# --- signs --------------------------------------------------------------------------------------


class WrongScript(AtLeast):
    """The share of a side's letters that are in a script of its language; the lower one of the two sides.

    A letter of a script without spaces weighs as much as LETTERS_A_WORD others, for it says about as much. Where the
    share is too low, links, tags and placeholders are left out: they are the same in all languages.
    """

    name = "wrong script"

    def score(self, chunk: Chunk) -> Scores:
        scores_N = self._of(chunk)
        low_N = np.flatnonzero(scores_N < self.limit)
        if len(low_N):
            scores_N[low_N] = self._of(
                Chunk([_text_alone(chunk.records[place]) for place in low_N.tolist()], chunk.languages)
            )
        return scores_N

    def _of(self, chunk: Chunk) -> Scores:
        return np.minimum(*(_script_share(side, code) for side, code in zip(chunk.sides, chunk.languages, strict=True)))


def _text_alone(record: Record) -> Record:
    source, target = (_NO_TEXT.sub(" ", _LINK.sub(" ", side)) for side in (record.source, record.target))
    return replace(record, source=source, target=target)


def _script_share(side: Signs, language: str) -> Scores:
    def weight(scripts: Sequence[str]) -> Scores:
        unspaced = [script for script in scripts if script in UNSPACED]
        others = [script for script in scripts if script not in UNSPACED]
        return (LETTERS_A_WORD * side.of_scripts(unspaced) + side.of_scripts(others)).astype(np.float64)

    shares_N = weight(scripts_of(language)) / np.maximum(weight(SCRIPTS) + side.counts_NC[:, OTHER], 1)
    return np.where(side.letters_N < FEWEST_LETTERS, 1.0, shares_N)


class FewLetters(AtMost):
    """The share of punctuation and digits among a side's signs (white space apart); the higher one of the two."""

    name = "punctuation and digits"

    def score(self, chunk: Chunk) -> Scores:
        def share(side: Signs) -> Scores:
            counts_NC = side.counts_NC
            visible_N = np.maximum(side.lengths_N - counts_NC[:, SPACE], 1)
            shares_N: Scores = (counts_NC[:, DIGIT] + counts_NC[:, PUNCTUATION]) / visible_N
            return shares_N

        return chunk.worse(share)


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
    """Units of two sides that are the same but for case, 0 where they differ: a few are often a name."""

    name = "identical sides"

    def score(self, chunk: Chunk) -> Scores:
        same = (record.source.casefold() == record.target.casefold() for record in chunk.records)
        return np.where(np.fromiter(same, dtype=bool, count=len(chunk)), chunk.sides[0].units_N, 0).astype(np.float64)


class Numbers(AtLeast):
    """2 |A ∩ B| / (|A| + |B|) of the numbers of both sides, as multisets; 1 where there are none.

    1,000.5 and 1.000,5 are one number, and so are ３ and 3. Where one side has fewer numbers, it may spell the
    others: those up to SPELT without a partner do not count, beside Chinese numerals none.
    """

    name = "other numbers"

    def score(self, chunk: Chunk) -> Scores:
        one, other = chunk.sides
        digits_N = one.counts_NC[:, DIGIT] + other.counts_NC[:, DIGIT] > 0
        return chunk.where(digits_N, lambda record: _same_numbers(record.source, record.target), 1.0)


def numbers(text: str) -> Counter[str]:
    """The numbers of a text without separators and without zeros in front.

    >>> numbers("1,000.50 or 007")
    Counter({'100050': 1, '7': 1})
    """
    found = (number.translate(_NO_SEPARATORS) for number in _NUMBER.findall(text))
    return Counter(str(int(digits)) for digits in found if len(digits) < LONGEST_NUMBER)


def _same_numbers(source: str, target: str) -> float:
    one, other = numbers(source), numbers(target)
    shared = (one & other).total()
    lonely = [*(one - other).elements(), *(other - one).elements()]
    if one.total() != other.total():
        fewer = source if one.total() < other.total() else target
        lonely = [] if _CHINESE_NUMERAL.search(fewer) else [number for number in lonely if int(number) > SPELT]
    return 2 * shared / (2 * shared + len(lonely)) if lonely else 1.0


class Links(AtLeast):
    """The share of links and mail addresses that both sides have, by their hosts; 1 where there are none."""

    name = "other links"

    def score(self, chunk: Chunk) -> Scores:
        def shared(record: Record) -> float:
            one, other = map(hosts, (record.source, record.target))
            total = one.total() + other.total()
            return 2 * (one & other).total() / total if total else 1.0

        marked = (any(mark in record.source + record.target for mark in _LINK_MARKS) for record in chunk.records)
        return chunk.where(np.fromiter(marked, dtype=bool, count=len(chunk)), shared, 1.0)


def hosts(text: str) -> Counter[str]:
    """Where the links of a text lead.

    >>> hosts("see https://www.example.org/de/a.html, or ask me@example.org.")
    Counter({'example.org': 2})
    """
    links = (
        link.rpartition("@")[2] if "@" in link else link.partition("://")[2] or link for link in _LINK.findall(text)
    )
    return Counter(regex.split(r"[/?#:]", link, maxsplit=1)[0].removeprefix("www.").rstrip(".,;!") for link in links)


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
            alike = alike + 1 if word == earlier and not word.isdecimal() else 0
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
