"""How does a user start Dragoman from a terminal?"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command (`sys.argv` where none is given) and return its exit code."""
    from dragoman.cli.app import run

    return run(arguments)
