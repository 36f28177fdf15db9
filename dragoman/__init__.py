"""What is the shortest way to a translation? `dragoman.load("DIR").translate(["..."])`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dragoman.contracts import Translator

__all__ = ["__version__", "load"]

__version__ = "0.1.0"


def load(folder: str | Path, device: str = "cpu") -> Translator:
    """The translator that `dragoman train --out FOLDER` made. UserError where there is none."""
    from dragoman.system.store import load_model  # here, so that `import dragoman` stays light

    return load_model(Path(folder), device)
