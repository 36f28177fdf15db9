"""Do as many lines come out as go in, in every form of output?"""

from __future__ import annotations

import gzip
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command

ODD = (
    "The teacher bought the red book.\n"
    "\n"
    "line\u2028separator\u0085next\x0b\x0c\x1c.\n"
    "   \n"
    "7\n"
    "!\n"
    "👩‍👩‍👧 🇸🇪\n"
    "THE NURSE SAW 12 OLD LETTERS.\n"
    "<b>bold</b> &amp; ${name} %(x)s\n"
    "The nurse saw the lamp. The child lost 12 books."
)


@pytest.fixture(params=["dictionary", "transformer"])
def model(request: pytest.FixtureRequest) -> Path:
    """One model folder of each kind."""
    folder: Path = request.getfixturevalue(request.param)
    return folder


def test_lines_in_are_lines_out(dragoman: Command, model: Path) -> None:
    Path("odd.txt").write_bytes(ODD.encode())
    greedy = dragoman("translate", model, "odd.txt", "--out", "out.txt", "--beam", "1")
    assert greedy.code == (2 if model.name == "dictionary" else 0)  # a dictionary has no beam
    run = dragoman("translate", model, "odd.txt", "--out", "out.txt")
    assert run.code == 0
    lines = Path("out.txt").read_bytes().decode().split("\n")
    assert lines[-1] == ""
    assert len(lines) - 1 == len(ODD.split("\n"))
    assert [not line.strip() for line in lines[:4]] == [False, True, False, True]
    assert "\ufffd" not in "".join(lines)


def test_a_missing_file_is_refused_before_the_first_is_translated(dragoman: Command, dictionary: Path) -> None:
    Path("a.txt").write_text("The book.\n", encoding="utf-8")
    run = dragoman("translate", dictionary, "a.txt", "b.txt")
    assert run.code == 2
    assert run.out == ""
    assert "b.txt: no such file or folder" in run.err


def test_nothing_that_is_read_is_overwritten(dragoman: Command, dictionary: Path) -> None:
    Path("a.txt").write_text("The book.\n", encoding="utf-8")
    Path("a.tsv").write_text("The book.\tdas Buch\n", encoding="utf-8")
    languages = ("--source", "en", "--target", "de")
    assert "a.txt: is read as well" in dragoman("translate", dictionary, "a.txt", "--out", "./a.txt").error_line
    spoilt = dragoman("translate", dictionary, "a.txt", "--out", dictionary / "report.json").error_line
    assert "report.json: is in the folder" in spoilt
    memory = ("translate", "memory:a.tsv", "a.txt", *languages)
    assert "a.tsv: is read as well" in dragoman(*memory, "--out", "a.tsv").error_line
    for read, why in (("a.tsv", "is read as well"), (".", "is in the folder ., which is read")):
        refused = dragoman("corpus", "convert", read, "--out", "a.tsv", *languages)
        assert f"a.tsv: {why}, and would be lost" in refused.error_line
    assert Path("a.txt").read_text(encoding="utf-8") == "The book.\n"
    assert Path("a.tsv").read_text(encoding="utf-8") == "The book.\tdas Buch\n"


def test_a_recipe_is_no_model(dragoman: Command) -> None:
    assert "is a recipe, not a model; train it first" in dragoman("translate", "dictionary").error_line


def test_several_files_and_compressed_ones(dragoman: Command, dictionary: Path) -> None:
    Path("a.txt").write_text("The book.\n", encoding="utf-8")
    Path("b.txt.gz").write_bytes(gzip.compress(b"The lamp.\n") + gzip.compress(b"The table.\n"))
    run = dragoman("translate", dictionary, "a.txt", "b.txt.gz", "--out", "out.txt.gz")
    assert run.code == 0
    assert len(gzip.decompress(Path("out.txt.gz").read_bytes()).decode().splitlines()) == 3


def test_nothing_in_nothing_out(dragoman: Command, dictionary: Path) -> None:
    run = dragoman("translate", dictionary, given=b"")
    assert (run.code, run.out) == (0, "")


@pytest.mark.parametrize(("given", "word"), [(b"good\nna\xefve\nmore\n", "not UTF-8"), (b"good\na\0b\nmore\n", "NUL")])
def test_bad_lines_stop_or_are_skipped(dragoman: Command, dictionary: Path, given: bytes, word: str) -> None:
    stopped = dragoman("translate", dictionary, given=given)
    assert f"<stdin>:2: {word}" in stopped.error_line
    assert len(stopped.out.splitlines()) == 1
    skipped = dragoman("translate", dictionary, "--on-bad-line", "skip", given=given)
    assert skipped.code == 0
    assert [bool(line) for line in skipped.out.split("\n")] == [True, False, True, False]
    assert f"<stdin>:2: {word}" in skipped.err


def test_nothing_is_left_under_the_final_name_after_an_error(dragoman: Command, dictionary: Path) -> None:
    Path("bad.txt").write_bytes(b"good\nna\xefve\n")
    assert "bad.txt:2" in dragoman("translate", dictionary, "bad.txt", "--out", "out.txt").error_line
    assert [path.name for path in Path().iterdir()] == ["bad.txt"]


def test_n_best_lines(dragoman: Command, transformer: Path) -> None:
    Path("in.txt").write_text("The teacher bought the red book.\n\nThe nurse saw 12 letters.\n", encoding="utf-8")
    plain = dragoman("translate", transformer, "in.txt").out.splitlines()
    several = dragoman("translate", transformer, "in.txt", "--n-best", "3").out
    rows = [line.split(" ||| ") for line in several.splitlines()]
    assert sorted({int(row[0]) for row in rows}) == [0, 1, 2]
    for index in (0, 2):
        mine = [row for row in rows if row[0] == str(index)]
        assert 1 <= len(mine) <= 3
        assert mine[0][1] == plain[index]
        assert len({row[1] for row in mine}) == len(mine)
        assert all(float(row[3]) <= float(row[2]) <= 0 for row in mine)
    assert "beam" in dragoman("translate", transformer, "in.txt", "--n-best", "9", "--beam", "3").error_line


def test_json_holds_everything(dragoman: Command, transformer: Path) -> None:
    Path("in.txt").write_text("The teacher bought the red book.\n\n", encoding="utf-8")
    run = dragoman("translate", transformer, "in.txt", "--json", "--n-best", "2")
    first, blank = map(json.loads, run.out.splitlines())
    assert (first["file"], first["line"], first["source"]) == ("in.txt", 1, "The teacher bought the red book.")
    best = first["hypotheses"][0]
    assert sum(best["token_log_probabilities"]) == pytest.approx(best["log_probability"], abs=1e-4)
    assert (blank["line"], blank["hypotheses"]) == (2, [])


def test_what_a_kind_cannot_do_names_the_kinds_that_can(dragoman: Command, dictionary: Path) -> None:
    Path("in.txt").write_text("The book.\n", encoding="utf-8")
    for options in (["--n-best", "2"], ["--beam", "3"], ["--prefix", "x"], ["--sample"], ["--with", dictionary]):
        run = dragoman("translate", dictionary, "in.txt", *options)
        assert "transformer" in run.error_line
        assert run.out == ""


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--beam", "0"], "--beam"),
        (["--temperature", "2"], "--sample"),
        (["--sample", "--temperature", "0"], "--temperature"),
        (["--sample", "--top-p", "1.5"], "--top-p"),
    ],
)
def test_options_without_sense_are_refused(
    dragoman: Command, transformer: Path, options: list[str], named: str
) -> None:
    Path("in.txt").write_text("The book.\n", encoding="utf-8")
    assert named in dragoman("translate", transformer, "in.txt", *options).error_line


def test_sampling_prefix_and_ensemble(dragoman: Command, transformer: Path) -> None:
    Path("in.txt").write_text("The teacher bought the red book.\n", encoding="utf-8")

    def translated(*options: object) -> str:
        run = dragoman("translate", transformer, "in.txt", *options)
        assert run.code == 0, run.err
        return run.out

    drawn = [translated("--sample", "--sample-seed", seed) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert translated("--prefix", "老师").startswith("老师")
    assert translated("--with", transformer) == translated()


def test_a_memory_is_told_its_languages(dragoman: Command) -> None:
    Path("m.tsv").write_text("good morning\tguten Morgen\n", encoding="utf-8")
    Path("in.txt").write_text("Good morning!\n", encoding="utf-8")
    assert "--source and --target" in dragoman("translate", "memory:m.tsv", "in.txt").error_line
    run = dragoman("translate", "memory:m.tsv", "in.txt", "--source", "en", "--target", "de")
    assert (run.code, run.out) == (0, "guten Morgen\n")


def test_a_model_of_other_languages_is_refused(dragoman: Command, dictionary: Path) -> None:
    Path("in.txt").write_text("The book.\n", encoding="utf-8")
    run = dragoman("translate", dictionary, "in.txt", "--source", "en", "--target", "de")
    assert "translates en-zh; --target de is another language" in run.error_line
    assert dragoman("translate", dictionary, "in.txt", "--source", "en", "--target", "zh-CN").code == 0


def test_flags_are_lines_up_to_twenty_and_a_count(dragoman: Command, dictionary: Path) -> None:
    Path("in.txt").write_text("zyxwv qwrtp\n" * 30, encoding="utf-8")
    run = dragoman("translate", dictionary, "in.txt")
    flagged = run.err.splitlines()
    assert flagged[0].startswith("in.txt:1: ")
    assert len(flagged) == 21
    assert flagged[20].startswith("and ")


def test_a_terminal_is_answered_line_by_line(dictionary: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "dragoman", "translate", str(dictionary)]
    running = subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, cwd=tmp_path)
    os.close(theirs)
    assert running.stdout is not None
    try:
        os.write(ours, b"The book.\n")
        assert running.stdout.readline().strip()
        os.write(ours, b"The lamp.\n\x04")
        assert running.stdout.readline().strip()
        assert running.wait(20) == 0
    finally:
        running.kill()
        running.stdout.close()
        os.close(ours)
