"""Are the rows that the benchmarks train the recipes that their names say? (How good they are takes hours.)"""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from typing import Any

import pytest

from benchmarks.families import RECIPES, thirds
from benchmarks.recurrent import SCORES, recipe
from benchmarks.variations import STUDIES
from dragoman.neural.recipes import BAHDANAU, LUONG, TINY
from dragoman.system.catalogue import PRESETS, recipe_named
from dragoman.system.settings import differences, with_settings


def rows_of(study: str) -> dict[str, Any]:
    """The recipe of each row."""
    start = recipe_named(STUDIES[study].recipe)
    return {name: with_settings(start, settings) for name, settings in STUDIES[study].rows().items()}


def test_the_walk_leads_from_one_preset_to_the_other_a_setting_at_a_time() -> None:
    recipes = list(rows_of("walk").values())
    assert recipes[0].model == BAHDANAU.model
    assert recipes[-2].model == LUONG.model
    assert asdict(recipes[-1].model) == asdict(LUONG.model) | {"input_feeding": True}
    changed = [[each.name for each in differences(*pair)] for pair in pairwise(recipes[:5])]
    assert changed == [["model.fuse"], ["model.ask"], ["model.score"], ["model.encoder"]]


@pytest.mark.parametrize("study", ["encoders", "ablation"])
def test_each_row_changes_what_its_name_says_and_no_two_are_equal(study: str) -> None:
    recipes = rows_of(study)
    first = next(iter(recipes.values()))
    changed = {name: [each.name for each in differences(first, made)] for name, made in recipes.items()}
    assert [name for name, fields in changed.items() if not fields] == [next(iter(recipes))]
    assert len({str(made) for made in recipes.values()}) == len(recipes)
    if study == "ablation":
        assert first == TINY
        assert all(len(fields) == (3 if "dropout" in name else 1) for name, fields in list(changed.items())[1:])


def test_families_are_presets_with_settings_that_they_take() -> None:
    for preset, settings in RECIPES.values():
        if preset in PRESETS:
            with_settings(recipe_named(preset), settings)


@pytest.mark.parametrize("attention", SCORES)
def test_the_peers_shape(attention: str) -> None:
    shape = recipe(attention).model
    assert (shape.cell, shape.encoder, shape.score) == ("lstm", "bi", SCORES[attention])
    assert (shape.ask, shape.fuse, shape.input_feeding) == ("after", "outside", True)
    assert {shape.embedding, shape.width, shape.encoder_width} == {256}


def test_thirds_by_length() -> None:
    parts, words = thirds(["a b", "a", "a b c d", "a b c", "w", "v v"])
    assert parts == [[1, 4], [0, 5], [3, 2]]
    assert words == ["1-1 words", "2-2 words", "3-4 words"]
