"""Is somebody who waits for kernels to be compiled told so, once?"""

from __future__ import annotations

from time import sleep

import numba
import pytest
from numba.core import event

from dragoman import notices
from dragoman.compiling import COMPILING, Patience


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    told: list[str] = []
    monkeypatch.setattr(notices, "_listeners", [told.append])
    return told


def compiled_twice() -> None:
    """Two functions that are new each time, and so on no disk."""
    for addend in (1, 2):
        numba.njit(lambda x, addend=addend: x + addend)(1)


def test_it_is_said_once_and_only_when_it_takes_long(heard: list[str]) -> None:
    with event.install_listener("numba:compile", Patience(60)) as patient:
        compiled_twice()
    assert heard == []
    assert 0 < patient.left < 60
    with event.install_listener("numba:compile", Patience(0)):
        compiled_twice()
        sleep(0.05)
    assert heard == [COMPILING]


def test_what_is_compiled_already_is_not_waited_for(heard: list[str]) -> None:
    function = numba.njit(lambda x: x + 3)
    function(1)
    with event.install_listener("numba:compile", Patience(0)) as patient:
        function(2)
    assert heard == []
    assert patient.left == 0
