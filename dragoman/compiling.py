"""How do loops over arrays run at the speed of C? (Importing this loads numba: only modules of kernels do.)"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Timer
from typing import Any

import numba
from numba.core import event

from dragoman.notices import notice

# Sums may be reordered (vector instructions), but nothing is assumed of infinities and NaN.
FAST = {"reassoc", "contract", "arcp", "nsz"}
PATIENCE = 2.0  # seconds of compiling, all kernels together, before a word is said of it
COMPILING = "compiling kernels, once: next time they are there"


def kernel(function: Callable[..., Any]) -> Any:
    """Compile when first called, keep the machine code on disk (where that can be written), run without the
    interpreter's lock.

    `kernel.py_func` is the same in plain Python.
    """
    options: dict[str, Any] = {"nogil": True, "fastmath": FAST, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # neither this folder nor one of the user's can be written
        return numba.njit(**options)(function)


class Patience(event.Listener):
    """Says once that kernels are being compiled, when so many seconds went into it; what was found on disk is not
    compiled. Compiling is one at a time, and one kernel's may begin inside of another's."""

    def __init__(self, seconds: float) -> None:
        self.left, self.depth, self.began = seconds, 0, 0.0
        self.timer: Timer | None = None
        self.said = False

    def on_start(self, event: Any) -> None:
        self.depth += 1
        if self.depth == 1 and not self.said:
            self.began = time.monotonic()
            self.timer = Timer(max(self.left, 0), self.say)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and self.timer is not None:
            self.timer.cancel()
            self.left -= time.monotonic() - self.began

    def say(self) -> None:
        """By the timer, in a thread of its own."""
        if not self.said:
            self.said = True
            notice(COMPILING)


event.register("numba:compile", Patience(PATIENCE))  # type: ignore[no-untyped-call]
