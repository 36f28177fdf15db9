"""How is a file written that has its name only when it is whole, and whose errors name it?"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from dragoman.contracts import UserError
from dragoman.corpus.compression import compression_named
from dragoman.corpus.streams import STANDARD_INPUT, why_not
from dragoman.whole import aside_of, put

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

BUFFERED = 1 << 16  # bytes


@contextlib.contextmanager
def writing_bytes(path: str | Path) -> Iterator[BinaryIO]:
    """A file, compressed if its name ends in .gz, .xz, .bz2 or .zst; `-` is standard output.

    It is written aside in the same folder and takes its name when the block ends well; after an
    exception nothing is left, no folder that was made for it either. A device or pipe is written to
    directly. Raises UserError when the place cannot be written, or holds no more: the error names
    this file, whatever else is being written.
    """
    if str(path) == STANDARD_INPUT:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    final = Path(path).resolve()
    direct = final.exists() and not final.is_file()
    aside = final if direct else aside_of(final)
    made = [folder for folder in final.parents if not folder.exists()]
    try:
        with _told_as(path):
            final.parent.mkdir(parents=True, exist_ok=True)
            raw = _File(aside, str(path))
        with io.BufferedWriter(raw, BUFFERED) as buffered, _packed(buffered, final.name) as out:
            try:
                yield out
            except BaseException:
                raw.lost = not direct
                raise
        if not direct:
            with _told_as(path):
                put(aside, final)
    except BaseException:
        with contextlib.suppress(OSError):  # nothing was begun, or somebody else has put something there
            if not direct:
                aside.unlink(missing_ok=True)
            for folder in made:
                folder.rmdir()
        raise


@contextlib.contextmanager
def writing_aside(path: Path) -> Iterator[BinaryIO]:
    """A file that only this process will read; errors name it."""
    with _told_as(path):
        raw = _File(path, str(path))
    with io.BufferedWriter(raw, BUFFERED) as buffered:
        yield buffered


class _File(io.FileIO):
    """A file to write to, whose errors name it. lost: it will be removed, and what is still to come goes nowhere."""

    def __init__(self, path: Path, shown: str) -> None:
        super().__init__(path, "wb")
        self.shown, self.lost = shown, False

    def write(self, data: ReadableBuffer, /) -> int:
        if self.lost:
            return memoryview(data).nbytes
        with _told_as(self.shown):
            return super().write(data)


@contextlib.contextmanager
def _told_as(path: str | Path) -> Iterator[None]:
    """An operating system's refusal as a UserError that names the file; a reader that went away is another matter."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {why_not(error)}") from error


def _packed(raw: BinaryIO, name: str) -> contextlib.AbstractContextManager[BinaryIO]:
    compression = compression_named(name)
    if compression is None:
        return contextlib.nullcontext(raw)
    return io.BufferedWriter(cast(io.RawIOBase, compression.file(raw)))
