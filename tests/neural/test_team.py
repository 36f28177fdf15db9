"""Do two processes make the same updates as one, and is what they leave the same?"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from dragoman.contracts import Interrupted, Work
from dragoman.corpus.bitext import ListBitext
from dragoman.neural import training
from dragoman.neural.batches import Batch
from dragoman.neural.checkpoints import read_state
from dragoman.neural.lessons import train_translator
from dragoman.neural.recipes import TransformerOptions, TransformerRecipe
from tests.generated import generated_bitext, linked_bitext
from tests.neural import test_lessons

STILL = replace(test_lessons.RECIPE.model, dropout=0.0, attention_dropout=0.0, inner_dropout=0.0)
TRAIN, DEV = generated_bitext(60, "en", "de"), generated_bitext(12, "en", "de", seed=9)
LINKED = linked_bitext(40)


def recipe(model: TransformerOptions, updates: int) -> TransformerRecipe:
    options = replace(test_lessons.RECIPE.training, max_updates=updates, average=1)
    return replace(test_lessons.RECIPE, model=model, training=options)


def learn(
    folder: Path,
    model: TransformerOptions,
    updates: int,
    rank: int = 0,
    world: int = 1,
    stop_after: int = 0,
    train: ListBitext = TRAIN,
) -> None:
    place = folder / f"rank-{rank}"
    place.mkdir(parents=True, exist_ok=True)
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked == stop_after

    work = Work(place, threads=1, rank=rank, world=world, stop=stop)
    with contextlib.suppress(Interrupted):
        train_translator(recipe(model, updates), train, DEV if rank == 0 else None, work)


def learn_all(folder: Path, rank: int) -> None:
    """What each of two processes does for the tests below: one start of the processes serves them all. None of it takes
    torch's compiler, which would be seconds at the start of every training."""
    learn(folder / "still", STILL, 10, rank, 2)
    learn(folder / "linked", STILL, 6, rank, 2, train=LINKED)
    learn(folder / "whole", test_lessons.RECIPE.model, 8, rank, 2)
    learn(folder / "parts", test_lessons.RECIPE.model, 8, rank, 2, stop_after=3)
    if rank == 0:
        (folder / "cut.json").write_text((folder / "parts" / "rank-0" / "state.json").read_text(encoding="utf-8"))
    learn(folder / "parts", test_lessons.RECIPE.model, 8, rank, 2)
    assert "torch._dynamo" not in sys.modules


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which two processes have learnt."""
    folder = tmp_path_factory.mktemp("together")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    meeting = {"PYTHONPATH": ".", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    program = f"from tests.neural.test_team import Path, learn_all; learn_all(Path({str(folder)!r}), "
    processes = [
        subprocess.Popen([sys.executable, "-c", f"{program}{rank})"], env={**os.environ, **meeting})
        for rank in range(2)
    ]
    assert [process.wait(timeout=250) for process in processes] == [0, 0]
    return folder


def assert_close(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    """Weights within 1e-5. A bias of keys adds the same to all scores of a query, so its true gradient is 0 and
    Adam makes steps of rounding noise: it has no effect and is left out."""
    width = STILL.width
    for name in one:
        if name.startswith("weights/"):
            start = width if name.endswith("key_value.bias") else 0
            torch.testing.assert_close(one[name][start:], other[name][start:], rtol=0, atol=1e-5)


def last_state(folder: Path) -> dict[str, torch.Tensor]:
    state = read_state(folder / "rank-0")
    assert state is not None
    return state.tensors


def test_two_processes_make_the_updates_of_one(together: Path, tmp_path: Path) -> None:
    learn(tmp_path, STILL, 10)
    one, two = last_state(tmp_path), last_state(together / "still")
    assert one.keys() == two.keys()
    assert_close(one, two)
    assert not (together / "still" / "rank-1" / "state.json").exists()


def test_two_processes_learn_from_links_as_one_does(together: Path, tmp_path: Path) -> None:
    learn(tmp_path, STILL, 6, train=LINKED)
    assert_close(last_state(tmp_path), last_state(together / "linked"))


def test_a_team_goes_on_as_if_it_had_not_been_interrupted(together: Path) -> None:
    """With dropout: the followers' draws are those of the uninterrupted run too."""
    assert json.loads((together / "cut.json").read_text(encoding="utf-8"))["updates"] == 3
    whole, parts = last_state(together / "whole"), last_state(together / "parts")
    assert whole.keys() == parts.keys()
    assert all(torch.equal(whole[name], tensor) for name, tensor in parts.items())


def test_a_batch_that_does_not_fit_is_taken_in_parts_with_the_same_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch's error is raised here by hand: no device small enough is at hand."""
    learn(tmp_path / "whole", STILL, 6)
    hidden, tried = training.batch_loss, []

    def small_memory(network: object, batch: Batch, *rest: object) -> object:
        tried.append(len(batch.sources_BS))
        if len(batch.sources_BS) > 4:
            raise torch.OutOfMemoryError("out of memory")
        return hidden(network, batch, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(training, "batch_loss", small_memory)
    learn(tmp_path / "parts", STILL, 6)
    assert max(tried) > 4 >= tried[-1]
    assert_close(last_state(tmp_path / "whole"), last_state(tmp_path / "parts"))
