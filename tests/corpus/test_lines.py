"""Lines: where they end, what is a fault, and that they come as soon as they are there."""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.contracts import UserError
from dragoman.corpus import streams
from dragoman.corpus.lines import Line, OnBadLine, read_lines, writing

MODES: tuple[OnBadLine, ...] = ("stop", "skip")


def lines_in(folder: Path, data: bytes, on_bad_line: OnBadLine = "stop") -> list[Line]:
    path = folder / "in.txt"
    path.write_bytes(data)
    return list(read_lines(path, on_bad_line))


def texts_in(folder: Path, data: bytes) -> list[str]:
    return [line.text for line in lines_in(folder, data)]


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        (
            "a b c\u2028d e\nf g\u0085h\ni\x0bj\x0ck\x1cl\n".encode(),
            ["a b c\u2028d e", "f g\u0085h", "i\x0bj\x0ck\x1cl"],
        ),
        (b"Hello\n\n   \nBye\n", ["Hello", "", "   ", "Bye"]),
        (b"\xef\xbb\xbfHello\r\nA\rB\r\n", ["Hello", "A B"]),
        (b"one\ntwo", ["one", "two"]),
        (b"one\ntwo\r", ["one", "two "]),
        (b"", []),
        (b"\n", [""]),
        (b"\xef\xbb\xbf", [""]),
        (b"\r\r\n", [" "]),
        ("x\n\ufeffy\n".encode(), ["x", "\ufeffy"]),
        (gzip.compress(b"first\n", mtime=0) + gzip.compress(b"second\n", mtime=0), ["first", "second"]),
        (
            gzip.compress(b"", mtime=0) + gzip.compress(b"a", mtime=0) + gzip.compress(b"b\n", mtime=0) + b"\0" * 512,
            ["ab"],
        ),
    ],
)
def test_lines_end_at_line_feeds_only(tmp_path: Path, data: bytes, texts: list[str]) -> None:
    assert texts_in(tmp_path, data) == texts


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"good line\nbad \xff\xfe line\nlast\n", "in.txt:2: not UTF-8 (byte 0xff at position 4)"),
        (b"a\0b\nplain\n", "in.txt:1: NUL (byte 0x00 at position 1)"),
        (b"\xef\xbb\xbfab\xff\n", "in.txt:1: not UTF-8 (byte 0xff at position 5)"),
        (b"ok\nsurrogate \xed\xa0\x80\n", "in.txt:2: not UTF-8 (byte 0xed at position 10)"),
        (b"ok\ncut off \xe4\xbd", "in.txt:2: not UTF-8 (byte 0xe4 at position 8: cut short inside a character)"),
        ("Hello\n".encode("utf-16"), "in.txt:1: looks like UTF-16; convert it to UTF-8"),
        ("Hello\n".encode("utf-32"), "in.txt:1: looks like UTF-32; convert it to UTF-8"),
        ("\ufeffHello\n".encode("utf-32-be"), "in.txt:1: looks like UTF-32; convert it to UTF-8"),
        (gzip.compress(b"one\ntwo\nthree\n", mtime=0)[:-9], "in.txt:4: gzip data ends early"),
        (gzip.compress(b"one\n", mtime=0) + b"rubbish", "in.txt:2: gzip data is damaged"),
    ],
)
def test_bad_files_are_named_with_line_and_byte(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(UserError) as caught:
        lines_in(tmp_path, data)
    assert str(caught.value) == f"{tmp_path}/{message}"


def test_lines_before_a_bad_one_come_first(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_bytes(b"good\nbad \xff\nlast\n")
    lines = read_lines(tmp_path / "in.txt")
    assert next(lines) == Line("good", 1)
    with pytest.raises(UserError, match=r"in\.txt:2: not UTF-8"):
        next(lines)


def test_skip_keeps_the_place_of_bad_lines(tmp_path: Path) -> None:
    data = b"good line\nbad \xff\xfe line\r\nN\0L\nlast\r\n"
    assert lines_in(tmp_path, data, "skip") == [
        Line("good line", 1),
        Line("", 2, "not UTF-8"),
        Line("", 3, "NUL"),
        Line("last", 4),
    ]


def test_skip_tells_truncation(tmp_path: Path) -> None:
    whole = b"".join(b"line %d %s\n" % (number, os.urandom(30).hex().encode()) for number in range(2000))
    lines = lines_in(tmp_path, gzip.compress(whole)[:-5000], "skip")
    assert 1 < len(lines) < 2000
    assert lines[-1] == Line("", len(lines), "truncated")
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    assert all(line.text.startswith(f"line {line.number - 1} ") for line in lines[:-1])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_chunks_may_end_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, mode: OnBadLine) -> None:
    monkeypatch.setattr(streams, "CHUNK", size)
    text = "\ufeffä\r\n\r\nb\rc\u2028d\n\n長い行"
    for data in (
        text.encode(),
        gzip.compress(text.encode(), mtime=0),
        gzip.compress(text[:5].encode(), mtime=0) + gzip.compress(text[5:].encode(), mtime=0),
    ):
        assert [line.text for line in lines_in(tmp_path, data, mode)] == ["ä", "", "b c\u2028d", "", "長い行"]


def test_missing_file_and_folder_are_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.txt: no such file"):
        list(read_lines(tmp_path / "none.txt"))
    with pytest.raises(UserError, match="is a folder"):
        list(read_lines(tmp_path))


def test_standard_input_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n\xff\n")))
    lines = read_lines("-")
    assert next(lines).text == "a"
    with pytest.raises(UserError, match=r"^<stdin>:2: not UTF-8 \(byte 0xff at position 0\)$"):
        next(lines)


def test_a_line_comes_before_the_next_is_written(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    got_first = threading.Event()
    waited: list[bool] = []

    def write() -> None:
        with fifo.open("wb", buffering=0) as out:
            out.write(b"\n")
            waited.append(got_first.wait(10))
            out.write(b"second\n")

    writer = threading.Thread(target=write)
    writer.start()
    lines = read_lines(fifo)
    assert next(lines) == Line("", 1)
    got_first.set()
    assert next(lines) == Line("second", 2)
    writer.join()
    assert waited == [True]


@settings(max_examples=40)
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0"))), st.booleans())
def test_lines_written_are_read_back(tmp_path_factory: pytest.TempPathFactory, texts: list[str], packed: bool) -> None:
    path = tmp_path_factory.mktemp("lines") / ("x.gz" if packed else "x")
    texts = ["start", *texts]
    with writing(path) as out:
        out.writelines(text + "\n" for text in texts)
    assert [line.text for line in read_lines(path)] == texts


def test_nothing_has_its_name_before_the_end(tmp_path: Path) -> None:
    path = tmp_path / "new" / "out.txt"
    with writing(path) as out:
        out.write("a\n")
        assert not path.exists()
        assert [found.name for found in path.parent.iterdir()] == [f".out.txt.{os.getpid()}.part"]
    assert path.read_bytes() == b"a\n"
    assert [found.name for found in path.parent.iterdir()] == ["out.txt"]


@pytest.mark.parametrize("name", ["out.txt", "out.txt.gz"])
@pytest.mark.parametrize("reason", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_the_old_file(tmp_path: Path, name: str, reason: type[BaseException]) -> None:
    path = tmp_path / name
    path.write_text("old")

    def write() -> None:
        with writing(path) as out:
            out.write("new")
            raise reason

    with pytest.raises(reason):
        write()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_equal_texts_make_equal_gzip_files(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        with writing(tmp_path / name) as out:
            out.write("same\n")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_devices_links_and_bad_places(tmp_path: Path) -> None:
    with writing("/dev/null") as out:
        out.write("gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with writing(tmp_path / "link") as out:
        out.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    for wrong in (tmp_path, tmp_path / "real" / "below"):
        with pytest.raises(UserError, match="cannot be written"), writing(wrong):
            pass


def test_standard_output_is_utf8(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii", newline="\r\n"))
    with writing("-") as out:
        out.write("ä\n")
    print("after")
    sys.stdout.flush()
    assert raw.getvalue() == "ä\nafter\r\n".encode()
