"""`dragoman explain` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import Command

SENTENCE = 'red <b>"x" & 7'
SHORT = ("--max-ratio", 0.3)  # an untrained model would talk on


def test_the_short_of_it_is_printed(dragoman: Command, transformer: Path) -> None:
    shown = dragoman("explain", transformer, SENTENCE, *SHORT, "--reference", "安静的老师")
    assert shown.code == 0, shown.err
    assert "search: beam" in shown.out
    assert "<- " in shown.out
    assert "fault: " in shown.out


@pytest.mark.parametrize("suffix", [".html", ".svg"])
def test_pages_and_pictures_are_whole_files(dragoman: Command, transformer: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"x{suffix}"
    shown = dragoman("explain", transformer, SENTENCE, *SHORT, "--out", out)
    assert (shown.code, shown.out) == (0, ""), shown.err
    text = out.read_text(encoding="utf-8").removeprefix("<!DOCTYPE html>").strip()
    root = ElementTree.fromstring(text.encode("utf-8"))
    titles = "".join(map(str, root.itertext()))
    assert "Attention" in titles
    assert "<b>" in titles  # escaped in the file, whole in the text
    assert ("head 1" in titles) == (suffix == ".html")
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")


def test_all_numbers_for_programs(dragoman: Command, transformer: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.json"
    assert dragoman("explain", transformer, SENTENCE, *SHORT, "--beam", 2, "--out", out).code == 0
    table = json.loads(out.read_text(encoding="utf-8"))
    (part,) = table["explanation"]["parts"][:1]
    assert part["tree"]["beam"] == 2
    assert table["verdict"] is None
    assert len(part["attention"]) == len(part["output"]["pieces"]) - 1


def test_a_png_where_fonts_have_the_signs_else_a_line(dragoman: Command, dictionary: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.png"
    refused = dragoman("explain", dictionary, "\U00105678 x", "--out", out)
    assert "no installed font has" in refused.error_line
    assert "take .svg or .html" in refused.error_line
    assert not list(tmp_path.glob("*.p*"))
    assert dragoman("explain", dictionary, "7 8", "--out", out).code == 0
    assert out.read_bytes().startswith(b"\x89PNG")


def test_a_dictionary_names_its_entries(dragoman: Command, dictionary: Path) -> None:
    shown = dragoman("explain", dictionary, "the red apple 7")
    assert shown.code == 0
    assert "7 -> 7  copied" in shown.out
    assert "share " in shown.out


def test_sentences_are_mapped_beside_bags(dragoman: Command, transformer: Path, tmp_path: Path) -> None:
    file = tmp_path / "p.tsv"
    file.write_text("the red apple\tthe apple is red\na dog\tone dog\n", encoding="utf-8")
    shown = dragoman("explain", transformer, "--states", file)
    assert shown.code == 0, shown.err
    for name in ("the model's states", "a bag of words", "a bag of pieces", "drawn blindly"):
        assert name in shown.out
    out = tmp_path / "x.json"
    assert dragoman("explain", transformer, "--states", file, "--out", out).code == 0
    assert set(json.loads(out.read_text(encoding="utf-8"))) == {
        *("kind", "texts", "groups", "method", "places", "measured", "chance")
    }
    same = file.rename(tmp_path / "p.json")
    assert "would be lost" in dragoman("explain", transformer, "--states", same, "--out", same).error_line


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["x", "--out", "x.txt"], "written are .html, .svg, .png, .json"),
        ([], "give one of a sentence and --states FILE"),
        (["x", "--states", "p.tsv"], "give one of a sentence and --states FILE"),
        (["x", "--gates", "--gradients"], "give one of them"),
        (["x", "--map", "tsne"], "would be dropped"),
        (["--states", "p.tsv", "--reference", "y"], "would be dropped"),
        (["--states", "nowhere.tsv"], "no such file"),
        (["  "], "the sentence is blank"),
        (["x", "--reference", " "], "the reference is blank"),
        (["x\udcff"], "the sentence is not UTF-8"),
        (["x", "--reference", "\udcff"], "the reference is not UTF-8"),
        (["x", "--reference", "y", "--good-chrf", "nan"], "a good chrF is a number from 0 to 100, not nan"),
        (["x", "--gates"], "cannot show gates and gradients along a sentence; kinds that can: rnn"),
        (["x", "--gradients"], "cannot show gates and gradients along a sentence; kinds that can: rnn"),
        (["x", "--sample"], "sampling draws"),
        (["x", "--beam", "0"], "--beam"),
    ],
)
def test_mistakes_are_one_line(dragoman: Command, transformer: Path, arguments: list[str], why: str) -> None:
    assert why in dragoman("explain", transformer, *arguments).error_line


def test_systems_that_show_nothing_name_the_kinds_that_do(dragoman: Command) -> None:
    assert "kinds that can: transformer" in dragoman("explain", "copy", "x").error_line
    assert "no such folder" in dragoman("explain", "nowhere", "x").error_line
