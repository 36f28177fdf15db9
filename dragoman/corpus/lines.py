"""What is a line, and how is a file of lines written?

A line ends at `\\n` or `\\r\\n` and nowhere else: U+2028, U+0085, form feeds and the like are white
space inside a line. Files are UTF-8.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO

from dragoman.contracts import UserError
from dragoman.corpus.compression import Damaged
from dragoman.corpus.files import writing_bytes
from dragoman.corpus.streams import STANDARD_INPUT, read_chunks, shown_name

OnBadLine = Literal["stop", "skip"]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Of UTF-32 first, whose mark begins as that of UTF-16.
_OTHER_MARKS = {b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its end; number counts from 1. With a fault the text is empty."""

    text: str
    number: int
    fault: str = ""


def read_lines(path: str | Path, on_bad_line: OnBadLine = "stop", *, name: str = "") -> Iterator[Line]:
    """The lines of a file or of standard input (`-`), each as soon as it is there: see `read_blocks`."""
    number = 0
    for texts, faults in read_blocks(path, on_bad_line, name=name):
        for text in texts:
            number += 1
            yield Line(text, number, faults.pop(number, "") if faults else "")


def read_blocks(
    path: str | Path, on_bad_line: OnBadLine = "stop", *, name: str = ""
) -> Iterator[tuple[list[str], dict[int, str]]]:
    """The texts of the lines that came in together, at least one, and what is wrong with some, by their numbers in the
    file.

    Compression is known by the first bytes. A byte order mark at the start is dropped, a lone `\\r` becomes
    a space. A line that is not UTF-8 or holds a NUL, and compressed data that ends early, raise
    UserError("FILE:LINE: why"); under "skip" they come without text and with a fault ("not UTF-8", "NUL",
    "truncated").
    """
    name = name or shown_name(path)
    number = 0
    try:
        for block in _blocks(path, name):
            skipped = 0
            if number == 0:
                other = next((other for mark, other in _OTHER_MARKS.items() if block.startswith(mark)), "")
                if other and on_bad_line == "stop":
                    raise UserError(f"{name}:1: looks like {other}; convert it to UTF-8")
                skipped = len(_BYTE_ORDER_MARK) if block.startswith(_BYTE_ORDER_MARK) else 0
            texts, faults = _texts_of(block[skipped:]), dict[int, str]()
            if texts is None:
                texts = []
                for raw in io.BytesIO(block[skipped:]):
                    text, fault = _checked(raw, 0 if texts else skipped)
                    texts.append(text)
                    if fault:
                        faults[number + len(texts)] = fault
            if faults and on_bad_line == "stop":
                first = min(faults)
                if first > number + 1:  # those before it are fine
                    yield texts[: first - number - 1], {}
                raise UserError(f"{name}:{first}: {faults[first]}")
            number += len(texts)
            yield texts, {line: fault.partition(" (")[0] for line, fault in faults.items()}
    except Damaged as damage:
        if on_bad_line == "stop":
            raise UserError(f"{name}:{number + 1}: {damage}") from damage
        yield [""], {number + 1: "truncated"}


def _blocks(path: str | Path, name: str) -> Iterator[bytes]:
    """Runs of whole lines, as long as what came in at once; the last may lack its line end."""
    begun: list[bytes] = []
    for chunk in read_chunks(path, name):
        cut = chunk.rfind(b"\n") + 1
        begun.append(chunk[:cut] if cut else chunk)
        if cut:
            yield b"".join(begun)
            begun = [chunk[cut:]]
    last = b"".join(begun)
    if last:
        yield last


def _texts_of(block: bytes) -> list[str] | None:
    """The lines of a block, or None where one of them has a fault."""
    if b"\0" in block:
        return None
    try:
        text = block.decode()
    except UnicodeDecodeError:
        return None
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", " ")
    return text.removesuffix("\n").split("\n")


def _checked(raw: bytes, skipped: int) -> tuple[str, str]:
    """Text and fault of one line; the fault is told in full."""
    position = raw.find(b"\0")
    if position >= 0:
        return "", f"NUL (byte 0x00 at position {position + skipped})"
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        wrong = f"byte 0x{raw[error.start]:02x} at position {error.start + skipped}"
        if error.reason == "unexpected end of data":
            wrong += ": cut short inside a character"
        return "", f"not UTF-8 ({wrong})"
    return text.replace("\r\n", "\n").removesuffix("\n").replace("\r", " "), ""


@contextlib.contextmanager
def writing(path: str | Path) -> Iterator[TextIO]:
    """A UTF-8 text file with `\\n`, compressed if its name says so; `-` is standard output. See `writing_bytes`."""
    at_terminal = str(path) == STANDARD_INPUT and sys.stdout.isatty()
    with writing_bytes(path) as raw:
        out = io.TextIOWrapper(raw, encoding="utf-8", newline="\n", line_buffering=at_terminal)
        try:
            yield out
        except BaseException:
            with contextlib.suppress(UserError, OSError):  # what went wrong first is told
                out.detach()
            raise
        out.detach()
