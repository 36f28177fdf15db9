"""How is an n-gram model learnt from text?"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import regex

from dragoman.contracts import Interrupted, Progress, UserError, Work
from dragoman.lm.counting import Counting, counting
from dragoman.lm.model import NgramModel
from dragoman.lm.ngrams import estimated
from dragoman.lm.recipes import NgramRecipe
from dragoman.lm.smoothing import estimate
from dragoman.lm.trie import trie_of
from dragoman.lm.units import (
    RESERVED,
    UNKNOWN,
    Vocabulary,
    keys_of,
    most_frequent,
    name_of,
    reserved_among,
    without_reserved,
)
from dragoman.texts import Text, facts_of_figures

REPORT_EVERY = 20_000
LOOKED_AT = 1_000  # lines
LONG_WORDS = 4  # characters between two spaces; words of these scripts have fewer on average
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]")


def learn_ngrams(recipe: NgramRecipe, train: Text, dev: Text | None, work: Work) -> NgramModel:
    """Count, smooth, and look at dev, by which nothing is chosen. Interrupted where `work.stop()` said so."""
    threads = work.threads or os.cpu_count() or 1
    if recipe.units == "words" and _has_no_spaces(train):
        note = "there are few spaces, and a word is what stands between two: units=characters counts signs"
        work.report(Progress("reading", note=note))
    with counting(recipe.order, work.folder / "windows", threads) as counter:
        vocabulary = _read(recipe, train, work, counter)
        _say(work, "counting")
        windows = counter.finished()
        _say(work, "linking")
        trie, counts_X = trie_of(windows, len(vocabulary), threads)
    del windows

    def go_on(order: int) -> None:
        _say(work, "smoothing", order, recipe.order)

    found = estimate(trie, counts_X, recipe.smoothing, recipe.k, recipe.prune, threads, go_on)
    for note in found.notes:
        work.report(Progress("smoothing", note=note))
    facts: dict[str, object] = {
        "smoothing": recipe.smoothing,
        **({"k": recipe.k} if recipe.smoothing == "add-k" else {}),
        **{"sentences": counter.sentences, recipe.units: counter.total - 2 * counter.sentences},
        "discounts": [[round(value, 6) for value in each] for each in found.discounts],
    }
    model = NgramModel(train.language, vocabulary, estimated(trie, found), facts)
    if dev is not None:
        figures = facts_of_figures(model.evaluate(dev))
        work.report(Progress("dev", values=figures))
    return model


def _has_no_spaces(text: Text) -> bool:
    """Whether the first lines look as if words stood there without spaces between them."""
    words = [word for line in islice(text, LOOKED_AT) for word in line.split()]
    signs, without = sum(map(len, words)), sum(len(_UNSPACED.findall(word)) for word in words)
    return without > signs / 2 and signs > LONG_WORDS * len(words)


def _read(recipe: NgramRecipe, train: Text, work: Work, counter: Counting) -> Vocabulary:
    """Number the units of all lines but blank ones, and hand them over."""
    index: dict[Any, int] = {}
    lines = _lines(recipe, train, work)
    if recipe.vocabulary:
        counts: Counter[Any] = Counter()
        for keys in lines:
            counts.update(keys)
        index = {key: number for number, key in enumerate(most_frequent(counts, recipe.vocabulary), len(RESERVED))}
        left = sum(counts[key] for key in counts if key not in index)
        told = f"{len(index):,} {recipe.units} are known; {left / max(counts.total(), 1):.2%} of the text is not"
        work.report(Progress("vocabulary", note=told))
        get = index.get
        for keys in _lines(recipe, train, work):
            counter.add([get(key, UNKNOWN) for key in keys])
    else:
        for keys in lines:
            try:
                ids = [index[key] for key in keys]
            except KeyError:
                ids = [index.setdefault(key, len(index) + len(RESERVED)) for key in keys]
            counter.add(ids)
    if not index:
        raise UserError("there is no line with text in it")
    return Vocabulary(recipe.units, (*RESERVED, *map(name_of, index)))


def _lines(recipe: NgramRecipe, train: Text, work: Work) -> Iterator[list[Any]]:
    """The units of each line that has some."""
    skipped = 0
    for number, line in enumerate(train):
        if number % REPORT_EVERY == 0:
            _say(work, "reading", number, len(train))
        if not line or line.isspace():
            continue
        keys = keys_of(line, recipe.units)
        if recipe.units == "words" and (reserved := reserved_among(line, keys)):
            place = train.origin(number)
            if recipe.reserved == "refuse":
                raise UserError(
                    f"{place}: {', '.join(reserved)}: reserved for what is no word (reserved=skip leaves them out)"
                )
            kept = without_reserved(keys)
            skipped += len(keys) - len(kept)
            if skipped == len(keys) - len(kept):
                work.report(
                    Progress("reading", note=f"{place}: reserved words are left out, here and wherever they are")
                )
            keys = kept
        if keys:
            yield keys


def _say(work: Work, phase: str, step: int = 0, total: int = 0) -> None:
    if work.stop():
        raise Interrupted
    work.report(Progress(phase, step, total))
