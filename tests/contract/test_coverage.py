"""Each kind says what of a text it does not know, before it translates it."""

from __future__ import annotations

from dragoman.abilities import CanCover
from tests.contract.models import SOURCES, Trained, every_translator


@every_translator
def test_what_it_was_trained_on_is_known_and_strange_signs_are_not(model: Trained) -> None:
    assert isinstance(model.translator, CanCover)
    known = model.translator.coverage(SOURCES)
    assert known.units > 20
    assert known.unknown_share < 0.2
    strange = model.translator.coverage([*SOURCES, "ⵣⵣ ⵣⵣ"])
    assert {unit for unit in strange.unknown if "ⵣ" in unit}
    assert strange.unknown_share > known.unknown_share
    assert strange.units > known.units


@every_translator
def test_white_space_is_no_unit_and_nothing_is_nothing(model: Trained) -> None:
    assert isinstance(model.translator, CanCover)
    nothing = model.translator.coverage(["", " \u3000"])
    assert (nothing.units, dict(nothing.unknown), nothing.unknown_share, nothing.too_long) == (0, {}, 0, 0)
    assert model.translator.coverage([]).units == 0
