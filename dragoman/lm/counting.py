"""Which windows does a text have, and how often, in as much memory as it is given?

Words come in and are packed as numbers. A block of them is sorted and counted while the next one is read, in another
thread; where there are several, sorted runs go to the disk and are merged two by two.
"""

from __future__ import annotations

import shutil
from array import array
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dragoman.contracts import UserError
from dragoman.lm import window_kernels as kernels
from dragoman.lm.units import END, START

AT_ONCE = 1 << 23  # words of a block; a window takes 4 bytes a word, twice while it is sorted
MOST = (1 << 31) - 1
WIDEST_DIGIT = 11
Integers = npt.NDArray[np.int32]
Rows = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Windows:
    """rows_NW: distinct windows, sorted; counts_N: how often each is there. path: where they lie on the disk."""

    rows_NW: Rows
    counts_N: Integers
    path: Path | None = None

    def __len__(self) -> int:
        return len(self.counts_N)

    def forget(self) -> None:
        """Remove what lies on the disk."""
        if self.path is not None:
            for part in ("rows", "counts"):
                self.path.with_suffix(f".{part}").unlink(missing_ok=True)


def windows_of(ids_N: Integers, order: int) -> Windows:
    """The windows of sentences laid end to end, each from <s> to </s>, sorted and counted."""
    rows_NW = np.empty((len(ids_N), order), np.uint32)
    kernels.fill_windows(ids_N, rows_NW)
    bits = int(ids_N.max(initial=0) + 1).bit_length()
    digits = -(-bits // WIDEST_DIGIT)
    spare_NW = np.empty_like(rows_NW)
    if kernels.sort_rows(rows_NW, spare_NW, bits, -(-bits // digits)):
        rows_NW = spare_NW
    del spare_NW
    counts_N = np.zeros(len(ids_N), np.int32)
    kept = kernels.count_rows(rows_NW, counts_N)
    return Windows(rows_NW[:kept].copy(), counts_N[:kept].copy())


@dataclass
class Counting:
    """Takes sentences, gives windows. folder: for runs, made where they are needed."""

    order: int
    folder: Path
    pool: ThreadPoolExecutor
    at_once: int = AT_ONCE
    total: int = 0
    sentences: int = 0
    _ids: array[int] = field(default_factory=lambda: array("i"))
    _sorting: Future[Windows] | None = None
    _runs: list[Windows] = field(default_factory=list)
    _names: Iterator[int] = field(default_factory=count)

    def add(self, ids: Sequence[int]) -> None:
        """The words of one more sentence."""
        waiting = self._ids
        self.sentences += 1
        waiting.append(START)
        waiting.extend(ids)
        waiting.append(END)
        if len(waiting) >= self.at_once:
            self._sort()

    def finished(self) -> Windows:
        """All windows of what was added, distinct and sorted."""
        if self._ids or self._sorting is None:
            self._sort()
        assert self._sorting is not None
        last = self._sorting.result()
        if not self._runs:
            return last
        runs = [*self._runs, self._on_disk(last)]
        while len(runs) > 1:
            pairs = list(zip(runs[::2], runs[1::2], strict=False))
            runs = [*self.pool.map(self._merged, pairs), *runs[2 * len(pairs) :]]
        return runs[0]

    def _sort(self) -> None:
        self.total += len(self._ids)
        if self.total > MOST:
            raise UserError(f"more than {MOST:,} words: too many to count")
        if self._sorting is not None:
            self._runs.append(self._on_disk(self._sorting.result()))
        self._sorting = self.pool.submit(windows_of, np.array(self._ids, np.int32), self.order)
        self._ids = array("i")

    def _room(self, rows: int) -> Windows:
        """A run to be written."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"run-{next(self._names)}"
        arrays = [
            np.asarray(np.memmap(path.with_suffix(f".{part}"), dtype, "w+", shape=shape))
            for part, dtype, shape in (("rows", np.uint32, (rows, self.order)), ("counts", np.int32, (rows,)))
        ]
        return Windows(arrays[0], arrays[1], path)

    def _on_disk(self, windows: Windows) -> Windows:
        run = self._room(len(windows))
        run.rows_NW[:], run.counts_N[:] = windows.rows_NW, windows.counts_N
        return run

    def _merged(self, pair: tuple[Windows, Windows]) -> Windows:
        one, other = pair
        run = self._room(len(one) + len(other))
        made = kernels.merge_rows(one.rows_NW, one.counts_N, other.rows_NW, other.counts_N, run.rows_NW, run.counts_N)
        one.forget()
        other.forget()
        return Windows(run.rows_NW[:made], run.counts_N[:made], run.path)


@contextmanager
def counting(order: int, folder: Path, threads: int, at_once: int = AT_ONCE) -> Iterator[Counting]:
    """A counter whose runs are gone when the block is left: use its windows inside."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        with ThreadPoolExecutor(max(1, min(threads, 2))) as pool:
            yield Counting(order, folder, pool, at_once)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
