"""JSON Lines: which keys, and which lines are no pairs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dragoman.contracts import Record, UserError
from dragoman.corpus.formats import open_bitext
from dragoman.corpus.jsonlines import json_languages, read_json_lines
from dragoman.corpus.lines import OnBadLine
from dragoman.corpus.reading import Columns, Reading
from dragoman.corpus.streams import InputFile, file_at
from tests.corpus.small import file_of, told


def read(
    folder: Path, content: str | bytes, columns: Columns | None = None, on_bad_line: OnBadLine = "stop"
) -> list[Record]:
    return list(read_json_lines(file_of(folder, "x.jsonl", content), Reading("en", "zh", on_bad_line, columns)))


@pytest.mark.parametrize(
    "found",
    [
        {"en": "Hello", "zh": "你好"},
        {"zh-CN": "你好", "en_GB": "Hello", "score": 0.5, "id": "a1"},
        {"source": "Hello", "target": "你好"},
        {"tgt": "你好", "src": "Hello", "en": None},
        {"translation": {"en": "Hello", "zh": "你好"}},
        {"id": 7, "translations": {"zh-Hans": "你好", "zh-Hant": "妳好", "EN": "Hello"}},
        {"source": "a web page", "en": "Hello", "zh": "你好"},
        {"en": "Hello", "translation": {"en": "old", "zh": "你好"}},
    ],
)
def test_the_keys_say_which_is_which(tmp_path: Path, found: dict[str, object]) -> None:
    for escaped in (True, False):
        line = json.dumps(found, ensure_ascii=escaped)
        assert told(read(tmp_path, f"{line}\r\n{line}")) == [("Hello", "你好", 1, ""), ("Hello", "你好", 2, "")]


def test_keys_may_be_named(tmp_path: Path) -> None:
    content = '{"English": "Hello", "translation": {"mine": "你好", "zh": "old"}}\n{"English": "Bye"}\n'
    assert told(read(tmp_path, content, ("English", "mine"))) == [
        ("Hello", "你好", 1, ""),
        ("Bye", "", 2, "missing mine"),
    ]


def test_lines_that_are_no_pairs(tmp_path: Path) -> None:
    lines = [
        ('{"en": "a", "zh": "b"', "not JSON"),
        ("", "blank line"),
        ("[" * 100_000, "not JSON"),
        ('["a", "b"]', "not an object"),
        ('"a"', "not an object"),
        ('{"en": "a"}', "missing zh"),
        ('{"en": "a", "zh": null}', "missing zh"),
        ('{"zh": "a", "target": "b"}', "missing en"),
        ('{"en": "a", "en-GB": "b"}', "missing zh"),
        ("{}", "missing en"),
        ('{"en": "a", "zh": 1}', "not text"),
        ('{"en": ["a"], "zh": "b"}', "not text"),
        ('{"en": "a\\ud800", "zh": "b"}', "not text"),
        ('{"en": "a\\u0000", "zh": "b"}', "NUL"),
        ('{"en": " ", "zh": "b"}', "blank source"),
        ('{"en": "a", "zh": ""}', "blank target"),
        ('{"en": "\\u3000", "zh": ""}', "blank pair"),
    ]
    records = read(tmp_path, "".join(f"{line}\n" for line, _ in lines))
    assert [record.fault for record in records] == [fault for _, fault in lines]
    assert [record.origin.line for record in records] == list(range(1, len(lines) + 1))


def test_a_text_is_one_line(tmp_path: Path) -> None:
    content = '{"en": " a\\r\\n\\tb ", "zh": "c  d\\t\\u2028\u0085\\u000b"}\n'
    assert told(read(tmp_path, content)) == [("a b", "c  d\t\u2028\u0085\x0b", 1, "")]


def test_bad_lines_stop_or_are_set_aside(tmp_path: Path) -> None:
    content = b'{"en": "a", "zh": "b"}\n{"en": "\xff"}\n{"en": "c", "zh": "d"}\n'
    with pytest.raises(UserError, match=r"^x\.jsonl:2: not UTF-8 \(byte 0xff at position 8\)$"):
        read(tmp_path, content)
    assert [record.fault for record in read(tmp_path, content, None, "skip")] == ["", "not UTF-8", ""]


def test_doubled_keys_are_told_once(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"en-GB": "colour", "en-US": "color", "zh": "x"}\n' * 3)
    heard: list[str] = []
    records = list(read_json_lines(InputFile(str(tmp_path / "x.jsonl"), "x"), Reading("en", "zh"), heard.append))
    assert [record.source for record in records] == ["colour"] * 3
    assert heard == ["x:1: en-GB, en-US are all en, the first one is taken"]


def test_languages_are_those_of_the_first_object(tmp_path: Path) -> None:
    path = tmp_path / "x.ndjson"
    path.write_text('rubbish\n{"id": "1", "translation": {"zh-CN": "是", "en": "yes"}}\n{"fr": "oui"}\n')
    assert json_languages(file_at(path)) == ("zh", "en")
    assert json_languages(file_at(path), ("fr", "de")) == ("fr", "de")
    bitext = open_bitext([str(path)])
    assert (bitext.source_language, bitext.target_language) == ("zh", "en")
    assert bitext.set_aside == {"not JSON": 1, "missing zh": 1}
    path.write_text('{"source": "yes", "target": "是"}\n')
    assert json_languages(file_at(path)) == ()
    assert len(open_bitext([str(path)], "en", "zh")) == 1


def test_keys_without_end_are_not_all_kept(tmp_path: Path) -> None:
    records = read(tmp_path, "".join(f'{{"en": "a", "zh": "b", "x{number}": 1}}\n' for number in range(2500)))
    assert {record.fault for record in records} == {""}
