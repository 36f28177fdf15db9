"""Does the learning curve show what the progress file holds?"""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from dragoman.evaluation.curves import learning_curve, read_progress, series_of, smoothed

ROWS: list[dict[str, object]] = [
    {"phase": "reading", "step": 0, "note": "3 pairs"},
    *(
        {"phase": "training", "step": step, "loss": 7 * math.exp(-step / 300) + 2, "learning_rate": 1e-3 / (1 + step)}
        for step in range(10, 510, 10)
    ),
    *(
        {"phase": "dev", "step": step, "loss": 7 * math.exp(-step / 300) + 2.3, "bleu": step / 20, "chrf": step / 12}
        for step in range(100, 600, 100)
    ),
]


def test_png_is_written_whole(tmp_path: Path) -> None:
    assert learning_curve(ROWS, tmp_path / "new" / "learning_curve.png")
    content = (tmp_path / "new" / "learning_curve.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert content.rstrip(b"\x00").endswith(b"IEND\xaeB`\x82")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["learning_curve.png"]


@pytest.mark.parametrize("rows", [[], [{"phase": "reading", "step": 3}], [{"phase": "training", "loss": 1.0}]])
def test_nothing_to_draw_draws_nothing(rows: list[dict[str, object]], tmp_path: Path) -> None:
    assert not learning_curve(rows, tmp_path / "curve.png")
    assert list(tmp_path.iterdir()) == []


def test_one_point_and_no_scores_can_be_drawn(tmp_path: Path) -> None:
    assert learning_curve([{"phase": "training", "step": 1, "loss": 3.5}], tmp_path / "curve.png")


def test_series_keeps_finite_values_in_order_of_steps_and_the_last_of_a_repeated_step() -> None:
    rows = [
        {"phase": "training", "step": 20, "loss": 2.0},
        {"phase": "training", "step": 10, "loss": 3.0},
        {"phase": "training", "step": 20, "loss": 1.5},
        {"phase": "training", "step": 30, "loss": math.nan},
        {"phase": "training", "step": 40, "loss": "high"},
        {"phase": "dev", "step": 10, "loss": 9.0},
    ]
    series = series_of(rows, "loss", "loss", ["training"])
    assert (series.steps, series.values) == ((10, 20), (3.0, 1.5))
    assert series.best == (10, 3.0)


def test_a_cut_last_line_of_the_progress_file_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "progress.jsonl"
    path.write_text(json.dumps({"phase": "dev", "step": 1}) + '\n{"phase": "de', encoding="utf-8")
    assert read_progress(path) == [{"phase": "dev", "step": 1}]
    path.write_bytes(b'\xff\xfe\n{"phase": "dev", "step": 1}\n{"note": "\xff"')
    assert read_progress(path) == [{"phase": "dev", "step": 1}]


def test_smoothing_does_not_lag() -> None:
    assert smoothed([0.0, 1.0, 2.0, 3.0, 4.0], reach=2) == pytest.approx([0.0, 1.0, 2.0, 3.0, 4.0])
    assert smoothed([0.0, 3.0, 0.0], reach=1) == pytest.approx([0.0, 1.0, 0.0])
    assert smoothed([1.0, 5.0], reach=0) == [1.0, 5.0]
    assert smoothed([], reach=3) == []
