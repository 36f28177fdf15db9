"""CSV: which columns, which delimiter, rows over several lines, rows that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.contracts import Record, UserError
from dragoman.corpus.columns import csv_languages, read_csv
from dragoman.corpus.formats import open_bitext
from dragoman.corpus.lines import OnBadLine
from dragoman.corpus.reading import Columns, Reading
from dragoman.corpus.streams import InputFile, file_at
from tests.corpus.small import file_of, told


def read(
    folder: Path,
    content: str | bytes,
    columns: Columns | None = None,
    on_bad_line: OnBadLine = "stop",
    languages: tuple[str, str] = ("en", "zh"),
) -> list[Record]:
    return list(read_csv(file_of(folder, "x.csv", content), Reading(*languages, on_bad_line, columns)))


@pytest.mark.parametrize(
    "header",
    [
        "en,zh", "EN;zh-CN", "en-GB\tzh_Hans", '"en","zh"', " en , zh ", "source,target", "src;tgt", "Source\tTRG",
        "\ufeffen,zh", "en,zh\r",
    ],
)  # fmt: skip
def test_the_header_names_the_columns_and_tells_the_delimiter(tmp_path: Path, header: str) -> None:
    delimiter = next(sign for sign in ",;\t" if sign in header)
    assert told(read(tmp_path, f"{header}\nHello{delimiter}你好\n")) == [("Hello", "你好", 2, "")]


def test_other_columns_are_passed_by_and_the_order_is_theirs(tmp_path: Path) -> None:
    content = 'id;zh;note, if any;en;source\n1;"你好";;Hello;web\n'
    assert told(read(tmp_path, content)) == [("Hello", "你好", 2, "")]
    bitext = open_bitext([str(tmp_path / "x.csv")], "en", "zh")
    assert [(pair.source, pair.target) for pair in bitext] == [("Hello", "你好")]
    assert csv_languages(file_at(tmp_path / "x.csv")) == ("zh", "en")


def test_columns_may_be_named(tmp_path: Path) -> None:
    content = "key,English (final),Chinese,en\na,Hello,你好,old\n"
    assert told(read(tmp_path, content, ("English (final)", "Chinese"))) == [("Hello", "你好", 2, "")]
    with pytest.raises(UserError) as caught:
        read(tmp_path, content, ("English", "Chinese"))
    assert str(caught.value).startswith(
        "x.csv:1: no column for English among key, English (final), Chinese, en; name two of them, source and target"
    )


def test_of_two_columns_in_a_language_the_closest_is_taken(tmp_path: Path) -> None:
    heard: list[str] = []
    (tmp_path / "x.csv").write_text("en-US,en-GB,zh,zh-TW\ncolor,colour,颜色,顏色\n", encoding="utf-8")
    records = read_csv(InputFile(str(tmp_path / "x.csv"), "x.csv"), Reading("en-GB", "zh"), heard.append)
    assert told(list(records)) == [("colour", "颜色", 2, "")]
    assert heard == []
    records = read_csv(InputFile(str(tmp_path / "x.csv"), "x.csv"), Reading("en", "zh"), heard.append)
    assert told(list(records)) == [("color", "颜色", 2, "")]
    assert heard == ["x.csv:1: en-US, en-GB are all en, the first one is taken"]


def test_a_header_that_names_no_sides_is_refused_with_its_columns(tmp_path: Path) -> None:
    for header, named in (
        ("key,English", "no column for en among key, English;"),
        ("one column", "no column for en among one column;"),
        ("en,de", "no column for zh among en, de;"),
        ("en_score,zh.txt", "no column for en among en_score, zh.txt;"),
        (",".join("abcdefghijklmnop"), "among a, b, c, d, e, f, g, h, i, j, k, l, ...;"),
    ):
        with pytest.raises(UserError) as caught:
            read(tmp_path, f"{header}\nx,y\n")
        message = str(caught.value)
        assert message.startswith("x.csv:1: ")
        assert named in message
        assert message.endswith("dragoman corpus convert --columns SOURCE_NAME,TARGET_NAME")
    for mode, why in (("stop", "not UTF-8 (byte 0xff at position 0)"), ("skip", "not UTF-8, where the names")):
        with pytest.raises(UserError) as caught:
            read(tmp_path, b"\xff\nx,y\n", None, "stop" if mode == "stop" else "skip")
        assert str(caught.value).startswith(f"x.csv:1: {why}")
    assert read(tmp_path, "") == []


def test_a_header_may_span_lines(tmp_path: Path) -> None:
    content = 'key;"English\n(final)";zh\n1;Hello;你好\n'
    assert told(read(tmp_path, content, ("English (final)", "zh"))) == [("Hello", "你好", 3, "")]
    for odd in ('en,"zh\na,b\n', 'en,"zh\n' + "a,b\n" * 1000):
        with pytest.raises(UserError, match=r"^x\.csv:1: not the header of a CSV file: its quotes do not match$"):
            read(tmp_path, odd)


def test_quotes_and_rows_over_several_lines(tmp_path: Path) -> None:
    content = (
        "en,zh\n"
        '"one\r\n  two, ""three""",甲\n'
        '5" disk,"a  b"\n'
        "x\u2028y\u0085z\x0b, \x0c\x1cw \n"
        '"a\rb","\nc\n\n"\n'
        "last,行"
    )
    assert told(read(tmp_path, content)) == [
        ('one two, "three"', "甲", 2, ""),
        ('5" disk', "a  b", 4, ""),
        ("x\u2028y\u0085z\x0b", " \x0c\x1cw ", 5, ""),
        ("a b", "c", 6, ""),
        ("last", "行", 10, ""),
    ]


def test_rows_that_are_no_pairs(tmp_path: Path) -> None:
    content = 'en,zh\na,b,c\nalone\n\n ,b\na,\n,\n"a"b,c\nd,e\n"never,closed\n\n'
    assert told(read(tmp_path, content)) == [
        ("a,b,c", "", 2, "fields=3"),
        ("alone", "", 3, "fields=1"),
        ("", "", 4, "blank line"),
        (" ", "b", 5, "blank source"),
        ("a", "", 6, "blank target"),
        ("", "", 7, "blank pair"),
        ('"a"b,c', "", 8, "not CSV"),
        ("d", "e", 9, ""),
        ('"never,closed', "", 10, "not CSV"),
        ("", "", 11, "blank line"),
    ]


def test_a_first_line_that_names_the_delimiter_is_no_header(tmp_path: Path) -> None:
    assert told(read(tmp_path, "sep=;\nen;zh\na;b\n")) == [("a", "b", 3, "")]
    assert csv_languages(file_of(tmp_path, "y.csv", "SEP=,\nen,zh\na,b\n")) == ("en", "zh")


@pytest.mark.parametrize(("rows", "fault"), [(50, "not CSV"), (100_000, "too long")])
def test_a_quote_that_is_never_closed_takes_its_line_alone(tmp_path: Path, rows: int, fault: str) -> None:
    content = 'en,zh\n"a,b\n' + "c,d\n" * rows
    records = read(tmp_path, content)
    assert told(records[:1]) == [('"a,b', "", 2, fault)]
    assert {record.fault for record in records[1:]} == {""}
    assert [record.origin.line for record in records] == list(range(2, rows + 3))


def test_bad_lines_stop_or_are_set_aside(tmp_path: Path) -> None:
    content = b'en,zh\na,b\n\xff,c\n"d\nN\0L\ne",f\ng,h\n'
    with pytest.raises(UserError, match=r"^x\.csv:3: not UTF-8 \(byte 0xff at position 0\)$"):
        read(tmp_path, content)
    assert told(read(tmp_path, content, None, "skip")) == [
        ("a", "b", 2, ""),
        ("", "", 3, "not UTF-8"),
        ("", "", 4, "NUL"),
        ("g", "h", 7, ""),
    ]


def test_languages_are_those_of_the_columns(tmp_path: Path) -> None:
    for header, languages in (
        ("en,zh-CN", ("en", "zh")),
        ("id;pt-BR;en-GB", ("pt", "en")),
        ("source,target", ()),
        ("en\tde\tfr", ("en", "de", "fr")),
        ("", ()),
    ):
        (tmp_path / "x.csv").write_text(f"{header}\n")
        assert csv_languages(file_at(tmp_path / "x.csv")) == languages
    assert csv_languages(file_at(tmp_path / "x.csv"), ("de", "fr")) == ("de", "fr")
    assert csv_languages(file_at(tmp_path / "x.csv"), ("German", "fr")) == ("fr",)
    (tmp_path / "x.csv").write_text("zh,en\n是,yes\n")
    bitext = open_bitext([str(tmp_path / "x.csv")])
    assert (bitext.source_language, bitext.target_language) == ("zh", "en")
    (tmp_path / "a.tsv").write_text("a\tb\n")
    with pytest.raises(UserError, match=r"a\.tsv: no columns to choose zh and en from \(\.csv, "):
        open_bitext([str(tmp_path / "a.tsv")], "zh", "en", columns=("zh", "en"))
