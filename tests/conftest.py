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

import pytest
from filelock import FileLock
from hypothesis import settings

from tests.contract.models import Trained, train, trained

signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


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
    made: dict[str, Trained] = {}

    def of(kind: str) -> Trained:
        if kind not in made:
            made[kind] = trained(kind, made_once(f"kinds/{kind}", lambda folder: train(kind, folder)))
        return made[kind]

    return of
