"""What are the units of a line, and what are their numbers?

The text is taken as it is. Words are what ASCII white space separates, as KenLM reads them; of characters white space
is one, written as U+2581, so that no unit has a space in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from dragoman.lm import word_kernels
from dragoman.lm.recipes import Units
from dragoman.text.pieces import SPACE

Integers = npt.NDArray[np.int32]
RESERVED = ("<unk>", "<s>", "</s>")
UNKNOWN, START, END = range(3)
_SPACES = str.maketrans(dict.fromkeys(" \t\n\r\x0b\x0c", SPACE))
CAPITAL_UNKNOWN = "<UNK>"  # of SRILM and others, and to KenLM the same as <unk>
_KEYS = frozenset(word.encode() for word in (*RESERVED, CAPITAL_UNKNOWN))


def keys_of(text: str, units: Units) -> list[Any]:
    """The units of a line, words as bytes: these split at ASCII white space only, and fast."""
    if units == "words":
        return text.encode("utf-8", "surrogatepass").split()
    return list(text.translate(_SPACES))


def key_of(word: str, units: Units) -> Any:
    """A unit as `keys_of` has it."""
    return word.encode("utf-8", "surrogatepass") if units == "words" else word


def name_of(key: Any) -> str:
    """A unit as text."""
    return key.decode("utf-8", "surrogatepass") if isinstance(key, bytes) else key


def reserved_among(text: str, keys: Sequence[Any]) -> list[str]:
    """The reserved words among the units of this line."""
    return [word for word in (*RESERVED, CAPITAL_UNKNOWN) if word.encode() in keys] if "<" in text else []


def without_reserved(keys: Sequence[Any]) -> list[Any]:
    """The others."""
    return [key for key in keys if key not in _KEYS]


def joined(words: Iterable[str], units: Units) -> str:
    """The text of units, one after the other."""
    return " ".join(words) if units == "words" else "".join(words).replace(SPACE, " ")


def most_frequent(counts: Counter[Any], most: int) -> list[Any]:
    """The units that are known; of equally frequent ones those that came first."""
    ranked = sorted(counts, key=lambda key: -counts[key])
    chosen = set(islice(ranked, most))
    return [key for key in counts if key in chosen]


@dataclass(frozen=True)
class Vocabulary:
    """words: number w stands for words[w], the reserved ones first."""

    units: Units
    words: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def index(self) -> dict[Any, int]:
        """The numbers of units; what looks like a reserved word in a text is unknown."""
        learnt = islice(enumerate(self.words), len(RESERVED), None)
        return {key_of(word, self.units): number for number, word in learnt}

    def ids(self, text: str) -> list[int]:
        """The numbers of a line's units."""
        get = self.index.get
        return [get(key, UNKNOWN) for key in keys_of(text, self.units)]

    def ids_of_lines(self, texts: Sequence[str]) -> Integers:
        """The same of many lines, end to end, with </s> behind each."""
        lines = "".join([f"{text}\n" for text in texts])
        if self.units != "words" or lines.count("\n") != len(texts):
            return np.array([number for text in texts for number in (*self.ids(text), END)], np.int32)
        bytes_X = np.frombuffer(lines.encode("utf-8", "surrogatepass"), np.uint8)
        ids_N = np.empty(len(bytes_X), np.int32)
        return ids_N[: word_kernels.number_words(bytes_X, *self._table, ids_N)]

    @cached_property
    def _table(self) -> tuple[npt.NDArray[np.generic], ...]:
        """All words end to end with a byte behind each, where they begin, their hashes and numbers by hash (open
        addressing)."""
        spelt = [word.encode("utf-8", "surrogatepass") for word in self.words]
        begins_V = np.append(0, np.cumsum([len(word) + 1 for word in spelt])).astype(np.int64)
        size = 1 << (2 * len(spelt)).bit_length()
        hashes_S, numbers_S = np.zeros(size, np.uint64), np.full(size, -1, np.int32)
        words_X = np.frombuffer(b"\n".join([*spelt, b""]), np.uint8)
        word_kernels.fill_words(len(RESERVED), words_X, begins_V, hashes_S, numbers_S)
        return words_X, begins_V, hashes_S, numbers_S
