"""Shorthands for the tests of the OUT folder's life."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.contracts import Interrupted
from dragoman.system import catalogue, lifecycle, store
from dragoman.system.lifecycle import Outcome, train_model
from dragoman.system.settings import with_settings
from tests.system.fake import DEV, FAKE, TRAIN, Pairs


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the fake kind into the catalogue, and leave out the drawing, which takes a second a time."""
    monkeypatch.setitem(catalogue.KINDS, "fake", "tests.system.fake:Fake")
    monkeypatch.setattr(lifecycle, "learning_curve", lambda rows, path: False)


def train(out: Path, *sets: str, data: Pairs = TRAIN, **options: Any) -> Outcome:
    return train_model(with_settings(FAKE, sets), data, options.pop("dev", DEV), out, **options)


def stop_after(steps: int) -> Callable[[], bool]:
    asked: Iterator[int] = iter(range(steps - 1))
    return lambda: next(asked, None) is None


def interrupted(out: Path, steps: int, *sets: str, **options: Any) -> None:
    with pytest.raises(Interrupted):
        train(out, *sets, stop=stop_after(steps), **options)


def fingerprint(out: Path) -> str:
    return store.read_card(out).fingerprint


def unbroken(tmp_path: Path, *sets: str) -> str:
    """The fingerprint of a run with these settings that nothing disturbs."""
    train(tmp_path / "unbroken", *sets)
    return fingerprint(tmp_path / "unbroken")


def state(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "work" / "state.json").read_text())
    return found


def steps_of(out: Path, phase: str) -> list[int]:
    rows = [json.loads(line) for line in (out / "progress.jsonl").read_text().splitlines()]
    return [row["step"] for row in rows if row["phase"] == phase]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}
