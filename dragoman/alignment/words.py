"""Which words do links count, and how are they cut for counting?

Links always count words of the text as it is: what white space separates, or what `word_spans` finds. What is counted
may be smaller or larger: Chinese by characters, or by jieba's words. Two words are linked where any of their units are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import regex

from dragoman.contracts import Link, Span, UserError
from dragoman.text.words import WHITE_SPACE, word_spans

Words = Literal["auto", "spaces", "spans"]
Units = Literal["words", "characters", "jieba"]
WORDS: tuple[Words, ...] = get_args(Words)
UNITS: tuple[Units, ...] = get_args(Units)

_SPACED = regex.compile(rf"[^{WHITE_SPACE}]+")
_HAN_RUN = regex.compile(r"[\p{Han}\p{M}]+")
_HAN_SIGN = regex.compile(r"\p{Han}\p{M}*|\p{M}+")
_ATTACHED = regex.compile(
    rf"[\p{{L}}\p{{N}}](?:[,;:!?，；：！？、。][{WHITE_SPACE}]|[.!?。！？][{WHITE_SPACE}]*$)"  # not "mr. x"
)
LOOKED_AT = 2000
RUNS_KEPT = 300_000
LONGEST_HAN_WORD = 6


def spaced_spans(text: str) -> tuple[Span, ...]:
    """Spans of what white space separates.

    >>> spaced_spans("so , now")
    ((0, 2), (3, 4), (5, 8))
    """
    return tuple(match.span() for match in _SPACED.finditer(text))


def stands_apart(texts: Iterable[str]) -> bool:
    """Is this text tokenised: are marks set off by spaces, and Chinese words too?

    >>> stands_apart(["He came , I think ."]), stands_apart(["He came, I think."]), stands_apart(["我是李明"])
    (True, False, False)
    """
    looked, attached = 0, 0
    for text in texts:
        looked += 1
        long_han = any(len(run) > LONGEST_HAN_WORD for run in _HAN_RUN.findall(text))
        attached += bool(_ATTACHED.search(text)) or long_han or bool(_HAN_RUN.fullmatch(text.strip()) and len(text) > 3)
        if looked >= LOOKED_AT:
            break
    return attached * 10 <= looked


@functools.cache
def _jieba() -> Callable[[str], list[str]]:
    try:
        import jieba
    except ImportError as error:
        raise UserError("units=jieba needs jieba: pip install 'dragoman[chinese]', or take characters") from error
    import logging

    jieba.setLogLevel(logging.WARNING)
    cut: Callable[[str], list[str]] = functools.partial(jieba.lcut, HMM=True)
    return cut


@dataclass(frozen=True)
class Cutting:
    """words: what links count. units: what is counted. fold: upper and lower case are one."""

    words: Literal["spaces", "spans"] = "spans"
    units: Units = "words"
    fold: bool = True

    def spans(self, text: str) -> tuple[Span, ...]:
        """The words that links count."""
        return spaced_spans(text) if self.words == "spaces" else word_spans(text)

    def unit_spans(self, text: str) -> tuple[Span, ...]:
        """What is counted, from left to right; for units=words the words themselves."""
        if self.units == "words":
            return self.spans(text)
        found: list[Span] = []
        for start, end in self.spans(text) if self.units == "characters" else _merged(text, self.spans(text)):
            found.extend(self._parts(text, start, end))
        return tuple(found)

    def _parts(self, text: str, start: int, end: int) -> Iterable[Span]:
        at = start
        for run in _HAN_RUN.finditer(text, start, end):
            if run.start() > at:
                yield at, run.start()
            pieces = _jieba()(run[0]) if self.units == "jieba" else _HAN_SIGN.findall(run[0])
            at = run.start()
            for piece in pieces:
                yield at, at + len(piece)
                at += len(piece)
        if at < end:
            yield at, end

    def keys(self, text: str) -> list[str]:
        """The units as they are looked up. No unit holds white space, so what stands between is cut once for all
        texts."""
        known = _known(self)
        found: list[str] = []
        for run in text.split():
            keys = known.get(run)
            if keys is None:
                if len(known) >= RUNS_KEPT:
                    known.clear()
                keys = known[run] = self._keys(run)
            found += keys
        return found

    def _keys(self, text: str) -> list[str]:
        units = [text[start:end] for start, end in self.unit_spans(text)]
        return [unit.lower() for unit in units] if self.fold else units


@functools.cache
def _known(cutting: Cutting) -> dict[str, list[str]]:
    return {}


def _merged(text: str, spans: Sequence[Span]) -> list[Span]:
    """Neighbours of Chinese signs without space between as one, so that jieba sees the run."""
    merged: list[Span] = []
    for start, end in spans:
        if merged and merged[-1][1] == start and _HAN_RUN.match(text, start) and _HAN_RUN.match(text, start - 1):
            merged[-1] = merged[-1][0], end
        else:
            merged.append((start, end))
    return merged


def owners(words: Sequence[Span], units: Sequence[Span]) -> list[tuple[int, ...]]:
    """For each unit the words that it shares characters with.

    >>> owners([(0, 1), (1, 2), (3, 5)], [(0, 2), (3, 4), (4, 5)])
    [(0, 1), (2,), (2,)]
    """
    found, first = [], 0
    for start, end in units:
        while first < len(words) and words[first][1] <= start:
            first += 1
        last = first
        while last < len(words) and words[last][0] < end:
            last += 1
        found.append(tuple(range(first, last)))
    return found


def of_words(
    links: Iterable[tuple[Link, float]], sources: Sequence[tuple[int, ...]], targets: Sequence[tuple[int, ...]]
) -> dict[Link, float]:
    """Links of units as links of words, each with the probability of its best."""
    found: dict[Link, float] = {}
    for (i, j), probability in links:
        for source in sources[i]:
            for target in targets[j]:
                found[source, target] = max(probability, found.get((source, target), 0.0))
    return found
