"""What is done to an output before a reader sees it, and what is the reader told of it?"""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.contracts import Flag
from dragoman.text.words import word_spans


def kept_space(source: str, target: str) -> str:
    """The target with the source's outer white space in place of its own."""
    core = source.strip()
    start = source.index(core)
    return source[:start] + target.strip() + source[start + len(core) :]


def flags_of(source: str, target: str, capped: bool) -> tuple[Flag, ...]:
    """What a reader should be told of this translation."""
    flags = [Flag.LENGTH_CAP] if capped else []
    if not target.strip():
        flags.append(Flag.EMPTY)
    words = [target[start:end] for start, end in word_spans(target)]
    if repeats(words):
        flags.append(Flag.REPEATS)
    if len(words) > 2 and target.strip() == source.strip():
        flags.append(Flag.COPY)
    return tuple(flags)


def repeats(words: Sequence[str]) -> bool:
    """Does some run of words stand four times in a row, or three times where it is longer than four words?"""
    for size in range(1, len(words) // 3 + 1):
        enough = size * (3 if size <= 4 else 2)
        alike = 0  # words up to here that are those of one run earlier
        for earlier, word in zip(words, words[size:], strict=False):
            alike = alike + 1 if word == earlier else 0
            if alike == enough:
                return True
    return False
