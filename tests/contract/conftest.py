"""Which kind's tiny model is a contract test run for?"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.contract.models import Trained


@pytest.fixture
def model(request: pytest.FixtureRequest, model_of: Callable[[str], Trained]) -> Trained:
    """The model of the kind that the test is run for."""
    return model_of(request.param)
