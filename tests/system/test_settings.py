"""Does every way of spelling a recipe give the recipe that was meant, or one line that says why not?"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.contracts import UserError
from dragoman.durations import format_duration, parse_duration
from dragoman.system import catalogue
from dragoman.system.settings import (
    differences,
    read_toml,
    recipe_from,
    recipe_of_toml,
    to_toml,
    value_at,
    with_settings,
)
from tests.system.fake import FAKE, Fake, Shape, Steps


@pytest.fixture(autouse=True, scope="module")
def with_fake() -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(catalogue.KINDS, "fake", "tests.system.fake:Fake")
        patch.setitem(catalogue.PRESETS, "fake-tiny", catalogue.Preset("tests.system.fake:FAKE", "a fake"))
        yield


# --- durations ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *[("90s", 90), ("20m", 1200), ("1h30m", 5400), ("0.5h", 1800), ("0", 0), (" 1H30M ", 5400)],
        *[("2d", 172800), ("1h1s", 3601), (20, 20), (1.5, 1.5), ("0s", 0)],
    ],
)
def test_durations_are_read(text: object, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "m", "20 minutes", "-5", "-5m", "30m1h", "1h1h", "nan", "inf", -1, True, None, []]
)
def test_what_is_no_duration_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="duration"):
        parse_duration(text)


@given(st.floats(0, 1e12) | st.integers(0, 10**9).map(float))
def test_a_duration_reads_back_exactly(seconds: float) -> None:
    assert parse_duration(format_duration(seconds)) == seconds


def test_durations_are_short() -> None:
    assert [format_duration(s) for s in (0, 90, 1200, 5400, 86400, 0.5)] == [
        "0s",
        "1m30s",
        "20m",
        "1h30m",
        "1d",
        "0.5s",
    ]


# --- TOML ---------------------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
RECIPES = st.builds(
    Fake,
    shape=st.builds(
        Shape,
        width=st.integers(1, 32).map(lambda n: 2 * n),
        units=st.sampled_from(["words", "signs"]),
        dropout=st.floats(0, 1, exclude_max=True),
        name=TEXT,
        sizes=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3).map(tuple),
    ),
    training=st.builds(
        Steps,
        max_updates=st.integers(1, 10**9),
        max_epochs=st.none() | st.integers(1, 100),
        time_budget=st.floats(0, 1e9),
        pause=st.none() | st.floats(0, 100),
    ),
    shout=st.booleans(),
)


@given(RECIPES, st.booleans())
def test_toml_reads_back_equal(recipe: Fake, commented: bool) -> None:
    assert recipe_of_toml(to_toml(recipe, commented), "x.toml") == recipe


def test_toml_says_everything_and_explains_it() -> None:
    text = to_toml(replace(FAKE, training=Steps(time_budget=5400)))
    table = tomllib.loads(text)
    assert table["kind"] == "fake"
    assert table["shout"] is True
    assert set(table["training"]) == {"max_updates", "max_epochs", "time_budget", "pause", "dropout", "save_every"}
    assert (table["training"]["time_budget"], table["training"]["max_epochs"]) == ("1h30m", "none")
    lines = text.splitlines()
    assert lines[lines.index('units = "words"') - 1] == "# what is counted (words | signs)"
    assert lines[lines.index("max_updates = 10") - 1] == "# updates in all"


def test_toml_without_comments_has_none() -> None:
    assert "#" not in to_toml(FAKE, commented=False)


def test_fields_left_out_take_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('\ufeffkind = "fake"\n[training]\nmax_updates = 500\ntime_budget = "20m"\n', encoding="utf-8")
    assert read_toml(path) == Fake(training=Steps(max_updates=500, time_budget=1200))
    assert recipe_from(str(path), ["max_updates=7"]).training.max_updates == 7  # type: ignore[attr-defined]


REFUSED = [
    (
        'kind = "fake"\n[training]\nmax_updats = 5\n',
        "r.toml:3: no 'max_updats' in [training]; did you mean 'max_updates'?",
    ),
    ('kind = "fake"\n[trainin]\nmax_updates = 5\n', "r.toml:2: no 'trainin'; did you mean 'training'?"),
    ('kind = "fake"\n\nshoot = true\n', "r.toml:3: no 'shoot'; did you mean 'shout'?"),
    ('kind = "fake"\nshape.widht = 2\n', "r.toml:2: no 'widht' in [shape]; did you mean 'width'?"),
    (
        'kind = "fake"\n[shape]\nname = "a"\nwidth = 65\n',
        "r.toml:4: shape.width = 65: should be less than or equal to 64",
    ),
    ('kind = "fake"\n[shape]\nwidth = 5\n', "r.toml:2: shape: heads=2 does not divide width=5"),
    ('kind = "fake"\n[shape]\nunits = "wrds"\n', "r.toml:3: shape.units = 'wrds': should be 'words' or 'signs'"),
    ('kind = "fake"\n[shape]\ndropout = nan\n', "r.toml:3: shape.dropout: not a number"),
    (
        'kind = "fake"\n[training]\ntime_budget = "20k"\n',
        "r.toml:3: training.time_budget = '20k': '20k' is not a duration like 90s, 20m or 1h30m",
    ),
    ('kind = "fake"\nshape = 3\n', "r.toml:2: shape is a table: write [shape] on a line of its own"),
    ('kind = "fak"\n', "r.toml:1: no kind 'fak'; did you mean 'fake'?"),
    ("[shape]\nwidth = 2\n", 'r.toml: no kind; the first line of a recipe says, for example, kind = "transformer"'),
    (
        'kind = "fake"\n[training]\nmax_updates = 0\nmax_epochs = 0\n',
        "r.toml:3: training.max_updates = 0: should be greater than or equal to 1 (and 1 more)",
    ),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_a_slip_in_a_toml_is_named_by_file_and_line(text: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        recipe_of_toml(text, "r.toml")
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_files_that_are_no_recipe(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gone\.toml: no such file or folder"):
        recipe_from(str(tmp_path / "gone.toml"))
    (tmp_path / "a.toml").write_bytes(b'kind = "\xff"')
    with pytest.raises(UserError, match=r"a\.toml: not UTF-8 \(byte 8\)"):
        recipe_from(str(tmp_path / "a.toml"))
    (tmp_path / "b.toml").write_text('kind = "fake"\nx = = 3')
    with pytest.raises(UserError, match=r"b\.toml: not TOML: .*line 2"):
        recipe_from(str(tmp_path / "b.toml"))


# --- --set --------------------------------------------------------------------------------------


def test_settings_are_put_in_by_full_or_by_unique_name() -> None:
    sets = ["training.max_updates=500", "width = 8", "time_budget=1h30m", "pause=2s", "shout=false"]
    sets += ["name=a=b", "sizes=[3, 4]", "units=signs", "shape.dropout=0.5", "max_epochs=none"]
    expected = Fake(
        shape=Shape(width=8, name="a=b", sizes=(3, 4), units="signs", dropout=0.5),
        training=Steps(max_updates=500, time_budget=5400, pause=2),
        shout=False,
    )
    assert recipe_from("fake-tiny", sets) == expected
    assert with_settings(FAKE, ['name="5"', "pause=none"]) == Fake(shape=Shape(name="5"))
    assert with_settings(FAKE, ["max_epochs=3"]).training.max_epochs == 3  # type: ignore[attr-defined]
    assert Fake() == FAKE


def test_settings_are_checked_together() -> None:
    assert with_settings(FAKE, ["width=9", "heads=3"]).shape.width == 9  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("max_updats=5", "--set max_updats: no 'max_updats' in this recipe; did you mean 'max_updates'?"),
        ("training.max_updats=5", "--set training.max_updats: no 'training.max_updats' in this recipe; did you mean"),
        ("dropout=0.3", "--set dropout: which one: shape.dropout, training.dropout?"),
        ("max_updates", "--set max_updates: write name=value"),
        ("=5", "--set =5: write name=value"),
        ("max_updates=few", "--set max_updates=few: training.max_updates = 'few': should be a valid integer"),
        ("max_updates=0", "--set max_updates=0: training.max_updates = '0': should be greater than or equal to 1"),
        ("max_updates=none", "--set max_updates=none: training.max_updates = 'none': should be a valid integer"),
        ("width=5", "--set width=5: shape: heads=2 does not divide width=5"),
        ("shape=5", "--set shape: no 'shape' in this recipe"),
        ("kind=x", "--set kind: no 'kind' in this recipe"),
        ("sizes=[1", "--set sizes=[1: "),
        ("pause=2q", "--set pause=2q: training.pause = '2q': '2q' is not a duration"),
        ("shape.dropout=nan", "--set shape.dropout=nan: "),
    ],
)
def test_a_slip_in_a_setting_is_one_line(setting: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        recipe_from("fake-tiny", [setting])
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


# --- comparing ----------------------------------------------------------------------------------


def test_differences_name_fields_in_order_with_both_values() -> None:
    other = Fake(shape=Shape(width=8), training=Steps(time_budget=60, max_epochs=2), shout=False)
    assert [str(d) for d in differences(FAKE, other)] == [
        "shape.width 4 -> 8",
        "training.max_epochs none -> 2",
        "training.time_budget 0s -> 1m",
        "shout True -> False",
    ]
    assert differences(other, other) == []


def test_two_kinds_differ_in_kind() -> None:
    @pydantic.dataclasses.dataclass(frozen=True)
    class Other(Fake):
        kind = "other"

    assert [str(d) for d in differences(FAKE, Other())] == ["kind fake -> other"]


def test_value_at() -> None:
    assert value_at(FAKE, "training.max_updates") == 10
