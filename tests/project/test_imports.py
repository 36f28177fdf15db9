"""Do imports point down only, without cycles, and does torch stay in its rooms?"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import dragoman.contracts

PACKAGE = Path(dragoman.contracts.__file__).parent

LEVELS = (
    ("contracts", "stopping", "notices"),
    ("durations", "wording", "abilities", "processes", "texts", "links", "seeing", "compiling", "whole"),
    ("corpus", "evaluation", "drawing"),
    ("cleaning", "text", "search"),
    ("lm", "vectors", "alignment"),
    ("rules", "phrases", "neural"),
    ("system",),
    ("cli", "server"),
    ("__init__", "__main__"),
)
LEVEL_OF = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}
TORCH_IN_SEARCH = {"steps", "beam", "sample", "exact", "combine", "score", "history", "walk"}
HEAVY_AT_THE_DOOR = {"torch", "pydantic", "numpy", "matplotlib", "sentencepiece", "sacrebleu", "lxml", "polib", "rich"}


@dataclass(frozen=True)
class Import:
    """`module` imports `name`; at_start: when the module itself is imported, not later inside a function."""

    module: str
    name: str
    at_start: bool


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts)


def imports_of(path: Path) -> Iterator[Import]:
    def walk(node: ast.AST, at_start: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from (Import(module_name(path), alias.name, at_start) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{path}:{child.lineno}: a relative import"
                yield from (Import(module_name(path), f"{child.module}.{a.name}", at_start) for a in child.names)
            checking = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from walk(child, at_start and not checking and not inside)

    yield from walk(ast.parse(path.read_text(encoding="utf-8")), True)


FILES = sorted(PACKAGE.rglob("*.py"))
MODULES = {module_name(path) for path in FILES}


@pytest.fixture(scope="module")
def imports() -> list[Import]:
    """Every import of the package."""
    return [found for path in FILES for found in imports_of(path)]


def target_module(name: str) -> str | None:
    """The module of ours that `import name` loads, or None for a stranger's."""
    if name.split(".")[0] != "dragoman":
        return None
    for candidate in (name, name.rpartition(".")[0]):
        for module in (candidate, f"{candidate}.__init__"):
            if module in MODULES:
                return module
    raise AssertionError(f"no module for {name}")


def room(module: str) -> str:
    return module.split(".")[1]


def test_every_room_has_its_level() -> None:
    assert {room(module) for module in MODULES} <= set(LEVEL_OF)


def test_imports_point_down_and_siblings_ignore_each_other(imports: list[Import]) -> None:
    wrong = [
        f"{found.module} imports {found.name}"
        for found in imports
        if (target := target_module(found.name)) is not None
        and room(target) != room(found.module)
        and target != "dragoman.__init__"
        and LEVEL_OF[room(target)] >= LEVEL_OF[room(found.module)]
    ]
    assert wrong == []


def test_there_are_no_cycles_when_modules_are_imported(imports: list[Import]) -> None:
    graph: dict[str, set[str]] = {}
    for found in imports:
        target = target_module(found.name)
        if found.at_start and target is not None and target != found.module:
            graph.setdefault(found.module, set()).add(target)
    order = list(TopologicalSorter(graph).static_order())
    assert order


def test_torch_stays_in_its_rooms(imports: list[Import]) -> None:
    users = {found.module for found in imports if found.name.split(".")[0] == "torch"}
    strangers = {
        module
        for module in users
        if not (room(module) == "neural" and module != "dragoman.neural.recipes")
        and not (room(module) == "search" and module.rpartition(".")[2] in TORCH_IN_SEARCH)
    }
    assert strangers == set()


@pytest.mark.parametrize("heavy", sorted(HEAVY_AT_THE_DOOR))
def test_the_command_line_starts_without(imports: list[Import], heavy: str) -> None:
    early = [
        found.module
        for found in imports
        if room(found.module) in ("cli", "__init__", "__main__")
        and found.at_start
        and found.name.split(".")[0] == heavy
    ]
    assert early == []
