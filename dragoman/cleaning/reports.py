"""What is told of a cleaning, and where do the rejected pairs go?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dragoman.cleaning.cleaner import CleaningReport, Rejected
from dragoman.corpus.lines import writing
from dragoman.corpus.records import on_one_line
from dragoman.wording import counted

COLUMNS = ("reason", "score", "origin", "source", "target")
LONGEST_SHOWN = 120  # characters of a side in the report


@contextmanager
def rejected_file(path: str | Path) -> Iterator[Callable[[Rejected], None]]:
    """A TSV with a line for each rejected pair: reason, score, file and line, and both sides as they were read."""
    with writing(path) as out:
        out.write("\t".join(COLUMNS) + "\n")

        def write(one: Rejected) -> None:
            sides = (on_one_line(one.record.source), on_one_line(one.record.target))
            out.write("\t".join((one.reason, scored(one), str(one.record.origin), *sides)) + "\n")

        yield write


def scored(one: Rejected) -> str:
    """The score as people read it, nothing where there is none."""
    return "" if one.score is None else f"{one.score:.0f}" if one.score.is_integer() else f"{one.score:.3g}"


def as_json(report: CleaningReport, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Everything, for a program."""
    return {
        **facts,
        "records": report.total,
        "kept": report.kept,
        "rejected": in_order(report.rejected),
        "changed": in_order(report.changed),
        "kept_although_one_side_came_before": report.again,
        "samples": {
            reason: [
                {
                    "score": one.score,
                    "origin": str(one.record.origin),
                    "source": one.record.source,
                    "target": one.record.target,
                }
                for one in report.samples[reason]
            ]
            for reason in in_order(report.rejected)
        },
        "changes": {name: [list(change) for change in changes] for name, changes in report.changes.items()},
    }


def in_order(counts: Mapping[str, int]) -> dict[str, int]:
    """The highest count first."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def table(report: CleaningReport) -> list[str]:
    """A line for each reason and each change, for a terminal."""
    rows = {"kept": report.kept, **in_order(report.rejected)}
    width, total = max(map(len, rows)), max(report.total, 1)
    lines = [f"{name:<{width}}  {count:>10,}  {100 * count / total:6.2f} %" for name, count in rows.items()]
    for name, count in in_order(report.changed).items():
        lines.append(f"made uniform: {name}, {counted(count, 'side')}")
    for side, count in report.again.items():
        if count:
            lines.append(f"kept with a {side} that came before with another partner: {count:,}")
    return lines


def as_markdown(report: CleaningReport, facts: Mapping[str, Any]) -> str:
    """A page for people: the counts, and for each reason some of the pairs that were left out."""
    told = [f"- {name}: {_told(value)}" for name, value in facts.items() if value and not isinstance(value, dict)]
    lines = ["# Cleaning", "", *told, ""]
    lines += [f"{report.summary()}.", "", "| | pairs | share |", "|---|---:|---:|"]
    total = max(report.total, 1)
    for name, count in {"kept": report.kept, **in_order(report.rejected)}.items():
        lines.append(f"| {name} | {count:,} | {100 * count / total:.2f} % |")
    for name, count in in_order(report.changed).items():
        lines += ["", f"## Made uniform: {name} ({counted(count, 'side')})", ""]
        lines += [f"- `{_shown(before)}` → `{_shown(after)}`" for before, after in report.changes[name]]
    for reason, count in in_order(report.rejected).items():
        samples = report.samples[reason]
        lines += ["", f"## {reason}: {counted(count, 'pair')}", ""]
        lines += ["| score | where | source | target |", "|---:|---|---|---|"]
        for one in samples:
            cells = (scored(one), str(one.record.origin), one.record.source, one.record.target)
            lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    for name, choices in facts.items():
        if isinstance(choices, dict):
            lines += ["", f"## {name.capitalize()}", "", *_choices(choices)]
    return "\n".join(lines) + "\n"


def _choices(values: Mapping[str, Any], within: str = "") -> Iterator[str]:
    """A line for each value, by its name and that of the table in which it stands."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _choices(value, f"{within}{name}.")
        else:
            yield f"- {within}{name} = {'none' if value is None else value}"


def _told(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _shown(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def _cell(text: str) -> str:
    return _shown(on_one_line(text)).replace("<", "&lt;").replace("|", "\\|")


def write_report(report: CleaningReport, folder: str | Path, facts: Mapping[str, Any]) -> None:
    """report.json and report.md."""
    place = Path(folder)
    with writing(place / "report.json") as out:
        out.write(json.dumps(as_json(report, facts), ensure_ascii=False, indent=2) + "\n")
    with writing(place / "report.md") as out:
        out.write(as_markdown(report, facts))
