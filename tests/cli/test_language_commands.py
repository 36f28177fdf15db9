"""Language models by the command line: three lines from a text of one's own to new text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dragoman.cli import main
from tests.cli.conftest import Command

TUNES = [
    f"X:{number}\nT:Tune {number}\nK:G\n|: {'GABc dedB' if number % 2 else 'dBAG A2 G2'} :|" for number in range(60)
]
TINY = ["model.embedding=8", "model.width=16", "max_updates=20", "validate_every=10", "tokens_per_batch=256"]
SETS = [word for setting in TINY for word in ("--set", setting)]


@pytest.fixture(scope="module")
def tunes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of blocks, and a model of them in `tunes` beside it."""
    folder = tmp_path_factory.mktemp("tunes")
    (folder / "tunes.abc").write_text("\n\n".join(TUNES) + "\n", encoding="utf-8")
    command = ["train", "rnn-lm", "--train", str(folder / "tunes.abc"), "--out", str(folder / "tunes"), "--quiet"]
    assert main([*command, *SETS, "--set", "document=block"]) == 0
    return folder


def test_a_model_of_ones_own_text_in_three_lines(
    dragoman: Command, tmp_path: Path, tunes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.en"
    text.write_text("".join(f"Line {number} of a text, and its end.\n" for number in range(80)), encoding="utf-8")
    run = dragoman("train", "rnn-lm", "--train", text, "--out", "model", *SETS)
    assert run.code == 0, run.err
    assert "train: en, 80 lines in 1 file, 0 of them blank" in run.err
    assert "dev: the last 4 lines held out, 76 left to train on" in run.err
    assert "languages    en" in run.out
    assert "generate with: dragoman generate model --prefix TEXT" in run.out
    run = dragoman("evaluate", "model", "--test", text)
    assert run.code == 0, run.err
    assert "bits per character" in run.out
    run = dragoman("generate", "model", "--prefix", "Line ", "--n", "2", "--length", "5", "--seed", "3")
    assert run.code == 0, run.err
    assert run.out.count("Line ") == 2
    again = dragoman("train", "rnn-lm", "--train", text, "--out", "model", "--quiet", *SETS)
    assert "model is finished; nothing to do" in again.out
    other = dragoman("train", "rnn-lm", "--train", tunes / "tunes.abc", "--out", "model", "--quiet", *SETS)
    assert "holds other work: training data" in other.error_line
    assert other.err.count("\n") == 1


def test_texts_of_several_lines_stand_apart(dragoman: Command, tunes: Path) -> None:
    run = dragoman("generate", tunes / "tunes", "--prefix", r"X:1\nT:", "--n", "3", "--length", "6")
    assert run.code == 0
    assert [text.startswith("X:1\nT:") for text in run.out.split("\n\n")] == [True] * 3
    assert "of 3 texts: the limit of 6 pieces reached" in run.err
    run = dragoman("generate", tunes / "tunes", "--prefix", "X:", "--n", "2", "--length", "4", "--json")
    rows = [json.loads(line) for line in run.out.splitlines()]
    assert len(rows) == 2
    for row in rows:
        assert row["text"].startswith("X:")
        assert sum(row["token_log_probabilities"]) == pytest.approx(row["log_probability"])
    dragoman(
        "generate", tunes / "tunes", "--prefix", "X:", "--n", "2", "--length", "4", "--json", "--out", "texts.jsonl"
    )
    assert Path("texts.jsonl").read_text(encoding="utf-8") == run.out


def test_the_settings_reach_the_drawing(dragoman: Command, tunes: Path) -> None:
    def drawn(*options: object) -> str:
        run = dragoman("generate", tunes / "tunes", "--n", "4", "--length", "20", *options)
        assert run.code == 0, run.err
        return run.out

    assert drawn() == drawn("--seed", "1") != drawn("--seed", "2")
    assert drawn("--temperature", "0") == drawn("--top-k", "1") == drawn("--temperature", "0", "--seed", "9")
    assert drawn("--top-p", "0.5") != drawn()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--n", "0"], "Must be >= 1"),
        (["--length", "0"], "Must be >= 1"),
        (["--temperature", "-1"], "Must be >= 0"),
        (["--top-p", "0"], "Must be > 0"),
        (["--top-k", "-1"], "Must be >= 0"),
        (["--device", "toaster"], "toaster"),
    ],
)
def test_what_makes_no_sense_is_one_line(dragoman: Command, tunes: Path, options: list[str], why: str) -> None:
    run = dragoman("generate", tunes / "tunes", *options)
    assert why in run.error_line
    assert len(run.err.splitlines()) == 1


def test_what_is_no_data_for_the_kind_is_refused(dragoman: Command, tmp_path: Path, tunes: Path) -> None:
    text, pairs = tmp_path / "text.txt", tmp_path / "pairs.tsv"
    text.write_text("one line\n" * 50)
    pairs.write_text("one\teins\n" * 50)
    (tmp_path / "blank.txt").write_text("\n \n")
    train = ["train", "rnn-lm", "--out", "model", "--train"]
    for command, why in (
        ([*train, pairs], "holds pairs; a text in one language is plain lines"),
        ([*train, "none.txt"], "no such file"),
        ([*train, "blank.txt"], "no line with text in it"),
        ([*train, text, "--source", "en"], "learns from text, in one --language: --source would be dropped"),
        ([*train, text, "--monolingual", text, "--reverse", tunes / "tunes"], "cannot learn from --monolingual"),
        (
            [*train, text, "--init-from", tunes / "tunes", *SETS, "--set", "width=8"],
            "has model.width = 16, the recipe 8",
        ),
        (
            ["train", "dictionary", "--out", "model", "--train", pairs, "--language", "en"],
            "--language would be dropped",
        ),
        ([*train, text, "--set", "document=page"], "'line', 'block' or 'file'"),
        ([*train, text, "--set", "document=line", "--set", "max_pieces=4"], "all have more than 4 pieces"),
        (["train", "transformer-lm", "--out", "model", "--train", text, "--set", "heads=5"], "heads=5 does not divide"),
    ):
        run = dragoman(*command)
        assert why in run.error_line, (why, run.error_line)
        assert not (tmp_path / "model" / "model.json").exists()


def test_several_processes_are_refused(dragoman: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text.txt").write_text("one line\n" * 50)
    monkeypatch.setenv("WORLD_SIZE", "2")
    run = dragoman("train", "rnn-lm", "--train", "text.txt", "--out", "model")
    assert "learns in one process; start it without torchrun" in run.error_line


def test_what_was_learnt_can_be_gone_on_with(dragoman: Command, tmp_path: Path, tunes: Path) -> None:
    (tmp_path / "more.abc").write_text("\n\n".join(TUNES[::-1]))
    command = ["train", "rnn-lm", "--train", "more.abc", "--out", "more", "--init-from", tunes / "tunes", "--quiet"]
    run = dragoman(*command, *SETS, "--set", "document=block")
    assert run.code == 0, run.err


def test_standard_input_is_scored_as_it_comes(dragoman: Command, tunes: Path) -> None:
    run = dragoman("score", tunes / "tunes", "--test", "-", given=b"X:1\n\n|: GABc\n")
    assert run.code == 0, run.err
    assert [bool(line) for line in run.out.split("\n")] == [True, False, True, False]
