"""May everything that runs with Dragoman be used beside an Apache-2.0 product, and is all of it pinned?"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
CONSTRAINTS = ROOT / "constraints.txt"
EXTRAS = ("ctranslate2",)
COPYLEFT = re.compile(r"\bA?GPL|(?<!Lesser )General Public License|Affero", re.IGNORECASE)


def runtime_distributions() -> dict[str, Distribution]:
    """All that `pip install 'dragoman[EXTRAS]'` brings, by following the metadata of what is installed."""
    found: dict[str, Distribution] = {}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    waiting = [Requirement(text) for text in distribution("dragoman").requires or ()]
    waiting += [Requirement(text) for extra in EXTRAS for text in extras[extra]]
    while waiting:
        requirement = waiting.pop()
        extras = requirement.extras or {""}
        wanted = requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in extras)
        name = canonicalize_name(requirement.name)
        if not wanted or name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:  # a variant for another platform
            continue
        waiting += [Requirement(text) for text in found[name].requires or ()]
    return found


RUNTIME = runtime_distributions()


def licence_of(found: Distribution) -> str:
    """What the metadata says of the licence: the expression, else classifiers, else the first line of the text."""
    metadata: Any = found.metadata
    classifiers = [line for line in metadata.get_all("Classifier") or () if line.startswith("License ::")]
    expression = metadata.get("License-Expression") or ""
    return expression or "; ".join(classifiers) or (metadata.get("License") or "").strip().partition("\n")[0]


def test_the_walk_finds_the_libraries() -> None:
    assert {"torch", "numpy", "sentencepiece", "lxml", "sacrebleu", "cyclopts", "rich", "safetensors"} <= set(RUNTIME)


@pytest.mark.parametrize("name", sorted(RUNTIME))
def test_licence_is_known_and_no_gpl(name: str) -> None:
    licence = licence_of(RUNTIME[name])
    assert licence
    assert not COPYLEFT.search(licence)


@pytest.mark.parametrize(("text", "refused"), [("GPL-3.0-only", True), ("AGPL-3.0", True), ("MIT", False)])
def test_copyleft_is_told_from_the_rest(text: str, refused: bool) -> None:
    assert bool(COPYLEFT.search(text)) is refused


def test_everything_is_pinned_to_what_is_installed() -> None:
    lines = [line for line in CONSTRAINTS.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    pins = {str(canonicalize_name(name)): version for name, _, version in (line.partition("==") for line in lines)}
    installed = {name: found.version.partition("+")[0] for name, found in RUNTIME.items()}
    assert installed == {name: pins.get(name) for name in installed}
