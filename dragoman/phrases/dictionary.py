"""How does a text read word for word?

Each word is looked up in a dictionary that was learnt by counting, in the order of the source. Unknown
words and numbers are copied. What must be beaten by anything that calls itself translation.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import ClassVar, Self

from dragoman.abilities import Coverage, inability, refuse_unable
from dragoman.contracts import (
    Ability,
    Bitext,
    Flag,
    Hypothesis,
    Interrupted,
    Link,
    Progress,
    Request,
    SearchOptions,
    SentencePair,
    Span,
    Translation,
    UserError,
    Work,
)
from dragoman.evaluation.metrics import corpus_scores
from dragoman.phrases.linking import Entry, learn_entries
from dragoman.phrases.numbered import number_pairs
from dragoman.phrases.recipes import Dictionary
from dragoman.phrases.spelling import Spelling, SpellingLearner, capitalised
from dragoman.phrases.units import Unit, cut, learn_compounds, words_of
from dragoman.seeing import EntryUse, Explanation
from dragoman.text.words import word_spans

DROPS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
DROP_UNFITTED = 0.1
DEV_SENTENCES = 500
EVERY = 1000


@dataclass(frozen=True)
class Piece:
    """A word of the output: its text and key, and the words [first, last) and characters [start, end) it came from."""

    text: str
    key: str
    unit: Unit
    copied: bool


@dataclass(frozen=True)
class DictionaryTranslator:
    """entries: source key to entry. compounds: Chinese words of the source. drop: see the recipe."""

    source_language: str
    target_language: str
    entries: Mapping[str, Entry]
    compounds: frozenset[str]
    longest: int
    spelling: Spelling
    drop: float

    kind: ClassVar[str] = Dictionary.kind
    abilities: ClassVar[frozenset[Ability]] = frozenset({Ability.LINKS, Ability.EXPLAIN})

    def translate(
        self, requests: Sequence[str | Request], options: SearchOptions = SearchOptions()
    ) -> list[Translation]:
        """One translation a text, in the order of its words. UserError for options that need a search."""
        refuse_unable(self.kind, self.abilities, requests, options)
        return [self.translation(request.text if isinstance(request, Request) else request) for request in requests]

    def translation(self, text: str) -> Translation:
        """The text with each word replaced; blank only where the text is."""
        pieces = self.chosen(text)
        line, spans = self.written(text, pieces)
        copied = any(piece.copied and any(sign.isalpha() for sign in piece.text) for piece in pieces)
        words = word_spans(line)
        hypothesis = Hypothesis(
            text=line,
            words=words,
            links=links_of(words, pieces, spans),
            flags=(Flag.UNTRANSLATED,) if copied else (),
        )
        return Translation(source=text, source_words=word_spans(text), hypotheses=(hypothesis,))

    def chosen(self, text: str) -> list[Piece]:
        """The words of the output in order."""
        units = cut(text, self.compounds, self.longest)
        pieces = [piece for unit in units for piece in self.look_up(text, unit, self.drop)]
        if not pieces:  # every word is one of those that are mostly left out
            pieces = [piece for unit in units for piece in self.look_up(text, unit, 0.0)]
        return pieces

    def explain(self, text: str, reference: str = "", options: SearchOptions = SearchOptions()) -> Explanation:
        """The entry that gave each word of the output. UserError for a reference: it scores nothing."""
        refuse_unable(self.kind, self.abilities, [text], options)
        if reference:
            raise UserError(inability(self.kind, Ability.SCORE, (), "reference"))
        translation = self.translation(text)
        best, pieces = translation.hypotheses[0], self.chosen(text)
        entries = []
        for piece, (start, end) in zip(pieces, self.written(text, pieces)[1], strict=True):
            words = tuple(place for place, (first, last) in enumerate(best.words) if first < end and start < last)
            source = tuple(range(piece.unit.first, piece.unit.last))
            share = None if piece.copied else self.entries[piece.unit.key].share
            entries.append(EntryUse(source, words, piece.key, share))
        return Explanation(
            kind=self.kind,
            languages=(self.source_language, self.target_language),
            source=text,
            text=best.text,
            flags=best.flags,
            source_words=tuple(text[start:end] for start, end in translation.source_words),
            words=tuple(best.text[start:end] for start, end in best.words),
            entries=tuple(entries),
        )

    def coverage(self, texts: Sequence[str]) -> Coverage:
        """The words that are not in the dictionary; numbers, which are copied, count as known."""
        unknown: Counter[str] = Counter()
        count = 0
        for text in texts:
            units = cut(text, self.compounds, self.longest)
            count += len(units)
            unknown.update(unit.key for unit in units if not unit.number and unit.key not in self.entries)
        return Coverage("words", count, unknown)

    def look_up(self, text: str, unit: Unit, drop: float) -> list[Piece]:
        """The translation of a unit: one piece, none where it is left out, or those of its words."""
        entry = self.entries.get(unit.key)
        if entry is not None and not unit.number:
            if entry.share < drop:
                return []
            return [Piece(self.spelling.surface(entry.target), entry.target, unit, copied=False)]
        if unit.last - unit.first > 1 and not unit.number:
            return [piece for word in words_of(text, unit) for piece in self.look_up(text, word, drop)]
        return [Piece(text[unit.start : unit.end], unit.key, unit, copied=True)]

    def written(self, text: str, pieces: Sequence[Piece]) -> tuple[str, list[Span]]:
        """The line, and the span of each piece in it. Neighbours that were copied keep what stood between them."""
        capital = self.wants_capital(text)
        line = ""
        spans: list[Span] = []
        for number, piece in enumerate(pieces):
            if number:
                line += self.between(pieces[number - 1], piece)
            start = len(line)
            line += capitalised(piece.text) if capital and not number and not piece.copied else piece.text
            spans.append((start, len(line)))
        return line, spans

    def between(self, left: Piece, right: Piece) -> str:
        if left.copied and right.copied and left.unit.last == right.unit.first:
            return " " if left.unit.end < right.unit.start else ""
        return self.spelling.gap(left.key, right.key)

    def wants_capital(self, text: str) -> bool:
        """As the source begins; where its script has no case, as target lines usually begin."""
        first = next((sign for sign in text if sign.isalpha()), "")
        return first.isupper() if first.lower() != first.upper() else self.spelling.capitals

    def save(self, folder: Path) -> None:
        """dictionary.tsv: source, target, share, links. words.json: everything else."""
        lines = [f"{e.source}\t{e.target}\t{e.share!r}\t{e.links}\n" for e in self.entries.values()]
        (folder / "dictionary.tsv").write_text("".join(lines), encoding="utf-8", newline="\n")
        rest = {
            "source_language": self.source_language,
            "target_language": self.target_language,
            "longest": self.longest,
            "drop": self.drop,
            "compounds": sorted(self.compounds),
            "spelling": asdict(self.spelling),
        }
        text = json.dumps(rest, ensure_ascii=False, indent=1)
        (folder / "words.json").write_text(text + "\n", encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, folder: Path) -> Self:
        with (folder / "dictionary.tsv").open(encoding="utf-8", newline="\n") as lines:
            rows = [line.rstrip("\n").split("\t") for line in lines]
        rest = json.loads((folder / "words.json").read_text(encoding="utf-8"))
        spelling = rest["spelling"]
        return cls(
            source_language=rest["source_language"],
            target_language=rest["target_language"],
            entries={source: Entry(source, target, float(share), int(links)) for source, target, share, links in rows},
            compounds=frozenset(rest["compounds"]),
            longest=rest["longest"],
            spelling=Spelling(
                surfaces=spelling["surfaces"],
                spaces={key: (before, after) for key, (before, after) in spelling["spaces"].items()},
                capitals=spelling["capitals"],
            ),
            drop=rest["drop"],
        )

    def describe(self) -> Mapping[str, object]:
        return {"entries": len(self.entries), "source compounds": len(self.compounds), "drop": self.drop}


def links_of(words: Sequence[Span], pieces: Sequence[Piece], spans: Sequence[Span]) -> tuple[Link, ...]:
    """(source word, output word) for the words that each piece came from and those that it became."""
    return tuple(
        (source, target)
        for piece, (start, end) in zip(pieces, spans, strict=True)
        for source in range(piece.unit.first, piece.unit.last)
        for target, (word_start, word_end) in enumerate(words)
        if word_start < end and start < word_end
    )


# --- learning -----------------------------------------------------------------------------------


def learn_dictionary(recipe: Dictionary, train: Bitext, dev: Bitext | None, work: Work) -> DictionaryTranslator:
    """Learn the dictionary from `train`, and from `dev` the share below which words are left out.

    UserError where there is nothing to go on from; Interrupted when `work.stop` says so (nothing is
    kept: learning anew takes seconds).
    """
    if work.finish or work.start is not None:
        raise UserError("a dictionary is learnt in one go: there is no checkpoint to finish or to go on from")

    def walk(phase: str) -> Iterator[SentencePair]:
        for number, pair in enumerate(train):
            if number % EVERY == 0:
                work.report(Progress(phase, number, len(train)))
                if work.stop():
                    raise Interrupted
            yield pair

    source_compounds = learn_compounds((pair.source for pair in walk("source words")), recipe.longest)
    target_compounds = learn_compounds((pair.target for pair in walk("target words")), recipe.longest)
    learner = SpellingLearner()

    def keys() -> Iterator[tuple[list[str], list[str]]]:
        for pair in walk("counting"):
            source = cut(pair.source, source_compounds, recipe.longest)
            target = cut(pair.target, target_compounds, recipe.longest)
            learner.add(pair.target, target)
            yield [unit.key for unit in source if not unit.number], [unit.key for unit in target if not unit.number]

    with number_pairs(keys(), work.folder) as pairs:
        work.report(Progress("linking", 0, len(train)))
        entries = learn_entries(pairs, recipe.min_links)
    translator = DictionaryTranslator(
        source_language=train.source_language,
        target_language=train.target_language,
        entries={entry.source: entry for entry in entries},
        compounds=source_compounds,
        longest=recipe.longest,
        spelling=learner.spelling(),
        drop=DROP_UNFITTED if recipe.drop == "fit" else recipe.drop,
    )
    return fitted(translator, recipe, dev, work) if dev is not None and len(dev) else translator


def fitted(translator: DictionaryTranslator, recipe: Dictionary, dev: Bitext, work: Work) -> DictionaryTranslator:
    """The translator with the drop that gives the best chrF on the first dev pairs, if it is to be fitted."""
    pairs = list(islice(dev, DEV_SENTENCES))
    sources, references = [pair.source for pair in pairs], [[pair.target for pair in pairs]]
    best: tuple[DictionaryTranslator, dict[str, float]] | None = None
    drops = DROPS if recipe.drop == "fit" else (recipe.drop,)
    for step, drop in enumerate(drops, start=1):
        candidate = replace(translator, drop=drop)
        hypotheses = [translation.text for translation in candidate.translate(sources)]
        scores = corpus_scores(hypotheses, references, translator.target_language, with_ter=False)
        figures = {"drop": drop, "bleu": scores.bleu.value, "chrf": scores.chrf.value}
        work.report(Progress("dev", step, len(drops), figures))
        if best is None or figures["chrf"] > best[1]["chrf"]:
            best = candidate, figures
    assert best is not None
    chosen = ", ".join(f"{name} {value:.4g}" for name, value in best[1].items())
    work.report(Progress("dev", len(drops), len(drops), best[1], note=f"chosen: {chosen}"))
    return best[0]
