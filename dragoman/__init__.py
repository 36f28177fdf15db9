"""What is the shortest way to a translation? `dragoman.load("DIR").translate(["..."])`."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dragoman.contracts import Precision

__all__ = ["__version__", "load"]

__version__ = "0.1.0"


def load(folder: str | Path, device: str = "cpu", precision: Precision = "fp32") -> Any:
    """What `dragoman train --out FOLDER` made: a `Translator` or a `LanguageModel`. UserError where there is none.

    precision: "bf16" and "int8" are faster on some processors; where they are not, a warning says what is taken.
    """
    from dragoman.system.precision import in_precision  # here, so that `import dragoman` stays light
    from dragoman.system.store import load_model

    warn = partial(warnings.warn, stacklevel=3)  # which names the line that called `load`
    return in_precision(load_model(Path(folder), device), precision, warn)
