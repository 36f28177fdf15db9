"""What do `translate --links` and `train --links` write, and what do they refuse?"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from dragoman.corpus.links import read_links, written_links
from dragoman.text.words import word_spans
from tests.cli.conftest import TINY, Command
from tests.generated import linked_bitext

LINES = [
    "The teacher bought the red book.",
    "",
    "   ",
    "  The nurse  saw 12 old letters.  ",
    "7",
    " ".join(["The child lost the lamp."] * 9),
]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "in.txt").write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return tmp_path / "in.txt"


@pytest.fixture
def pairs(tmp_path: Path) -> list[str]:
    """A file of pairs, one record of which is bad, and a file of links; the command that trains on them."""
    made = linked_bitext(60).pairs
    rows = [f"{pair.source}\t{pair.target}\n" for pair in made]
    links = [f"{written_links(pair.links or ())}\n" for pair in made]
    (tmp_path / "pairs.tsv").write_text("".join([*rows[:5], "alone\n", *rows[5:]]), encoding="utf-8")
    (tmp_path / "links").write_text("".join([*links[:5], "nothing here\n", *links[5:]]), encoding="utf-8")
    sets = [word for setting in [*TINY, "max_updates=4"] for word in ("--set", setting)]
    return ["train", "transformer-tiny", "--train", "pairs.tsv", "--source", "en", "--target", "zh", *sets]


def rows(path: Path | str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").split("\n")[:-1]


@pytest.mark.parametrize("kind", ["dictionary", "transformer"])
def test_a_line_of_links_for_each_line(
    dragoman: Command, kind: str, text: Path, request: pytest.FixtureRequest
) -> None:
    model = request.getfixturevalue(kind)
    run = dragoman("translate", model, text, "--out", "out.txt", "--links", "out.links")
    assert run.code == 0, run.err
    sources, outputs, links = LINES, rows("out.txt"), rows("out.links")
    assert len(outputs) == len(links) == len(LINES)
    for source, output, line in zip(sources, outputs, links, strict=True):
        assert bool(line) <= bool(source.strip())
        for i, j in read_links(line):
            assert i < len(word_spans(source))
            assert j < len(word_spans(output))
    assert links[0]
    assert max(i for i, _ in read_links(links[5])) >= 40
    alone = dragoman("translate", model, text)
    assert alone.out.split("\n")[:-1] == outputs


@pytest.mark.parametrize(("kind", "options"), [("dictionary", ["--workers", "2"]), ("transformer", ["--n-best", "2"])])
def test_several_processes_json_and_compression_tell_the_same(
    dragoman: Command, kind: str, options: list[str], text: Path, request: pytest.FixtureRequest
) -> None:
    model = request.getfixturevalue(kind)
    dragoman("translate", model, text, "--out", "out.txt", "--links", "a.gz")
    run = dragoman("translate", model, text, "--json", "--links", "b", *options)
    assert run.code == 0, run.err
    links = rows("b")
    assert gzip.decompress(Path("a.gz").read_bytes()).decode().split("\n")[:-1] == links
    told = [json.loads(line)["hypotheses"] for line in run.out.splitlines()]
    assert [written_links(map(tuple, each[0]["links"])) if each else "" for each in told] == links
    assert all("links" in hypothesis for each in told for hypothesis in each)


def test_what_would_mix_or_destroy_is_refused(dragoman: Command, transformer: Path, text: Path) -> None:
    command = ["translate", transformer, text]
    assert "leave out --n-best" in dragoman(*command, "--links", "l", "--n-best", "2").error_line
    assert "the translations go there" in dragoman(*command, "--links", "-").error_line
    assert "the translations go there" in dragoman(*command, "--links", "./x", "--out", "x").error_line
    assert "is read as well" in dragoman(*command, "--links", text).error_line
    assert "kind 'copy' cannot link words" in dragoman("translate", "copy", text, "--links", "l").error_line
    assert not Path("l").exists()
    assert not Path("x").exists()
    assert rows(text) == LINES
    on_screen = dragoman(*command, "--links", "-", "--out", "out.txt")
    assert len(on_screen.out.split("\n")[:-1]) == len(LINES)


def test_a_training_with_links_says_so_and_keeps_the_head(dragoman: Command, pairs: list[str]) -> None:
    run = dragoman(*pairs, "--links", "links", "--out", "m")
    assert run.code == 0, run.err
    assert "train: links for 60 of 60 pairs" in run.err
    assert "--links links" in json.loads(Path("m/report.json").read_text(encoding="utf-8"))["train"]
    assert "its head 1, which was taught" in dragoman("info", "m", "--json").out
    assert "nothing to do" in dragoman(*pairs, "--links", "links", "--out", "m", "--quiet").out
    assert "--links links (en-zh" in dragoman(*pairs, "--out", "m", "--quiet").error_line
    changed = ["0-0", *rows("links")[1:]]
    Path("links").write_text("".join(f"{line}\n" for line in changed), encoding="utf-8")
    refused = dragoman(*pairs, "--links", "links", "--out", "m", "--quiet").error_line
    assert "holds other work: training data" in refused


def test_links_that_do_not_fit_are_refused_in_one_line(dragoman: Command, pairs: list[str]) -> None:
    lines = rows("links")
    Path("short").write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    Path("far").write_text("".join(f"{line}\n" for line in [*lines[:6], "0-0 77-0", *lines[7:]]), encoding="utf-8")
    for links, told in (
        ("short", "short: 60 lines, but the training data has 61 records"),
        ("far", "far:7: link 77-0, but the source at pairs.tsv:7 has"),
        ("none", "none: no such file"),
    ):
        assert told in dragoman(*pairs, "--links", links, "--out", "m").error_line
        assert not Path("m").exists()
    assert "standard input (-)" in dragoman(*pairs, "--links", "-", "--dev", "-", "--out", "m").error_line
    other = ["train", "dictionary", *pairs[2:8], "--links", "links", "--out", "m"]
    assert "kind 'dictionary' has none" in dragoman(*other).error_line
    assert "--links" in dragoman("train", "--finish", "m", "--links", "links").error_line
    skipped = dragoman(*pairs, "--links", "far", "--on-bad-line", "skip", "--out", "m", "--quiet")
    assert skipped.code == 0
    assert "links for 59 of 60 pairs; 1 line set aside: far:7: link 77-0" in skipped.err
