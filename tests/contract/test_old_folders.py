"""Are folders read that an older Dragoman wrote, before options came to be that now have a default?

Of every kind's folder, as it is written today, all that stands at its default is taken out again: whatever came
later, an older folder lacks no more than that.
"""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
import tomlkit

from dragoman.contracts import UserError
from dragoman.neural.seq2seq import NETWORKS
from dragoman.system.catalogue import recipe_class
from dragoman.system.lifecycle import train_model
from dragoman.system.settings import recipe_of_toml, to_toml
from dragoman.system.store import flush_and_sum, load_model
from tests.contract.models import SEED, Trained, every_kind, said


def without(table: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    """What is not as usual, tables in tables alike."""
    return {
        name: without(value, usual[name]) if isinstance(value, dict) else value
        for name, value in table.items()
        if isinstance(value, dict) or value != usual.get(name)
    }


def shortened(toml: str, kind: str) -> str:
    """A recipe's TOML without what stands at its default."""
    table = tomllib.loads(toml)
    return tomlkit.dumps({"kind": kind} | without(table, tomllib.loads(to_toml(recipe_class(kind)()))))


def aged(model: Trained, folder: Path) -> int:
    """A copy of the model as one that knows no defaults would have written it. Returns how many options it lacks."""
    shutil.copytree(model.folder, folder)
    gone = 0
    card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    run = json.loads((folder / "work" / "run.json").read_text(encoding="utf-8"))
    for table in (card["run"], run):
        gone += len(table["recipe"]) - len(shortened(table["recipe"], model.kind))
        table["recipe"] = shortened(table["recipe"], model.kind)
    recipe = (folder / "recipe.toml").read_text(encoding="utf-8")
    (folder / "recipe.toml").write_text(shortened(recipe, model.kind), encoding="utf-8")
    if model.kind in NETWORKS:
        usual = resolve_name(NETWORKS[model.kind][1])()
        facts = json.loads((folder / "network.json").read_text(encoding="utf-8"))
        facts["model"] = {name: value for name, value in facts["model"].items() if value != getattr(usual, name)}
        (folder / "network.json").write_text(json.dumps(facts), encoding="utf-8")
        card["checksums"]["network.json"] = flush_and_sum(folder)["network.json"]
    (folder / "model.json").write_text(json.dumps(card), encoding="utf-8")
    (folder / "work" / "run.json").write_text(json.dumps(run), encoding="utf-8")
    return gone


@every_kind
def test_what_an_older_folder_lacks_stands_at_its_default(model: Trained, tmp_path: Path) -> None:
    folder = tmp_path / "old"
    assert aged(model, folder) > 0
    old = load_model(folder)
    assert said(old) == said(model.product)
    assert old.describe() == model.product.describe()
    assert recipe_of_toml((folder / "recipe.toml").read_text(encoding="utf-8"), "recipe.toml") == model.recipe
    assert train_model(model.recipe, model.data.train, model.data.dev, folder, seed=SEED, threads=1).already_finished


@pytest.mark.parametrize("model", ["rnn", "transformer"], indirect=True)
@pytest.mark.parametrize("option", [{"later": 1}, {"score": "cosine"}], ids=["option", "score"])
def test_what_only_others_have_is_told_in_a_line(model: Trained, tmp_path: Path, option: dict[str, Any]) -> None:
    folder = tmp_path / "other"
    shutil.copytree(model.folder, folder)
    facts = json.loads((folder / "network.json").read_text(encoding="utf-8"))
    facts["model"] |= option
    (folder / "network.json").write_text(json.dumps(facts), encoding="utf-8")
    card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    card["checksums"]["network.json"] = flush_and_sum(folder)["network.json"]
    (folder / "model.json").write_text(json.dumps(card), encoding="utf-8")
    with pytest.raises(UserError) as refused:
        load_model(folder)
    assert str(refused.value).startswith(f"{folder}: this Dragoman makes no such {model.kind}: ")
    assert next(iter(option.values() if "score" in option else option)) in str(refused.value)
    assert "\n" not in str(refused.value)
