"""Does a model get its shortlist without being changed, and is it searched by where asked?"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.generated import generated_pairs

TEXT = "The teacher bought the red book.\n\nA friend sold three cups.\n"


@pytest.fixture
def pairs(tmp_path: Path) -> str:
    """What the models of these tests learnt from, or nearly."""
    rows = generated_pairs(120, "en", "zh", seed=9)
    (tmp_path / "pairs.tsv").write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in rows), encoding="utf-8")
    return "pairs.tsv"


@pytest.fixture
def own(tmp_path: Path, transformer: Path) -> Path:
    """A model of this test alone."""
    return Path(shutil.copytree(transformer, tmp_path / "own"))


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "lock"}


def test_a_model_gets_one_and_is_the_same_without_it(dragoman: Command, own: Path, pairs: str) -> None:
    Path("in.txt").write_text(TEXT, encoding="utf-8")
    before = dragoman("translate", own, "in.txt", "--json").out
    made = dragoman("shortlist", own, "--train", pairs, "--partners", "3", "--frequent", "5")
    assert made.code == 0, made.err
    assert " pieces for a sentence (" in made.out
    assert " of what 6 other translations say" in made.out
    assert dragoman("translate", own, "in.txt", "--json").out == before
    shown = json.loads(dragoman("info", own, "--json").out)
    assert "6 pieces for all, 3 translations of each" in json.dumps(shown)
    narrow = dragoman("translate", own, "in.txt", "--shortlist", "--with", own)
    assert (narrow.code, len(narrow.out.splitlines())) == (0, 3)
    assert narrow.out.splitlines()[1] == ""
    assert not (own / "work").exists() or not list((own / "work").glob("finished"))
    judged = dragoman("evaluate", own, "--test", pairs, "--source", "en", "--target", "zh", "--shortlist", "--json")
    assert judged.code == 0, judged.err
    again = dragoman("shortlist", own, "--train", pairs)  # another takes its place
    assert again.code == 0, again.err


def test_without_one_a_line_says_how_to_get_it(dragoman: Command, transformer: Path) -> None:
    Path("in.txt").write_text(TEXT, encoding="utf-8")
    run = dragoman("translate", transformer, "in.txt", "--shortlist", "--out", "out.txt")
    assert run.error_line == "this model has no shortlist: dragoman shortlist DIR --train FILES makes one"
    assert not Path("out.txt").exists()


def test_who_has_no_use_for_one_is_told_so(dragoman: Command, pairs: str, dictionary: Path) -> None:
    before, refused = contents(dictionary), "kind 'dictionary' cannot search by a shortlist"
    assert refused in dragoman("shortlist", dictionary, "--train", pairs).error_line
    assert contents(dictionary) == before
    Path("in.txt").write_text(TEXT, encoding="utf-8")
    assert refused in dragoman("translate", dictionary, "in.txt", "--shortlist").error_line


def test_mistakes_leave_the_model_as_it_was(dragoman: Command, own: Path) -> None:
    before = contents(own)
    Path("one.tsv").write_text("The red book.\t红书。\n", encoding="utf-8")
    assert "no such file" in dragoman("shortlist", own, "--train", "nowhere.tsv").error_line
    assert dragoman("shortlist", own, "--train", "one.tsv").error_line == "1 pair is too few to learn a shortlist from"
    assert "no such folder" in dragoman("shortlist", "nowhere", "--train", "one.tsv").error_line
    assert contents(own) == before
