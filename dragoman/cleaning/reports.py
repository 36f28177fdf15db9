"""What is told of a cleaning, and where do the rejected pairs go?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dragoman.cleaning.cleaner import CleaningReport, Rejected
from dragoman.corpus.lines import writing
from dragoman.corpus.records import on_one_line
from dragoman.wording import counted, escaped, json_text, visible, with_visible_spaces

COLUMNS = ("reason", "score", "origin", "source", "target")
LONGEST_SHOWN = 120  # characters of a side in the report
SHOWN_BEFORE = 40  # characters before a change, where not the whole side is shown


@contextmanager
def rejected_file(path: str | Path) -> Iterator[Callable[[Rejected], None]]:
    """A TSV with a line for each rejected pair: reason, score, file and line, and both sides as they were read, but for
    controls, tabs and line ends, which are escapes, and backslashes, which are doubled."""
    with writing(path) as out:
        out.write("\t".join(COLUMNS) + "\n")

        def write(one: Rejected) -> None:
            sides = (side.replace("\\", "\\\\") for side in (one.record.source, one.record.target))
            out.write("\t".join((one.reason, scored(one), *map(escaped, (str(one.record.origin), *sides)))) + "\n")

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
        "rejected": commonest_first(report.rejected),
        "changed": commonest_first(report.changed),
        "kept_although_one_side_came_before": report.again,
        "samples": {
            reason: [one.to_json() for one in report.samples[reason]] for reason in commonest_first(report.rejected)
        },
        "changes": {name: [list(change) for change in changes] for name, changes in report.changes.items()},
    }


def commonest_first(counts: Mapping[str, int]) -> dict[str, int]:
    """The highest count first."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def table(report: CleaningReport) -> list[str]:
    """A line for each reason and each change, for a terminal."""
    rows = {"kept": report.kept, **commonest_first(report.rejected)}
    width, total = max(map(len, rows)), max(report.total, 1)
    lines = [f"{name:<{width}}  {count:>10,}  {100 * count / total:6.2f} %" for name, count in rows.items()]
    for name, count in commonest_first(report.changed).items():
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
    for name, count in {"kept": report.kept, **commonest_first(report.rejected)}.items():
        lines.append(f"| {name} | {count:,} | {100 * count / total:.2f} % |")
    for name, count in commonest_first(report.changed).items():
        lines += ["", f"## Made uniform: {name} ({counted(count, 'side')})", ""]
        lines += ["- {} → {}".format(*map(_code, shown_change(*change))) for change in report.changes[name]]
    for reason, count in commonest_first(report.rejected).items():
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
    return escaped(", ".join(map(str, value)) if isinstance(value, list) else str(value))


def shown_change(before: str, after: str) -> tuple[str, str]:
    """Both texts from a little before where they begin to differ, with signs for what nobody sees.

    >>> shown_change("two  words", "two words")
    ('two ␣words', 'two words')
    """
    same = next(
        (place for place, signs in enumerate(zip(before, after, strict=False)) if signs[0] != signs[1]),
        min(len(before), len(after)),
    )
    first = max(0, same - SHOWN_BEFORE) if max(len(before), len(after)) > LONGEST_SHOWN else 0
    shown = [_shown(text[first:], with_visible_spaces) for text in (before, after)]
    return (f"…{shown[0]}", f"…{shown[1]}") if first else (shown[0], shown[1])


def _shown(text: str, seen: Callable[[str], str]) -> str:
    return seen(text) if len(text) <= LONGEST_SHOWN else seen(text[: LONGEST_SHOWN - 1]) + "…"


def _code(text: str) -> str:
    """As code in Markdown, whatever stands in it."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _cell(text: str) -> str:
    return _shown(on_one_line(text), visible).replace("<", "&lt;").replace("|", "\\|")


def write_report(report: CleaningReport, folder: str | Path, facts: Mapping[str, Any]) -> None:
    """report.json and report.md."""
    place = Path(folder)
    with writing(place / "report.json") as out:
        out.write(json_text(as_json(report, facts)) + "\n")
    with writing(place / "report.md") as out:
        out.write(as_markdown(report, facts))
