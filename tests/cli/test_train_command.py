"""Does train say what it does, refuse what it cannot do, and leave a model or nothing?"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from dragoman.cli import main
from tests.cli.conftest import TINY, Command
from tests.generated import generated_pairs

WORDS = [("one", "eins"), ("two", "zwei"), ("three", "drei"), ("red", "rot"), ("blue", "blau"), ("green", "grün")]
QUICK = [word for setting in TINY for word in ("--set", setting)]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    rows = [f"{a} {b}\t{c} {d}\n" for a, c in WORDS for b, d in WORDS]
    (tmp_path / "small.tsv").write_text("".join(rows), encoding="utf-8")
    return tmp_path / "small.tsv"


def test_without_dev_some_pairs_are_held_out_and_said(dragoman: Command, small: Path) -> None:
    run = dragoman("train", "dictionary", "--train", small, "--source", "en", "--target", "de", "--out", "m")
    assert run.code == 0, run.err
    said = next(line for line in run.err.splitlines() if line.startswith("dev:"))
    held, left = (int(word) for word in said.replace(",", "").split() if word.isdigit())
    assert 1 <= held < len(WORDS) ** 2 - 5
    assert held + left <= len(WORDS) ** 2
    assert "en-de" in run.out
    assert json.loads(Path("m/model.json").read_text(encoding="utf-8"))["kind"] == "dictionary"


def test_pairs_that_would_leak_into_a_held_out_dev_set_are_counted(dragoman: Command) -> None:
    rows = [f"{a} {b}\t{a}\n" for a, _ in WORDS for b, _ in WORDS]
    Path("leaky.tsv").write_text("".join(rows), encoding="utf-8")
    run = dragoman("train", "dictionary", "--train", "leaky.tsv", "--source", "en", "--target", "de", "--out", "m")
    assert run.code == 0, run.err
    said = next(line for line in run.err.splitlines() if line.startswith("dev:"))
    held, left, left_out = (int(word) for word in said.split() if word.isdigit())
    assert "left out of train as their source or target stands in dev" in said
    assert left_out > 0
    assert held + left + left_out == len(rows)


def test_a_device_that_the_kind_has_not_is_refused_and_leaves_nothing(dragoman: Command, small: Path) -> None:
    command = ["train", "dictionary", "--train", small, "--source", "en", "--target", "de", "--out", "m"]
    assert "'dictionary' runs on the cpu only, not on 'cuda'" in dragoman(*command, "--device", "cuda").error_line
    assert not Path("m").exists()


def test_a_bad_out_is_refused_before_the_data_are_read(dragoman: Command, small: Path) -> None:
    Path("mine").mkdir()
    Path("mine/letter.txt").write_text("mine", encoding="utf-8")
    command = ["train", "dictionary", "--train", small, "--source", "en", "--target", "de", "--out"]
    for out, why in (
        ("mine", "mine: holds other files"),
        ("mine/letter.txt", "letter.txt: is a file; --out names a folder"),
        ("mine/letter.txt/m", "letter.txt: is a file; --out names a folder"),
    ):
        refused = dragoman(*command, out)
        assert refused.code == 2
        assert why in refused.err
        assert "pairs kept" not in refused.err
    assert [path.name for path in Path("mine").iterdir()] == ["letter.txt"]


def test_threads_are_said_to_the_libraries_at_the_door(
    dragoman: Command, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    command = ["train", "dictionary", "--train", small, "--source", "en", "--target", "de", "--out", "m", "--threads"]
    assert dragoman(*command, "0").code == 0
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert dragoman(*command, "2").code == 0
    assert os.environ["OMP_NUM_THREADS"] == "2"


def test_the_same_command_again_has_nothing_to_do(dragoman: Command, small: Path) -> None:
    command = ["train", "dictionary", "--train", small, "--source", "en", "--target", "de", "--out", "m"]
    assert dragoman(*command).code == 0
    before = Path("m/model.json").read_bytes()
    again = dragoman(*command)
    assert again.code == 0
    assert "finished" in again.out
    assert Path("m/model.json").read_bytes() == before


def test_other_data_is_refused_and_restart_trains_anew(dragoman: Command, small: Path) -> None:
    command = ["train", "dictionary", "--source", "en", "--target", "de", "--out", "m", "--train"]
    assert dragoman(*command, small).code == 0
    Path("other.tsv").write_text(small.read_text(encoding="utf-8") + "black\tschwarz\n", encoding="utf-8")
    refused = dragoman(*command, "other.tsv")
    assert "--restart" in refused.error_line
    assert dragoman(*command, "other.tsv", "--restart").code == 0


def test_a_limit_may_be_raised_but_not_lowered(dragoman: Command, pair_files: tuple[Path, Path]) -> None:
    command = ["train", "transformer-tiny", "--train", *pair_files, *QUICK, "--out", "m", "--quiet", "--set"]
    assert dragoman(*command, "max_updates=10").code == 0
    assert dragoman(*command, "max_updates=20").code == 0
    assert json.loads(Path("m/report.json").read_text(encoding="utf-8"))["done"]["updates"] == 20
    assert "max_updates" in dragoman(*command, "max_updates=10").error_line


def test_a_recipe_of_ones_own(dragoman: Command, pair_files: tuple[Path, Path]) -> None:
    Path("mine.toml").write_text(dragoman("recipes", "transformer-tiny").out, encoding="utf-8")
    run = dragoman("train", "mine.toml", "--train", *pair_files, *QUICK, "--set", "max_updates=5", "--out", "m", "-q")
    assert run.code == 0, run.err
    assert "max_updates = 5" in Path("m/recipe.toml").read_text(encoding="utf-8")


def test_going_on_from_a_model_shows_dev_before_and_after(
    dragoman: Command, pair_files: tuple[Path, Path], transformer: Path
) -> None:
    command = ["train", "transformer-tiny", "--train", *pair_files, *QUICK, "--set", "max_updates=5", "--out", "m"]
    run = dragoman(*command, "--init-from", transformer)
    assert run.code == 0, run.err
    assert "before training" in run.err
    assert "chosen" in run.err


@pytest.mark.parametrize("budget", ["0", "0s", "", "soon"])
def test_a_time_budget_is_some_time(dragoman: Command, small: Path, budget: str) -> None:
    refused = dragoman("train", "dictionary", "--train", small, "--out", "m", "--time-budget", budget)
    assert refused.error_line.startswith(f"--time-budget {budget}: ")
    assert not Path("m").exists()


REFUSED = [
    ({"a.en": "", "a.de": ""}, ["a.en", "a.de"], "0 of 0 pairs kept"),
    ({"a.en": "x\n", "a.de": "\n"}, ["a.en", "a.de"], "0 of 1 pairs kept: 1 blank target"),
    ({"a.en": "x\n"}, ["a.en"], "a.en"),
    ({"a.1": "x\n", "a.2": "y\n"}, ["a.1", "a.2"], "--source"),
]


@pytest.mark.parametrize(("files", "given", "named"), REFUSED, ids=[named for _, _, named in REFUSED])
def test_what_cannot_be_trained_on_is_refused(
    dragoman: Command, files: dict[str, str], given: list[str], named: str
) -> None:
    for name, content in files.items():
        Path(name).write_text(content, encoding="utf-8")
    run = dragoman("train", "dictionary", "--train", *given, "--out", "m")
    assert named in run.error_line
    assert not Path("m").exists()


def test_finish_needs_something_to_finish(dragoman: Command) -> None:
    assert "nowhere" in dragoman("train", "--finish", "nowhere").error_line
    assert list(Path().iterdir()) == []


@pytest.fixture(scope="module")
def reverse(pair_files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dictionary from Chinese into English."""
    folder = tmp_path_factory.mktemp("reverse") / "zh-en"
    assert main(["train", "dictionary", "--train", *map(str, pair_files[::-1]), "--out", str(folder), "--quiet"]) == 0
    return folder


def test_text_in_the_target_language_becomes_synthetic_pairs(
    dragoman: Command, pair_files: tuple[Path, Path], reverse: Path
) -> None:
    known = pair_files[1].read_text(encoding="utf-8").splitlines()[0]
    more = [pair.target for pair in generated_pairs(40, "zh", "zh", seed=8)]
    Path("mono.zh").write_text("\n".join([known, "", *more]) + "\n", encoding="utf-8")
    command = ["train", "transformer-tiny", "--train", *pair_files, *QUICK, "--set", "max_updates=5", "--out", "m"]
    run = dragoman(*command, "--monolingual", "mono.zh", "--reverse", reverse)
    assert run.code == 0, run.err
    said = next(line for line in run.err.splitlines() if line.startswith("monolingual: zh, "))
    assert "1 blank" in said
    kept = json.loads(Path("m/report.json").read_text(encoding="utf-8"))["synthetic"]["pairs"]
    assert f" {kept} of 42 lines kept: " in said
    assert f"an epoch sees {kept} of them" in run.err
    assert f"synthetic    from mono.zh (zh, {kept} lines), by {reverse}" in " ".join(run.out.split("\n"))
    assert f"pairs {kept}" in " ".join(dragoman("info", "m").out.split())
    assert "--monolingual mono.zh" in dragoman(*command).error_line


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["--monolingual", "mono.zh"], "--monolingual (text in the target language) and --reverse"),
        (["--reverse", "REVERSE"], "--monolingual (text in the target language) and --reverse"),
        (["--monolingual", "none.zh", "--reverse", "REVERSE"], "none.zh: no such file"),
        (["--monolingual", "mono.zh", "--reverse", "none"], "none: no such folder"),
        (["--monolingual", "-", "--reverse", "REVERSE", "--dev", "-"], "standard input (-) can be read only once"),
    ],
)
def test_a_mistake_about_monolingual_text_is_told_before_the_pairs_are_read(
    dragoman: Command, pair_files: tuple[Path, Path], reverse: Path, given: list[str], why: str
) -> None:
    Path("mono.zh").write_text("你好。\n", encoding="utf-8")
    words = [str(reverse) if word == "REVERSE" else word for word in given]
    refused = dragoman("train", "transformer-tiny", "--train", *pair_files, "--out", "m", *words)
    assert why in refused.error_line
    assert "pairs kept" not in refused.err
    assert not Path("m").exists()


def test_a_kind_that_cannot_learn_from_synthetic_pairs_says_which_can(
    dragoman: Command, small: Path, reverse: Path
) -> None:
    Path("mono.de").write_text("eins\n", encoding="utf-8")
    command = ["train", "dictionary", "--train", small, "--source", "en", "--target", "de", "--out", "m"]
    refused = dragoman(*command, "--monolingual", "mono.de", "--reverse", reverse)
    assert "'dictionary' cannot learn from --monolingual; kinds that can: transformer" in refused.error_line
    refused = dragoman("train", "--finish", "m", "--monolingual", "mono.de", "--reverse", reverse)
    assert "--monolingual, --reverse would be dropped" in refused.error_line
