"""What signs is a text made of: letters of which script, digits, punctuation, and how many units of length?

Many texts are looked at in one go: their signs stand in one array of code points, a table says the class of each.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import regex
from numpy.typing import NDArray

from dragoman.cleaning.scripts import SCRIPTS, UNSPACED

SPACE, DIGIT, PUNCTUATION, ODD, MARK, OTHER = range(6)
FIRST_SCRIPT = 6
CLASSES = FIRST_SCRIPT + len(SCRIPTS)
NEW = 255  # nobody met it yet

# What has no place in a text: controls, private use, unassigned, half of a pair, marks of lost signs.
ODD_PATTERN = r"[[\p{Cc}\p{Co}\p{Cn}\p{Cs}\uFFFD\uFEFF]--[\s\x1c-\x1f]]+"


def points_of(text: str) -> NDArray[np.int64]:
    """The code points of a text, as numbers that index a table without being copied."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)


def classes_of(points_M: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The class of each code point; found when it is first met."""
    table = _class_table()
    classes_M = table.take(points_M)
    new = np.unique(points_M[classes_M == NEW])
    if len(new):
        table[new] = OTHER
        signs = "".join(map(chr, new.tolist()))
        for number, pattern in _patterns():
            for run in pattern.finditer(signs):
                table[new[run.start() : run.end()]] = number
        classes_M = table.take(points_M)
    return classes_M


@cache
def _class_table() -> NDArray[np.uint8]:
    return np.full(sys.maxunicode + 1, NEW, dtype=np.uint8)


@cache
def _patterns() -> list[tuple[int, regex.Pattern[str]]]:
    """What the signs of each class look like; a later one has precedence."""
    patterns = {SPACE: r"[\s\x1c-\x1f]+", DIGIT: r"\p{Nd}+", PUNCTUATION: r"[\p{P}\p{S}--\uFFFD]+"}
    patterns |= {MARK: r"[\p{M}\p{Cf}]+", ODD: ODD_PATTERN}
    names = enumerate(SCRIPTS, FIRST_SCRIPT)
    patterns |= {number: rf"[\p{{Script={name}}}&&[\p{{L}}\p{{M}}]]+" for number, name in names}
    return [(number, regex.compile(pattern, regex.VERSION1)) for number, pattern in patterns.items()]


def class_of(script: str) -> int:
    """The number of a script's class."""
    return FIRST_SCRIPT + SCRIPTS.index(script)


@dataclass(frozen=True)
class Signs:
    """The signs of N texts: M of them in all, one text after another.

    A stretch has neither white space nor UNSPACED letters in it. Each of these B signs is a break, with a stretch right
    behind it, and each text has one before its first break; any of them may be empty.
    """

    texts: Sequence[str]

    @cached_property
    def lengths_N(self) -> NDArray[np.int64]:
        """Characters of each text."""
        return np.fromiter(map(len, self.texts), dtype=np.int64, count=len(self.texts))

    @cached_property
    def joined(self) -> str:
        return "".join(self.texts)

    @cached_property
    def points_M(self) -> NDArray[np.int64]:
        """Code points."""
        return points_of(self.joined)

    @cached_property
    def classes_M(self) -> NDArray[np.uint8]:
        return classes_of(self.points_M)

    @cached_property
    def rows_M(self) -> NDArray[np.int64]:
        """Which text each sign stands in."""
        return np.repeat(np.arange(len(self.texts)), self.lengths_N)

    @cached_property
    def ends_N(self) -> NDArray[np.int64]:
        """The place behind the last sign of each text."""
        return np.cumsum(self.lengths_N)

    def rows_with(self, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which texts have one of these places among the M signs."""
        found_N = np.zeros(len(self.texts), dtype=bool)
        found_N[np.searchsorted(self.ends_N, places, side="right")] = True
        return found_N

    def numbers_of(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many of these places, which are in order, each text has."""
        until_N = np.searchsorted(places, self.ends_N)
        until_N[1:] -= until_N[:-1].copy()
        return until_N

    @cached_property
    def commonest(self) -> int:
        """The class of most letters, as far as some of the signs tell: counting the others is faster."""
        return OTHER + int(np.bincount(self.classes_M[::64], minlength=CLASSES)[OTHER:].argmax())

    @cached_property
    def others_K(self) -> NDArray[np.int64]:
        """Where signs of other classes stand, all that are no letters among them."""
        return np.flatnonzero(self.classes_M != self.commonest)

    @cached_property
    def counts_NC(self) -> NDArray[np.int64]:
        """How many signs of each class each text has."""
        others_N = self.numbers_of(self.others_K)
        places_K = np.repeat(np.arange(len(self.texts)) * CLASSES, others_N) + self.classes_M[self.others_K]
        counts_NC = np.bincount(places_K, minlength=len(self.texts) * CLASSES).reshape(-1, CLASSES)
        counts_NC[:, self.commonest] = self.lengths_N - others_N
        return counts_NC

    @cached_property
    def letters_N(self) -> NDArray[np.int64]:
        """Letters of any script, with the marks that only it has; whatever has no class of its own too."""
        counts_N: NDArray[np.int64] = self.counts_NC[:, OTHER:].sum(1)
        return counts_N

    def of_scripts(self, scripts: Sequence[str]) -> NDArray[np.int64]:
        """Letters of these scripts, N."""
        counts_N: NDArray[np.int64] = self.counts_NC[:, [class_of(script) for script in scripts]].sum(1)
        return counts_N

    def weighed(self, weights_C: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of the weights of each text's signs, which are those of their classes."""
        return self._counts_NC @ weights_C

    @cached_property
    def _counts_NC(self) -> NDArray[np.float64]:
        return self.counts_NC.astype(np.float64)

    @cached_property
    def unspaced_M(self) -> NDArray[np.bool_]:
        """Letters of scripts without spaces between words."""
        return _unspaced().take(self.classes_M)

    @cached_property
    def breaks_B(self) -> NDArray[np.int64]:
        """Where white space and UNSPACED letters stand."""
        breaking = _unspaced().copy()
        breaking[SPACE] = True
        if breaking[self.commonest]:
            return np.flatnonzero(breaking.take(self.classes_M))
        return self.others_K[breaking.take(self.classes_M[self.others_K])]

    @cached_property
    def first_breaks_N(self) -> NDArray[np.int64]:
        """Of each text, the number of its first break among all B."""
        return np.searchsorted(self.breaks_B, self.ends_N - self.lengths_N)

    @cached_property
    def heads_N(self) -> NDArray[np.int64]:
        """Characters of the stretch that each text begins with."""
        next_N = np.append(self.breaks_B, len(self.points_M))[self.first_breaks_N]
        heads_N: NDArray[np.int64] = np.minimum(next_N, self.ends_N) - self.ends_N + self.lengths_N
        return heads_N

    @cached_property
    def stretches_B(self) -> NDArray[np.int64]:
        """Characters of the stretch behind each break."""
        ends_B = np.repeat(self.ends_N, self.numbers_of(self.breaks_B))
        next_B = np.append(self.breaks_B[1:], len(self.points_M))[: len(ends_B)]
        stretches_B: NDArray[np.int64] = np.minimum(next_B, ends_B) - self.breaks_B - 1
        return stretches_B

    def filled_stretches(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places and the lengths of all stretches that are not empty, in their order: a place is the first sign of
        the text or the break before the stretch."""
        lengths = np.insert(self.stretches_B, self.first_breaks_N, self.heads_N)
        places = np.insert(self.breaks_B, self.first_breaks_N, self.ends_N - self.lengths_N)
        filled = np.flatnonzero(lengths)
        return places[filled], lengths[filled]

    @cached_property
    def starts_N(self) -> NDArray[np.int64]:
        """How many words begin in each text: stretches, but for punctuation right behind an UNSPACED letter."""
        starts_B = self.breaks_B[self.stretches_B > 0]
        before_B = self.classes_M[starts_B]
        if (before_B != SPACE).any():
            first_B = self.classes_M[starts_B + 1]
            starts_B = starts_B[(before_B == SPACE) | (first_B == DIGIT) | (first_B >= FIRST_SCRIPT)]
        return self.numbers_of(starts_B) + (self.heads_N > 0)

    @cached_property
    def units_N(self) -> NDArray[np.int64]:
        """Length in words, or in letters where a script has no spaces between words.

        "two words, really" has 3 units, "我用 numpy 写" 4, "ไทย" 3.
        """
        return self.of_scripts(tuple(UNSPACED)) + self.starts_N

    @cached_property
    def words_N(self) -> NDArray[np.float64]:
        """Length in words, which letters of UNSPACED scripts are parts of."""
        words_N = self.starts_N.astype(np.float64)
        for script, letters in UNSPACED.items():
            words_N += self.counts_NC[:, class_of(script)] / letters
        return words_N

    @cached_property
    def longest_word_N(self) -> NDArray[np.int64]:
        """Characters of the longest stretch."""
        longest_N = self.heads_N.copy()
        filled_N = np.flatnonzero(self.numbers_of(self.breaks_B))
        if len(filled_N):
            behind_N = np.maximum.reduceat(self.stretches_B, self.first_breaks_N[filled_N])
            longest_N[filled_N] = np.maximum(longest_N[filled_N], behind_N)
        return longest_N


def are_unspaced(points_M: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which code points are letters of UNSPACED scripts."""
    return _unspaced().take(classes_of(points_M))


@cache
def _unspaced() -> NDArray[np.bool_]:
    """Whether a class is a script without spaces between words."""
    table = np.zeros(CLASSES, dtype=bool)
    table[[class_of(script) for script in UNSPACED]] = True
    return table
