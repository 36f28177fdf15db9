"""Which words were looked at while a word was written?

The attention of pieces to pieces becomes links between words: columns of a source word's pieces are added up, rows of
a target word's pieces too, and the source word with the largest sum is linked. (No torch here.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dragoman.contracts import Link, Span
from dragoman.text.places import Shared, shared


class Side(NamedTuple):
    """The words of a text, and the pieces of a part of it; spans are those in the whole text."""

    words: Sequence[Span]
    pieces: Sequence[Span]

    def shared(self) -> tuple[int, Shared]:
        """The first word that may be in the part, and what its words (counted from there) share with the pieces."""
        if not self.words or not self.pieces:
            return 0, shared((), self.pieces)
        words_I2 = np.array(self.words, dtype=np.int64)
        first = int(np.searchsorted(words_I2[:, 1], self.pieces[0][0], side="right"))
        last = int(np.searchsorted(words_I2[:, 0], self.pieces[-1][1], side="left"))
        return first, shared(self.words[first : max(first, last)], self.pieces)


def links_of(attention_TS: Any, source: Side, target: Side) -> list[Link]:
    """(source word, target word), one source word for each target word, sorted.

    What was looked at beside words (white space and the end piece, columns without a word) is passed over, as Garg
    et al. 2019 do: a network rests its eyes there when a word needs nothing of the source. Words that share a piece are
    linked together. attention_TS: S may be more than the source pieces by the end piece.
    """
    (first_source, sources), (first_target, targets) = source.shared(), target.shared()
    if not sources.words or not targets.words:
        return []
    looked_TI = _added(np.asarray(attention_TS)[:, : len(sources.first_S)].T, sources).T
    looked_JI = _added(looked_TI, targets)
    best_J, some_J = looked_JI.argmax(1), looked_JI.max(1) > 0
    return sorted(
        (first_source + int(i), first_target + j)
        for j, block in enumerate(targets.blocks_I.tolist())
        if some_J[block]
        for i in np.flatnonzero(sources.blocks_I == best_J[block])
    )


def _added(rows_NX: Any, places: Shared) -> Any:
    """The rows of the pieces of each block added up; those of no block are left out."""
    sums_IX = np.zeros((int(places.blocks_I[-1]) + 1, rows_NX.shape[1]))
    inside_N = places.blocks_S >= 0
    np.add.at(sums_IX, places.blocks_S[inside_N], rows_NX[inside_N])
    return sums_IX
