"""Do the commands serve a user from a TMX of their own to a translated file? By the installed command, in order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from tests.generated import generated_pairs

DRAGOMAN = Path(sys.executable).with_name("dragoman")
PAIRS = generated_pairs(1200, "en", "zh", seed=5)
EN_ZH = ("--source", "en", "--target", "zh")
# The first state is saved at update 50; an interrupt then comes long before the last update.
TINY = ("--set", "max_updates=250", "--set", "validate_every=50", "--set", "width=64", "--set", "inner=128")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("journeys")
    units = "\n".join(
        f'<tu><tuv xml:lang="en"><seg>{escape(pair.source)}</seg></tuv>'
        f'<tuv xml:lang="zh-CN"><seg>{escape(pair.target)}</seg></tuv></tu>'
        for pair in PAIRS
    )
    header = (
        '<header creationtool="t" creationtoolversion="1" segtype="sentence" o-tmf="t" '
        'adminlang="en" srclang="en" datatype="plaintext"/>'
    )
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">{header}<body>{units}</body></tmx>\n'
    (root / "my.tmx").write_text(text, encoding="utf-8")
    return root


def dragoman(folder: Path, *arguments: str, given: str = "", code: int = 0) -> subprocess.CompletedProcess[str]:
    run = subprocess.run([DRAGOMAN, *arguments], cwd=folder, input=given, capture_output=True, encoding="utf-8")
    assert run.returncode == code, run.stderr
    return run


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_look_and_clean(folder: Path) -> None:
    found = json.loads(dragoman(folder, "corpus", "inspect", "my.tmx", *EN_ZH, "--picture", "my.png", "--json").stdout)
    assert found["records"] == len(PAIRS)
    assert found["target"]["looks_like_declared"] > 0.5
    assert (folder / "my.png").stat().st_size > 10_000
    run = dragoman(folder, "corpus", "clean", "my.tmx", *EN_ZH, "--out", "clean.tsv", "--report", "report", "--json")
    told = json.loads(run.stdout)
    assert told["kept"] + sum(told["rejected"].values()) == len(PAIRS)
    assert told["kept"] == len(lines(folder / "clean.tsv")) > 0.98 * len(PAIRS)
    assert len(lines(folder / "report" / "rejected.tsv")) == 1 + sum(told["rejected"].values())


def test_split_a_tmx_without_leaks(folder: Path) -> None:
    dragoman(folder, "corpus", "split", "my.tmx", *EN_ZH, "--dev", "60", "--test", "60", "--out", "data")
    parts = {part: lines(folder / "data" / f"{part}.en") for part in ("train", "dev", "test")}
    assert all(len(parts[part]) == len(lines(folder / "data" / f"{part}.zh")) for part in parts)
    assert 30 < len(parts["dev"]) < 90
    assert 30 < len(parts["test"]) < 90
    assert not set(parts["train"]) & {*parts["dev"], *parts["test"]}


def test_convert_there_and_back(folder: Path) -> None:
    dragoman(folder, "corpus", "convert", "data/test.en", "data/test.zh", "--out", "test.tmx")
    dragoman(folder, "corpus", "convert", "test.tmx", *EN_ZH, "--out", "back.en", "back.zh.gz")
    assert lines(folder / "back.en") == lines(folder / "data" / "test.en")


def train(*more: str) -> Sequence[str]:
    files = ("--train", "data/train.en", "data/train.zh", "--dev", "data/dev.en", "data/dev.zh")
    return ("train", "transformer-tiny", *files, *TINY, "--out", "model", *more)


def test_interrupt_training_and_go_on(folder: Path) -> None:
    pipe = subprocess.PIPE
    running = subprocess.Popen([DRAGOMAN, *train()], cwd=folder, stderr=pipe, stdout=pipe, encoding="utf-8")
    deadline = time.monotonic() + 120
    while not (folder / "model" / "work" / "state.json").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130, said
    run = dragoman(folder, *train())
    assert (folder / "model" / "model.json").exists()
    assert (folder / "model" / "learning_curve.png").stat().st_size > 10_000
    assert "en-zh" in run.stdout


def test_the_same_command_again_says_that_all_is_done(folder: Path) -> None:
    before = (folder / "model" / "weights.safetensors").stat().st_mtime_ns
    assert "finished" in dragoman(folder, *train()).stdout
    assert (folder / "model" / "weights.safetensors").stat().st_mtime_ns == before


def test_other_settings_are_refused(folder: Path) -> None:
    run = dragoman(folder, *train("--seed", "2"), code=2)
    assert "seed 1 -> 2" in run.stderr.splitlines()[-1]
    assert "Traceback" not in run.stderr


def test_translate_line_for_line(folder: Path) -> None:
    dragoman(folder, "translate", "model", "data/test.en", "--out", "out.zh")
    assert len(lines(folder / "out.zh")) == len(lines(folder / "data" / "test.en"))
    given = "The young teacher bought the red book.\n\n\x0c \nThe nurse saw 12 old letters."
    run = dragoman(folder, "translate", "model", given=given)
    assert [bool(line.strip()) for line in run.stdout.split("\n")] == [True, False, False, True, False]


def test_several_hypotheses_and_json(folder: Path) -> None:
    given = "The young teacher bought the red book.\n"
    run = dragoman(folder, "translate", "model", "--n-best", "3", given=given)
    rows = [line.split(" ||| ") for line in run.stdout.splitlines()]
    assert 1 <= len(rows) <= 3
    assert [row[0] for row in rows] == ["0"] * len(rows)
    scores = [float(row[2]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    found = json.loads(dragoman(folder, "translate", "model", "--json", given=given).stdout)
    assert found["hypotheses"][0]["text"] == rows[0][1]


def test_evaluate_against_baselines(folder: Path) -> None:
    test = ("--test", "data/test.en", "data/test.zh")
    model = json.loads(dragoman(folder, "evaluate", "model", *test, "--json").stdout)
    copy = json.loads(dragoman(folder, "evaluate", "copy", *test, "--json").stdout)
    memory = json.loads(dragoman(folder, "evaluate", "memory:data/train.en,data/train.zh", *test, "--json").stdout)
    given = json.loads(dragoman(folder, "evaluate", "--hypotheses", "data/test.zh", *test, "--json").stdout)
    assert given["bleu"]["value"] == pytest.approx(100)
    assert model["chrf"]["value"] > copy["chrf"]["value"]
    assert 0 <= memory["bleu"]["value"] < 100
    shown = dragoman(folder, "evaluate", "model", *test, "--explain", "1").stdout
    assert "tok:zh" in shown
    assert "BLEU" in shown


def test_the_doctor_examines_the_model(folder: Path) -> None:
    run = dragoman(folder, "doctor", "model", "--test", "data/test.en", "data/test.zh", "--json")
    findings = json.loads(run.stdout)["findings"]
    assert any(one["what"].startswith("dev BLEU") for one in findings)
    assert any(one["what"].startswith("BLEU") for one in findings)
    assert {one["level"] for one in findings} <= {"warning", "note", "good"}


def test_score_is_one_line_a_record(folder: Path) -> None:
    run = dragoman(folder, "score", "model", "--test", "data/test.en", "data/test.zh")
    rows = [[float(figure) for figure in line.split("\t")] for line in run.stdout.splitlines()]
    assert len(rows) == len(lines(folder / "data" / "test.en"))
    assert all(score <= 0 and log_probability <= score for score, log_probability in rows)


def test_info_and_recipes(folder: Path) -> None:
    assert "transformer" in dragoman(folder, "info", "model").stdout
    (folder / "mine.toml").write_text(dragoman(folder, "recipes", "transformer-tiny").stdout, encoding="utf-8")
    assert dragoman(folder, "recipes", "mine.toml").stdout == (folder / "mine.toml").read_text(encoding="utf-8")


def test_the_dictionary_is_a_kind_like_any_other(folder: Path) -> None:
    files = ("--train", "data/train.en", "data/train.zh")
    dragoman(folder, "train", "dictionary", *files, "--out", "words")
    run = dragoman(folder, "translate", "words", "data/test.en")
    assert len(run.stdout.splitlines()) == len(lines(folder / "data" / "test.en"))


def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    command = f"'{DRAGOMAN}' translate model data/test.en | head -n 1"
    environment = {**os.environ, "LC_ALL": "C"}
    run = subprocess.run(command, shell=True, cwd=folder, capture_output=True, encoding="utf-8", env=environment)
    assert run.returncode == 0
    assert run.stderr == ""


def test_from_python(folder: Path) -> None:
    import dragoman as package

    assert package.load(folder / "model").translate(["The nurse saw 12 old letters."])[0].text.strip()
