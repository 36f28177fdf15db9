"""Do names lead to recipes, and a slip of the pen to a hint?"""

from __future__ import annotations

import pytest

from dragoman.contracts import UserError
from dragoman.system import catalogue
from tests.system import fake


@pytest.fixture
def with_fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catalogue.KINDS, "fake", "tests.system.fake:Fake")
    monkeypatch.setitem(catalogue.PRESETS, "fake-tiny", catalogue.Preset("tests.system.fake:FAKE", "a fake"))


@pytest.mark.usefixtures("with_fake")
def test_a_row_is_all_that_a_kind_needs() -> None:
    assert catalogue.recipe_named("fake-tiny") == fake.FAKE
    assert catalogue.recipe_class("fake") is fake.Fake
    assert catalogue.product_class("fake") is fake.FakeTranslator


@pytest.mark.parametrize("name", catalogue.PRESETS)
def test_every_preset_is_a_recipe_of_a_catalogued_kind(name: str) -> None:
    recipe = catalogue.recipe_named(name)
    assert catalogue.recipe_class(recipe.kind) is type(recipe)


@pytest.mark.parametrize("kind", catalogue.KINDS)
def test_every_kind_says_what_it_is(kind: str) -> None:
    recipe = catalogue.recipe_class(kind)
    assert recipe.kind == kind
    assert ":" in recipe.product


def test_a_misspelt_recipe_gets_a_hint() -> None:
    with pytest.raises(UserError, match="no recipe 'transformer-smal'; did you mean 'transformer-small'"):
        catalogue.recipe_named("transformer-smal")


def test_a_wild_name_gets_the_list() -> None:
    with pytest.raises(UserError, match=r"no recipe 'qqq'; there are: transformer-auto, .*ending in \.toml"):
        catalogue.recipe_named("qqq")


def test_an_unknown_kind_gets_the_list_and_a_hint() -> None:
    with pytest.raises(UserError, match="no kind 'tranformer'; did you mean 'transformer'"):
        catalogue.recipe_class("tranformer")
