"""Does a long run say what matters, in lines fit for a log?"""

from __future__ import annotations

import io
import sys

import pytest

from dragoman.cli.screen import figures, screen
from dragoman.contracts import Progress

VALUES = {"tokens_per_second": 2904.4, "loss": 3.1234, "seconds_left": 123.4, "clipped": 0.5}
TRAINING = Progress("training", 500, 2000, VALUES)


def test_figures_come_in_a_fixed_order_with_units() -> None:
    assert figures(TRAINING.values) == ["loss 3.123", "2,904 tokens/s", "2m3s left"]
    assert figures({"bleu": 31.26, "odd_one": 2.0}) == ["BLEU 31.3", "odd one 2"]


def test_off_a_terminal_one_line_each_thirty_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 1.0, 31.0, 32.0, 62.0])
    monkeypatch.setattr("dragoman.cli.screen.time.monotonic", lambda: next(clock))
    with screen() as report:
        for _ in range(4):
            report(TRAINING)
    assert capsys.readouterr().err.splitlines() == ["training: 500/2,000, loss 3.123, 2,904 tokens/s, 2m3s left"] * 2


def test_notes_and_dev_scores_are_always_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with screen() as report:
        report(TRAINING)
        report(Progress("vocabulary", note="size lowered to 412"))
        report(Progress("dev", 500, 2000, {"loss": 2.9, "bleu": 14.24}))
    assert capsys.readouterr().err.splitlines() == ["size lowered to 412", "dev: 500/2,000, loss 2.900, BLEU 14.2"]


def test_quiet_leaves_only_notes(capsys: pytest.CaptureFixture[str]) -> None:
    with screen(quiet=True) as report:
        report(Progress("dev", 500, 2000, {"bleu": 14.2}))
        report(Progress("vocabulary", note="size lowered to 412"))
    assert capsys.readouterr().err == "size lowered to 412\n"


def test_on_a_terminal_a_bar_and_lasting_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with screen() as report:
        report(Progress("reading", 100))
        report(TRAINING)
        report(Progress("dev", 500, 2000, {"bleu": 14.24}))
        report(Progress("training", 501, 2000, {"loss": 3.0}, note="the loss jumped [to 9]"))
    shown = terminal.getvalue()
    assert "dev: 500/2,000, BLEU 14.2" in shown
    assert "the loss jumped [to 9]" in shown
    assert "2,904 tokens/s" in shown
