"""Which commands make sense for a model of this kind?"""

from __future__ import annotations

from pathlib import Path

from dragoman.contracts import Ability, UserError
from dragoman.seeing import ShowsLinks
from dragoman.system import store
from dragoman.system.catalogue import EXPORTERS, VERBS, product_class

NOTHING_ELSE = "{name}: is of the kind {kind}, which does not {verb}; it has: {verbs}"


def verbs_of(kind: str) -> list[str]:
    """The commands that take a model of a kind, its own verb first."""
    product = product_class(kind)
    return [
        *(verb for verb in VERBS if hasattr(product, verb)),
        "evaluate",
        *(["score"] if Ability.SCORE in product.abilities else []),
        *(["explain"] if Ability.EXPLAIN in product.abilities or issubclass(product, ShowsLinks) else []),
        *(["shortlist"] if Ability.SHORTLIST in product.abilities else []),
        *(["export"] if kind in {exported for exported, _ in EXPORTERS} else []),
        "info",
        "doctor",
    ]


def own_verb(kind: str) -> str:
    """What a model of this kind is for: "translate", "generate", ..."""
    return verbs_of(kind)[0]


def require_verb(folder: str | Path, verb: str) -> str:
    """The kind of the model in a folder. UserError with the verbs that it has, where this is none of them."""
    kind = store.read_card(Path(folder)).kind
    verbs = verbs_of(kind)
    if verb not in verbs:
        raise UserError(NOTHING_ELSE.format(name=folder, kind=kind, verb=verb, verbs=", ".join(verbs)))
    return kind
