"""Where do the words of a bitext wait, as numbers, to be counted again and again?

In a file without a name: a bitext larger than memory can be counted. Eight bytes a pair stay in memory.
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Keys = Sequence[str]

PAIRS_AT_ONCE = 4096
WORDS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class NumberedPairs:
    """Pairs of lines as word numbers. words: both vocabularies in order of first appearance; lengths_N2: words of
    source and target of each of the N pairs. Iterating gives (source numbers, target numbers)."""

    file: IO[bytes]
    lengths_N2: npt.NDArray[np.int32]
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.lengths_N2)

    def __iter__(self) -> Iterator[tuple[Integers, Integers]]:
        self.file.seek(0)
        for start in range(0, len(self), PAIRS_AT_ONCE):
            lengths_N2 = self.lengths_N2[start : start + PAIRS_AT_ONCE]
            numbers = np.frombuffer(self.file.read(4 * int(lengths_N2.sum())), dtype=np.int32).astype(np.int64)
            place = 0
            for source, target in lengths_N2.tolist():
                yield numbers[place : place + source], numbers[place + source : place + source + target]
                place += source + target


@contextmanager
def number_pairs(pairs: Iterable[tuple[Keys, Keys]], folder: Path) -> Iterator[NumberedPairs]:
    """Walk the pairs once, and hold them as numbers in a file in `folder` while the context lasts."""
    source_index: dict[str, int] = {}
    target_index: dict[str, int] = {}
    lengths, waiting = array("i"), array("i")
    with tempfile.TemporaryFile(dir=folder) as file:
        for source, target in pairs:
            waiting.extend(source_index.setdefault(word, len(source_index)) for word in source)
            waiting.extend(target_index.setdefault(word, len(target_index)) for word in target)
            lengths.extend((len(source), len(target)))
            if len(waiting) > WORDS_AT_ONCE:
                file.write(waiting.tobytes())
                del waiting[:]
        file.write(waiting.tobytes())
        yield NumberedPairs(
            file=file,
            lengths_N2=np.frombuffer(lengths, dtype=np.int32).reshape(-1, 2),
            source_words=tuple(source_index),
            target_words=tuple(target_index),
        )
