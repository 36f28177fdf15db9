"""How did the training go?

Draws what `progress.jsonl` holds: loss on training and dev data, dev BLEU and chrF, and the learning
rate, over updates. matplotlib writes to a file only; no display is asked for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dragoman.whole import whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREEN, GREY = "#2b6cb0", "#dd6b20", "#2f855a", "#a0aec0"


@dataclass(frozen=True)
class Series:
    """A figure over the updates; steps and values have equal length, only finite values are kept."""

    name: str
    steps: tuple[float, ...]
    values: tuple[float, ...]

    @property
    def best(self) -> tuple[float, float]:
        """Step and value of the highest value."""
        index = max(range(len(self.values)), key=self.values.__getitem__)
        return self.steps[index], self.values[index]


def read_progress(path: Path) -> list[dict[str, object]]:
    """The rows of a `progress.jsonl`; a line cut short by a crash is left out."""
    rows = []
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                rows.append(row)
    return rows


def series_of(rows: Iterable[Mapping[str, object]], name: str, key: str, phases: Sequence[str]) -> Series:
    """The values of `key` in the rows of these phases, by `step`; a step that comes again replaces the former."""
    points: dict[float, float] = {}
    for row in rows:
        step, value = row.get("step"), row.get(key)
        if row.get("phase") not in phases or not isinstance(step, int | float) or not isinstance(value, int | float):
            continue
        if math.isfinite(value):
            points[float(step)] = float(value)
    steps = sorted(points)
    return Series(name, tuple(steps), tuple(points[step] for step in steps))


def learning_curve(rows: Sequence[Mapping[str, object]], path: Path) -> bool:
    """Draw the rows of a `progress.jsonl` to a PNG; False, and no file, where there is nothing to draw.

    A row has `phase` ("training" or "dev"), `step` in updates, and flat figures: `loss` (nats a
    target token; under "dev" the dev loss), `learning_rate`, `bleu`, `chrf`.
    """
    train_loss = series_of(rows, "training loss", "loss", ["training"])
    dev_loss = series_of(rows, "dev loss", "loss", ["dev"])
    bleu = series_of(rows, "dev BLEU", "bleu", ["dev"])
    chrf = series_of(rows, "dev chrF", "chrf", ["dev"])
    rate = series_of(rows, "learning rate", "learning_rate", ["training"])
    if not any(series.steps for series in [train_loss, dev_loss, bleu, chrf]):
        return False

    from matplotlib.figure import Figure

    scored = bool(bleu.steps or chrf.steps)
    figure = Figure(figsize=(10.5 if scored else 6.5, 4.2), dpi=130)
    left, right = (0.07, 0.985) if scored else (0.115, 0.885)  # to fit them to the labels takes as long as to draw
    figure.subplots_adjust(left=left, right=right, bottom=0.13, top=0.91, wspace=0.33)
    panels = figure.subplots(1, 2 if scored else 1, squeeze=False)[0]
    draw_loss(panels[0], train_loss, dev_loss, rate)
    if scored:
        draw_scores(panels[1], bleu, chrf)
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole(path) as aside:
        figure.savefig(aside, format="png")
    return True


def draw_loss(axes: Axes, train: Series, dev: Series, rate: Series) -> None:
    """Training loss (thin: every row; thick: smoothed), dev loss, and the learning rate in the background."""
    if rate.steps:
        background = axes.twinx()
        background.plot(rate.steps, rate.values, color=GREY, linewidth=1, linestyle=":")
        background.set_ylabel("learning rate (dotted)", color="#718096", fontsize=9)
        background.ticklabel_format(axis="y", style="sci", scilimits=(-3, 3))
        background.tick_params(axis="y", labelsize=8, colors="#718096")
        background.set_ylim(bottom=0)
        background.spines[["top"]].set_visible(False)
        axes.set_zorder(background.get_zorder() + 1)
        axes.patch.set_visible(False)
    if train.steps:
        axes.plot(train.steps, train.values, color=BLUE, linewidth=0.8, alpha=0.35)
        axes.plot(
            train.steps, smoothed(train.values, len(train.values) // 40), color=BLUE, linewidth=1.8, label="training"
        )
    if dev.steps:
        axes.plot(dev.steps, dev.values, color=ORANGE, linewidth=1.8, marker="o", markersize=3.5, label="dev")
    axes.set(xlabel="updates", ylabel="loss (nats a target token)", title="Loss")
    finish(axes, "upper right")


def draw_scores(axes: Axes, bleu: Series, chrf: Series) -> None:
    """Dev BLEU and chrF, the best of each marked with its value."""
    for series, colour in [(bleu, GREEN), (chrf, ORANGE)]:
        if not series.steps:
            continue
        axes.plot(series.steps, series.values, color=colour, linewidth=1.8, marker="o", markersize=3.5)
        step, value = series.best
        axes.plot([step], [value], color=colour, marker="*", markersize=12, linestyle="none")
        axes.plot([], [], color=colour, marker="o", markersize=3.5, label=f"{series.name}, best {value:.1f}")
    axes.set(xlabel="updates", ylabel="score (0 to 100)", title="Dev scores")
    axes.set_ylim(bottom=0)
    finish(axes, "lower right")


def finish(axes: Axes, corner: Literal["upper right", "lower right"]) -> None:
    """Grid, legend and frame as in every panel."""
    axes.grid(alpha=0.25)
    axes.spines[["top"]].set_visible(False)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, loc=corner, fontsize=9)


def smoothed(values: Sequence[float], reach: int) -> list[float]:
    """Mean over `reach` values on either side, over fewer towards both ends: it does not lag behind the values."""
    results = []
    for i in range(len(values)):
        near = min(reach, i, len(values) - 1 - i)
        window = values[i - near : i + near + 1]
        results.append(sum(window) / len(window))
    return results
