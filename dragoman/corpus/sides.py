"""Which of several names, of columns or of keys, are those of source and target?"""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.corpus.languages import closeness, language_key, names_language
from dragoman.corpus.reading import Columns, Reading
from dragoman.corpus.records import Warn

Places = tuple[int | None, int | None]

_ROLES = (("source", "src"), ("target", "tgt", "trg"))
_OTHER_NAMES = ("id", "url")  # id is Indonesian too, but mostly the number of a record


def find_sides(names: Sequence[str], reading: Reading, place: str, warn: Warn) -> Places:
    """The places of source and target among the names; None for a side that has none.

    By the names that reading.columns says; else by the languages; else source and target (src, tgt, trg). Of several
    names in a language the closest code, then the first, is taken; `warn` hears of doubled ones, and of the place.
    """
    if reading.columns is not None:
        source, target = (names.index(column) if column in names else None for column in reading.columns)
        return source, target
    source, target = (_closest(names, wanted, place, warn) for wanted in (reading.source, reading.target))
    if source is None or target is None or source == target:
        by_role = _by_role(names)
        if None not in by_role:
            return by_role
    return source, None if source == target else target


def missing_side(places: Places, reading: Reading) -> str:
    """What a side without a place is called: its column, or its language."""
    return (reading.columns or (reading.source, reading.target))[0 if places[0] is None else 1]


def languages_told(names: Sequence[str], columns: Columns | None) -> tuple[str, ...]:
    """The languages, without regions, that the names (or those of the chosen columns) stand for."""
    words = columns or [name for name in names if name.lower() not in _OTHER_NAMES]
    return tuple(dict.fromkeys(language_key(word) for word in words if names_language(word)))


def names_two_sides(names: Sequence[str]) -> bool:
    """Whether names tell source and target by themselves: as such, or as languages of two letters (of three letters
    are many other words)."""
    told = [key for key in languages_told(names, None) if len(key.partition("-")[0]) == 2]
    return len(told) > 1 or None not in _by_role(names)


def _closest(names: Sequence[str], wanted: str, place: str, warn: Warn) -> int | None:
    ranks = [_fit(name, wanted) for name in names]
    best = max(ranks, default=0)
    if best == 0:
        return None
    if ranks.count(best) > 1:
        fitting = ", ".join(name for name, rank in zip(names, ranks, strict=True) if rank == best)
        warn(f"{place}: {fitting} are all {wanted}, the first one is taken")
    return ranks.index(best)


def _fit(name: str, wanted: str) -> int:
    if name.lower() == wanted.lower():
        return 2
    return closeness(name, wanted) if names_language(name) else 0


def _by_role(names: Sequence[str]) -> Places:
    lowered = [name.lower() for name in names]
    source, target = (next((lowered.index(role) for role in roles if role in lowered), None) for roles in _ROLES)
    return source, target
