"""Pairs in two files or two columns, and which of them a bitext keeps."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path

import pytest

from dragoman.contracts import Record, SentencePair, UserError
from dragoman.corpus.bitext import ListBitext
from dragoman.corpus.formats import open_bitext
from dragoman.corpus.lines import OnBadLine
from dragoman.corpus.reading import Reading
from dragoman.corpus.rows import Rows
from dragoman.corpus.streams import InputFile, file_at
from dragoman.corpus.tabular import read_pharaoh, read_side_by_side, read_tsv


def two_files(folder: Path, source: str | bytes, target: str | bytes) -> list[str]:
    for name, content in (("a.en", source), ("a.de", target)):
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return [str(folder / "a.en"), str(folder / "a.de")]


def records_of(walked: Iterable[Rows]) -> list[Record]:
    return [record for rows in walked for record in rows.records()]


def side_by_side(paths: list[str], on_bad_line: OnBadLine = "stop") -> list[Record]:
    first, second = (InputFile(path, Path(path).name) for path in paths)
    return records_of(read_side_by_side(first, second, on_bad_line))


def test_extra_tabs(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text('hello\tworld\tgreeting\nonly one field\n"a quoted start\tstays text\ngood\tgut\n')
    bitext = open_bitext([str(path)], "en", "de")
    assert [(pair.source, pair.target) for pair in bitext] == [('"a quoted start', "stays text"), ("good", "gut")]
    assert bitext.set_aside == {"fields=3": 1, "fields=1": 1}
    assert bitext.details() == [f"fields=3: {path}:1", f"fields=1: {path}:2"]
    assert bitext.summary() == "2 of 4 pairs kept: 1 fields=1, 1 fields=3"
    assert str(next(iter(bitext)).origin) == f"{path}:3"


def test_tsv_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_bytes("\ufeffa\u2028b\tc\x0cd\r\n \te\nf\t\n\n".encode())
    assert [
        (record.source, record.target, record.fault)
        for record in records_of(read_tsv(file_at(path), Reading("en", "de")))
    ] == [
        ("a\u2028b", "c\x0cd", ""),
        (" ", "e", "blank source"),
        ("f", "", "blank target"),
        ("", "", "fields=1"),
    ]


def test_bars_between_the_sides(tmp_path: Path) -> None:
    path = tmp_path / "x.pharaoh"
    path.write_text(
        "the house ||| das Haus\n ||| nur Ziel\nnur Quelle ||| \nalone\na ||| b ||| c\na|b ||  | |||c \n|||\n"
    )
    records = records_of(read_pharaoh(file_at(path), Reading("en", "de")))
    assert [(record.source, record.target, record.fault) for record in records] == [
        ("the house", "das Haus", ""),
        ("", "nur Ziel", "blank source"),
        ("nur Quelle", "", "blank target"),
        ("alone", "", "fields=1"),
        ("a ||| b ||| c", "", "fields=3"),
        ("a|b ||  |", "c ", ""),
        ("", "", "blank pair"),
    ]
    bitext = open_bitext([str(path)], "en", "de")
    assert bitext.set_aside == {"blank source": 1, "blank target": 1, "fields=1": 1, "fields=3": 1, "blank pair": 1}
    assert bitext.details()[0] == f"blank source: {path}:2"


@pytest.mark.parametrize(
    ("source", "target", "counts"),
    [("a\nb\nc\n", "x\ny\n", (3, 2)), ("a\n", "x\ny\nz", (1, 3)), ("", "x\n", (0, 1))],
)
@pytest.mark.parametrize("mode", ["stop", "skip"])
def test_unequal_line_counts_are_refused(
    tmp_path: Path, source: str, target: str, counts: tuple[int, int], mode: OnBadLine
) -> None:
    paths = two_files(tmp_path, source, target)
    message = f"unequal line counts: {paths[0]} has {counts[0]}, {paths[1]} has {counts[1]}"
    with pytest.raises(UserError) as caught:
        open_bitext(paths, "en", "de", on_bad_line=mode)
    assert str(caught.value) == message


def test_all_too_long(tmp_path: Path) -> None:
    paths = two_files(tmp_path, "word " * 3000 + "\n", "wort " * 3000 + "\n")
    with pytest.raises(UserError, match=r"a\.en .*a\.de: 0 of 1 pairs kept: 1 too long, as in .*:1$"):
        open_bitext(paths, "en", "de")
    assert len(open_bitext(paths, "en", "de", longest_side=15_000)) == 1
    paths = two_files(tmp_path, "a\nok\n", "aaa\nok\n")
    bitext = open_bitext(paths, longest_side=2)
    assert ([pair.source for pair in bitext], bitext.set_aside) == (["ok"], {"too long": 1})


def test_blank_lines_drop_out_of_both_sides(tmp_path: Path) -> None:
    bitext = open_bitext(two_files(tmp_path, "Hello\n\n   \nBye\nx\n", "Hallo\n\n \u3000\nTschüss\n\n"))
    assert [(pair.source, pair.origin.line) for pair in bitext] == [("Hello", 1), ("Bye", 4)]
    assert bitext.summary() == "2 of 5 pairs kept: 2 blank pair, 1 blank target"


def test_empty_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"a\.en .*a\.de: 0 of 0 pairs kept: there are no records$"):
        open_bitext(two_files(tmp_path, "", ""))


def test_two_languages_are_two(tmp_path: Path) -> None:
    path = two_files(tmp_path, "a\n", "b\n")[0]
    with pytest.raises(UserError, match="is given as source and as target"):
        open_bitext([path, path], "en", "de")
    (tmp_path / "other.en").write_text("b\n", encoding="utf-8")
    with pytest.raises(UserError, match="source and target are both en"):
        open_bitext([path, str(tmp_path / "other.en")])
    with pytest.raises(UserError, match="source and target are both de: say two languages"):
        open_bitext(two_files(tmp_path, "a\n", "b\n"), "de", "de")


def test_bad_lines_stop_or_are_set_aside(tmp_path: Path) -> None:
    paths = two_files(tmp_path, b"a\nb\xff\nc\nd\n", b"A\nB\nC\0\nD\n")
    with pytest.raises(UserError, match=r"a\.en:2: not UTF-8 \(byte 0xff at position 1\)$"):
        open_bitext(paths)
    bitext = open_bitext(paths, on_bad_line="skip")
    assert [(pair.source, pair.target) for pair in bitext] == [("a", "A"), ("d", "D")]
    assert bitext.set_aside == {"not UTF-8": 1, "NUL": 1}


def test_truncated_gzip_beside_a_whole_file(tmp_path: Path) -> None:
    texts = [f"line {number * 7919 % 1009} {number * number}" for number in range(3000)]
    whole = "".join(f"{text}\n" for text in texts).encode()
    cut = gzip.compress(whole)[:-2000]
    for source, target in ((cut, whole), (whole, cut), (cut, cut)):
        with pytest.raises(UserError, match="gzip data ends early"):
            open_bitext(two_files(tmp_path, source, target))
        records = side_by_side(two_files(tmp_path, source, target), "skip")
        good = [record.source for record in records if not record.fault]
        assert good == texts[: len(good)]
        assert {record.fault for record in records[len(good) :]} == {"truncated"}
        assert [record.origin.line for record in records] == list(range(1, len(records) + 1))
        assert 0 < len(good) < 3000
        if source is not target:
            assert len(records) == 3000


def test_walking_again_gives_the_same_pairs(tmp_path: Path) -> None:
    bitext = open_bitext(two_files(tmp_path, "a\nb\n", "A\nB\n"))
    walks = zip(bitext, bitext, strict=True)
    assert all(one == other for one, other in walks)
    assert len(bitext) == len(list(bitext)) == 2


def test_a_change_under_way_is_noticed(tmp_path: Path) -> None:
    bitext = open_bitext(two_files(tmp_path, "a\nb\n", "A\nB\n"))
    two_files(tmp_path, "a\n", "A\n")
    with pytest.raises(UserError, match="the data changed"):
        list(bitext)


def test_fingerprints_depend_on_pairs_and_languages_alone(tmp_path: Path) -> None:
    paths = two_files(tmp_path, "a\n\nb\n", "A\nx\nB\n")
    (tmp_path / "t.tsv").write_text("a\tA\nb\tB\n")
    pairs = [SentencePair("a", "A"), SentencePair("b", "B")]
    fingerprint = ListBitext(pairs, "en", "de").fingerprint
    assert open_bitext(paths).fingerprint == fingerprint
    assert open_bitext([str(tmp_path / "t.tsv")], "en", "de").fingerprint == fingerprint
    others = [
        ListBitext(pairs[::-1], "en", "de"),
        ListBitext(pairs, "en", "fr"),
        ListBitext([SentencePair("a", ""), SentencePair("Ab", "B")], "en", "de"),
        ListBitext([*pairs, pairs[0]], "en", "de"),
    ]
    assert len({fingerprint, *(other.fingerprint for other in others)}) == 5


def test_only_a_few_examples_are_kept(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("a\tA\n" + "x\n" * 1000 + f"{'y' * 9000}\tz\n")
    bitext = open_bitext([str(tmp_path / "t.tsv")], "en", "de")
    assert bitext.summary() == "1 of 1,002 pairs kept: 1,000 fields=1, 1 too long"
    assert len(bitext.examples) == 4
    assert bitext.examples[-1].source == "y" * 200
    assert bitext.examples[-1].fault == "too long"
    where = tmp_path / "t.tsv"
    assert bitext.details() == [f"fields=1: {where}:2, {where}:3, {where}:4 and 997 more", f"too long: {where}:1002"]


def test_suffixes_are_known_in_capitals_and_before_gz(tmp_path: Path) -> None:
    (tmp_path / "X.TSV.gz").write_bytes(gzip.compress(b"a\tb\n"))
    assert [pair.target for pair in open_bitext([str(tmp_path / "X.TSV.gz")], "en", "de")] == ["b"]
