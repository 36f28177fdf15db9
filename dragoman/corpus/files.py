"""When does a file that is written get its name? When it is whole."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from dragoman.contracts import UserError
from dragoman.corpus.compression import compression_named
from dragoman.corpus.streams import STANDARD_INPUT, why_not

_DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextlib.contextmanager
def writing_bytes(path: str | Path) -> Iterator[BinaryIO]:
    """A file, compressed if its name ends in .gz, .xz, .bz2 or .zst; `-` is standard output.

    It is written aside in the same folder and takes its name when the block ends well; after an
    exception nothing is left. A device or pipe is written to directly. Raises UserError when the
    place cannot be written.
    """
    if str(path) == STANDARD_INPUT:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    final = Path(path).resolve()
    direct = final.exists() and not final.is_file()
    aside = final if direct else final.with_name(f".{final.name}.{os.getpid()}.part")
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        raw = aside.open("wb")
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {why_not(error)}") from error
    try:
        with raw, _packed(raw, final.name) as out:
            yield out
        if not direct:
            _synchronise(aside)
            os.replace(aside, final)
    except BaseException as error:
        if not direct:
            aside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in _DISK_FULL:
            raise UserError(f"{path}: cannot be written: {why_not(error)}") from error
        raise


def _packed(raw: BinaryIO, name: str) -> contextlib.AbstractContextManager[BinaryIO]:
    compression = compression_named(name)
    if compression is None:
        return contextlib.nullcontext(raw)
    return io.BufferedWriter(cast(io.RawIOBase, compression.file(raw)))


def _synchronise(path: Path) -> None:
    """Have a closed file on the disk before it gets its name."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
