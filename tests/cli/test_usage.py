"""Is a mistake on the command line answered in one helpful line?"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from cyclopts import App, Argument

from dragoman.cli.app import application
from dragoman.cli.options import WHOLE
from tests.cli.conftest import Command

MISTAKES = [
    (["trian"], "train"),
    (["train", "--tran", "x"], "--train"),
    (["train"], "RECIPE, --train, --out missing"),
    (["train", "x", "--train", "a", "b", "--out"], "--out"),
    (["translate"], "MODEL"),
    (["translate", "m", "--beam", "five"], "--beam"),
    (["evaluate"], "--test"),
    (["evaluate", "--test", "a", "b"], "--hypotheses"),
    (["score", "m", "extra", "--test", "a"], "extra"),
    (["train", "m", "--on-bad-line", "ignore", "--train", "a", "--out", "b"], "stop"),
    (["train", "--finish", "x", "--train", "a", "b"], "--train would be dropped"),
    (["train", "dictionary", "--finish", "x", "--seed", "1"], "RECIPE, --seed would be dropped"),
    (["train", "--finish", "x", "--dev", "a", "--set", "y=1", "--restart"], "--dev, --set, --restart would be dropped"),
    (["train", "--finish", "x", "--discard-work", "--init-from", "y"], "--init-from, --discard-work would be dropped"),
    (["train", "--finish", "x", "--time-budget", "5m", "--out", "y"], "--out, --time-budget would be dropped"),
    (["train", "--finish", "x", "--source", "en", "--target", "de"], "--source, --target would be dropped"),
    (["train", "--finish", "x", "--on-bad-line", "skip"], "--on-bad-line would be dropped"),
    (["evaluate", "--hypotheses", "h", "--test", "a", "b", "--beam", "3", "--alpha", "0"], "--alpha, --beam would be"),
    (["evaluate", "--hypotheses", "h", "--test", "a", "b", "--with", "m"], "--with would be dropped"),
    (["evaluate", "--hypotheses", "h", "--test", "a", "b", "--device", "cpu"], "--device would be dropped"),
    (["evaluate", "m", "--test", "a", "b", "--sample", "--beam", "3"], "--beam would be dropped"),
    (["translate", "m", "--sample", "--beam", "3"], "--beam would be dropped"),
    (["corpus", "split", "a.tsv", "--source", "en", "--uot", "d"], "--out is missing; unknown option '--uot'"),
    (["recipes", "--set", "width=3"], "--set would be dropped"),
    (["translate", "m", "--threads", "-2"], "--threads"),
    (["score", "m", "--test", "a", "--threads", "100000"], "--threads"),
    (["train", "dictionary", "--train", "a", "b", "--out", "m", "--seed", "-1"], "--seed"),
    (["train", "dictionary", "--train", "a", "b", "--out", "m", "--seed", str(2**70)], "--seed"),
    (["translate", "m", "--n-best", "0"], "--n-best"),
    (["translate", "m", "--n-best", "2.5"], "--n-best: a whole number is wanted, not '2.5'"),
    (["corpus", "sample", "a.tsv", "--out", "b.tsv", "--count", "1e3"], "--count: a whole number is wanted, not '1e3'"),
    (["score", "m", "--test", "a", "--batch-tokens", "0"], "--batch-tokens"),
    (["translate", "m", "--sample", "--temperature", "inf"], "--temperature"),
    (["translate", "m", "--sample", "--top-p", "nan"], "--top-p"),
    (["evaluate", "copy", "--test", "a", "b", "--device", "cuda"], "copy: runs on the cpu only"),
    (["evaluate", "memory:a.tsv", "--test", "a", "b", "--device", "cuda"], "memory:a.tsv: runs on the cpu only"),
    (["score", "memory:a.tsv", "--test", "a", "b"], "transformer"),
    (["recipes", "transformer-smal"], "transformer-small"),
    (["recipes", "transformer-small", "--set", "widht=3"], "'width'"),
    (["recipes", "transformer-small", "--set", "heads=5"], "heads"),
    (["info", "nowhere"], "nowhere"),
    (["corpus", "convert", "-", "--out", "x.tsv", "--bad"], "--bad"),
    (["corpus", "merge"], "merge"),
]


def whole_numbers(app: App) -> Iterator[Argument]:
    """The options of all commands that are whole numbers."""
    for name in app:
        if not name.startswith("-"):
            yield from whole_numbers(app[name])
    if app.default_command is not None:
        for argument in app.assemble_argument_collection():
            if int in (argument.hint, *get_args(argument.hint)):
                yield argument


def test_every_whole_number_refuses_a_fraction() -> None:
    assert WHOLE.converter is not None
    found = list(whole_numbers(application()))
    assert {"--count", "--workers", "--seed", "--beam", "--explain"} <= {argument.name for argument in found}
    for argument in found:
        assert argument.parameter.converter == WHOLE.converter, argument.name


@pytest.mark.parametrize(("arguments", "named"), MISTAKES, ids=[" ".join(arguments) for arguments, _ in MISTAKES])
def test_a_mistake_is_one_line_that_names_it(dragoman: Command, arguments: list[str], named: str) -> None:
    run = dragoman(*arguments)
    assert named in run.error_line
    assert len(run.err.splitlines()) == 1
    assert run.out == ""


def test_recipes_are_listed_and_printed(dragoman: Command, tmp_path: Path) -> None:
    listed = dragoman("recipes").out.split()
    assert {"transformer-tiny", "transformer-small", "transformer-base", "dictionary"} <= set(listed)
    printed = dragoman("recipes", "transformer-small", "--set", "time_budget=20m").out
    assert 'time_budget = "20m"' in printed
    (tmp_path / "my.toml").write_text(printed, encoding="utf-8")
    assert dragoman("recipes", "my.toml").out == printed


def test_version(dragoman: Command) -> None:
    import dragoman as package

    assert dragoman("--version").out.strip() == package.__version__


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_is_no_traceback(number: signal.Signals, tmp_path: Path) -> None:
    arguments = ["corpus", "convert", "-", "--source", "en", "--target", "de", "--out", "x.tsv"]
    running = subprocess.Popen(
        [sys.executable, "-m", "dragoman", *arguments], stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    )
    assert running.stdin is not None
    running.stdin.write(b"a\tb\n" * 100_000)  # more than a pipe holds: it is reading when this returns
    running.stdin.flush()
    running.send_signal(number)
    _, said = running.communicate(timeout=20)
    assert running.returncode == 130
    assert said.decode().splitlines()[-1] == "interrupted"
    assert list(tmp_path.iterdir()) == []
