"""Is what strangers rely on still there, and does every module ask its question?"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import dragoman
from dragoman import contracts

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "dragoman").rglob("*.py"))
IDS = [path.relative_to(ROOT).as_posix() for path in FILES]

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


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_the_first_line_of_a_module_asks_its_question(path: Path) -> None:
    docstring = ast.get_docstring(tree_of(path))
    assert docstring
    assert "?" in docstring.partition("\n\n")[0]


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_a_module_holds_one_idea(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def public_definitions(path: Path) -> Iterator[ast.ClassDef | ast.FunctionDef]:
    for node in tree_of(path).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            yield node


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_public_functions_and_classes_say_what_they_are(path: Path) -> None:
    assert [node.name for node in public_definitions(path) if not ast.get_docstring(node)] == []
