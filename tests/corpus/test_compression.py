"""Compressed files: known by their first bytes, whole or named as damaged, equal for equal texts."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from dragoman.contracts import UserError
from dragoman.corpus import streams
from dragoman.corpus.compression import SUFFIXES, compression_named, without_compression
from dragoman.corpus.lines import Line, read_lines, writing
from dragoman.corpus.streams import read_chunks


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "xz": lzma.compress,
    "bzip2": bz2.compress,
    "zstd": zstd,
}
EVERY = pytest.mark.parametrize("kind", PACKERS)


def texts_in(folder: Path, data: bytes) -> list[str]:
    (folder / "in.txt").write_bytes(data)
    return [line.text for line in read_lines(folder / "in.txt")]


@EVERY
@pytest.mark.parametrize("size", [1, 3, 1 << 18])
def test_all_members_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, size: int) -> None:
    monkeypatch.setattr(streams, "CHUNK", size)
    pack = PACKERS[kind]
    texts = [f"Zeile {number} \u2028 行" for number in range(30)]
    lines = "".join(f"{text}\n" for text in texts).encode()
    for data in (pack(lines), pack(lines[:50]) + pack(lines[50:]), pack(b"") + pack(lines), pack(lines) + bytes(512)):
        assert texts_in(tmp_path, data) == texts
    assert texts_in(tmp_path, pack(b"")) == []


def test_frames_to_skip_are_skipped(tmp_path: Path) -> None:
    skipped = b"\x53\x2a\x4d\x18\x04\0\0\0abcd"
    assert texts_in(tmp_path, skipped + zstd(b"a\n") + skipped + zstd(b"b\n") + skipped) == ["a", "b"]


@EVERY
def test_what_ends_early_or_is_damaged_is_named(tmp_path: Path, kind: str) -> None:
    pack = PACKERS[kind]
    whole = pack(b"".join(b"line %d\n" % (number * 7919) for number in range(100)))
    for cut in (len(whole) - 1, len(whole) // 2):
        with pytest.raises(UserError, match=rf"in\.txt:\d+: {kind} data ends early$"):
            texts_in(tmp_path, whole[:cut])
    middle = len(whole) // 2
    changed = whole[:middle] + bytes([whole[middle] ^ 0x55]) + whole[middle + 1 :]
    for data in (changed, whole + b"rubbish that is no member"):
        with pytest.raises(UserError, match=rf"in\.txt:\d+: {kind} data is damaged$"):
            texts_in(tmp_path, data)
    (tmp_path / "in.txt").write_bytes(pack(b"a\n") + whole[:-1])
    lines = list(read_lines(tmp_path / "in.txt", "skip"))
    assert (lines[0], lines[-1]) == (Line("a", 1), Line("", len(lines), "truncated"))


@EVERY
def test_standard_input_is_decompressed(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PACKERS[kind](b"a\nb\n"))))
    assert [line.text for line in read_lines("-")] == ["a", "b"]


@pytest.mark.parametrize("text", ["B", "BZh", "BZh9", "BZh9 is a mark", "(", "P*", "\u0437", "\x1f"])
def test_texts_that_begin_alike_are_texts(tmp_path: Path, text: str) -> None:
    assert texts_in(tmp_path, text.encode()) == [text]


@EVERY
def test_memory_is_flat_for_data_that_pack_well(tmp_path: Path, kind: str) -> None:
    (tmp_path / "zeros").write_bytes(PACKERS[kind](bytes(1 << 25)))
    tracemalloc.start()
    total = sum(len(chunk) for chunk in read_chunks(tmp_path / "zeros"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (total, peak < 1 << 24) == (1 << 25, True)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_equal_texts_make_equal_files(tmp_path: Path, suffix: str) -> None:
    for name in (f"a{suffix}", f"b{suffix.upper()}"):
        with writing(tmp_path / name) as out:
            out.writelines(["same\n", "\u2028\u0085\n"])
    data = (tmp_path / f"a{suffix}").read_bytes()
    assert data == (tmp_path / f"b{suffix.upper()}").read_bytes()
    compression = compression_named(f"a{suffix}")
    assert compression
    assert data.startswith(compression.beginnings)
    assert [line.text for line in read_lines(tmp_path / f"a{suffix}")] == ["same", "\u2028\u0085"]


def test_names_lose_the_suffix_of_their_compression() -> None:
    names = ["a.tmx.gz", "a.TMX.XZ", "a.en.bz2", "a.en.txt.zst", "a.tmx", ".gz", "a.gz.tmx", "a.tgz"]
    assert [without_compression(name) for name in names] == [
        "a.tmx", "a.TMX", "a.en", "a.en.txt", "a.tmx", "", "a.gz.tmx", "a.tgz",
    ]  # fmt: skip
