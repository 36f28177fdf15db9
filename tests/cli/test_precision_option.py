"""Do translate, evaluate and score compute in the precision that was asked for, or say what they take?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.generated import generated_pairs

TEST = generated_pairs(4, "en", "zh", seed=9)


@pytest.fixture
def test_file(tmp_path: Path) -> str:
    """A small test set."""
    (tmp_path / "test.tsv").write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in TEST), encoding="utf-8")
    return "test.tsv"


@pytest.mark.parametrize("precision", ["bf16", "int8"])
def test_evaluate_says_which_precision_was_used(
    dragoman: Command, test_file: str, transformer: Path, precision: str
) -> None:
    command = ["evaluate", transformer, "--test", test_file, "--source", "en", "--target", "zh", "--beam", "1"]
    run = dragoman(*command, "--precision", precision, "--json")
    assert run.code == 0, run.err
    used = json.loads(run.out)["precision"]
    said = [line for line in run.err.splitlines() if line.startswith(precision)]
    assert [line.endswith(f": {used} is used") for line in said] == ([] if used == precision else [True])


def test_the_default_is_fp32_and_nothing_is_said_of_it(dragoman: Command, test_file: str, transformer: Path) -> None:
    run = dragoman("evaluate", transformer, "--test", test_file, "--source", "en", "--target", "zh", "--quiet")
    assert "sentences/s in fp32," in run.out
    assert run.err.splitlines() == ["test: en-zh, 4 of 4 pairs kept"]


@pytest.mark.parametrize("precision", ["bf16", "int8"])
def test_translate_and_score_take_it(dragoman: Command, test_file: str, transformer: Path, precision: str) -> None:
    Path("in.txt").write_text("The teacher bought the red book.\n\n", encoding="utf-8")
    run = dragoman("translate", transformer, "in.txt", "--precision", precision, "--with", transformer)
    assert (run.code, len(run.out.splitlines())) == (0, 2)
    languages = ["--source", "en", "--target", "zh"]
    plain = dragoman("score", transformer, "--test", test_file, *languages)
    fewer = dragoman("score", transformer, "--test", test_file, *languages, "--precision", precision)
    assert fewer.code == 0, fewer.err
    rows, others = ([line.split("\t") for line in each.out.splitlines()] for each in (plain, fewer))
    assert len(rows) == len(others) == len(TEST)
    for row, other in zip(rows, others, strict=True):
        assert float(row[1]) == pytest.approx(float(other[1]), rel=0.01)


def test_what_has_no_precision_refuses_it(dragoman: Command, test_file: str, dictionary: Path) -> None:
    more = ["--test", test_file, "--source", "en", "--target", "zh"]
    for name in (dictionary, "copy", f"memory:{test_file}"):
        refused = dragoman("evaluate", name, *more, "--precision", "int8")
        assert "cannot compute in fewer bits (precision int8); kinds that can: transformer" in refused.error_line
        assert refused.out == ""
        taken = dragoman("evaluate", name, *more, "--precision", "fp32", "--json")
        assert taken.code == 0
        assert json.loads(taken.out)["precision"] is None
    judged = dragoman("evaluate", "--hypotheses", test_file, *more, "--precision", "bf16")
    assert "--precision would be dropped" in judged.error_line
    assert "--precision" in dragoman("evaluate", "copy", *more, "--precision", "int4").err
