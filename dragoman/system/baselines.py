"""What must a model be better than?

Two systems that are made on the spot: copying the source, and a translation memory, which gives the
stored translation of the closest stored segment. `resolve_system` knows them by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dragoman.abilities import refuse_unable
from dragoman.contracts import (
    Ability,
    Bitext,
    Flag,
    Hypothesis,
    Request,
    SearchOptions,
    SentencePair,
    Translation,
    UserError,
)
from dragoman.corpus.formats import open_bitext
from dragoman.corpus.splitting import split_key
from dragoman.system.catalogue import PRESETS
from dragoman.system.store import load_model
from dragoman.system.stream import System
from dragoman.system.verbs import require_verb
from dragoman.text.words import word_spans

Integers = npt.NDArray[np.int64]

GRAM = 3


class CopyTranslator:
    """The source as it is."""

    kind = "copy"
    abilities: frozenset[Ability] = frozenset()

    def __init__(self, source_language: str = "", target_language: str = "") -> None:
        self.source_language = source_language
        self.target_language = target_language

    def translate(
        self, requests: Sequence[str | Request], options: SearchOptions = SearchOptions()
    ) -> list[Translation]:
        refuse_unable(self.kind, self.abilities, requests, options)
        return [one_translation(text, text) for text in texts_of(requests)]


class MemoryTranslator:
    """The stored translation of the same source; else of the closest one.

    Closest: Dice coefficient 2 |A and B| / (|A| + |B|) over the sets of character trigrams of the sources,
    normalised as the split does (case, digits, punctuation); the first of equals. It is the score of the
    hypothesis: 1 for the same, 0 where no stored source shares a trigram and the source itself is given.
    """

    kind = "memory"
    abilities: frozenset[Ability] = frozenset()

    def __init__(self, bitext: Bitext) -> None:
        self.source_language = bitext.source_language
        self.target_language = bitext.target_language
        stored = usual_targets(bitext)
        self.targets = tuple(stored.values())
        self.exact = {source: number for number, source in enumerate(stored)}
        self.grams: dict[str, int] = {}
        rows = [[self.grams.setdefault(gram, len(self.grams)) for gram in sorted(grams_of(text))] for text in stored]
        self.sizes_N = np.array([len(row) for row in rows], dtype=np.int64)
        self.postings, self.starts_G = inverted(rows, len(self.grams))

    def translate(
        self, requests: Sequence[str | Request], options: SearchOptions = SearchOptions()
    ) -> list[Translation]:
        refuse_unable(self.kind, self.abilities, requests, options)
        return [self.translation(text) for text in texts_of(requests)]

    def translation(self, text: str) -> Translation:
        if not text.strip():
            return one_translation(text, text)
        number, similarity = self.closest(text)
        if similarity == 0:
            return one_translation(text, text, flags=(Flag.COPY,))
        return one_translation(text, self.targets[number], similarity)

    def closest(self, text: str) -> tuple[int, float]:
        """Number and similarity of the stored source that is most like the text; similarity 0 is none at all."""
        if text in self.exact:
            return self.exact[text], 1.0
        grams = grams_of(text)
        known = [self.grams[gram] for gram in grams if gram in self.grams]
        shared_N = np.zeros(len(self.sizes_N), dtype=np.int64)
        for gram in known:
            shared_N[self.postings[self.starts_G[gram] : self.starts_G[gram + 1]]] += 1
        dice_N = 2 * shared_N / np.maximum(self.sizes_N + len(grams), 1)
        best = int(np.argmax(dice_N))
        return best, float(dice_N[best])


def usual_targets(pairs: Iterable[SentencePair]) -> dict[str, str]:
    """Each source with its most frequent target, the first of equals, in order of first appearance."""
    votes: dict[str, Counter[str]] = {}
    for pair in pairs:
        votes.setdefault(pair.source, Counter())[pair.target] += 1
    return {source: counts.most_common(1)[0][0] for source, counts in votes.items()}


def grams_of(text: str) -> set[str]:
    """The character trigrams of the normalised text, with two spaces at both ends: short texts have some too."""
    padded = f"  {split_key(text)}  "
    return {padded[i : i + GRAM] for i in range(len(padded) - GRAM + 1)}


def inverted(rows: Sequence[Sequence[int]], grams: int) -> tuple[Integers, Integers]:
    """Texts by gram: those of gram g are postings[starts[g]:starts[g + 1]], in order."""
    gram_P = np.array([gram for row in rows for gram in row], dtype=np.int64)
    text_P = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    order = np.argsort(gram_P, kind="stable")
    return text_P[order], np.searchsorted(gram_P[order], np.arange(grams + 1))


def texts_of(requests: Sequence[str | Request]) -> list[str]:
    """The text of each request."""
    return [request if isinstance(request, str) else request.text for request in requests]


def one_translation(source: str, target: str, score: float = 0.0, flags: tuple[Flag, ...] = ()) -> Translation:
    """A translation with one hypothesis and no pieces."""
    hypothesis = Hypothesis(target, words=word_spans(target), score=score, flags=flags)
    return Translation(source, word_spans(source), (hypothesis,))


def baseline_of(name: str) -> type[CopyTranslator] | type[MemoryTranslator] | None:
    """The class that "copy" or "memory:..." names; None for the name of a model folder."""
    if name == CopyTranslator.kind:
        return CopyTranslator
    return MemoryTranslator if name.startswith(f"{MemoryTranslator.kind}:") else None


def files_of(*names: str) -> list[str]:
    """What is read where systems are named so: model folders, and the files of memory:FILE[,FILE]."""
    read = [[name] if baseline_of(name) is None else name.partition(":")[2].split(",") for name in names]
    return [file for files in read for file in files if file]


def resolve_system(
    name: str, source_language: str | None = None, target_language: str | None = None, device: str = "cpu"
) -> System:
    """The system of a name: "copy", "memory:FILE[,FILE]" (a bitext in any format) or a model folder.

    The languages are needed where files do not tell them. UserError where there is no such system.
    """
    baseline = baseline_of(name)
    if baseline is None:
        if name in PRESETS and not Path(name).exists():
            raise UserError(f"{name}: is a recipe, not a model; train it first: dragoman train {name} ... --out DIR")
        if Path(name).is_dir():
            require_verb(name, "translate")
        translator: System = load_model(Path(name), device)
        return translator
    if device not in ("cpu", "auto"):
        raise UserError(f"{name}: runs on the cpu only, not on {device!r}")
    if baseline is CopyTranslator:
        return CopyTranslator(source_language or "", target_language or "")
    files = files_of(name)
    if not files:
        raise UserError(f"{name}: write memory:FILE or memory:FILE,FILE")
    return MemoryTranslator(open_bitext(files, source_language, target_language))
