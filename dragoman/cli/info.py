"""What is in this model folder?"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping
from pathlib import Path

from dragoman.cli.options import Folder, Json
from dragoman.wording import json_text

LINE_WIDTH = 110


def info(model: Folder, /, *, as_json: Json = False) -> None:
    """Say what a model folder holds, without loading the model.

    Parameters
    ----------
    model:
        The folder that `dragoman train --out` made.
    as_json:
        Print one JSON object.
    """
    if as_json:
        print(json_text(_facts(Path(model))))
    else:
        print("\n".join(card_lines(Path(model))))


def card_lines(folder: Path, names: Collection[str] = ()) -> list[str]:
    """The facts of a model folder as aligned lines, all or those named; a table of facts is one line."""
    facts = _facts(folder)
    rows = [(name.replace("_", " "), _shown(facts[name])) for name in facts if name in (names or facts)]
    width = max(len(name) for name, _ in rows)
    lines = []
    for name, value in rows:
        if value:
            indent = " " * (width + 2)
            lines += textwrap.wrap(f"{name:<{width}}  {value}", LINE_WIDTH, subsequent_indent=indent)
    return lines


def _facts(folder: Path) -> dict[str, object]:
    from dragoman.system.store import read_card, read_report

    card = read_card(folder)
    return {
        "folder": str(folder),
        "kind": card.kind,
        "languages": "-".join(card.languages),
        "created": card.created,
        "dragoman": card.dragoman,
        "fingerprint": card.fingerprint,
        "size": f"{sum(path.stat().st_size for path in _files(folder)) / 1e6:,.1f} MB",
        **read_report(folder),
    }


def _files(folder: Path) -> list[Path]:
    work = folder / "work"
    return [path for path in folder.rglob("*") if path.is_file() and work not in path.parents]


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{str(name).replace('_', ' ')} {_shown(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    if value is None or isinstance(value, bool):
        return {None: "", True: "yes", False: "no"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}"
    return str(value)
