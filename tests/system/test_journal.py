"""Is what was reported kept, once, and in a form that any JSON reader takes?"""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from dragoman.contracts import Progress, quiet
from dragoman.system.journal import Journal, last_dev_figures, rows_of


def test_rows_are_kept_in_order_and_thinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([0.0, 0.5, 1.0, 1.2, 1.3, 1.4, 1.5])
    monkeypatch.setattr("dragoman.system.journal.time.monotonic", lambda: next(seconds))
    seen: list[Progress] = []
    signs = [Progress("training", step, 6, {"loss": step / 2}) for step in range(1, 5)]
    signs += [Progress("dev", 4, 6, {"bleu": 1.0}), Progress("dev", 5, 6), Progress("dev", 5, note="look")]
    with Journal(tmp_path / "p.jsonl", seen.append, 0) as keep:
        for sign in signs:
            keep(sign)
    assert seen == signs
    assert rows_of(tmp_path / "p.jsonl") == [
        {"phase": "training", "step": 1, "total": 6, "loss": 0.5},
        {"phase": "training", "step": 3, "total": 6, "loss": 1.5},
        {"phase": "dev", "step": 4, "total": 6, "bleu": 1.0},
        {"phase": "dev", "step": 5, "total": 6},
        {"phase": "dev", "step": 5, "total": 0, "note": "look"},
    ]


def test_figures_that_are_not_finite_are_left_out(tmp_path: Path) -> None:
    with Journal(tmp_path / "p.jsonl", quiet, 0) as keep:
        keep(Progress("dev", 1, values={"loss": math.nan, "bleu": math.inf, "chrf": 2}))
    assert json.loads((tmp_path / "p.jsonl").read_text()) == {"phase": "dev", "step": 1, "total": 0, "chrf": 2.0}


def test_steps_that_were_undone_are_dropped_and_the_rest_stays(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    with Journal(path, quiet, 0) as keep:
        for phase, step in [("encoding", 90), ("training", 3), ("dev", 3), ("training", 4), ("dev", 5)]:
            keep(Progress(phase, step))
    with Journal(path, quiet, 3):
        pass
    assert [(row["phase"], row["step"]) for row in rows_of(path)] == [("encoding", 90), ("training", 3), ("dev", 3)]


def test_the_last_look_counts() -> None:
    looks: list[dict[str, object]] = [{"phase": "dev", "step": step, "bleu": step} for step in (1, 2)]
    rows: list[dict[str, object]] = [looks[0], {**looks[1], "note": "x"}, {"phase": "a"}]
    assert last_dev_figures(rows) == {"step": 2, "bleu": 2}
    assert last_dev_figures([{"phase": "training"}]) == {}
