"""How many? A count with its noun, for lines that people read."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """ "1 pair", "2 pairs", "25,007 pairs": regular nouns only."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
