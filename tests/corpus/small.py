"""How do the tests of readers put content into a file, and what of its records do they look at?"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dragoman.contracts import Record
from dragoman.corpus.streams import InputFile


def file_of(folder: Path, name: str, content: str | bytes) -> InputFile:
    """A file with this content; text is written as UTF-8, line ends as they are."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return InputFile(str(path), name)


def told(records: Iterable[Record]) -> list[tuple[str, str, int, str]]:
    """(source, target, line, fault) of each."""
    return [(record.source, record.target, record.origin.line, record.fault) for record in records]
