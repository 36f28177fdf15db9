"""What is looked up: which words of a text belong together?

Every word is a unit of its own, but for numbers ("1,000.50" is one), contractions ("didn't") and for
Chinese, where signs that keep company are one word. Their company is counted, no word list is needed:
a string of signs is a word where its weakest cut in two holds together (pointwise mutual information)
and where many different signs stand before and after it (entropy).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import regex

from dragoman.contracts import Span
from dragoman.text.normalise import nfc
from dragoman.text.words import word_spans

HAN = regex.compile(r"\p{Han}")
HAN_RUN = regex.compile(r"\p{Han}+")
APOSTROPHES = frozenset("'’")
NUMBER_JOINT = frozenset(".,:/-")
LEAST_COUNT = 3
LEAST_COHESION = 2.0  # nats, for each sign after the first
LEAST_FREEDOM = 0.8  # nats
MOST_STRINGS = 2_000_000


@dataclass(frozen=True, slots=True)
class Unit:
    """Characters [start, end) of a text and its words [first, last); `key` is what the dictionary knows it by."""

    key: str
    start: int
    end: int
    first: int
    last: int

    @property
    def number(self) -> bool:
        """Numbers are copied, not looked up."""
        return self.key[0].isdigit() and self.key[-1].isdigit()


def key_of(word: str) -> str:
    """The form under which a word is counted: NFC, case folded."""
    return word.lower() if word.isascii() else nfc(nfc(word).casefold())


def cut(text: str, compounds: frozenset[str], longest: int) -> list[Unit]:
    """The units of a text, in order; at each Chinese sign the longest known string of signs."""
    spans = word_spans(text)
    units: list[Unit] = []
    first = 0
    while first < len(spans):
        start, end = spans[first]
        last = first + 1
        if text[start].isdigit():
            last = number_end(text, spans, first)
        elif longest > 1 and HAN.match(text, start):
            last = compound_end(text, spans, first, compounds, longest)
        elif text[start].isalpha():
            last = contraction_end(text, spans, first)
        end = spans[last - 1][1]
        units.append(Unit(key_of(text[start:end]), start, end, first, last))
        first = last
    return units


def words_of(text: str, unit: Unit) -> list[Unit]:
    """The words of a unit, each as a unit of its own."""
    return [
        Unit(key_of(text[unit.start + start : unit.start + end]), unit.start + start, unit.start + end, word, word + 1)
        for word, (start, end) in enumerate(word_spans(text[unit.start : unit.end]), start=unit.first)
    ]


def number_end(text: str, spans: tuple[Span, ...], first: int) -> int:
    """The word after a number that begins at word `first`: digits, and joints between digits without a space."""
    last = first + 1
    while last + 1 < len(spans):
        (start, end), (after, _) = spans[last], spans[last + 1]
        close = spans[last - 1][1] == start and end == after
        if not (close and text[start:end] in NUMBER_JOINT and text[after].isdigit()):
            break
        last += 2
    return last


def contraction_end(text: str, spans: tuple[Span, ...], first: int) -> int:
    """The word after a contraction like "didn't" that begins at word `first`, or after that word alone."""
    if first + 2 < len(spans):
        (start, end), (after, close) = spans[first + 1], spans[first + 2]
        beside = spans[first][1] == start and end == after
        if beside and text[start:end] in APOSTROPHES and close - after <= 2 and text[after:close].isalpha():
            return first + 3
    return first + 1


def compound_end(text: str, spans: tuple[Span, ...], first: int, compounds: frozenset[str], longest: int) -> int:
    """The word after the longest compound that begins at word `first`, or after that word alone."""
    run = first + 1
    while run < len(spans) and run - first < longest and adjacent_han(text, spans, run):
        run += 1
    for last in range(run, first + 1, -1):
        if nfc(text[spans[first][0] : spans[last - 1][1]]) in compounds:
            return last
    return first + 1


def adjacent_han(text: str, spans: tuple[Span, ...], word: int) -> bool:
    """Is this word a Chinese sign right after the word before it?"""
    return spans[word - 1][1] == spans[word][0] and HAN.match(text, spans[word][0]) is not None


# --- Chinese words ------------------------------------------------------------------------------


def learn_compounds(texts: Iterable[str], longest: int) -> frozenset[str]:
    """Strings of 2 to `longest` Chinese signs that are words by their company."""
    if longest < 2:
        return frozenset()
    counts, signs = count_strings(texts, longest + 1)
    cohesive = {
        string
        for string, count in counts.items()
        if 2 <= len(string) <= longest
        and count >= LEAST_COUNT
        and cohesion(string, counts, signs) >= LEAST_COHESION * (len(string) - 1)
    }
    before, after = neighbours(counts, cohesive)
    return frozenset(
        string
        for string in cohesive
        if min(freedom(counts[string], side[string]) for side in (before, after)) >= LEAST_FREEDOM
    )


def count_strings(texts: Iterable[str], longest: int) -> tuple[Counter[str], int]:
    """Counts of all strings of 1 to `longest` Chinese signs, and of the signs. Memory is bounded: strings seen
    once are forgotten whenever MOST_STRINGS are held (lossy counting, Manku and Motwani 2002)."""
    counts: Counter[str] = Counter()
    signs = 0
    for text in texts:
        for run in HAN_RUN.findall(nfc(text)):
            signs += len(run)
            for size in range(1, longest + 1):
                counts.update(run[i : i + size] for i in range(len(run) - size + 1))
        if len(counts) > MOST_STRINGS:
            counts = Counter({string: count for string, count in counts.items() if count > 1 or len(string) == 1})
    return counts, signs


def cohesion(string: str, counts: Counter[str], signs: int) -> float:
    """min over cuts ab of log(c(ab) N / (c(a) c(b))), N the number of signs."""
    return min(
        math.log(counts[string] * signs / (counts[string[:i]] * counts[string[i:]])) for i in range(1, len(string))
    )


def neighbours(
    counts: Counter[str], strings: Collection[str]
) -> tuple[defaultdict[str, list[int]], defaultdict[str, list[int]]]:
    """For each of the strings the counts of the different signs before it, and after it."""
    before: defaultdict[str, list[int]] = defaultdict(list)
    after: defaultdict[str, list[int]] = defaultdict(list)
    for string, count in counts.items():
        if string[1:] in strings:
            before[string[1:]].append(count)
        if string[:-1] in strings:
            after[string[:-1]].append(count)
    return before, after


def freedom(count: int, beside: Sequence[int]) -> float:
    """Entropy of what stands on one side; the ends of runs (and what was forgotten) count as different signs."""
    ends = count - sum(beside)
    entropy = -sum(times / count * math.log(times / count) for times in beside)
    return entropy + ends / count * math.log(count)
