"""Text in one language: which lines there are, in which order, and what is held out of them."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from dragoman.contracts import Bitext, Origin, UserError
from dragoman.corpus.bitext import ListBitext
from dragoman.corpus.textfiles import ListText, held_out, open_text
from dragoman.texts import Text, languages_of


def write(path: Path, *lines: str) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def test_all_lines_of_all_files_in_order_blank_ones_too(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one.txt", "a", "", "b"), write(tmp_path / "two.txt", " ", "c")
    text = open_text([one, f"{two}*2"])
    assert list(text) == ["a", "", "b", " ", "c", " ", "c"]
    assert (text.lengths, len(text), text.blank, text.language) == ((3, 2, 2), 7, 3, "und")
    assert list(text) == list(text)
    assert text.summary() == "7 lines in 3 files, 3 of them blank"
    assert text.fingerprint == ListText([["a", "", "b"], [" ", "c"], [" ", "c"]]).fingerprint


def test_the_fingerprint_knows_lines_language_and_where_files_end() -> None:
    texts = [ListText([["a", "b"]]), ListText([["a"], ["b"]]), ListText([["a", "c"]]), ListText([["a", "b"]], "en")]
    assert len({text.fingerprint for text in texts}) == 4
    assert ListText([("a", "b")]).fingerprint == texts[0].fingerprint


def test_a_text_is_no_bitext() -> None:
    pairs: Bitext = ListBitext([], "en", "de")
    assert isinstance(ListText([["a"]]), Text)
    assert not isinstance(pairs, Text)
    assert languages_of(pairs) == ("en", "de")
    assert languages_of(ListText([["a"]], "fr")) == ("fr",)


def test_folders_compression_and_the_language_of_names(tmp_path: Path) -> None:
    folder = tmp_path / "code"
    (folder / "inner").mkdir(parents=True)
    write(folder / "b.py", "import this")
    write(folder / "inner" / "a.py", "x = 1")
    write(folder / ".hidden", "no")
    write(folder / "pairs.tsv", "a\tb")
    assert list(open_text([str(folder)])) == ["import this", "x = 1"]
    (tmp_path / "my.en.gz").write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\n"))
    text = open_text([str(tmp_path / "my.en.gz")])
    assert (list(text), text.language) == (["one", "two"], "en")
    assert open_text([str(tmp_path / "my.en.gz")], "en-GB").language == "en-GB"


def test_standard_input_is_read_as_often_as_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"one\n\ntwo")))
    text = open_text(["-"])
    assert list(text) == list(text) == ["one", "", "two"]


def test_lines_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    path.write_bytes("\ufeffone\r\ntw\u2028o\n".encode() + b"br\xffken\n\x00\nlast")
    with pytest.raises(UserError, match=r"odd\.txt:3: not UTF-8"):
        open_text([str(path)])
    text = open_text([str(path)], on_bad_line="skip")
    assert list(text) == ["one", "tw\u2028o", "last"]
    assert text.summary() == "3 lines in 1 file, 0 of them blank; set aside: 1 not UTF-8, 1 NUL"


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("empty.txt", "", "no line with text in it"),
        ("blank.txt", " \n\n\t\n", "no line with text in it"),
        ("pairs.tsv", "a\tb\n", "holds pairs"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, name: str, content: str, why: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(UserError, match=why):
        open_text([str(tmp_path / name)])


def test_more_that_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        open_text([str(tmp_path / "none.txt")])
    with pytest.raises(UserError, match="only once"):
        open_text(["-", "-"])
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserError, match="no text file in this folder"):
        open_text([str(tmp_path / "folder")])


def test_a_file_that_changes_is_noticed(tmp_path: Path) -> None:
    text = open_text([write(tmp_path / "a.txt", "a", "b")])
    write(tmp_path / "a.txt", "a")
    with pytest.raises(UserError, match=r"a\.txt: changed while in use: 2 lines before, 1 now"):
        list(text)


def test_the_last_twentieth_of_each_file_is_held_out(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(100)]
    one, two = write(tmp_path / "one.txt", *lines), write(tmp_path / "two.txt", *lines[:40])
    parts = held_out(open_text([one, two]))
    assert parts is not None
    left, out = parts
    assert (left.lengths, out.lengths) == ((95, 38), (5, 2))
    assert list(out) == [*lines[95:], *lines[38:40]]
    assert left.fingerprint == ListText([lines[:95], lines[:38]]).fingerprint


def test_it_is_cut_at_a_blank_line_where_one_is_near(tmp_path: Path) -> None:
    lines = ["" if number in (50, 92) else f"line {number}" for number in range(100)]
    parts = held_out(open_text([write(tmp_path / "one.txt", *lines)]))
    assert parts is not None
    assert list(parts[1]) == lines[93:]


def test_of_small_files_whole_ones_are_held_out(tmp_path: Path) -> None:
    names = [write(tmp_path / f"{number:02}.txt", f"file {number}") for number in range(41)]
    parts = held_out(open_text(names))
    assert parts is not None
    assert list(parts[1]) == ["file 19", "file 39"]
    assert len(parts[0]) == 39
    assert held_out(open_text(names[:5])) is None


def test_a_line_is_found_again_in_its_file(tmp_path: Path) -> None:
    """Numbers count all lines of the text; places count those of the file, also the lines that were set aside."""
    (tmp_path / "a.txt").write_bytes(b"one\n\xff\n\nthree\n")
    (tmp_path / "b.txt").write_bytes(b"four\nfive\n")
    names = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    text = open_text(names, on_bad_line="skip")
    wanted = [Origin(names[0], line) for line in (1, 3, 4)] + [Origin(names[1], line) for line in (1, 2)]
    assert [text.origin(number) for number in range(len(text))] == wanted
    assert ListText([["one"], ["two", "three"]]).origin(2) == Origin("text 2", 2)
    with pytest.raises(IndexError):
        text.origin(5)
