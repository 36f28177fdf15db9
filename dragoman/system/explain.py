"""How did a model come to this translation, and is the model or the search to blame for it?

The product is asked and answers in plain data (`dragoman.seeing`); what is added here is the verdict on a reference,
what the training journal knows of gradients, and JSON.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dragoman.contracts import Ability, SearchOptions, UserError
from dragoman.evaluation.curves import Series, series_of
from dragoman.evaluation.metrics import sentence_scores
from dragoman.links import Aligner
from dragoman.seeing import CanExplain, Explanation, Gates, Gradients, Linked, ShowsGates, ShowsLinks
from dragoman.system.journal import rows_of
from dragoman.system.stream import System, require_ability

CLOSE = 1e-4
"""Scores are computed in two ways, and in float32: a difference up to this is none."""
GOOD_CHRF = 50.0


@dataclass(frozen=True)
class Verdict:
    """Whose fault is it that y^ is not the reference y*? chrf: of y^ against y*, 0 to 100."""

    fault: Literal["search", "model", "neither", "unknown"]
    why: str
    chrf: float


@dataclass(frozen=True)
class Explained:
    """What the product shows, the verdict where a reference was given, and how an aligner links source and
    translation."""

    explanation: Explanation
    verdict: Verdict | None = None
    linked: Linked | None = None


@dataclass(frozen=True)
class Faded:
    """Gradients along a sentence, and in training: the norm before clipping and the share of updates that were clipped,
    both means over windows, by update; no steps where the journal has none."""

    gradients: Gradients
    norms: Series
    clipped: Series

    @property
    def clipped_share(self) -> float | None:
        """The mean over the journal's windows."""
        return sum(self.clipped.values) / len(self.clipped.values) if self.clipped.values else None


def explain(
    system: System,
    text: str,
    reference: str = "",
    options: SearchOptions = SearchOptions(),
    good_chrf: float = GOOD_CHRF,
) -> Explained:
    """UserError for a kind that has nothing to show, and for a blank text. good_chrf: see `verdict_on`."""
    require_ability(system.kind, system.abilities, Ability.EXPLAIN)
    _check_texts(text, reference)
    if not 0 <= good_chrf <= 100:  # NaN is not
        raise UserError(f"a good chrF is a number from 0 to 100, not {good_chrf:g}")
    if reference:
        require_ability(system.kind, system.abilities, Ability.SCORE)
    assert isinstance(system, CanExplain)
    explanation = system.explain(text, reference, options)
    return Explained(explanation, verdict_on(explanation, good_chrf) if reference else None)


def verdict_on(explanation: Explanation, good_chrf: float = GOOD_CHRF) -> Verdict:
    """score(y*) > score(y^) proves a search error; <= proves nothing of the search: the best output may be elsewhere.

    Then the model is at fault if y* is the better translation, which y^ below a sentence chrF of `good_chrf` against it
    is taken for; else neither is. Scores are those that the search maximises.
    """
    given = explanation.reference
    assert given is not None
    chrf = sentence_scores(explanation.text, [given.said.text], explanation.languages[1]).chrf
    ours, theirs = given.output_score, given.said.score
    if explanation.text.strip() == given.said.text.strip():
        return Verdict("neither", "the translation is the reference", chrf)
    if given.unsayable:
        return Verdict("unknown", f"the scores say nothing here: {given.unsayable}", chrf)
    if theirs > ours + CLOSE:
        why = f"score(y*) {theirs:.4f} > score(y^) {ours:.4f}: this proves a search error; the search did not find y*"
        return Verdict("search", why, chrf)
    open_ = (
        f"score(y*) {theirs:.4f} <= score(y^) {ours:.4f}: no search error is proven, nor is it that there is none "
        "(a better output may be elsewhere)"
    )
    if chrf < good_chrf:
        why = f"{open_}; y^ has chrF {chrf:.1f} against y*, below {good_chrf:g}: the model is at fault, it prefers y^"
        return Verdict("model", why, chrf)
    return Verdict("neither", f"{open_}; y^ has chrF {chrf:.1f} against y*, not below {good_chrf:g}: no fault", chrf)


def gates(system: System, text: str, options: SearchOptions = SearchOptions()) -> Gates:
    """UserError for a kind without cells, and for a blank text."""
    require_ability(system.kind, system.abilities, Ability.GATES)
    _check_texts(text)
    assert isinstance(system, ShowsGates)
    return system.gates(text, options)


def gradients(
    system: System, folder: Path, text: str, reference: str = "", options: SearchOptions = SearchOptions()
) -> Faded:
    """folder: of the model, whose progress.jsonl knows of its training. UserErrors as of `gates`."""
    require_ability(system.kind, system.abilities, Ability.GATES)
    _check_texts(text, reference)
    assert isinstance(system, ShowsGates)
    rows = rows_of(folder / "progress.jsonl")
    return Faded(
        system.gradients(text, reference, options),
        series_of(rows, "gradient norm", "gradient_norm", ["training"]),
        series_of(rows, "clipped updates", "clipped", ["training"]),
    )


def linked(aligner: Aligner, source: str, target: str) -> Linked:
    """UserError for a blank text."""
    _check_texts(source)
    if not target.strip():
        raise UserError("the translation is blank: there is nothing to link")
    _check_texts(source, target)
    assert isinstance(aligner, ShowsLinks)
    return aligner.explain_links(source, target)


def _check_texts(text: str, reference: str = "") -> None:
    if not text.strip():
        raise UserError("the sentence is blank: there is nothing to explain")
    if reference and not reference.strip():
        raise UserError("the reference is blank")
    for name, given in (("sentence", text), ("reference", reference)):
        try:
            given.encode()
        except UnicodeEncodeError as error:
            raise UserError(f"the {name} is not UTF-8") from error


# --- for programs -------------------------------------------------------------------------------

_SHAPE = re.compile(r"_[A-Z0-9]+$")


def as_json(value: Any) -> Any:
    """Plain dicts, lists and numbers: fields by their names without the letters of a shape; what is no number is None.

    >>> as_json(Verdict("neither", "", math.nan))
    {'fault': 'neither', 'why': '', 'chrf': None}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {_SHAPE.sub("", each.name): as_json(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, np.ndarray):
        return as_json(np.round(value.astype(float), 6).tolist())
    if isinstance(value, Mapping):
        return {str(name): as_json(inner) for name, inner in value.items()}
    if isinstance(value, tuple | list):
        return [as_json(inner) for inner in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int) else str(value)
