"""How does a user start Dragoman from a terminal?"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command (`sys.argv` where none is given) and return its exit code."""
    import atexit
    import gc

    from dragoman.cli.app import run

    atexit.register(gc.freeze)  # a process that ends need not look for cycles among all that it holds: half a second
    return run(arguments)
