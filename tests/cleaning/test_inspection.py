"""Inspection: figures of a bitext whose content is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dragoman.cleaning.inspection import inspect, lengths
from dragoman.cleaning.pictures import bars, draw, histogram
from dragoman.corpus.rows import Rows, rows_beside


def rows(*pairs: tuple[str, str]) -> list[Rows]:
    sources, targets = [source for source, _ in pairs], [target for _, target in pairs]
    return [rows_beside(sources, targets, "x.tsv", range(1, len(pairs) + 1), {})]


ODD = rows(
    ("The house is small and the garden is large.", "这座房子很小，花园很大。"),
    ("A second sentence for the test.", "這個句子是繁體的。"),
    ("привет всем, друзья мои", "你好"),
    ("cafe\u0301", "咖啡"),
    ("schÃ¶n", "美"),
    ("a\u00a0b", "甲\ufffd"),
    ("", "空"),
    ("A second sentence for the test!", "另一个句子。"),
)


def test_figures() -> None:
    found = inspect(ODD, ("en", "zh")).figures()
    assert found["records"] == 8
    assert found["files"] == {"x.tsv": 8}
    assert found["cleaning_would_reject"]["blank source"] == 1
    assert found["cleaning_would_reject"]["wrong script"] == 1
    assert found["cleaning_would_reject"]["odd signs"] == 1
    assert found["again"] == {"source": 1, "target": 0}
    source, target = found["source"], found["target"]
    assert source["length"]["longest"] == 9
    assert len(source["texts_by_length"]) == 10
    assert sum(source["texts_by_length"]) == 7
    assert source["odd_texts"] == {"not composed (NFC)": 1, "mojibake": 1, "spaces that are not plain": 1}
    assert target["odd_texts"] == {"traditional characters": 1, "lost signs (U+FFFD)": 1}
    assert 0 < source["letters_of_other_scripts"] < 0.5
    assert list(target["scripts"]) == ["Han"]
    assert {row["origin"] for row in found["suspicious"]} == {"x.tsv:3", "x.tsv:6", "x.tsv:7"}
    json.dumps(found)


def test_languages_are_guessed() -> None:
    sentence = "The quick brown fox jumps over the lazy dog near the river bank"
    german = "Der schnelle braune Fuchs springt über den faulen Hund am Ufer des Flusses"
    pairs = [(f"{sentence} {number}", f"{german} {number}") for number in range(20)]
    right = inspect(rows(*pairs), ("en", "de")).figures()
    assert right["source"]["looks_like_declared"] == right["target"]["looks_like_declared"] == 1
    wrong = inspect(rows(*pairs), ("en", "fr")).figures()
    assert wrong["target"]["looks_like_declared"] == 0
    assert wrong["target"]["looks_like"] == {"de": 1.0}


def test_nothing_to_inspect() -> None:
    found = inspect([], ("en", "zh")).figures()
    assert found["records"] == 0
    assert found["source"]["length"] == {}


def test_lengths() -> None:
    found = lengths(np.array([0, 0, 90, 9, 1]))
    assert found == {"mean": pytest.approx(2.11), "p5": 2, "p50": 2, "p95": 3, "p99": 3, "longest": 4}


def test_bars() -> None:
    assert bars([0, 1, 50, 100]) == " ▁▄█"
    assert bars([]) == ""
    assert bars([0, 0]) == "  "
    assert histogram(np.array([0, 5, 10, 5, 0]), 4, 5) == " ▄█▄ "


def test_the_picture_is_written_whole(tmp_path: Path) -> None:
    draw(inspect(ODD, ("en", "zh")), tmp_path / "new" / "picture.png")
    draw(inspect([], ("en", "zh")), tmp_path / "empty.png")
    assert (tmp_path / "new" / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.png", "new"]
