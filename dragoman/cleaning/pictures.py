"""What does a bitext look like?

Bars in the terminal, and a PNG: lengths of both sides, pairs by both lengths, and what cleaning would leave out.
matplotlib writes to a file only; no display is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dragoman.cleaning.cleaner import CleaningReport
from dragoman.cleaning.inspection import DRAWN, Counts, Inspection
from dragoman.corpus.files import writing_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREY = "#2b6cb0", "#dd6b20", "#718096"
BARS = " ▁▂▃▄▅▆▇█"
STEPS = 40  # columns of a histogram in the terminal
MOST_REASONS = 16  # bars


def bars(counts: Sequence[int]) -> str:
    """A row of bars, the highest one full; what is not 0 is seen.

    >>> bars([0, 1, 50, 100])
    ' ▁▄█'
    """
    highest = max([*counts, 1])
    return "".join(BARS[max(count > 0, round(count / highest * (len(BARS) - 1)))] for count in counts)


def histogram(counts_L: Counts, longest: int, steps: int = STEPS) -> str:
    """A row of bars of texts by length from 0 to `longest` units, longer ones in the last bar."""
    edges = np.unique(np.linspace(0, longest + 1, steps + 1).astype(int))
    sums = np.add.reduceat(counts_L, edges[:-1]).tolist()
    return bars(sums)


def usual_length(*counts: Counts) -> int:
    """Units that 99.5 of 100 texts of all sides do not exceed, at least 10."""
    return max(10, *(int(np.searchsorted(np.cumsum(each), 0.995 * each.sum())) for each in counts))


def draw(inspection: Inspection, path: Path) -> None:
    """Write the picture as a PNG; it gets its name when it is whole."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14, 4.6), dpi=130, layout="constrained")
    one, other, third = figure.subplots(1, 3)
    draw_lengths(one, inspection)
    draw_both(other, inspection)
    draw_reasons(third, inspection.cleaning.rejected, inspection.cleaning.total, "Would be left out")
    _save(figure, path)


def draw_cleaning(report: CleaningReport, path: Path) -> None:
    """Write the picture of what was left out."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.6), dpi=130, layout="constrained")
    draw_reasons(figure.subplots(), report.rejected, report.total, "Left out")
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    with writing_bytes(path) as out:
        figure.savefig(out, format="png")


def draw_lengths(axes: Axes, inspection: Inspection) -> None:
    """How many texts of each side have so many units."""
    longest = usual_length(inspection.source.lengths_L, inspection.target.lengths_L)
    for side, colour in ((inspection.source, BLUE), (inspection.target, ORANGE)):
        counts_L = side.lengths_L[: longest + 1]
        axes.fill_between(range(len(counts_L)), counts_L, step="mid", color=colour, alpha=0.25)
        axes.step(range(len(counts_L)), counts_L, where="mid", color=colour, label=side.language)
    axes.set(title="Lengths", xlabel="words, or letters where no spaces are written", ylabel="texts")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    _finish(axes)


def draw_both(axes: Axes, inspection: Inspection) -> None:
    """Pairs by the lengths of both sides; the darker the more."""
    from matplotlib.ticker import MaxNLocator

    longest = min(DRAWN, usual_length(inspection.source.lengths_L, inspection.target.lengths_L))
    shown = inspection.both_LL[: longest + 1, : longest + 1].T
    axes.imshow(np.log1p(shown), origin="lower", cmap="Blues", aspect="auto", interpolation="nearest")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    axes.set(title="Pairs by both lengths", xlabel=inspection.source.language, ylabel=inspection.target.language)
    _finish(axes)


def draw_reasons(axes: Axes, rejected: Mapping[str, int], total: int, title: str) -> None:
    """How many records are left out, and why."""
    most = sorted(rejected.items(), key=lambda item: item[1])
    if len(most) > MOST_REASONS:
        rest = most[: 1 - MOST_REASONS]
        most = [(f"{len(rest)} others", sum(count for _, count in rest)), *most[1 - MOST_REASONS :]]
    axes.barh([reason for reason, _ in most], [count for _, count in most], color=BLUE)
    for place, (_, count) in enumerate(most):
        axes.annotate(f" {count:,}", (count, place), va="center", fontsize=9, color=GREY)
    axes.set(title=f"{title}, of {total:,}", xlabel="records")
    axes.margins(x=0.15)
    axes.set_ylim(-0.6, max(len(most), 6) - 0.4)
    if not most:
        axes.text(0.5, 0.5, "nothing", ha="center", va="center", transform=axes.transAxes, color=GREY)
        axes.set_yticks([])
    _finish(axes)


def _finish(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=9)


def shares(values: Iterable[tuple[str, float]]) -> str:
    """Such as "Han 99.7 %, Latin 0.3 %"; what is below a thousandth is left out."""
    return ", ".join(f"{name} {100 * value:.1f} %" for name, value in values if value >= 0.001)
