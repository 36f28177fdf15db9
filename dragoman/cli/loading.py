"""Which system did the user name?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from dragoman.cli.screen import say
from dragoman.contracts import Ability, HasPrecision, Precision, UserError

if TYPE_CHECKING:
    from dragoman.cli.reading import HasLanguages
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
    precision: Precision = "fp32",
    engine: str | None = None,
    chosen: bool = False,
) -> System:
    """A model folder, an ensemble of several, or a baseline by its name, computing at a precision.

    chosen: the precision is that of a process beside this one (`precision_of`). UserError where there is none, and
    where a model translates between other languages than those given or needs another engine.
    """
    use_threads(threads)
    from dragoman.system.baselines import resolve_system
    from dragoman.system.precision import in_precision
    from dragoman.system.stream import require_ability

    tell = None if chosen else say
    _check_engine(name, engine)
    system = resolve_system(name, source, target, device)
    check_languages(name, system, source, target)
    if not others:
        return in_precision(system, precision, tell)
    require_ability(system.kind, system.abilities, Ability.ENSEMBLE, "--with")
    members: list[Any] = [resolve_system(other, source, target, device) for other in others]
    for other, member in zip(others, members, strict=True):
        if member.kind != system.kind:
            raise UserError(f"an ensemble has one kind: {name} is a {system.kind}, {other} a {member.kind}")
    whole: Any = system
    together: System = whole.together(members)
    return in_precision(together, precision, tell)


def purpose_of(name: str) -> str:
    """The verb of the model in a folder: "translate", "generate", ...; of what is none, or not whole, "translate"."""
    from dragoman.system.baselines import baseline_of
    from dragoman.system.store import read_card
    from dragoman.system.verbs import own_verb

    if baseline_of(name) is not None or not (Path(name) / "model.json").exists():
        return "translate"
    return own_verb(read_card(Path(name)).kind)


def precision_of(system: System) -> Precision:
    """What a loaded system computes in: a worker process takes the same."""
    return system.precision if isinstance(system, HasPrecision) else "fp32"


def use_threads(threads: int) -> None:
    """Have the libraries take so many threads; 0 leaves it to them. They read it when they are first loaded."""
    if threads:
        os.environ["OMP_NUM_THREADS"] = str(threads)


def _check_engine(name: str, engine: str | None) -> None:
    if engine is None:
        return
    from dragoman.system.baselines import baseline_of
    from dragoman.system.store import read_card

    if baseline_of(name) is not None:
        raise UserError(f"{name}: is computed without an engine; --engine {engine} would be dropped")
    kind = read_card(Path(name)).kind
    if kind != engine:
        how = f"dragoman export {name} OUT --to {engine}"
        raise UserError(f"{name}: is of the kind {kind}; for --engine {engine} export it first: {how}")


def check_languages(
    name: str, system: HasLanguages, source: str | None, target: str | None, does: str = "translates"
) -> None:
    """UserError where a model is for other languages than those given."""
    from dragoman.corpus.languages import same_language

    for option, given, own in (("source", source, system.source_language), ("target", target, system.target_language)):
        if given and own and not same_language(given, own):
            languages = f"{system.source_language}-{system.target_language}"
            raise UserError(f"{name}: {does} {languages}; --{option} {given} is another language")
