"""Which system did the user name?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from dragoman.abilities import inability
from dragoman.contracts import Ability, UserError

if TYPE_CHECKING:
    from dragoman.system.stream import System

Ensemble = Annotated[
    list[str] | None,
    Parameter(
        name="--with",
        metavar="DIR...",
        consume_multiple=True,
        help="Further models with equal pieces: an ensemble, the mean of all their probabilities.",
    ),
]


def loaded(
    name: str,
    others: Sequence[str] | None,
    device: str,
    threads: int,
    source: str | None = None,
    target: str | None = None,
) -> System:
    """A model folder, an ensemble of several, or a baseline by its name. UserError where there is none."""
    if threads > 0:
        os.environ["OMP_NUM_THREADS"] = str(threads)  # read when the libraries load, which is now
    from dragoman.system.baselines import resolve_system

    system = resolve_system(name, source, target, device)
    if not others:
        return system
    require(system, Ability.ENSEMBLE, "--with")
    members: list[Any] = [resolve_system(other, source, target, device) for other in others]
    for other, member in zip(others, members, strict=True):
        if member.kind != system.kind:
            raise UserError(f"an ensemble has one kind: {name} is a {system.kind}, {other} a {member.kind}")
    whole: Any = system
    together: System = whole.together(members)
    return together


def require(system: System, ability: Ability, option: str = "") -> None:
    """UserError that names the kinds which can, where this one cannot."""
    if ability not in system.abilities:
        from dragoman.system.stream import kinds_with

        raise UserError(inability(system.kind, ability, kinds_with(ability), option))
