"""How do loops over arrays run at the speed of C? (Importing this loads numba: only modules of kernels do.)"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

# Sums may be reordered (vector instructions), but nothing is assumed of infinities and NaN.
FAST = {"reassoc", "contract", "arcp", "nsz"}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile when first called, keep the machine code on disk, run without the interpreter's lock.

    `kernel.py_func` is the same in plain Python.
    """
    return numba.njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")(function)
