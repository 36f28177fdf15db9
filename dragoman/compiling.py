"""How do loops over arrays run at the speed of C? (Importing this loads numba: only modules of kernels do.)"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

# Sums may be reordered (vector instructions), but nothing is assumed of infinities and NaN.
FAST = {"reassoc", "contract", "arcp", "nsz"}


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
