"""What holds for every test?

A shell that starts the tests in the background makes them ignore Ctrl-C, and so would every process that
they start: the tests of Ctrl-C would test nothing. And no test fails because the machine was slow.
"""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest
from hypothesis import settings

from tests.contract.models import Trained, trained

signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture(scope="session")
def model_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Trained]:
    """One tiny model a kind and test run, trained when it is first asked for."""
    made: dict[str, Trained] = {}

    def of(kind: str) -> Trained:
        if kind not in made:
            made[kind] = trained(kind, tmp_path_factory.mktemp(kind) / "model")
        return made[kind]

    return of
