"""Can this kind of translator do what is asked of it?

Every product asks this before it translates, so that no option is dropped in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from dragoman.contracts import Ability, Request, SearchOptions, UserError

NAMES = {
    Ability.SCORE: "score translations",
    Ability.BEAM: "search with a beam",
    Ability.SAMPLE: "sample",
    Ability.PREFIX: "begin with a given text",
    Ability.TERMS: "keep to given terms",
    Ability.ATTENTION: "show attention",
    Ability.LINKS: "link words",
    Ability.ENSEMBLE: "join an ensemble",
    Ability.PRECISION: "compute in fewer bits",
    Ability.EXPLAIN: "explain a translation",
    Ability.GATES: "show gates and gradients along a sentence",
    Ability.STATES: "map sentences by their states",
    Ability.SHORTLIST: "search by a shortlist",
}


def demanded(requests: Iterable[str | Request], options: SearchOptions) -> dict[Ability, str]:
    """The abilities that a call needs beyond one translation a text, each with the option that needs it."""
    needed: dict[Ability, str] = {}
    if options.sampling is not None:
        needed[Ability.SAMPLE] = "sampling"
    elif options.n_best > 1:
        needed[Ability.BEAM] = "n_best"
    for name in ("beam", "alpha", "length_form", "max_ratio"):
        if getattr(options, name) is not None:
            needed.setdefault(Ability.BEAM, name)
    if options.attention:
        needed[Ability.ATTENTION] = "attention"
    if options.links:
        needed[Ability.LINKS] = "links"
    if options.shortlist:
        needed[Ability.SHORTLIST] = "shortlist"
    for request in requests:
        if isinstance(request, Request):
            if request.prefix:
                needed.setdefault(Ability.PREFIX, "prefix")
            if request.terms:
                needed.setdefault(Ability.TERMS, "terms")
    return needed


def refuse_unable(
    kind: str,
    abilities: frozenset[Ability],
    requests: Iterable[str | Request] = (),
    options: SearchOptions = SearchOptions(),
    kinds_with: Callable[[Ability], Sequence[str]] = lambda ability: (),
) -> None:
    """UserError for the first option that the kind lacks, naming the kinds that `kinds_with` finds."""
    for ability, option in demanded(requests, options).items():
        if ability not in abilities:
            raise UserError(inability(kind, ability, kinds_with(ability), option))


def inability(kind: str, ability: Ability, kinds: Sequence[str], option: str = "") -> str:
    """The line for a kind that lacks an ability. kinds: those which have it; option: what asked for it."""
    asked = f" ({option})" if option else ""
    able = f"; kinds that can: {', '.join(kinds)}" if kinds else ""
    return f"kind {kind!r} cannot {NAMES[ability]}{asked}{able}"


@dataclass(frozen=True)
class Coverage:
    """How well a model knows the units of some texts.

    units: running words or characters (no white space), `kind` says which. unknown: those that it has no piece of
    their own for, with their counts. too_long: texts that are longer than what it was often trained on.
    """

    kind: Literal["words", "characters"]
    units: int
    unknown: Mapping[str, int]
    too_long: int = 0

    @property
    def unknown_share(self) -> float:
        return sum(self.unknown.values()) / max(self.units, 1)


@runtime_checkable
class CanCover(Protocol):
    """A translator that can say what it does not know before it translates."""

    def coverage(self, texts: Sequence[str]) -> Coverage: ...
