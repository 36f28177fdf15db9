"""How is a row of words written down as a line?

Which form a word takes and on which side it wants a space is learnt from the target side of the bitext,
so that Chinese comes out without spaces and a full stop stands close to its word, without rules for either.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import regex

from dragoman.phrases.units import Unit

UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
BEFORE, AFTER = 0, 1


@dataclass(frozen=True)
class Spelling:
    """surfaces: key to its usual form, where that is another. spaces: key to the shares of its occurrences with
    a space before and after it; for words beside words, for other signs beside anything. capitals: do lines
    begin with a capital letter?"""

    surfaces: Mapping[str, str]
    spaces: Mapping[str, tuple[float, float]]
    capitals: bool

    def surface(self, key: str) -> str:
        return self.surfaces.get(key, key)

    def gap(self, left: str, right: str) -> str:
        """A space, or nothing, between two keys: beside a word a sign decides, two of a kind on average."""
        after, before = self.sides(left)[AFTER], self.sides(right)[BEFORE]
        if is_word(left) == is_word(right):
            return " " if after + before > 1 else ""
        return " " if (before if is_word(left) else after) > 0.5 else ""

    def sides(self, key: str) -> tuple[float, float]:
        return self.spaces.get(key) or (unseen(key), unseen(key))


class SpellingLearner:
    """Counts forms and spaces in target texts that come with their units.

    The first word of a line says nothing about case, unless the word never stands elsewhere.
    """

    def __init__(self) -> None:
        self._forms: Counter[tuple[str, str]] = Counter()
        self._first_forms: Counter[tuple[str, str]] = Counter()
        self._sides: Counter[tuple[str, int, bool]] = Counter()
        self._capitals = self._lines = 0

    def add(self, text: str, units: Sequence[Unit]) -> None:
        """Count one line."""
        if not units:
            return
        start = text[units[0].start]
        self._lines += 1
        self._capitals += start != start.lower()
        forms = [(unit.key, text[unit.start : unit.end]) for unit in units]
        self._first_forms[forms[0]] += 1
        self._forms.update(forms[1:])
        for left, right in pairwise(units):
            space = left.end < right.start
            if is_word(right.key) or not is_word(left.key):
                self._sides[left.key, AFTER, space] += 1
            if is_word(left.key) or not is_word(right.key):
                self._sides[right.key, BEFORE, space] += 1

    def spelling(self) -> Spelling:
        """What was learnt from the lines so far."""
        keys = sorted({key for key, _, _ in self._sides})
        return Spelling(
            surfaces=usual_forms(self._forms, self._first_forms),
            spaces={key: (self._share(key, BEFORE), self._share(key, AFTER)) for key in keys},
            capitals=2 * self._capitals > self._lines,
        )

    def _share(self, key: str, side: int) -> float:
        """Share of occurrences with a space on that side."""
        with_space, without = self._sides[key, side, True], self._sides[key, side, False]
        return round(with_space / (with_space + without), 2) if with_space + without else unseen(key)


def usual_forms(forms: Counter[tuple[str, str]], first_forms: Counter[tuple[str, str]]) -> dict[str, str]:
    """Key to its most frequent form inside a line, else to that of the first word, lower-cased; equals are left out."""
    usual: dict[str, str] = {}
    for (key, form), _ in sorted(forms.items(), key=lambda item: (-item[1], item[0])):
        usual.setdefault(key, form)
    for (key, form), _ in sorted(first_forms.items(), key=lambda item: (-item[1], item[0])):
        usual.setdefault(key, form[:1].lower() + form[1:])
    return {key: form for key, form in usual.items() if form != key}


def is_word(key: str) -> bool:
    """Letters and digits, unlike punctuation and symbols."""
    return key[0].isalnum()


def unseen(key: str) -> float:
    """The share for a side that was never seen: no space about scripts and signs that are written without."""
    wide_sign = unicodedata.category(key[0]).startswith("P") and unicodedata.east_asian_width(key[0]) in "WF"
    return 0.0 if wide_sign or UNSPACED.match(key) else 1.0


def capitalised(text: str) -> str:
    """With its first letter in upper case, if it begins with one."""
    return text[:1].upper() + text[1:]
