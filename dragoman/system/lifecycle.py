"""How does a folder live, from the first training step to a model that others load?

While training everything lies in OUT/work, locked against a second process. The same command goes
on with unfinished work, says so of finished work, and with a limit raised goes on from the last
state; other data or settings are refused with the differences. An old model stays where it is until
the new one replaces it.
"""

from __future__ import annotations

import os
import platform
import shutil
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dragoman.contracts import Bitext, Interrupted, Product, Progress, Recipe, UserError, Work, never, quiet
from dragoman.evaluation.curves import learning_curve
from dragoman.processes import cores
from dragoman.system import runs, store
from dragoman.system.backtranslation import (
    FOLDER,
    Backtranslation,
    check_reverse,
    choices_of,
    pairs_found,
    synthetic_pairs,
    without_seconds,
)
from dragoman.system.journal import Journal, last_dev_figures, rows_of
from dragoman.system.remembered import remembered
from dragoman.system.settling import settled_recipe, shared_recipe
from dragoman.texts import Text, languages_of


@dataclass(frozen=True)
class Outcome:
    """product: None where the model was finished already. facts: what report.json says of the training."""

    product: Any
    already_finished: bool
    facts: Mapping[str, Any]


def train_model(
    recipe: Recipe[Any, Any],
    train: Bitext | Text,
    dev: Bitext | Text | None,
    out: Path,
    *,
    seed: int = 1,
    device: str = "cpu",
    threads: int = 0,
    restart: bool = False,
    discard_work: bool = False,
    init_from: Path | None = None,
    backtranslation: Backtranslation | None = None,
    report: Callable[[Progress], None] = quiet,
    stop: Callable[[], bool] = never,
    began: float | None = None,
    command: Mapping[str, str] | None = None,
    world: int = 1,
) -> Outcome:
    """Train `recipe` into the model folder `out`, or go on with what is there.

    backtranslation: text in the target language, and the model that makes pairs of it before the training.
    command: how the user named "train", "dev", "monolingual", for messages; content is compared.
    world: so many processes train together, this one leading; the others are in `settling.follow_training`.
    UserError: other work in the folder, a limit lowered too far, another process there. Interrupted
    where `stop` said so; the same call then goes on, or begins anew where the recipe has no limits.
    """
    began = time.monotonic() if began is None else began
    runs_on = store.resolve_device(recipe.kind, device)
    reverse = ""
    if backtranslation is not None:
        choices_of(recipe)
        source, target = languages_of(train)
        reverse = check_reverse(backtranslation.reverse, source, target).fingerprint
    check_folder(out)
    _make_folder(out)
    start, start_fingerprint = _start(recipe, train, init_from, out, device, report)
    names = {
        "init_from": str(init_from or ""),
        "reverse": str(backtranslation.reverse) if backtranslation else "",
        **(command or {}),
    }
    asked = runs.new_run(
        recipe,
        train,
        dev,
        seed=seed,
        threads=threads or cores(),
        device=runs_on,
        start=start_fingerprint,
        names=names,
        text=backtranslation.text if backtranslation else None,
        reverse=reverse,
    )
    with store.locked(out):
        store.roll_forward(out)
        for left_over in (out / "work").glob(".*.part"):  # of a process that was killed while it wrote
            if left_over.is_file():  # folders are found by their names, and filled anew
                left_over.unlink()
        if restart or (out / "work" / "clearing").exists():
            _clear(out / "work")
        run = _agreed(asked, out, restart, report)
        finished = _is_finished(out, run)
        if finished:
            shared_recipe(recipe, None, 0, world, device)
            outcome = Outcome(None, True, store.read_report(out))
        else:
            runs.write_run(run, out / "work" / "run.json")
            work = Work(out / "work", report, seed, device, threads, began, stop, start=start, world=world)
            try:
                outcome = _learn(recipe, train, dev, run, work, out, backtranslation)
            except Interrupted as interruption:
                if recipe.limits:
                    raise
                raise Interrupted("interrupted; the same command begins anew") from interruption
            except UserError:
                if not runs.read_state(out / "work"):  # nothing was learnt: leave the folder free for another command
                    _clear(out / "work")
                raise
        if discard_work:
            _clear(out / "work", keep=())
            store.remove_lock(out)
    return outcome


def finish_model(
    out: Path,
    *,
    device: str = "cpu",
    threads: int = 0,
    report: Callable[[Progress], None] = quiet,
    stop: Callable[[], bool] = never,
) -> Outcome:
    """Make a model of the best checkpoint so far in OUT/work; the train command can still go on with it.

    The learner is given data that know their facts but hold nothing.
    """
    run_file = out / "work" / "run.json"
    if not run_file.exists() or (out / "work" / "clearing").exists():
        store.read_card(out)
        raise UserError(f"{out}: finished, and its work was discarded; there is nothing more to make of it")
    with store.locked(out):
        store.roll_forward(out)
        run = runs.read_run(run_file)
        if run is None:
            raise UserError(f"{out}: nothing to finish; no training is under way there")
        if _is_finished(out, run):
            return Outcome(None, True, store.read_report(out))
        if not runs.read_state(out / "work"):
            raise UserError(f"{out}: nothing to finish yet; training has saved no state")
        recipe = runs.recipe_of(run)
        store.resolve_device(recipe.kind, device)
        work = Work(out / "work", report, run.seed, device, threads, stop=stop, finish=True)
        dev = None if run.dev is None else remembered(run.dev)
        return _learn(recipe, remembered(run.train), dev, replace(run, complete=False), work, out)


# --- may this command go on? --------------------------------------------------------------------


def _agreed(asked: runs.Run, out: Path, restart: bool, report: Callable[[Progress], None]) -> runs.Run:
    """The run to carry out: the one in the folder where the command asks for the same, else a new one."""
    old = runs.read_run(out / "work" / "run.json")
    if old is None and not restart and (out / "model.json").exists():
        return _agreed_with_model(asked, out)
    if old is None:
        _clear(out / "work")
        return asked
    state = runs.read_state(out / "work")
    runs.refuse_other_work(old, asked, out)
    runs.refuse_passed_limits(old, asked, state, out)
    run = runs.going_on(old, asked)
    if not _is_finished(out, run):
        for note in runs.notes_on_going_on(old, asked, state):
            report(Progress("resuming", note=note))
    return run


def _agreed_with_model(asked: runs.Run, out: Path) -> runs.Run:
    """The run that made the model in a folder without work; UserError where it would have to go on."""
    old = runs.run_of_model(out)
    if old is None:
        raise UserError(f"{out}: holds a model that `train` did not make; --restart replaces it")
    runs.refuse_other_work(old, asked, out)
    changed = runs.limits_changed(old, asked)
    if changed or not old.complete:
        why = f"; {'; '.join(changed)}" if changed else ""
        raise UserError(
            f"{out}: cannot go on, its work was discarded{why}. "
            f"--init-from {out} with another --out starts from this model, --restart trains anew"
        )
    return old


def _is_finished(out: Path, run: runs.Run) -> bool:
    if not (out / "model.json").exists():
        return False
    made = runs.run_of_model(out)
    return made is not None and runs.same_work(made, run)


def check_folder(out: Path) -> None:
    """UserError where the folder is somebody's own: nothing in it may be overwritten or cleared. Writes nothing."""
    there = next((path for path in (out, *out.absolute().parents) if path.exists()), out)
    if not there.is_dir() or not os.access(there, os.W_OK):
        why = "cannot be written to" if there.is_dir() else "is a file"
        raise UserError(f"{there}: {why}; --out names a folder for the model")
    if there != out:
        return
    try:
        names = {path.name for path in out.iterdir() if not path.name.startswith(".")}
        work = {path.name for path in (out / "work").iterdir()} if "work" in names else set()
    except OSError as error:
        raise UserError(f"{out}: {error.strerror}; --out names a folder for the model") from error
    if "model.json" in names:
        store.read_card(out)
    elif not work & {"run.json", "clearing", "publish", FOLDER} and (names - {"work"} or work - {"lock"}):
        raise UserError(f"{out}: holds other files; name a new or empty folder as --out")


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{out}: {error.strerror}; --out names a folder for the model") from error


def _start(
    recipe: Recipe[Any, Any],
    train: Bitext | Text,
    init_from: Path | None,
    out: Path,
    device: str,
    report: Callable[[Progress], None],
) -> tuple[Product | None, str]:
    """The model to go on from and its fingerprint; UserError where this recipe and data cannot."""
    if init_from is None:
        return None, ""
    if not recipe.limits:
        raise UserError(f"--init-from {init_from}: {recipe.kind} counts anew each time, so it would be dropped")
    if init_from.resolve() == out.resolve():
        raise UserError(f"--init-from {init_from}: is --out as well; choose another --out")
    start: Product = store.load_model(init_from, device)
    card = store.read_card(init_from)
    if card.kind != recipe.kind:
        raise UserError(f"--init-from {init_from}: is of the kind {card.kind}; the recipe trains {recipe.kind}")
    was, now = card.languages, languages_of(train)
    knows = "translates" if card.source_language else "is for"
    if was == now[::-1] and was != now:
        raise UserError(f"--init-from {init_from}: {knows} {'-'.join(was)}, the data is {'-'.join(now)}")
    if was != now:
        note = f"the model of --init-from {knows} {'-'.join(was)}, the data is {'-'.join(now)}"
        report(Progress("reading", note=note))
    return start, card.fingerprint


# --- training -----------------------------------------------------------------------------------


def _learn(
    recipe: Recipe[Any, Any],
    train: Bitext | Text,
    dev: Bitext | Text | None,
    run: runs.Run,
    work: Work,
    out: Path,
    backtranslation: Backtranslation | None = None,
) -> Outcome:
    """Train, make the model folder aside, and put it in the place of the old one.

    Synthetic pairs are made first; the schedule and the clock of the learner begin after that.
    """
    progress, curve = work.folder / "progress.jsonl", work.folder / "learning_curve.png"
    with Journal(progress, work.report, runs.read_state(work.folder).get("updates", 0)) as journal:
        given, synthetic = replace(work, report=journal), None
        recipe = settled_recipe(recipe, train, given)
        shared_recipe(recipe, recipe, work.rank, work.world, work.device)
        learning = recipe
        if run.text is not None:
            if backtranslation is None or runs.read_state(work.folder):
                synthetic = pairs_found(work.folder, *languages_of(train))
            else:
                synthetic = synthetic_pairs(backtranslation, recipe, languages_of(train)[0], given)
            learning = without_seconds(recipe, synthetic.made.seconds)
            given = replace(given, synthetic=synthetic, began=work.began + synthetic.seconds_now)
        product = learning.train(train, dev, given)
    rows = rows_of(progress)
    drawn = any(row.get("phase") == "training" for row in rows) and learning_curve(rows, curve)
    state = runs.read_state(work.folder)
    facts = {
        "kind": recipe.kind,
        "languages": "-".join(languages_of(train)),
        "train": str(run.train),
        "dev": str(run.dev) if run.dev else None,
        **({"synthetic": {"from": str(run.text), "by": run.reverse_files, **synthetic.facts()}} if synthetic else {}),
        "seed": run.seed,
        "device": run.device,
        "threads": run.threads,
        "seconds": round(max(time.monotonic() - work.began, state.get("seconds", 0.0)), 1),  # of all sittings
        "done": {name: state[name] for name in ("updates", "epochs") if state.get(name)},
        **({"ended": state["done"] or "on request"} if "done" in state else {}),
        "dev_figures": {name: _short(value) for name, value in last_dev_figures(rows).items()},
        "python": platform.python_version(),
        "model": dict(product.describe()),
    }
    finished = work.folder / "finished"
    shutil.rmtree(finished, ignore_errors=True)
    records = [progress, curve] if drawn else [progress]
    store.save_model(product, recipe, finished, facts, run=asdict(run), records=records)
    store.publish(finished, out)
    return Outcome(product, False, store.read_report(out))


def _short(value: object) -> object:
    return round(value, 3) if isinstance(value, float) else value


def _clear(work: Path, keep: Collection[str] = (FOLDER,)) -> None:
    """Empty OUT/work but for the lock and what a back-translation made, which takes long and is known by its content.

    A clearing that was cut is known by its mark and done again.
    """
    mark = work / "clearing"
    mark.touch()
    for path in work.iterdir():
        if path.name in ("lock", mark.name, *keep):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    mark.unlink()
