"""How does a long run show that it is alive?

On a terminal a bar that moves; elsewhere one plain line each 30 seconds, fit for a log file. Notes and
dev scores are lines of their own and stay. All of it goes to standard error: results alone to standard output.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from dragoman.contracts import Progress
from dragoman.wording import escaped

SECONDS_BETWEEN_LINES = 30.0
LASTING_PHASES = ("dev",)

FIGURES = {
    "epoch": "epoch {:,.0f}",
    "loss": "loss {:.3f}",
    "perplexity": "perplexity {:,.1f}",
    "bleu": "BLEU {:.1f}",
    "chrf": "chrF {:.1f}",
    "best_loss": "best dev loss {:.3f}",
    "best_bleu": "best dev BLEU {:.1f}",
    "best_chrf": "best dev chrF {:.1f}",
    "tokens_per_second": "{:,.0f} tokens/s",
    "sentences_per_second": "{:,.1f} sentences/s",
}
KEPT_FOR_THE_CURVE = {"seconds", "learning_rate", "gradient_norm", "clipped"}


@contextmanager
def screen(quiet: bool = False) -> Iterator[Callable[[Progress], None]]:
    """Yield the `report` of a learner or a stream; the last state stays on the screen."""
    if quiet:
        yield _only_notes
    elif sys.stderr.isatty():
        with _terminal() as report:
            yield report
    else:
        yield _log()


def say(line: str) -> None:
    """One line on standard error that belongs to no progress: a warning, a summary of what was read."""
    print(escaped(line), file=sys.stderr, flush=True)


def figures(values: Mapping[str, float]) -> list[str]:
    """The values of a Progress in words: those above in that order, then others by their own name."""
    from dragoman.durations import format_duration

    shown = [form.format(values[name]) for name, form in FIGURES.items() if name in values]
    others = values.keys() - FIGURES.keys() - KEPT_FOR_THE_CURVE - {"seconds_left"}
    shown += [f"{name.replace('_', ' ')} {values[name]:.4g}" for name in sorted(others)]
    if "seconds_left" in values:
        shown.append(f"{format_duration(max(0, round(values['seconds_left'])))} left")
    return shown


def _position(progress: Progress) -> str:
    if not progress.total:
        return f"{progress.step:,}" if progress.step else ""
    return f"{progress.step:,}/{progress.total:,}"


def _line(progress: Progress) -> str:
    parts = [part for part in (_position(progress), *figures(progress.values)) if part]
    return f"{progress.phase}: {', '.join(parts)}" if parts else progress.phase


def _lasting(progress: Progress) -> bool:
    return progress.phase in LASTING_PHASES and bool(progress.values)


def _only_notes(progress: Progress) -> None:
    if progress.note:
        say(progress.note)


def _log() -> Callable[[Progress], None]:
    last = time.monotonic()

    def report(progress: Progress) -> None:
        nonlocal last
        _only_notes(progress)
        now = time.monotonic()
        if progress.note:
            return
        if _lasting(progress):
            say(_line(progress))
        elif now - last >= SECONDS_BETWEEN_LINES:
            last = now
            say(_line(progress))

    return report


@contextmanager
def _terminal() -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("{task.description:<10}"), BarColumn(28), TextColumn("{task.fields[figures]}"))
    with Bar(*columns, console=console, refresh_per_second=4) as bar:
        task = bar.add_task("", total=None, figures="", visible=False)
        phase = ""

        def report(progress: Progress) -> None:
            nonlocal phase
            if progress.note:
                bar.print(Text(progress.note, style="yellow"))
            elif _lasting(progress):
                bar.print(Text(_line(progress), style="green"))
            else:
                if progress.phase != phase:
                    bar.reset(task, total=progress.total or None)
                    phase = progress.phase
                shown = " · ".join(figures(progress.values) or [_position(progress)])
                bar.update(
                    task,
                    description=phase,
                    completed=progress.step,
                    total=progress.total or None,
                    figures=shown,
                    visible=True,
                )

        yield report
