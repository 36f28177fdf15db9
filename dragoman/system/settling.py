"""Which recipe is trained, once the corpus and the process that leads have had their say?"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from dragoman.contracts import Bitext, Recipe, Unsettled, UserError, Work, quiet
from dragoman.system import store
from dragoman.system.settings import read_toml, recipe_of_toml, to_toml
from dragoman.texts import Text
from dragoman.whole import write_whole


def follow_training(
    recipe: Recipe[Any, Any],
    train: Bitext | Text,
    *,
    rank: int,
    world: int,
    seed: int = 1,
    device: str = "cpu",
    threads: int = 0,
    init_from: Path | None = None,
) -> None:
    """Train along with the process that leads, which alone decides and writes; nothing is left here."""
    start = None if init_from is None else store.load_model(init_from, device)
    with tempfile.TemporaryDirectory(prefix="dragoman-") as folder:
        settled = shared_recipe(recipe, None, rank, world, device)
        if settled is not None:
            work = Work(Path(folder), quiet, seed, device, threads, start=start, rank=rank, world=world)
            settled.train(train, None, work)


def shared_recipe(
    recipe: Recipe[Any, Any], settled: Recipe[Any, Any] | None, rank: int, world: int, device: str
) -> Recipe[Any, Any] | None:
    """The settled recipe of the process that leads, in all of them; None where it has nothing to train.

    UserError for a kind that learns alone.
    """
    if world == 1:
        return settled
    if not recipe.several_processes:
        raise UserError(f"kind {recipe.kind!r} learns in one process; start it without torchrun")
    from dragoman.neural import team

    told = team.call(rank, world, device, to_toml(settled) if settled else "")
    return recipe_of_toml(told, "the recipe of the process that leads") if told else None


def settled_recipe(recipe: Recipe[Any, Any], train: Bitext | Text, work: Work) -> Recipe[Any, Any]:
    """The recipe with nothing left open, kept in the work folder from the first time on."""
    if not isinstance(recipe, Unsettled):
        return recipe
    kept = work.folder / "settled.toml"
    settled = recipe.settle(train, work, read_toml(kept) if kept.exists() else None)
    write_whole(kept, to_toml(settled))
    return settled
