"""Is a model, of every kind, the same after saving, stopping, killing and training again?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import dragoman
from dragoman.contracts import Interrupted, UserError
from dragoman.system import lifecycle
from dragoman.system.catalogue import model_kinds
from dragoman.system.lifecycle import train_model
from dragoman.system.settings import recipe_of_toml
from dragoman.system.store import load_model, read_card, save_model
from dragoman.system.verbs import own_verb
from tests.contract import models
from tests.contract.models import USE, Trained, after, every_kind, said, tiny_recipe, train

ROOT = Path(dragoman.__file__).parents[1]
STAGES = (2, 33)  # how often `stop` says no before it says yes, run after run


# --- folders --------------------------------------------------------------------------------------


@every_kind
def test_the_folder_is_a_whole_model(model: Trained) -> None:
    card = read_card(model.folder)
    assert (card.kind, card.languages) == (model.kind, model.data.languages)
    names = {path.relative_to(model.folder).as_posix() for path in model.folder.rglob("*") if path.is_file()}
    kept = {name for name in names if not name.startswith("work/")}
    assert kept == {"model.json", *card.checksums, *card.records}
    recipe = recipe_of_toml((model.folder / "recipe.toml").read_text(encoding="utf-8"), "recipe.toml")
    assert recipe == model.recipe
    assert json.loads((model.folder / "report.json").read_text(encoding="utf-8"))["kind"] == model.kind


@every_kind
def test_the_folder_holds_no_pickle(model: Trained) -> None:
    """Neither a stream of Python's pickle (protocol 2 and later begin so) nor torch's archive of one."""
    for path in model.folder.rglob("*"):
        if path.is_file():
            start = path.read_bytes()[:2]
            assert start not in {bytes([0x80, protocol]) for protocol in range(2, 6)}, path
            assert not zipfile.is_zipfile(path), path


@every_kind
def test_what_is_saved_again_says_the_same(model: Trained, tmp_path: Path) -> None:
    card = save_model(model.product, model.recipe, tmp_path / "copy")
    assert card.fingerprint == read_card(model.folder).fingerprint
    assert said(load_model(tmp_path / "copy")) == said(model.product)


@every_kind
def test_loading_by_the_short_way(model: Trained) -> None:
    assert said(dragoman.load(model.folder)) == said(model.product)
    assert dragoman.load(str(model.folder)).kind == model.kind


@every_kind
def test_use_changes_nothing(model: Trained) -> None:
    assert said(model.product) == said(model.product)
    card = read_card(model.folder)
    assert said(load_model(model.folder)) == said(model.product)
    assert read_card(model.folder) == card


@every_kind
def test_damage_is_noticed(model: Trained, tmp_path: Path) -> None:
    save_model(model.product, model.recipe, tmp_path / "copy")
    largest = max(read_card(tmp_path / "copy").checksums, key=lambda name: (tmp_path / "copy" / name).stat().st_size)
    data = bytearray((tmp_path / "copy" / largest).read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "copy" / largest).write_bytes(data)
    with pytest.raises(UserError, match="damaged"):
        load_model(tmp_path / "copy")


def test_only_networks_load_torch(model_of: Callable[[str], Trained]) -> None:
    """Those that are none come first; whatever comes out of a new process comes out of this one too."""
    every = sorted(map(model_of, model_kinds()), key=is_network)
    uses = [
        f"product = dragoman.load({str(one.folder)!r}); "
        f"print(json.dumps([{USE[own_verb(one.kind)]}, 'torch' in sys.modules]))"
        for one in every
    ]
    command = [sys.executable, "-c", "\n".join(["import sys, json, dragoman", *uses])]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    for one, line in zip(every, done.stdout.splitlines(), strict=True):
        assert json.loads(line) == [eval(USE[own_verb(one.kind)], {"product": one.product}), is_network(one)], one.kind
    assert {is_network(one) for one in every} == {True, False}


def is_network(model: Trained) -> bool:
    return type(model.product).__module__.startswith("dragoman.neural")


# --- training -------------------------------------------------------------------------------------


@every_kind
def test_the_same_command_says_that_it_is_done(model: Trained) -> None:
    card = read_card(model.folder)
    again = train(model.kind, model.folder)
    assert again.already_finished
    assert again.product is None
    assert read_card(model.folder) == card


@pytest.fixture
def undrawn(model: Trained, monkeypatch: pytest.MonkeyPatch) -> None:
    """A learning curve takes half a second; that of the model itself is drawn."""
    monkeypatch.setattr(lifecycle, "learning_curve", lambda rows, path: False)


@every_kind
@pytest.mark.usefixtures("undrawn")
def test_stopped_and_resumed_it_equals_the_uninterrupted_and_so_does_a_second_run(
    model: Trained, tmp_path: Path
) -> None:
    told = ""
    for times in STAGES:
        try:
            train(model.kind, tmp_path / "model", stop=after(times, lambda: True))
        except Interrupted as interruption:
            assert not (tmp_path / "model" / "model.json").exists()
            told = str(interruption)
    assert told == ("" if model.recipe.limits else "interrupted; the same command begins anew")
    train(model.kind, tmp_path / "model")
    assert read_card(tmp_path / "model").fingerprint == read_card(model.folder).fingerprint


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each kind, left by a process that was killed in the midst of the training of all of them."""
    folder = tmp_path_factory.mktemp("killed")
    command = [sys.executable, "-m", "tests.contract.models", str(folder), *model_kinds()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        os.kill(process.pid, signal.SIGKILL)
    return folder


@every_kind
@pytest.mark.usefixtures("undrawn")
@pytest.mark.timeout(180)
def test_killed_and_begun_again_it_equals_the_uninterrupted(model: Trained, killed: Path) -> None:
    out = killed / model.kind
    assert not (out / "model.json").exists()
    train(model.kind, out)
    assert read_card(out).fingerprint == read_card(model.folder).fingerprint


@every_kind
def test_other_data_is_refused_and_the_model_stays(model: Trained) -> None:
    data, before = model.data, said(model.product)
    with pytest.raises(UserError, match="train") as refused:
        train_model(tiny_recipe(model.kind), data.other, data.dev, model.folder, seed=models.SEED, threads=1)
    assert "\n" not in str(refused.value)
    assert said(load_model(model.folder)) == before


@every_kind
@pytest.mark.usefixtures("undrawn")
def test_training_without_a_dev_set_makes_a_model(model: Trained, tmp_path: Path) -> None:
    outcome = train_model(tiny_recipe(model.kind), model.data.few, None, tmp_path / "model", seed=1, threads=1)
    assert outcome.product is not None
    assert any(text.strip() for text in said(load_model(tmp_path / "model")))
