"""How is a compressed file known, read and written?

By its first bytes when it is read, by the end of its name when it is written. All members (frames, streams) of
a file are read, one after the other.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Protocol, cast

import zstandard

_GZIP_WINDOW = 31
# Four bytes of zstd may stand for 128 KiB, and its library gives at once all that it is fed.
_ZSTD_SLICE = 1 << 6
_ERRORS = (zlib.error, lzma.LZMAError, zstandard.ZstdError, OSError, EOFError)  # bz2 has none of its own


class Damaged(Exception):
    """Compressed data that ends early or fails its checksum; readers turn it into a UserError."""


class _Member(Protocol):
    """One member of a compressed file. `feed` gives pieces of about `size` bytes; `rest` is what follows the end."""

    def feed(self, data: bytes, size: int) -> Iterator[bytes]: ...
    @property
    def ended(self) -> bool: ...
    @property
    def rest(self) -> bytes: ...


class _GzipMember:
    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(_GZIP_WINDOW)

    def feed(self, data: bytes, size: int) -> Iterator[bytes]:
        more = True
        while more and not self._inflate.eof:
            out = self._inflate.decompress(data, size)
            data = self._inflate.unconsumed_tail
            more = bool(data) or len(out) == size
            yield out

    @property
    def ended(self) -> bool:
        return self._inflate.eof

    @property
    def rest(self) -> bytes:
        return self._inflate.unused_data


class _BufferedMember:
    """bz2 and xz: what is not decompressed yet waits inside."""

    def __init__(self, member: bz2.BZ2Decompressor | lzma.LZMADecompressor) -> None:
        self._member = member

    def feed(self, data: bytes, size: int) -> Iterator[bytes]:
        yield self._member.decompress(data, size)
        while not (self._member.eof or self._member.needs_input):
            yield self._member.decompress(b"", size)

    @property
    def ended(self) -> bool:
        return self._member.eof

    @property
    def rest(self) -> bytes:
        return self._member.unused_data


class _ZstdMember:
    def __init__(self) -> None:
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._rest = b""

    def feed(self, data: bytes, size: int) -> Iterator[bytes]:
        pieces: list[bytes] = []
        held = 0
        for start in range(0, len(data), _ZSTD_SLICE):
            pieces.append(self._frame.decompress(data[start : start + _ZSTD_SLICE]))
            held += len(pieces[-1])
            if self._frame.eof:
                self._rest = self._frame.unused_data + data[start + _ZSTD_SLICE :]
                break
            if held >= size:
                yield b"".join(pieces)
                pieces, held = [], 0
        yield b"".join(pieces)

    @property
    def ended(self) -> bool:
        return self._frame.eof

    @property
    def rest(self) -> bytes:
        return self._rest


def _xz_member() -> _BufferedMember:
    return _BufferedMember(lzma.LZMADecompressor(lzma.FORMAT_XZ))


def _bzip2_member() -> _BufferedMember:
    return _BufferedMember(bz2.BZ2Decompressor())


def _gzip_file(raw: BinaryIO) -> BinaryIO:
    # No name and no time in the header: equal texts make equal files.
    return cast(BinaryIO, gzip.GzipFile("", "wb", fileobj=raw, mtime=0))


def _xz_file(raw: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, lzma.LZMAFile(raw, "wb"))


def _bzip2_file(raw: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, bz2.BZ2File(raw, "wb"))


def _zstd_file(raw: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, zstandard.ZstdCompressor(write_checksum=True).stream_writer(raw, closefd=False))


@dataclass(frozen=True)
class Compression:
    """A way to compress. suffix: of a file's name; beginnings: one of these are a file's first bytes."""

    name: str
    suffix: str
    beginnings: tuple[bytes, ...]
    member: Callable[[], _Member]
    file: Callable[[BinaryIO], BinaryIO]


# A text may begin with BZh, so the mark of the first block (or of the end) must follow; a zstd file may begin with a
# frame to skip.
_BZIP2 = tuple(b"BZh%d%s" % (size, mark) for size in range(1, 10) for mark in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"))
_ZSTD = (b"\x28\xb5\x2f\xfd", *(bytes([0x50 + kind]) + b"\x2a\x4d\x18" for kind in range(16)))
COMPRESSIONS = (
    Compression("gzip", ".gz", (b"\x1f\x8b",), _GzipMember, _gzip_file),
    Compression("xz", ".xz", (b"\xfd7zXZ\0",), _xz_member, _xz_file),
    Compression("bzip2", ".bz2", _BZIP2, _bzip2_member, _bzip2_file),
    Compression("zstd", ".zst", _ZSTD, _ZstdMember, _zstd_file),
)
SUFFIXES = tuple(compression.suffix for compression in COMPRESSIONS)
_SUFFIX = re.compile("|".join(re.escape(suffix) + "$" for suffix in SUFFIXES), re.IGNORECASE)


def without_compression(name: str) -> str:
    """The name without the suffix of its compression: memory.tmx of memory.tmx.gz and of memory.tmx.ZST."""
    return _SUFFIX.sub("", name)


def compression_named(name: str) -> Compression | None:
    """How a file of this name is compressed, if it is."""
    return next((one for one in COMPRESSIONS if name.lower().endswith(one.suffix)), None)


def compression_of(head: bytes) -> Compression | None:
    """How data that begin so are compressed, if they are."""
    return next((one for one in COMPRESSIONS if head.startswith(one.beginnings)), None)


def may_become_compressed(head: bytes) -> bool:
    """Whether more bytes are needed to say how, or that data are not compressed."""
    longer = (start for one in COMPRESSIONS for start in one.beginnings if len(start) > len(head))
    return any(start.startswith(head) for start in longer)


def decompressed(chunks: Iterable[bytes], compression: Compression, size: int) -> Iterator[bytes]:
    """What every member of a file holds, in pieces of about `size` bytes. Zero bytes after a member are padding.

    Raises Damaged where the data are, and where they end early.
    """
    member = compression.member()
    for data in chunks:
        while data:
            if member.ended:
                data = data.lstrip(b"\0")
                if not data:
                    break
                member = compression.member()
            yield from _undamaged(member.feed(data, size), compression.name)
            data = member.rest if member.ended else b""
    if not member.ended:
        raise Damaged(f"{compression.name} data ends early")


def _undamaged(pieces: Iterator[bytes], name: str) -> Iterator[bytes]:
    while True:
        try:
            piece = next(pieces)
        except StopIteration:
            return
        except _ERRORS as error:
            raise Damaged(f"{name} data is damaged") from error
        if piece:
            yield piece
