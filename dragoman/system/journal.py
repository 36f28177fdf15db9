"""How is a training run's progress kept, so that it can be drawn later and survives a crash?

progress.jsonl: one flat object a line, {"phase", "step", "total", figures..., "note"}; steps of the
phases "training" and "dev" are updates.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dragoman.contracts import Progress
from dragoman.evaluation.curves import read_progress
from dragoman.whole import write_whole

_PACE = 1.0  # seconds between two kept rows of the same phase without a note


class Journal:
    """Writes each sign of life to progress.jsonl and hands it on to `report`.

    Of phases other than "dev" at most one row a second is kept, and each one with a note; figures
    that are not finite are left out, as JSON has no word for them. On opening, rows beyond
    `updates` are dropped: they are of steps that a crash undid.
    """

    def __init__(self, path: Path, report: Callable[[Progress], None], updates: int) -> None:
        self.path, self.report, self.updates = path, report, updates
        self.last_phase, self.last_time = "", 0.0

    def __enter__(self) -> Self:
        kept = [row for row in rows_of(self.path) if not _beyond(row, self.updates)]
        write_whole(self.path, "".join(_line(row) for row in kept))
        self.file = self.path.open("a", encoding="utf-8", newline="\n")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.file.close()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        new = progress.phase != self.last_phase or progress.phase == "dev" or progress.note
        if new or now - self.last_time >= _PACE:
            self.last_phase, self.last_time = progress.phase, now
            figures = {name: float(value) for name, value in progress.values.items() if math.isfinite(value)}
            row = {"phase": progress.phase, "step": progress.step, "total": progress.total, **figures}
            self.file.write(_line({**row, "note": progress.note} if progress.note else row))
            self.file.flush()
        self.report(progress)


def rows_of(path: Path) -> list[dict[str, object]]:
    """The rows of a progress.jsonl, none where there is no file."""
    return read_progress(path) if path.exists() else []


def last_dev_figures(rows: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """The dev figures of the weights that were chosen, else of the last look, and their step; none without a look."""
    looks = sorted(
        (row for row in rows if row.get("phase") in ("dev", "chosen")), key=lambda row: row.get("phase") == "chosen"
    )
    return {name: looks[-1][name] for name in looks[-1] if name not in ("phase", "total", "note")} if looks else {}


def _beyond(row: Mapping[str, Any], updates: int) -> bool:
    return row.get("phase") in ("training", "dev", "chosen") and row.get("step", 0) > updates


def _line(row: Mapping[str, object]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"
