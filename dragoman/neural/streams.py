"""In which rows, and in which order, does a network meet running text?

Files are one stream, cut into as many rows as a batch has, and read window by window: a row goes on where the window
before ended. Lines and blocks are rows of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch

from dragoman.contracts import PieceTable
from dragoman.neural import batches
from dragoman.neural.batches import Batch
from dragoman.text.store import Ids
from dragoman.text.textstore import TextStore


class Window(NamedTuple):
    """Columns `first` to `last` (excluded) of the rows of an epoch, the first of which begins at place `offset`."""

    offset: int
    first: int
    last: int


class Layout(NamedTuple):
    """How a stream is laid out: so many rows of so many columns, read so many at a time."""

    rows: int
    length: int
    window: int

    @classmethod
    def of(cls, total: int, tokens_per_batch: int, window: int) -> Layout:
        """tokens_per_batch / window rows; fewer where these would be shorter than a window."""
        rows = max(1, min(tokens_per_batch // window, total // window))
        return cls(rows, total // rows, window)

    def plan(self, total: int, seed: int, epoch: int) -> list[Window]:
        """One epoch: the stream as a circle, begun at another place each time."""
        offset = int(np.random.default_rng((seed, epoch)).integers(total))
        columns = range(0, self.length, self.window)
        return [Window(offset, first, min(self.length, first + self.window)) for first in columns]

    def read(self, ids_N: Ids, window: Window, table: PieceTable, device: torch.device) -> Batch:
        """The tensors of a window. Each piece is predicted from those before it; a start piece stands where an end
        piece came before."""
        begins_R1 = window.offset + self.length * np.arange(self.rows)[:, None]
        places_RT = begins_R1 + np.arange(window.first - 1, window.last)
        pieces_RT = ids_N.take(places_RT, mode="wrap").astype(np.int64)
        inputs_RT = pieces_RT[:, :-1].copy()
        inputs_RT[inputs_RT == table.end] = table.start
        return text_batch(inputs_RT, pieces_RT[:, 1:], device, goes_on=window.first > 0)


def collate(documents: Sequence[Ids], firsts: Sequence[int], table: PieceTable, device: torch.device) -> Batch:
    """A batch of documents that end with their end piece; the first piece of each is predicted from one of `firsts`."""
    targets_BT = batches.pad(documents, table.padding)
    inputs_BT = np.concatenate((np.array(firsts, dtype=np.int64)[:, None], targets_BT[:, :-1]), axis=1)
    return text_batch(inputs_BT, targets_BT, device, tokens=sum(map(len, documents)))


def text_batch(
    inputs_BT: np.ndarray, targets_BT: np.ndarray, device: torch.device, *, goes_on: bool = False, tokens: int = 0
) -> Batch:
    """A batch without sources. tokens: where not all targets are real."""
    targets = torch.from_numpy(np.ascontiguousarray(targets_BT)).to(device)
    no_sources_B0 = targets[:, :0]
    return Batch(
        no_sources_B0, torch.from_numpy(inputs_BT).to(device), targets, tokens or targets.numel(), goes_on=goes_on
    )


def read_documents(
    store: TextStore, group: Sequence[np.ndarray], table: PieceTable, device: torch.device
) -> Iterator[Batch]:
    """The tensors of planned batches of documents, one after another."""
    for indices in group:
        documents = [store.document(int(index)) for index in indices]
        yield collate(documents, [table.start] * len(documents), table, device)
