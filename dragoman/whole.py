"""When does a file that is written get its name? When it is whole: it is written aside, in the same folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Where to write `path` aside; it takes its name when the block ends well, else nothing is left of it."""
    aside = aside_of(path)
    try:
        yield aside
        put(aside, path)
    except BaseException:
        with suppress(OSError):  # nothing was begun
            aside.unlink(missing_ok=True)
        raise


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file at once, text in UTF-8: `path` is whole, or as it was."""
    with whole(path) as aside:
        aside.write_bytes(content.encode() if isinstance(content, str) else content)


def aside_of(path: Path) -> Path:
    """The name under which this process writes what will be `path`."""
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def put(aside: Path, path: Path) -> None:
    """Have a closed file on the disk, and give it its name."""
    with aside.open("rb+") as file:
        os.fsync(file.fileno())
    os.replace(aside, path)
