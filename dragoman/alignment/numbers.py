"""What are the words of many pairs, as numbers laid end to end?

Word w of a vocabulary is row w of all tables. Blank pairs keep their place: they have no words.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

Words32 = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """One side of all pairs. words_X: numbers, laid end to end; begins_N: where each pair begins, and the end."""

    words_X: Words32
    begins_N: Integers
    vocabulary: int

    def __len__(self) -> int:
        return len(self.begins_N) - 1

    @property
    def lengths_N(self) -> Integers:
        return np.diff(self.begins_N)


@dataclass(frozen=True)
class Shapes:
    """The distinct lengths of pairs. lengths_S2: (I, J); begins_S: where the choices of each lie, J * (I + 1) of
    them, end to end; shape_N: of each pair."""

    lengths_S2: Integers
    begins_S: Integers
    shape_N: Integers

    @cached_property
    def cells(self) -> tuple[Integers, Integers, Integers]:
        """Shape, i (0 being no word) and j (from 1) of all choices."""
        shape = np.repeat(np.arange(len(self.lengths_S2)), np.diff(self.begins_S))
        inside = np.arange(self.begins_S[-1]) - self.begins_S[shape]
        j, i = np.divmod(inside, self.lengths_S2[shape, 0] + 1)
        return shape, i, j + 1


def shapes_of(inputs_N: Integers, outputs_N: Integers) -> Shapes:
    """The shapes of pairs with so many words to choose from, and so many that choose."""
    codes_S, shape_N = np.unique((inputs_N << 32) + outputs_N, return_inverse=True)
    lengths_S2 = np.stack([codes_S >> 32, codes_S & 0xFFFFFFFF], axis=1)
    begins_S = np.zeros(len(lengths_S2) + 1, np.int64)
    np.cumsum(lengths_S2[:, 1] * (lengths_S2[:, 0] + 1), out=begins_S[1:])
    return Shapes(lengths_S2, begins_S, shape_N)


@dataclass(frozen=True)
class NumberedPairs:
    """Pairs of lines as word numbers."""

    source: Side
    target: Side

    def __len__(self) -> int:
        return len(self.source)

    @cached_property
    def cell_begins_N(self) -> Integers:
        """Where the cells of each pair begin, were all of them laid end to end, and the end."""
        begins = np.zeros(len(self) + 1, np.int64)
        np.cumsum(self.source.lengths_N * self.target.lengths_N, out=begins[1:])
        return begins

    @property
    def longest(self) -> int:
        """Words of the longest line on either side; at least 1."""
        return int(max(1, self.source.lengths_N.max(initial=0), self.target.lengths_N.max(initial=0)))

    @cached_property
    def shapes(self) -> tuple[Shapes, Shapes]:
        """Those of direction 0, where target words choose among source words, and of direction 1."""
        return shapes_of(self.source.lengths_N, self.target.lengths_N), shapes_of(
            self.target.lengths_N, self.source.lengths_N
        )

    def with_strangers(self) -> NumberedPairs:
        """The same words in vocabularies that have one number more, for all other words."""
        source, target = (replace(side, vocabulary=side.vocabulary + 1) for side in (self.source, self.target))
        return NumberedPairs(source, target)


class Numbering:
    """Gives words their numbers in order of first appearance. A fixed vocabulary has one number for all other words,
    its last."""

    def __init__(self, vocabulary: Iterable[str] = (), *, growing: bool = True) -> None:
        self.index: dict[str, int] = {word: number for number, word in enumerate(vocabulary)}
        self.growing = growing
        self.words, self.lengths = array("i"), array("q")

    def add(self, words: Sequence[str]) -> None:
        """The words of one more line."""
        index = self.index
        try:
            self.words.extend([index[word] for word in words])
        except KeyError:
            if self.growing:
                self.words.extend([index.setdefault(word, len(index)) for word in words])
            else:
                self.words.extend([index.get(word, len(index)) for word in words])
        self.lengths.append(len(words))

    def side(self) -> Side:
        """All lines that were added."""
        begins_N = np.zeros(len(self.lengths) + 1, np.int64)
        np.cumsum(np.frombuffer(self.lengths, np.int64), out=begins_N[1:])
        words_X = np.frombuffer(self.words, np.int32) if self.words else np.zeros(0, np.int32)
        return Side(words_X, begins_N, len(self.index) + (not self.growing))
