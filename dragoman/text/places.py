"""Where in a text do its pieces stand, and which words do they belong to?

Pieces are cut from text in normalisation form C, in which spaces and U+2581 are spelt by other signs, and some are
single bytes; words are spans in the raw text. Here one is found again in the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import regex

from dragoman.contracts import Link, Span
from dragoman.text.normalise import nfc
from dragoman.text.pieces import ESCAPED_PATTERN, SPACE

Integers = npt.NDArray[np.int64]

_CLUSTER = regex.compile(r"\X")
_ESCAPED = regex.compile(ESCAPED_PATTERN)


def spelt_spans(spellings: Sequence[bytes], *, before: int = 0) -> list[Span]:
    """The span of each piece in the text that they spell together, `spellings` being their UTF-8 bytes in escaped text.

    A piece that is a part of a character has the span of the whole one. before: so many characters at the beginning
    are not of the text; one is where a space was put before the first word.

    >>> spelt_spans(["▁so".encode(), b"\\xc3", b"\\xa9", b""], before=1)
    [(0, 2), (2, 3), (2, 3), (3, 3)]
    """
    joined = b"".join(spellings)
    begins_N = (np.frombuffer(joined, dtype=np.uint8) & 0xC0) != 0x80  # of every byte: does a character begin here?
    escaped = joined.decode("utf-8", errors="ignore")
    if len(escaped) == np.count_nonzero(begins_N):  # else bytes were lost, and nothing is exact
        second = [match.start() + 1 for match in _ESCAPED.finditer(escaped)]
        begins_N[np.flatnonzero(begins_N)[second]] = False  # two signs for one
    place_N = np.cumsum(begins_N) - 1 - before
    after = int(place_N[-1]) + 1 if len(joined) else 0
    spans, end = [], 0
    for spelling in spellings:
        start, end = end, end + len(spelling)
        first = int(place_N[start]) if start < len(joined) else after
        last = int(place_N[end - 1]) + 1 if start < end else first
        spans.append((max(first, 0), max(last, 0)))
    return spans


def decoded_spans(spellings: Sequence[bytes], *, leading_space: bool) -> list[Span]:
    """The same in a text that was decoded; leading_space: a space that it would begin with is left out."""
    first = next((spelling for spelling in spellings if spelling), b"")
    return spelt_spans(spellings, before=int(leading_space and first.startswith(SPACE.encode())))


def raw_spans(text: str, spans: Iterable[Span]) -> list[Span]:
    """Spans of NFC(text) as spans of the text itself.

    Composition never reaches beyond a grapheme cluster (UAX #29); where it changes one, its characters have the span
    of the whole cluster.

    >>> raw_spans("e\\u0301a", [(0, 1), (1, 2)])
    [(0, 2), (2, 3)]
    """
    if nfc(text) == text:
        return list(spans)
    places: list[Span] = []
    for match in _CLUSTER.finditer(text):
        composed = nfc(match[0])
        kept = composed == match[0]
        places += [
            (match.start() + index, match.start() + index + 1) if kept else match.span()
            for index in range(len(composed))
        ]
    places.append((len(text), len(text)))
    return [
        (places[start][0], places[end - 1][1]) if start < end else (places[start][0], places[start][0])
        for start, end in spans
    ]


@dataclass(frozen=True)
class Shared:
    """Which words share characters with which pieces: piece s with the words first_S[s] to last_S[s] - 1, with none
    where these are equal (white space, the end piece)."""

    words: int
    first_S: Integers
    last_S: Integers

    @cached_property
    def blocks_I(self) -> Integers:
        """The block of each word. A piece that holds parts of several words puts them into one block, for no more can
        be known of it than of them together."""
        joined_I = np.zeros(self.words, dtype=np.int64)
        for first, last in zip(self.first_S.tolist(), self.last_S.tolist(), strict=True):
            joined_I[first + 1 : last] = 1
        return np.cumsum(1 - joined_I) - 1

    @cached_property
    def blocks_S(self) -> Integers:
        """The block of each piece, -1 where it has no part of a word."""
        if not self.words:
            return np.full(len(self.first_S), -1, dtype=np.int64)
        in_word_S = self.first_S < self.last_S
        return np.where(in_word_S, self.blocks_I[np.minimum(self.first_S, self.words - 1)], -1)

    def pieces_of(self) -> list[list[int]]:
        """The pieces of each word."""
        found: list[list[int]] = [[] for _ in range(self.words)]
        for piece, (first, last) in enumerate(zip(self.first_S.tolist(), self.last_S.tolist(), strict=True)):
            for word in range(first, last):
                found[word].append(piece)
        return found


def shared(words: Sequence[Span], pieces: Sequence[Span]) -> Shared:
    """Words and pieces by their spans in the same text.

    >>> shared([(0, 2), (3, 4)], [(0, 1), (1, 3), (3, 4)]).blocks_S.tolist()
    [0, 0, 1]
    """
    words_I2 = np.array(words, dtype=np.int64).reshape(-1, 2)
    pieces_S2 = np.array(pieces, dtype=np.int64).reshape(-1, 2)
    first_S = np.searchsorted(words_I2[:, 1], pieces_S2[:, 0], side="right")
    last_S = np.searchsorted(words_I2[:, 0], pieces_S2[:, 1], side="left")
    last_S = np.where(pieces_S2[:, 0] < pieces_S2[:, 1], np.maximum(first_S, last_S), first_S)
    return Shared(len(words), first_S, last_S)


def piece_links(links: Sequence[Link], source: Shared, target: Shared) -> list[Link]:
    """(source piece, target piece) for every piece of words that are linked, sorted."""
    sources, targets = source.pieces_of(), target.pieces_of()
    return sorted({(s, t) for i, j in links for s in sources[i] for t in targets[j]})
