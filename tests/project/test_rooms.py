"""Are the picture of the rooms and the pages in docs/ true of the code?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.project.test_imports import LEVELS
from tests.scripts import script

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "dragoman"
PAGES = [ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]

FILE = re.compile(r"`((?:[a-z]+/)+\w+\.py)`")
SYMBOLS = re.compile(r"`([a-z]+/\w+\.py)`: (`[^`]+`(?:, `[^`]+`)*)")
PROMISE = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


ROOMS = script("draw_rooms")


@pytest.fixture(scope="module")
def house() -> Any:
    """What the drawing reads in the code."""
    return ROOMS.read_house(PACKAGE)


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_the_picture_is_what_would_be_drawn(house: Any) -> None:
    assert text_of(ROOT / "docs" / "rooms.svg") == ROOMS.draw(house), "python docs/draw_rooms.py"


def test_the_table_of_rooms_is_what_would_be_written(house: Any) -> None:
    page = text_of(ROOT / "ARCHITECTURE.md")
    assert page == ROOMS.with_table(page, house), "python docs/draw_rooms.py"


def test_the_picture_shows_every_file_and_every_import(house: Any) -> None:
    root = ElementTree.fromstring(text_of(ROOT / "docs" / "rooms.svg"))
    shown = " ".join("".join(root.itertext()).split())
    files = {path.stem for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE and path.stem != "__init__"}
    assert [name for name in files if name not in shown] == []
    arrows = [path.get("marker-end") for path in root.iter("{http://www.w3.org/2000/svg}path")]
    for room in {whom for _, whom in house.imports | house.named}:
        pointed = [edge for edge in house.imports | house.named if edge[1] == room]
        assert arrows.count(f"url(#to-{room})") == len(pointed)


def test_the_floors_of_the_picture_are_the_levels_that_imports_obey() -> None:
    levels = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}
    rooms = [room for floor in ROOMS.FLOORS for room in floor if room in levels]
    assert set(rooms) == set(levels) - {"stopping", "notices", *LEVELS[1], "__init__", "__main__"}
    assert [levels[room] for room in rooms] == sorted(levels[room] for room in rooms)
    assert [ROOMS.FLOOR_OF[room] == ROOMS.FLOOR_OF[other] for room in rooms for other in rooms] == [
        levels[room] == levels[other] for room in rooms for other in rooms
    ]


def test_an_import_that_points_up_cannot_be_drawn(tmp_path: Path) -> None:
    for room, line in (("corpus", "from dragoman.system import store"), ("system", "")):
        (tmp_path / "dragoman" / room).mkdir(parents=True)
        (tmp_path / "dragoman" / room / "__init__.py").write_text(f'"""What?"""\n{line}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="corpus imports system"):
        ROOMS.read_house(tmp_path / "dragoman")


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_files_that_a_page_names_exist(page: Path) -> None:
    named = FILE.findall(text_of(page))
    assert [name for name in named if not (PACKAGE / name).exists() and not (ROOT / name).exists()] == []


def symbols_of(page: Path) -> Iterator[tuple[str, str]]:
    """(file, identifier) of every "`room/file.py`: `name`, `Class.name`"."""
    for file, names in SYMBOLS.findall(text_of(page)):
        for name in re.findall(r"[A-Za-z_]\w*", names):
            yield file, name


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_symbols_that_a_page_places_are_there(page: Path) -> None:
    missing = [
        f"{file}: {name}" for file, name in symbols_of(page) if not re.search(rf"\b{name}\b", text_of(PACKAGE / file))
    ]
    assert missing == []


def test_every_promise_to_users_has_its_test() -> None:
    promises = PROMISE.findall(text_of(ROOT / "ARCHITECTURE.md"))
    assert len(promises) >= 10
    assert [f"{file}::{test}" for file, test in promises if f"def {test}(" not in text_of(ROOT / file)] == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "methods").glob("*.md")), ids=lambda page: page.stem)
def test_a_method_is_explained_in_both_languages_with_the_same_symbols(page: Path) -> None:
    chinese = ROOT / "docs" / "zh" / "methods" / page.name
    assert sorted(symbols_of(chinese)) == sorted(symbols_of(page))
