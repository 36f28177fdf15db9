"""How is something said by what has no `report` at hand?"""

from __future__ import annotations

from collections.abc import Callable

_listeners: list[Callable[[str], None]] = []


def listen(listener: Callable[[str], None]) -> None:
    """Have every notice from now on said by this too. Where nobody listens, as in a program of one's own, nothing is
    said."""
    if listener not in _listeners:
        _listeners.append(listener)


def notice(line: str) -> None:
    """Say one line to all who listen."""
    for listener in _listeners:
        listener(line)
