"""In how many bits does a system compute, and does that pay on this machine?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dragoman.abilities import inability
from dragoman.contracts import Ability, HasPrecision, Precision, UserError
from dragoman.system.stream import System, kinds_with

AnySystem = TypeVar("AnySystem", bound=System)


def in_precision(system: AnySystem, precision: Precision, tell: Callable[[str], None] | None) -> AnySystem:
    """The system computing at `precision`; where that does not pay, at what is better here, and `tell` is told so.

    "fp32" is the system as it is. Where there is nobody to tell (None), the precision was chosen before, by another
    process that computes beside this one, and is not tried again. UserError for a kind that has one precision only,
    naming those which have more.
    """
    if precision == "fp32":
        return system
    if not isinstance(system, HasPrecision):
        able = kinds_with(Ability.PRECISION)
        raise UserError(inability(system.kind, Ability.PRECISION, able, f"precision {precision}"))
    if tell is None:
        return system.at_precision(precision)
    usable, note = system.usable_precision(precision)
    if note:
        tell(note)
    return system.at_precision(usable)
