"""Is every row of the catalogue a whole kind, and does it have its row here?"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import pytest

from dragoman.contracts import Ability, DataKind
from dragoman.system.catalogue import KINDS, PRESETS, product_class, recipe_class, recipe_named
from dragoman.system.settings import recipe_of_toml, to_toml, value_at
from dragoman.texts import languages_of
from tests.contract.models import TINY, Trained, every_kind, tiny_recipe


def test_each_kind_has_a_tiny_model_here() -> None:
    assert set(TINY) == set(KINDS), "a new kind adds a row to TINY in tests/contract/models.py"


@pytest.mark.parametrize("kind", KINDS)
def test_the_recipe_is_frozen_data_that_names_its_kind(kind: str) -> None:
    recipe: Any = tiny_recipe(kind)
    assert recipe.kind == kind
    assert isinstance(recipe.data, DataKind)
    field = dataclasses.fields(recipe)[0].name  # TypeError where it is no dataclass
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(recipe, field, None)
    for name in recipe.limits:
        assert isinstance(value_at(recipe, name), int | float)


@pytest.mark.parametrize("kind", KINDS)
def test_the_recipe_survives_its_toml(kind: str) -> None:
    for recipe in (tiny_recipe(kind), recipe_class(kind)()):
        for commented in (True, False):
            assert recipe_of_toml(to_toml(recipe, commented), "recipe.toml") == recipe


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_is_described(kind: str) -> None:
    def undescribed(options: Any) -> list[str]:
        names = []
        for name, info in options.__pydantic_fields__.items():
            if dataclasses.is_dataclass(info.annotation):
                names += [f"{name}.{inner}" for inner in undescribed(info.annotation)]
            elif not info.description:
                names.append(name)
        return names

    assert undescribed(recipe_class(kind)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_has_a_preset(kind: str) -> None:
    assert kind in {recipe_named(name).kind for name in PRESETS}


@pytest.mark.parametrize("kind", KINDS)
def test_abilities_are_known_without_a_model(kind: str) -> None:
    assert all(isinstance(ability, Ability) for ability in product_class(kind).abilities)


@every_kind
def test_the_product_says_what_it_is(model: Trained) -> None:
    assert isinstance(model.product, product_class(model.kind))
    assert model.product.kind == model.kind
    assert model.product.abilities == product_class(model.kind).abilities
    assert languages_of(model.product) == model.data.languages


@every_kind
def test_the_description_is_plain_data(model: Trained) -> None:
    facts = model.product.describe()
    assert isinstance(facts, Mapping)
    assert facts
    json.dumps(dict(facts))
