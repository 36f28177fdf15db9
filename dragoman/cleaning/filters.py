"""What speaks against a pair, and how much of it is too much?

A filter scores the pairs of a chunk. Whether a score is accepted is another question: its threshold answers that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from dragoman.cleaning.agreement import has_link, is_spoken, same_links, same_numbers, text_alone, without_shared
from dragoman.cleaning.duplicates import keys_of
from dragoman.cleaning.normalising import is_mojibake, looks_like_mojibake
from dragoman.cleaning.scripts import SCRIPTS, UNSPACED, scripts_of
from dragoman.cleaning.signs import CLASSES, DIGIT, ODD, OTHER, PUNCTUATION, Signs, class_of

Scores = NDArray[np.float64]
Verdicts = NDArray[np.bool_]

FEWEST_LETTERS = 3  # of fewer nobody can say in which script a text is

_BETWEEN_WORDS = dict.fromkeys(map(ord, "/，。、；：！？（）《》「」『』【】…·"), " ")
LETTERS_A_WORD = 3.0  # what a letter of a script without spaces weighs beside one of a script with spaces
LONGEST_NAME = 2  # units
FEW_BESIDE = 2  # a side with less than one in so many of the other's letters may be nothing but tags
FEW_WORDS = 4  # fifty per cent, of what?
LONGEST_RUN = 8  # units that are repeated together


@dataclass(frozen=True)
class Chunk:
    """Pairs that are judged together, and what several filters want to know of them."""

    sides: tuple[Signs, Signs]
    languages: tuple[str, str]

    def __len__(self) -> int:
        return len(self.sides[0].texts)

    def texts(self, places: Sequence[int]) -> tuple[list[str], list[str]]:
        """The sources and the targets of some of the pairs."""
        source, target = self.sides
        return [source.texts[place] for place in places], [target.texts[place] for place in places]

    def part(self, places: NDArray[np.int64], change: Callable[[str], str]) -> Chunk:
        """Some of the pairs, both sides changed."""
        one, other = (Signs(list(map(change, side))) for side in self.texts(places.tolist()))
        return Chunk((one, other), self.languages)

    def worse(self, score: Callable[[Signs], Scores]) -> Scores:
        """The higher score of the two sides."""
        return np.maximum(*map(score, self.sides))

    def where(self, wanted_N: Verdicts, score: Callable[[str, str], float], otherwise: float = 0.0) -> Scores:
        """Scores of pairs that are looked at one by one, and of those that need not be."""
        scores_N = np.full(len(self), otherwise)
        for row in np.flatnonzero(wanted_N).tolist():
            scores_N[row] = score(self.sides[0].texts[row], self.sides[1].texts[row])
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
        lengths_N = chunk.worse(_longest_word)
        long_N = np.flatnonzero(lengths_N > self.limit)
        if len(long_N):
            lengths_N[long_N] = chunk.part(long_N, _words_alone).worse(_longest_word)
        return lengths_N


def _longest_word(side: Signs) -> Scores:
    return side.longest_word_N.astype(float)


def _words_alone(text: str) -> str:
    """Without links, tags and placeholders; what stands between slashes in a path, or between Chinese marks, counts as
    words."""
    return text_alone(text).translate(_BETWEEN_WORDS)


# --- signs --------------------------------------------------------------------------------------


class WrongScript(AtLeast):
    """The share of a side's letters that are in a script of its language; the lower one of the two sides.

    A letter of a script without spaces weighs as much as LETTERS_A_WORD others, for it says about as much. Where the
    share is too low, links, tags and placeholders are left out: they are the same in all languages, as are names: words
    in Latin letters that both sides have, unless nothing else is left of a side that is longer than LONGEST_NAME words.
    """

    name = "wrong script"

    def score(self, chunk: Chunk) -> Scores:
        scores_N = self._of(chunk)
        low_N = np.flatnonzero(scores_N < self.limit)
        if len(low_N):
            alone = chunk.part(low_N, text_alone)
            named = _without_names(alone)
            bare_N = np.maximum(*map(_nothing_left, alone.sides, named.sides)) > LONGEST_NAME
            scores_N[low_N] = np.where(bare_N, self._of(alone), self._of(named))
        return scores_N

    def _of(self, chunk: Chunk) -> Scores:
        return np.minimum(*(_script_share(side, code) for side, code in zip(chunk.sides, chunk.languages, strict=True)))


def _without_names(chunk: Chunk) -> Chunk:
    """The pairs without the words in Latin letters that both of their sides have."""
    pairs = [without_shared(*pair) for pair in zip(*(side.texts for side in chunk.sides), strict=True)]
    return Chunk((Signs([one for one, _ in pairs]), Signs([other for _, other in pairs])), chunk.languages)


def _nothing_left(side: Signs, named: Signs) -> Scores:
    """Units of the texts that say nothing but names, 0 of the others."""
    return np.where(named.letters_N == 0, side.units_N, 0.0)


def _script_share(side: Signs, language: str) -> Scores:
    shares_N = _weight(side, scripts_of(language)) / np.maximum(_weight(side, SCRIPTS) + side.counts_NC[:, OTHER], 1)
    return np.where(side.letters_N < FEWEST_LETTERS, 1.0, shares_N)


def _weight(side: Signs, scripts: Sequence[str]) -> Scores:
    """Letters of these scripts, those without spaces weighing as much as LETTERS_A_WORD others."""
    return side.weighed(_weights_of(tuple(scripts)))


@cache
def _weights_of(scripts: tuple[str, ...]) -> Scores:
    """The weight of a sign of each class."""
    weights_C = np.zeros(CLASSES)
    for script in scripts:
        weights_C[class_of(script)] = LETTERS_A_WORD if script in UNSPACED else 1
    return weights_C


class FewLetters(AtMost):
    """The share of punctuation and digits among a side's signs (white space apart); the higher one of the two.

    Letters without spaces weigh as in WrongScript; tags and placeholders are left out where the share is too high, or
    one side has few letters beside the other. A side that is nothing else has 1, if the other says something; but 50%
    beside a few words of which a number is the same, or none, has 0: its sign is read as a word.
    """

    name = "punctuation and digits"

    def score(self, chunk: Chunk) -> Scores:
        scores_N = chunk.worse(_other_share)
        one_N, other_N = map(_letters, chunk.sides)
        thin_N = FEW_BESIDE * np.minimum(one_N, other_N) < np.maximum(one_N, other_N)
        asked_N = np.flatnonzero((scores_N > self.limit) | thin_N)
        if len(asked_N):
            alone = chunk.part(asked_N, text_alone)
            silent_N = (_letters(alone.sides[0]) == 0) != (_letters(alone.sides[1]) == 0)
            scores_N[asked_N] = np.where(silent_N, 1.0, alone.worse(_other_share))
            for row in asked_N[silent_N & (alone.worse(lambda side: side.words_N) <= FEW_WORDS)].tolist():
                if _is_spoken_number(chunk.sides[0].texts[row], chunk.sides[1].texts[row]):
                    scores_N[row] = 0.0
        return scores_N


def _is_spoken_number(source: str, target: str) -> bool:
    return (is_spoken(source) or is_spoken(target)) and same_numbers(source, target) == 1


def _letters(side: Signs) -> Scores:
    return _weight(side, SCRIPTS) + side.counts_NC[:, OTHER]


def _other_share(side: Signs) -> Scores:
    others_N = side.counts_NC[:, DIGIT] + side.counts_NC[:, PUNCTUATION]
    shares_N: Scores = others_N / np.maximum(others_N + _letters(side), 1)
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
        one, other = map(looks_like_mojibake, chunk.sides)
        return chunk.where(one | other, lambda source, target: is_mojibake(source) + is_mojibake(target))


# --- what the sides say -------------------------------------------------------------------------


class Identical(AtMost):
    """Units of two sides that say the same, case, punctuation and spaces apart, 0 where they differ: a few are often a
    name."""

    name = "identical sides"

    def score(self, chunk: Chunk) -> Scores:
        one, other = chunk.sides
        alike = np.flatnonzero(np.abs(one.letters_N - other.letters_N) <= 2)  # most pairs need not be looked at
        sources, targets = chunk.texts(alike.tolist())
        scores_N = np.zeros(len(chunk))
        scores_N[alike] = np.where(keys_of(sources) == keys_of(targets), one.units_N[alike], 0)
        return scores_N


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
        return chunk.where(digits_N, same_numbers, 1.0)


class Links(AtLeast):
    """The share of links and mail addresses that both sides have, or name, by their hosts; 1 where there are none."""

    name = "other links"

    def score(self, chunk: Chunk) -> Scores:
        one, other = chunk.sides
        if not has_link(one.joined, other.joined):
            return np.ones(len(chunk))
        marked = map(has_link, one.texts, other.texts)
        return chunk.where(np.fromiter(marked, dtype=bool, count=len(chunk)), same_links, 1.0)


class Repeats(AtMost):
    """How often a run of up to LONGEST_RUN words stands in a row, or a run of letters in scripts without spaces;
    1 unless it is too often. The higher one of the two sides."""

    name = "repeats itself"

    def score(self, chunk: Chunk) -> Scores:
        return chunk.worse(lambda side: _times_repeated(side, int(self.limit) + 1))


def _times_repeated(side: Signs, often: int) -> Scores:
    """How often each text repeats a run; 1 where that is less than `often`."""
    times_N = np.ones(len(side.texts))
    letters_N = _letters_repeat(side, often)
    for place in np.flatnonzero(letters_N | _words_may_repeat(side, often)).tolist():
        words, times = side.texts[place].split(), 1
        if len(words) - len(set(words)) >= often - 1:
            times = _most_times([(word, any(map(str.isalpha, word))) for word in words])
        if letters_N[place]:
            own = slice(side.ends_N[place] - side.lengths_N[place], side.ends_N[place])
            letters = zip(side.texts[place], side.unspaced_M[own].tolist(), strict=True)
            times = max(times, _most_times(list(letters)))
        if times >= often:
            times_N[place] = times
    return times_N


def _most_times(units: Sequence[tuple[str, bool]]) -> int:
    """How often at most a run of units stands in a row, with units that count (True) alone from its second time on."""
    most = 1
    for size in range(1, LONGEST_RUN + 1):
        alike = 0
        for earlier, unit in zip(units, units[size:], strict=False):
            alike = alike + 1 if unit == earlier and unit[1] else 0
            most = max(most, alike // size + 1)
    return most


def _letters_repeat(side: Signs, often: int) -> Verdicts:
    """Which texts repeat a run of letters of scripts without spaces so often."""
    found_N = np.zeros(len(side.texts), dtype=bool)
    sizes = range(1, LONGEST_RUN + 1) if side.unspaced_M.any() else ()
    for size in sizes:  # all texts at once
        alike_M = (side.points_M[size:] == side.points_M[:-size]) & side.unspaced_M[size:]
        alike_M &= side.rows_M[size:] == side.rows_M[:-size]
        ends_M = np.flatnonzero(_stretches(alike_M, size * (often - 1)))
        found_N[side.rows_M[ends_M + size]] = True
    return found_N


def _words_may_repeat(side: Signs, often: int) -> Verdicts:
    """Which texts have a run of words that are so often as long as those before them, or letters without spaces."""
    may_N = side.rows_with(np.flatnonzero(side.unspaced_M))
    places_W, lengths_W = side.filled_stretches()
    for size in range(1, LONGEST_RUN + 1):
        alike_W = lengths_W[size:] == lengths_W[:-size]
        may_N |= side.rows_with(places_W[np.flatnonzero(_stretches(alike_W, size * (often - 1)))])
    return may_N


def _stretches(alike_M: Verdicts, length: int) -> Verdicts:
    """True at the first of so many places in a row that are all True."""
    known = 1
    while known < length and len(alike_M):
        step = min(known, length - known)
        alike_M = alike_M[step:] & alike_M[:-step]
        known += step
    return alike_M
