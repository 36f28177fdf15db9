"""What holds for every test?

A shell that starts the tests in the background makes them ignore Ctrl-C, and so would every process that
they start: the tests of Ctrl-C would test nothing. And no test fails because the machine was slow.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock
from hypothesis import settings

if TYPE_CHECKING:
    from tests.contract.models import Trained

signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# Files and folders that take longest: two processes that begin with them end together. The first one trains a model of
# each kind and compiles the kernels, while another process is at work on tests that want neither.
LONGEST = ("contract/test_life.py", "neural", "contract", "cli", "system", "cleaning", "alignment")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest first."""

    def place(item: pytest.Item) -> int:
        path = item.path.relative_to(Path(__file__).parent)
        names = [path.as_posix(), path.parts[0]]
        return min((LONGEST.index(name) for name in names if name in LONGEST), default=len(LONGEST))

    items.sort(key=place)


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], object]], Path]:
    """A folder that a function fills, once a test run however many processes share it; each of them has a copy of its
    own."""
    own = tmp_path_factory.getbasetemp()
    everybodys = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "made"

    def of(name: str, make: Callable[[Path], object]) -> Path:
        whole = everybodys / name
        whole.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{whole}.lock"):
            if not whole.exists():
                make(Path(f"{whole}.part"))
                Path(f"{whole}.part").rename(whole)
        return Path(shutil.copytree(whole, tmp_path_factory.mktemp(whole.name) / whole.name))

    return of


@pytest.fixture(scope="session")
def model_of(made_once: Callable[[str, Callable[[Path], object]], Path]) -> Callable[[str], Trained]:
    """One tiny model a kind and test run, trained when it is first asked for."""
    from tests.contract.models import train, trained  # loads torch, which who only deals out tests does not want

    made: dict[str, Trained] = {}

    def of(kind: str) -> Trained:
        if kind not in made:
            made[kind] = trained(kind, made_once(f"kinds/{kind}", lambda folder: train(kind, folder)))
        return made[kind]

    return of
