"""One tiny model a kind and test run, shared by all contract tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.contract.models import Trained, trained


@pytest.fixture(scope="session")
def model_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Trained]:
    """The tiny model of a kind, trained when it is first asked for."""
    made: dict[str, Trained] = {}

    def of(kind: str) -> Trained:
        if kind not in made:
            made[kind] = trained(kind, tmp_path_factory.mktemp(kind) / "model")
        return made[kind]

    return of


@pytest.fixture
def model(request: pytest.FixtureRequest, model_of: Callable[[str], Trained]) -> Trained:
    """The model of the kind that the test is run for."""
    return model_of(request.param)
