"""How does a finished aligner link the words of pairs that it never saw?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise, product
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from dragoman.abilities import Coverage
from dragoman.alignment.cells import Block, known_cells
from dragoman.alignment.folder import read_model, write_model
from dragoman.alignment.ibm import Diagonal, PlaceModel
from dragoman.alignment.numbers import Floats, NumberedPairs, Numbering
from dragoman.alignment.symmetrise import Symmetry, chosen_links
from dragoman.alignment.words import Cutting, of_words, owners
from dragoman.contracts import Ability, Link, SentencePair, UserError
from dragoman.links import Alignment, TextPair
from dragoman.seeing import Linked

MOST_CELLS = 1 << 22  # of one pair
CELLS_AT_ONCE = 1 << 23
NO_SLOTS = np.zeros(0, np.int32)
Rated = tuple[Link, float]
TOO_LONG = "too long to be linked"
UNLIKELY = 1e-3  # what is less probable, or unheard of, is as bad
FAR = Diagonal(0.2, 8.0)  # where the chain of a long pair would take too long, words keep near the diagonal


@dataclass(frozen=True)
class WordAligner:
    """source_words, target_words: the vocabularies. model: what has posteriors. longest: see the recipe."""

    kind: str
    source_language: str
    target_language: str
    cutting: Cutting
    symmetry: Symmetry
    longest: int
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    model: Any
    threads: int = 1

    abilities: ClassVar[frozenset[Ability]] = frozenset({Ability.LINKS})

    def align(self, pairs: Sequence[TextPair], symmetry: str = "") -> list[Alignment]:
        """The links of each pair, whatever its company; source word first."""
        texts = [(one.source, one.target) if isinstance(one, SentencePair) else one for one in pairs]
        keys = [(self.cutting.keys(source), self.cutting.keys(target)) for source, target in texts]
        found: dict[int, Alignment] = {}
        groups: dict[bool, list[int]] = {False: [], True: []}
        for place, (sources, targets) in enumerate(keys):
            cells = len(sources) * len(targets)
            if 0 < cells <= MOST_CELLS:
                groups[max(len(sources), len(targets)) > self.longest].append(place)
            else:
                found[place] = Alignment((), (), *self._words(texts[place]), TOO_LONG if cells else "")
        for long, places in groups.items():
            rows = self._linked([keys[place] for place in places], symmetry or self.symmetry, long)
            for place, links in zip(places, rows, strict=True):
                found[place] = self._alignment(texts[place], links)
        return [found[place] for place in range(len(texts))]

    def is_long(self, pair: SentencePair) -> bool:
        """Was this pair too long to be learnt from?"""
        if max(len(pair.source), len(pair.target)) <= self.longest:
            return False
        return max(len(self.cutting.keys(pair.source)), len(self.cutting.keys(pair.target))) > self.longest

    def alignment_of(self, pair: SentencePair, links: list[Rated]) -> Alignment:
        """The same links of units as links of words, without the spans where units are words."""
        if self.cutting.units == "words":
            return Alignment(tuple(link for link, _ in links), tuple(share for _, share in links))
        return self._alignment((pair.source, pair.target), links)

    def word_counts(self, pair: SentencePair) -> tuple[int, int]:
        """How many words the links of a pair may name."""
        source, target = self._words((pair.source, pair.target))
        return len(source), len(target)

    def _words(self, texts: tuple[str, str]) -> tuple[Any, Any]:
        return self.cutting.spans(texts[0]), self.cutting.spans(texts[1])

    def _alignment(self, texts: tuple[str, str], links: list[Rated]) -> Alignment:
        source_words, target_words = self._words(texts)
        if self.cutting.units != "words":
            sources = owners(source_words, self.cutting.unit_spans(texts[0]))
            targets = owners(target_words, self.cutting.unit_spans(texts[1]))
            links = sorted(of_words(links, sources, targets).items())
        return Alignment(
            tuple(link for link, _ in links), tuple(share for _, share in links), source_words, target_words
        )

    def _linked(self, keys: Sequence[tuple[list[str], list[str]]], symmetry: Any, long: bool) -> list[list[Rated]]:
        """Links of units and their probabilities."""
        if not keys:
            return []
        return list(self.links_of_numbers(self._numbered(keys), symmetry, model=self._far if long else self._ready))

    def _numbered(self, keys: Sequence[tuple[list[str], list[str]]]) -> NumberedPairs:
        source = Numbering(self.source_words, growing=False)
        target = Numbering(self.target_words, growing=False)
        for sources, targets in keys:
            source.add(sources)
            target.add(targets)
        return NumberedPairs(source.side(), target.side())

    def links_of_numbers(
        self, pairs: NumberedPairs, symmetry: Any, post_X2: Floats | None = None, model: Any = None
    ) -> Iterator[list[Rated]]:
        """Links of units of each pair, by its own model unless the posteriors are given."""
        if post_X2 is not None:  # one block
            begins = pairs.cell_begins_N
            return iter(self._links_in(pairs, Block(0, len(pairs), begins, NO_SLOTS), post_X2, symmetry))
        known = pairs.with_strangers() if pairs.source.vocabulary < self._words_known else pairs
        return chain.from_iterable(
            self._links_in(known, block, post_X2, symmetry)
            for block, post_X2 in self._believed(known, model or self._ready)
        )

    def _believed(self, pairs: NumberedPairs, model: Any) -> Iterator[tuple[Block, Floats]]:
        """The posteriors of all pairs, block by block."""
        cells = known_cells(pairs, self._partners, CELLS_AT_ONCE)
        for block in cells.blocks(self.threads):
            yield block, model.posteriors(cells, block, self.threads)

    def _links_in(self, pairs: NumberedPairs, block: Block, post_X2: Floats, symmetry: Any) -> list[list[Rated]]:
        first, last = block.first, block.last
        begins = block.cell_begins_N[first : last + 1]
        source, target = pairs.source.begins_N, pairs.target.begins_N
        chosen_X = chosen_links(post_X2, source[first : last + 1], target[first : last + 1], begins, symmetry)
        places = np.flatnonzero(chosen_X)
        shares = np.sqrt(post_X2[places, 0] * post_X2[places, 1])
        owner = np.searchsorted(begins, places, side="right") - 1
        columns = np.diff(target[first : last + 1])[owner]
        i, j = np.divmod(places - begins[owner], columns)
        edges = np.searchsorted(owner, np.arange(last - first + 1)).tolist()
        links = list(zip(zip(i.tolist(), j.tolist(), strict=True), np.minimum(shares, 1).tolist(), strict=True))
        return [links[begin:end] for begin, end in pairwise(edges)]

    @property
    def _words_known(self) -> int:
        return len(self.source_words) + 1

    @cached_property
    def _ready(self) -> Any:
        return self.model.with_strangers()

    @cached_property
    def _partners(self) -> Any:
        return self._ready.lexicon.partners

    @cached_property
    def _far(self) -> PlaceModel:
        return PlaceModel(self._ready.lexicon, (FAR, FAR))

    def explain_links(self, source: str, target: str) -> Linked:
        """What both directions believe of every two words. UserError for texts longer than those that it learnt
        from."""
        (alignment,) = self.align([(source, target)])
        keys = self.cutting.keys(source), self.cutting.keys(target)
        if max(map(len, keys)) > self.longest:
            raise UserError(f"more than {self.longest} words are too many to be looked at: give a shorter text")
        post_X2 = np.zeros((0, 2), np.float32)
        if all(keys):
            ((_, post_X2),) = self._believed(self._numbered([keys]), self._ready)
        words_TS2 = np.zeros((len(alignment.target_words), len(alignment.source_words), 2))
        sources = owners(alignment.source_words, self.cutting.unit_spans(source))
        targets = owners(alignment.target_words, self.cutting.unit_spans(target))
        for cell, (units, others) in enumerate(product(sources, targets)):
            for s, t in product(units, others):
                words_TS2[t, s] = np.maximum(words_TS2[t, s], post_X2[cell])
        return Linked(
            self.kind,
            (self.source_language, self.target_language),
            tuple(source[start:end] for start, end in alignment.source_words),
            tuple(target[start:end] for start, end in alignment.target_words),
            words_TS2[:, :, 0],
            words_TS2[:, :, 1],
            alignment.links,
            alignment.probabilities,
        )

    def coverage(self, pairs: Sequence[TextPair]) -> tuple[Coverage, Coverage]:
        """Of the sources and of the targets, the units that it never saw; too long is what it would not have learnt
        from."""
        texts = [(one.source, one.target) if isinstance(one, SentencePair) else one for one in pairs]
        keys = [(self.cutting.keys(source), self.cutting.keys(target)) for source, target in texts]
        found = []
        for side, words in enumerate((self.source_words, self.target_words)):
            counts = Counter(chain.from_iterable(pair[side] for pair in keys))
            known = frozenset(words)
            unknown = {word: count for word, count in counts.items() if word not in known}
            long = sum(len(pair[side]) > self.longest for pair in keys)
            found.append(Coverage("words", counts.total(), unknown, long))
        return found[0], found[1]

    def plausibility(self, pairs: Sequence[TextPair]) -> list[float]:
        """The mean over the words of both sides of log max t, t being the probability of the word given one of the
        other side (UNLIKELY at least); 0 where there are no words, or too many."""
        texts = [(one.source, one.target) if isinstance(one, SentencePair) else one for one in pairs]
        keys = [(self.cutting.keys(source), self.cutting.keys(target)) for source, target in texts]
        found = [0.0] * len(keys)
        places = [place for place, (one, other) in enumerate(keys) if 0 < len(one) * len(other) <= MOST_CELLS]
        numbered = self._numbered([keys[place] for place in places])
        table_D2 = np.log(np.maximum(self._ready.lexicon.table_D2, UNLIKELY))
        for block in known_cells(numbered, self._partners, CELLS_AT_ONCE).blocks():
            for row in range(block.first, block.last):
                begin, end = block.cell_begins_N[row : row + 2]
                cells_IJ2 = table_D2[block.slots_X[begin:end]].reshape(len(keys[places[row]][0]), -1, 2)
                best = cells_IJ2[:, :, 0].max(axis=0).sum() + cells_IJ2[:, :, 1].max(axis=1).sum()
                found[places[row]] = float(best) / sum(cells_IJ2.shape[:2])
        return found

    def lexicon(self, least: float = 0.01) -> list[tuple[str, str, float, float]]:
        """(source word, target word, t(f | e), t(e | f)) where either is at least `least`, the likeliest first."""
        lexicon = self.model.lexicon
        table_D2 = lexicon.table_D2
        rows = np.flatnonzero(table_D2.max(axis=1) >= least)
        sources = lexicon.partners.sources_D[rows]
        order = np.lexsort((-table_D2[rows, 0], sources))
        return [
            (
                self.source_words[sources[row]],
                self.target_words[lexicon.partners.targets_D[rows[row]]],
                float(table_D2[rows[row], 0]),
                float(table_D2[rows[row], 1]),
            )
            for row in order
        ]

    def save(self, folder: Path) -> None:
        """aligner.json, words.json and tables.safetensors."""
        facts = {
            **{"kind": self.kind, "source_language": self.source_language, "target_language": self.target_language},
            **{"words": self.cutting.words, "units": self.cutting.units, "fold": self.cutting.fold},
            **{"symmetry": self.symmetry, "longest": self.longest},
        }
        write_model(folder, self.model, facts)
        words = {"source": self.source_words, "target": self.target_words}
        (folder / "words.json").write_text(json.dumps(words, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Raises UserError or OSError where this is no whole aligner."""
        model, facts = read_model(folder)
        words = json.loads((folder / "words.json").read_text(encoding="utf-8"))
        return cls(
            facts["kind"],
            facts["source_language"],
            facts["target_language"],
            Cutting(facts["words"], facts["units"], facts["fold"]),
            facts["symmetry"],
            facts["longest"],
            tuple(words["source"]),
            tuple(words["target"]),
            model,
        )

    def on_threads(self, threads: int) -> Self:
        """The same, with so many threads; the links are the same."""
        return replace(self, threads=threads)

    def describe(self) -> Mapping[str, object]:
        return {
            "source_words": len(self.source_words),
            "target_words": len(self.target_words),
            "rows": len(self.model.lexicon.partners),
            "words": self.cutting.words,
            "units": self.cutting.units,
            "symmetry": self.symmetry,
        }
