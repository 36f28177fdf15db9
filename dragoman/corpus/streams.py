"""Where do the bytes come from, and are all of them there?

Files, compressed ones too (known by their first bytes), standard input and pipes, all read lazily.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from dragoman.contracts import UserError
from dragoman.corpus.compression import Damaged, compression_of, decompressed, may_become_compressed

STANDARD_INPUT = "-"
CHUNK = 1 << 18
_REPEAT = re.compile(r"(.+)\*(\d+)", re.DOTALL)


@dataclass(frozen=True)
class InputFile:
    """A file to read: the path to open, the name to show, and what must live as long as the path."""

    path: str
    name: str
    keep: object = None


def file_at(path: str | Path) -> InputFile:
    """A file that messages and origins call by its path; bytes of it that are not UTF-8 as \\xe9."""
    return InputFile(str(path), os.fsencode(path).decode("utf-8", "backslashreplace"))


def shown_name(path: str | Path) -> str:
    """How messages call a path: `<stdin>` for `-`."""
    return "<stdin>" if str(path) == STANDARD_INPUT else str(path)


def why_not(error: OSError) -> str:
    """An operating system's error in the words of a message."""
    if isinstance(error, FileNotFoundError):
        return "no such file or folder"
    if isinstance(error, IsADirectoryError):
        return "is a folder, not a file"
    return (error.strerror or str(error)).lower()


def require_files(paths: Iterable[str]) -> None:
    """UserError for the first that is not there or is a folder, before anything slow begins."""
    for path in paths:
        if path == STANDARD_INPUT:
            continue
        try:
            folder = stat.S_ISDIR(os.stat(path).st_mode)
        except OSError as error:
            raise UserError(f"{path}: {why_not(error)}") from error
        if folder:
            raise UserError(f"{path}: is a folder, not a file")


def repeat_of(name: str) -> tuple[str, int]:
    """The file and how often it is read: ("a.tsv", 3) of "a.tsv*3", unless a file is called so."""
    repeat = _REPEAT.fullmatch(name)
    return (name, 1) if repeat is None or Path(name).exists() else (repeat.group(1), int(repeat.group(2)))


def refuse_overwriting(inputs: Iterable[str | None], outputs: Iterable[str | Path | None]) -> None:
    """UserError where an output would replace a file that is read: the original would be lost; or another output; and
    where it would stand in a folder that is read, as one of its files from then on. None is no file."""
    named = (Path(repeat_of(name)[0]) for name in inputs if name and name != STANDARD_INPUT)
    read = [path for path in named if path.exists()]
    written: set[Path] = set()
    for output in (Path(name) for name in outputs if name and str(name) != STANDARD_INPUT):
        if output.resolve() in written:
            raise UserError(f"{output}: would be written twice")
        written.add(output.resolve())
        for path in read:
            if output.is_file() and output.samefile(path):
                raise UserError(f"{output}: is read as well, and would be lost; write to another file")
            if path.is_dir() and output.resolve().is_relative_to(path.resolve()):
                why = "would be lost" if output.is_file() else "would be one of its files"
                raise UserError(f"{output}: is in the folder {path}, which is read, and {why}; write elsewhere")


def read_chunks(path: str | Path, name: str = "") -> Iterator[bytes]:
    """The bytes of a file or of standard input (`-`), decompressed, as soon as they are there.

    Raises UserError when it cannot be read and Damaged when compressed data is cut or broken.
    """
    name = name or shown_name(path)
    try:
        with _opened(path) as stream:
            head = stream.read1(CHUNK)
            while may_become_compressed(head) and (more := stream.read1(CHUNK)):
                head += more
            chunks = _raw_chunks(head, stream)
            compression = compression_of(head)
            yield from decompressed(chunks, compression, CHUNK) if compression else chunks
    except OSError as error:
        raise UserError(f"{name}: {why_not(error)}") from error


@dataclass
class Meter:
    """How many bytes were read, as they lie on the disk."""

    read: int = 0


_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextlib.contextmanager
def metered() -> Iterator[Meter]:
    """Count what is read from files and streams inside the block, whoever reads it."""
    token = _METER.set(Meter())
    try:
        yield cast(Meter, _METER.get())
    finally:
        _METER.reset(token)


def beginning_of(file: InputFile) -> bytes:
    """The first bytes, some hundred thousand of them at most; of compressed data that are damaged what can be read."""
    head = b""
    with contextlib.suppress(Damaged):
        for chunk in read_chunks(file.path, file.name):
            head += chunk
            if len(head) >= CHUNK:
                break
    return head


class _Readable(Protocol):
    def read1(self, size: int = -1, /) -> bytes: ...


def _opened(path: str | Path) -> contextlib.AbstractContextManager[_Readable]:
    if str(path) == STANDARD_INPUT:
        return contextlib.nullcontext(cast(_Readable, sys.stdin.buffer))
    return cast("contextlib.AbstractContextManager[_Readable]", open(path, "rb"))


def _raw_chunks(head: bytes, stream: _Readable) -> Iterator[bytes]:
    meter = _METER.get()
    while head:
        if meter is not None:
            meter.read += len(head)
        yield head
        head = stream.read1(CHUNK)


def repeatable(path: str | Path) -> InputFile:
    """A file that can be read more than once: standard input and pipes are copied to disk first."""
    name = shown_name(path)
    if str(path) != STANDARD_INPUT:
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            raise UserError(f"{name}: {why_not(error)}") from error
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
            return InputFile(str(path), name)
    folder = tempfile.TemporaryDirectory(prefix="dragoman-")
    copy = Path(folder.name) / "input"
    try:
        with _opened(path) as stream, copy.open("wb", buffering=0) as out:
            for chunk in _raw_chunks(stream.read1(CHUNK), stream):
                _write_all(out, chunk, f"{copy} (a copy of {name})")
    except OSError as error:
        raise UserError(f"{name}: {why_not(error)}") from error
    return InputFile(str(copy), name, keep=folder)


def _write_all(out: io.FileIO, data: bytes, shown: str) -> None:
    try:
        while data:
            data = data[out.write(data) :]
    except OSError as error:
        raise UserError(f"{shown}: cannot be written: {why_not(error)}") from error
