"""What was asked of a training run, and may this command go on with it?

work/run.json is written when a run begins. A later command for the same folder is compared with it:
the same, or only other limits, and it goes on; anything else is refused with the differences.
"""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pydantic

from dragoman.contracts import Bitext, Recipe, UserError
from dragoman.corpus.monolingual import Monolingual
from dragoman.durations import format_duration
from dragoman.system.settings import differences, recipe_of_toml, to_toml, value_at
from dragoman.system.store import read_card
from dragoman.texts import Text
from dragoman.whole import write_whole
from dragoman.wording import counted


@dataclass(frozen=True)
class DataFacts:
    """What identifies a bitext: its content. `files` only names it in messages."""

    files: str
    pairs: int
    source_language: str
    target_language: str
    fingerprint: str

    @property
    def identity(self) -> tuple[str, ...]:
        """What is compared."""
        return self.fingerprint, self.source_language, self.target_language

    def __str__(self) -> str:
        return f"{self.files or 'data'} ({self.source_language}-{self.target_language}, {counted(self.pairs, 'pair')})"


@dataclass(frozen=True)
class TextFacts:
    """What identifies text in one language, likewise."""

    files: str
    lines: int
    language: str
    fingerprint: str

    @property
    def identity(self) -> tuple[str, ...]:
        """What is compared."""
        return self.fingerprint, self.language

    def __str__(self) -> str:
        return f"{self.files or 'text'} ({self.language}, {counted(self.lines, 'line')})"


AnyFacts = DataFacts | TextFacts


@dataclass(frozen=True)
class Run:
    """A training run. identity: drawn when it begins, so that a restart is another run.

    threads and device, not 0 and "auto" but what these stand for here, may change on the way; equal
    weights are then not promised.
    complete: false for a model made by --finish, from which training can go on.
    text, reverse: of a back-translation, the second being the fingerprint of the model.
    """

    identity: str
    recipe: str
    train: AnyFacts
    dev: AnyFacts | None
    seed: int
    threads: int
    device: str
    start: str = ""
    start_files: str = ""
    complete: bool = True
    text: TextFacts | None = None
    reverse: str = ""
    reverse_files: str = ""


def new_run(
    recipe: Recipe[Any, Any],
    train: Bitext | Text,
    dev: Bitext | Text | None,
    *,
    seed: int,
    threads: int,
    device: str,
    start: str,
    names: Mapping[str, str],
    text: Monolingual | None = None,
    reverse: str = "",
) -> Run:
    """What this command asks for. start, reverse: fingerprints of the models to go on from, and to translate back
    with. names: for messages."""
    held_out = "held-out lines" if isinstance(train, Text) else "held-out pairs"
    return Run(
        identity=secrets.token_hex(8),
        recipe=to_toml(recipe, commented=False),
        train=facts_of(train, names.get("train", "")),
        dev=None if dev is None else facts_of(dev, names.get("dev", "") or held_out),
        seed=seed,
        threads=threads,
        device=device,
        start=start,
        start_files=names.get("init_from", ""),
        text=None if text is None else text_facts(text, names.get("monolingual", "")),
        reverse=reverse,
        reverse_files=names.get("reverse", ""),
    )


def facts_of(data: Bitext | Text, files: str) -> AnyFacts:
    """What identifies the data, whichever they are."""
    if isinstance(data, Text):
        return text_facts(data, files)
    return DataFacts(files, len(data), data.source_language, data.target_language, data.fingerprint)


def text_facts(text: Text | Monolingual, files: str) -> TextFacts:
    """What identifies a text."""
    return TextFacts(files, len(text), text.language, text.fingerprint)


def write_run(run: Run, path: Path) -> None:
    """Write run.json, whole or not at all."""
    write_whole(path, json.dumps(asdict(run), indent=2, ensure_ascii=False) + "\n")


def read_run(path: Path) -> Run | None:
    """The run of a run.json; None where there is none; UserError where it cannot be read."""
    try:
        return as_run(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: damaged; --restart trains anew") from error


def as_run(table: Mapping[str, Any]) -> Run:
    """Back from plain values. ValueError where they are no run."""
    return pydantic.TypeAdapter(Run).validate_python(table)


def run_of_model(out: Path) -> Run | None:
    """The run that made the model in OUT; None for a model that was saved by hand. UserError where it is damaged."""
    card = read_card(out)
    try:
        return as_run(card.run) if card.run else None
    except ValueError as error:
        raise UserError(f"{out / 'model.json'}: damaged, or not of Dragoman") from error


def read_state(work: Path) -> dict[str, Any]:
    """What a learner wrote to work/state.json of what is done: updates, epochs, seconds; empty at first."""
    path = work / "state.json"
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        done = [state.get(name, 0) for name in ("updates", "epochs", "seconds")]
        if not all(isinstance(figure, int | float) for figure in done):
            raise ValueError(f"no figures: {done}")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as error:
        raise UserError(f"{path}: damaged; --restart trains anew") from error
    return dict(state)


# --- comparing ----------------------------------------------------------------------------------


def refuse_other_work(old: Run, new: Run, out: Path) -> None:
    """UserError that lists what is not as it was; limits apart."""
    before, after = recipe_of(old), recipe_of(new)
    changed = [str(difference) for difference in differences(before, after) if difference.name not in after.limits]
    for name, was, now in (("training data", old.train, new.train), ("dev data", old.dev, new.dev)):
        if (was and was.identity) != (now and now.identity):
            changed.append(f"{name} {was or 'none'} -> {now or 'none'}")
    if old.seed != new.seed:
        changed.append(f"seed {old.seed} -> {new.seed}")
    if (old.text and old.text.fingerprint) != (new.text and new.text.fingerprint):
        changed.append(f"--monolingual {old.text or 'none'} -> {new.text or 'none'}")
    for option, was_model, is_model in (
        ("--reverse", (old.reverse, old.reverse_files), (new.reverse, new.reverse_files)),
        ("--init-from", (old.start, old.start_files), (new.start, new.start_files)),
    ):
        if was_model[0] != is_model[0]:
            changed.append(f"{option} {_model(*was_model)} -> {_model(*is_model)}")
    if changed:
        raise UserError(f"{out} holds other work: {'; '.join(changed)}. --restart trains anew, or choose another --out")


def refuse_passed_limits(old: Run, new: Run, state: Mapping[str, Any], out: Path) -> None:
    """UserError for a limit that is lowered to or below what was done."""
    before, after = recipe_of(old), recipe_of(new)
    for change in differences(before, after):
        if change.name not in after.limits:
            continue
        done = state.get(_figure(change.name), 0)
        was, now = _limit(before, change.name), _limit(after, change.name)
        if now < was and now <= done:
            shown = format_duration(round(done)) if _figure(change.name) == "seconds" else f"{done:,}"
            raise UserError(
                f"{out}: {change.name} = {change.new} is not above what is done already ({shown}); "
                "raise it, or --restart trains anew"
            )


def limits_changed(old: Run, new: Run) -> list[str]:
    """ "training.max_updates 100 -> 200" for each limit that is not as it was."""
    after = recipe_of(new)
    return [str(change) for change in differences(recipe_of(old), after) if change.name in after.limits]


def notes_on_going_on(old: Run, new: Run, state: Mapping[str, Any]) -> list[str]:
    """What the user should know when work goes on."""
    updates = state.get("updates")
    done = f"goes on after {updates:,} updates" if updates else "begins anew: no state of the learning was saved yet"
    notes = ["; ".join([done, *limits_changed(old, new)])]
    for name, was, now in (("threads", old.threads, new.threads), ("device", old.device, new.device)):
        if was != now:
            notes.append(f"{name} {was} -> {now}: the weights may differ slightly from those of an unbroken run")
    return notes


def same_work(one: Run, other: Run) -> bool:
    """The same run brought equally far: limits agree; threads and device need not."""
    return (one.identity, one.complete, recipe_of(one)) == (other.identity, other.complete, recipe_of(other))


def going_on(old: Run, new: Run) -> Run:
    """The old run with the new limits, threads and device."""
    return replace(new, identity=old.identity)


def recipe_of(run: Run) -> Recipe[Any, Any]:
    """The recipe that the run's TOML spells out."""
    return recipe_of_toml(run.recipe, "recipe in run.json")


def _figure(limit: str) -> str:
    """ "training.max_updates" limits the "updates" of state.json, a time budget its "seconds"."""
    name = limit.rpartition(".")[2]
    return "seconds" if name == "time_budget" else name.removeprefix("max_")


def _limit(recipe: Recipe[Any, Any], name: str) -> float:
    """The limit as a number; none and 0 are no limit."""
    return float(value_at(recipe, name) or math.inf)


def _model(fingerprint: str, files: str) -> str:
    return f"{files or 'a model'} ({fingerprint[:8]})" if fingerprint else "none"
