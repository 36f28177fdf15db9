"""Is what strangers rely on still there, and does every module ask its question?"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import dragoman
from dragoman import contracts

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "dragoman").rglob("*.py"))

CONTRACTS = [
    "Ability",
    "Bitext",
    "CanScore",
    "DataKind",
    "Flag",
    "Hypothesis",
    "Interrupted",
    "Link",
    "Origin",
    "PieceTable",
    "Progress",
    "Recipe",
    "Record",
    "Request",
    "Sampling",
    "Score",
    "SearchOptions",
    "Segmenter",
    "SentencePair",
    "Span",
    "Translation",
    "Translator",
    "UserError",
    "Work",
    "never",
    "quiet",
]


def test_the_package_offers_load_and_its_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(dragoman.__all__) == {"load", "__version__"}
    assert dragoman.__version__ == project["version"]
    assert callable(dragoman.load)


def test_the_contracts_are_there() -> None:
    assert [name for name in CONTRACTS if not hasattr(contracts, name)] == []


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    """The syntax tree of every module, by its file."""
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in FILES}


def test_the_first_line_of_a_module_asks_its_question(trees: dict[str, ast.Module]) -> None:
    first = {name: (ast.get_docstring(tree) or "").partition("\n\n")[0] for name, tree in trees.items()}
    assert [name for name, words in first.items() if "?" not in words] == []


def test_a_module_holds_one_idea() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {path: length for path, length in lengths.items() if length > 400} == {}


def public_definitions(tree: ast.Module) -> Iterator[ast.ClassDef | ast.FunctionDef]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            yield node


def test_public_functions_and_classes_say_what_they_are(trees: dict[str, ast.Module]) -> None:
    silent = [
        f"{name}: {node.name}"
        for name, tree in trees.items()
        for node in public_definitions(tree)
        if not ast.get_docstring(node)
    ]
    assert silent == []
