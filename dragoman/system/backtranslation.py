"""How does text in the target language alone become training pairs? A model for the other direction writes the sources.

Sennrich et al. 2016, "Improving Neural Machine Translation Models with Monolingual Data". The pairs grow in
OUT/work/backtranslation, whole windows at a time, so that what was cut goes on and nothing is written twice.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import pydantic

from dragoman.contracts import (
    Ability,
    Interrupted,
    Progress,
    Recipe,
    SearchOptions,
    SentencePair,
    Translator,
    UserError,
    Work,
)
from dragoman.corpus.bitext import fingerprint_of
from dragoman.corpus.languages import same_language
from dragoman.corpus.monolingual import Monolingual
from dragoman.corpus.records import is_blank
from dragoman.durations import format_duration
from dragoman.system import store
from dragoman.system.catalogue import KINDS, product_class, recipe_class
from dragoman.system.settings import value_at, with_settings
from dragoman.whole import write_whole
from dragoman.wording import counted

FOLDER = "backtranslation"
FIRST_WINDOW, LARGEST_WINDOW = 64, 512  # lines
_PAIRS, _CARD = "pairs.jsonl", "card.json"


class Choices(Protocol):
    """The field `backtranslation` of a recipe that learns from synthetic pairs."""

    @property
    def ratio(self) -> float: ...
    @property
    def decoding(self) -> str: ...
    @property
    def share_of_budget(self) -> float: ...


@dataclass(frozen=True)
class Backtranslation:
    """What `--monolingual` and `--reverse` ask for: text in the target language, and the folder of a finished
    model that translates it into the source language."""

    text: Monolingual
    reverse: Path


@dataclass(frozen=True)
class Made:
    """What lies in the folder: `lines` of the text are done, in its order, and gave `pairs` in `bytes` of the file.

    key: of text, reverse model and decoding. seconds: spent on it in all sittings.
    """

    key: str
    lines: int = 0
    pairs: int = 0
    bytes: int = 0
    seconds: float = 0.0

    @property
    def pace(self) -> float:
        """Lines a second."""
        return self.lines / max(self.seconds, 1e-6)


@dataclass(frozen=True)
class SyntheticPairs:
    """A bitext whose sources a model wrote. seconds_now: spent on it in this sitting."""

    file: Path
    made: Made
    source_language: str
    target_language: str
    seconds_now: float = 0.0

    def __len__(self) -> int:
        return self.made.pairs

    def __iter__(self) -> Iterator[SentencePair]:
        with self.file.open(encoding="utf-8", newline="\n") as rows:
            for row in islice(rows, self.made.pairs):
                source, target = json.loads(row)
                yield SentencePair(source, target)

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint_of(self, self.source_language, self.target_language)

    def facts(self) -> dict[str, object]:
        """What report.json says of them."""
        return {"pairs": self.made.pairs, "lines": self.made.lines, "seconds": round(self.made.seconds, 1)}


# --- what can be refused before anything slow begins --------------------------------------------


def learns_from_synthetic(kind: str) -> bool:
    """Has the kind's recipe the field `backtranslation`?"""
    options: Any = recipe_class(kind)
    return "backtranslation" in {field.name for field in dataclasses.fields(options)}


def choices_of(recipe: Recipe[Any, Any]) -> Choices:
    """The recipe's choices; UserError, naming the kinds that can, for one that does not learn from synthetic pairs."""
    if not learns_from_synthetic(recipe.kind):
        able = ", ".join(kind for kind in KINDS if learns_from_synthetic(kind))
        raise UserError(f"kind {recipe.kind!r} cannot learn from --monolingual; kinds that can: {able}")
    choices: Choices = value_at(recipe, "backtranslation")
    return choices


def check_reverse(reverse: Path, source_language: str, target_language: str) -> store.ModelCard:
    """The card of the reverse model of a training; UserError where it is no model from its target to its source."""
    card = store.read_card(reverse)
    wanted = target_language, source_language
    own = card.source_language, card.target_language
    if not all(map(same_language, own, wanted)):
        raise UserError(f"--reverse {reverse}: translates {'-'.join(own)}, wanted is a model for {'-'.join(wanted)}")
    return card


# --- making the pairs ---------------------------------------------------------------------------


def synthetic_pairs(
    asked: Backtranslation, recipe: Recipe[Any, Any], source_language: str, work: Work
) -> SyntheticPairs:
    """The pairs in work.folder, made as far as they are not there yet.

    Under a time budget as many lines are translated as fit into the recipe's share of it, but FIRST_WINDOW at
    least. Interrupted where `stop` says so, between windows.
    """
    choices, card, target_language = choices_of(recipe), store.read_card(asked.reverse), asked.text.language
    key = hashlib.blake2b(
        " ".join([asked.text.fingerprint, card.fingerprint, choices.decoding, source_language]).encode(), digest_size=16
    ).hexdigest()
    made = found(work.folder, key)
    budget = time_budget(recipe)
    allowed = choices.share_of_budget * budget if budget else math.inf
    before = made
    if window_size(made, len(asked.text), allowed, made.pace):
        made = _translate_back(asked, choices, card, made, allowed, work)
    if not made.pairs:
        raise UserError(f"--reverse {asked.reverse}: gave no text for any of {counted(made.lines, 'line')}")
    limit = "" if made.lines == len(asked.text) else f" (the time budget allows no more of {len(asked.text):,})"
    anew = "" if made.lines > before.lines else ", found as they were made before"
    note = f"back-translation: {counted(made.pairs, 'pair')} of {counted(made.lines, 'line')}{limit}"
    work.report(Progress(FOLDER, note=f"{note}, in {format_duration(round(made.seconds))}{anew}"))
    return SyntheticPairs(
        work.folder / FOLDER / _PAIRS, made, source_language, target_language, made.seconds - before.seconds
    )


def pairs_found(work: Path, source_language: str, target_language: str) -> SyntheticPairs:
    """The pairs that a training under way has met, which stay as they are; UserError where they are gone."""
    made = _read_card(work)
    if made is None or not made.pairs:
        raise UserError(f"{work / FOLDER}: damaged; --restart trains anew")
    return SyntheticPairs(work / FOLDER / _PAIRS, made, source_language, target_language)


def found(work: Path, key: str) -> Made:
    """What was made before for this key; what was made for another is removed."""
    made = _read_card(work)
    if made is not None and made.key == key:
        return made
    shutil.rmtree(work / FOLDER, ignore_errors=True)
    return Made(key)


def window_size(made: Made, lines: int, allowed: float, pace: float) -> int:
    """How many lines come next: 64 at first, then as many as were done, up to 512, or what is left; 0 is the end.

    Where there is time enough it depends on the lines done alone: windows that were cut come again as they were,
    and equal windows give equal texts to the last bit. Else as many as can be done in the seconds allowed.
    """
    size = min(max(FIRST_WINDOW, made.lines), LARGEST_WINDOW, lines - made.lines)
    room = (allowed - made.seconds) * pace if made.lines else math.inf
    return size if size <= room else int(room) if room >= FIRST_WINDOW else 0


def _translate_back(
    asked: Backtranslation, choices: Choices, card: store.ModelCard, made: Made, allowed: float, work: Work
) -> Made:
    """Translate from the first line that is not done, window by window, each of them kept before the next begins."""
    began, before, pace, windows = time.monotonic(), made, made.pace, 0
    device = work.device if store.takes_device(product_class(card.kind)) else "cpu"
    reverse = store.load_model(asked.reverse, device)
    greedy = choices.decoding == "greedy" and Ability.BEAM in reverse.abilities
    options = SearchOptions(beam=1) if greedy else SearchOptions()
    loaded = time.monotonic()
    lines = islice(asked.text, made.lines, None)
    (work.folder / FOLDER).mkdir(exist_ok=True)
    with (work.folder / FOLDER / _PAIRS).open("ab") as file:
        file.truncate(made.bytes)  # a window that was cut
        while size := window_size(made, len(asked.text), allowed, pace):
            window = list(islice(lines, size))
            rows = _rows(reverse, window, options)
            content = "".join(rows).encode()
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            made = replace(
                made,
                lines=made.lines + len(window),
                pairs=made.pairs + len(rows),
                bytes=made.bytes + len(content),
                seconds=before.seconds + time.monotonic() - began,
            )
            pace = (made.lines - before.lines) / max(time.monotonic() - loaded, 1e-6)
            write_whole(work.folder / FOLDER / _CARD, json.dumps(asdict(made)) + "\n")
            windows += 1
            _tell(made, len(asked.text), allowed, pace, work, measured=windows == 2)
            if work.stop():
                raise Interrupted
    return made


def _rows(reverse: Translator, window: Sequence[str], options: SearchOptions) -> list[str]:
    """A JSON row [source, target] for each line that has a translation."""
    sources = [translation.text for translation in reverse.translate(window, options)]
    return [
        json.dumps([source, target], ensure_ascii=False) + "\n"
        for source, target in zip(sources, window, strict=True)
        if not is_blank(source)
    ]


def _tell(made: Made, lines: int, allowed: float, pace: float, work: Work, *, measured: bool) -> None:
    """How far it is. measured: say once how much it will be, and why no more."""
    room = max(0.0, allowed - made.seconds) * pace
    fitting = lines if made.lines + room >= lines else made.lines + int(room)
    left = (fitting - made.lines) / pace
    values = {"sentences_per_second": pace, "seconds_left": left}
    work.report(Progress(FOLDER, made.lines, fitting, values))
    if measured and made.lines < fitting:
        amount = f"{fitting:,} lines"
        if fitting < lines:
            of_budget = format_duration(round(allowed))
            amount = f"about {fitting:,} of {lines:,} lines, as many as fit into {of_budget} of the time budget"
        note = f"back-translation: {amount}; {pace:,.0f} a second, about {format_duration(round(left))} left"
        work.report(Progress(FOLDER, made.lines, fitting, note=note))


def _read_card(work: Path) -> Made | None:
    """What the card says, where the file of pairs has as much as that."""
    try:
        table = json.loads((work / FOLDER / _CARD).read_text(encoding="utf-8"))
        made = pydantic.TypeAdapter(Made).validate_python(table)
        whole = (work / FOLDER / _PAIRS).stat().st_size >= made.bytes
    except (OSError, ValueError):
        return None
    return made if whole else None


# --- a budget of time ---------------------------------------------------------------------------


def time_budget(recipe: Recipe[Any, Any]) -> float:
    """Seconds that the recipe allows for everything; 0 where it knows no such limit."""
    name = _budget_field(recipe)
    return float(value_at(recipe, name) or 0) if name else 0.0


def without_seconds(recipe: Recipe[Any, Any], seconds: float) -> Recipe[Any, Any]:
    """The recipe with what is left of its time budget after so many seconds: a learner's schedule begins anew there."""
    budget = time_budget(recipe)
    if not budget:
        return recipe
    return with_settings(recipe, [f"{_budget_field(recipe)}={format_duration(max(1.0, budget - seconds))}"])


def _budget_field(recipe: Recipe[Any, Any]) -> str:
    return next((name for name in recipe.limits if name.rpartition(".")[2] == "time_budget"), "")
