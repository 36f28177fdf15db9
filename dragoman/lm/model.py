"""What does an n-gram model say of texts, and how does it write some?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from dragoman.abilities import Coverage
from dragoman.contracts import Ability, Progress, Score, UserError, quiet
from dragoman.lm.counting import Integers
from dragoman.lm.ngrams import Doubles, Ngrams
from dragoman.lm.recipes import Units
from dragoman.lm.smoothing import Floats
from dragoman.lm.units import END, START, UNKNOWN, Vocabulary, keys_of, name_of
from dragoman.lm.writing import written
from dragoman.text.words import word_spans
from dragoman.texts import Generated, Generating, Text, TextFigures

FACTS, TABLES, WORDS = "ngrams.json", "ngrams.safetensors", "words.txt"
FORMAT = 1
AT_ONCE = 20_000  # lines


@dataclass(frozen=True)
class NgramModel:
    """vocabulary: words and their numbers; ngrams: what is known of them. facts: how it was learnt, for `info`."""

    language: str
    vocabulary: Vocabulary
    ngrams: Ngrams
    facts: Mapping[str, Any] = field(default_factory=dict)

    kind: ClassVar[str] = "ngram"
    abilities: ClassVar[frozenset[Ability]] = frozenset({Ability.SCORE, Ability.SAMPLE, Ability.PREFIX})

    # --- figures ------------------------------------------------------------------------------

    def score(self, texts: Sequence[str]) -> list[Score]:
        """How probable each text is as a sentence, </s> included, natural logs; nothing is said of a blank one (0, no
        units)."""
        ids_X, begins_N = self._ids(texts)
        found_X = self.ngrams.predict(ids_X)
        totals, tokens = _sums(found_X, begins_N).tolist(), found_X.tolist()
        return [
            Score(total, total, tuple(tokens[begin:end]))
            for total, (begin, end) in zip(totals, pairwise(begins_N.tolist()), strict=True)
        ]

    def log_probabilities(self, texts: Sequence[str]) -> Doubles:
        """Only the sums, in one array: what is fastest for many lines."""
        ids_X, begins_N = self._ids(texts)
        return _sums(self.ngrams.predict(ids_X), begins_N)

    def _ids(self, texts: Sequence[str]) -> tuple[Integers, npt.NDArray[np.int64]]:
        """The numbers of the units of all texts, each with its </s>, and where those of each begin; a blank one has
        none."""
        told_N = np.array([bool(text) and not text.isspace() for text in texts], np.bool_)
        ids_X = self.vocabulary.ids_of_lines(texts if told_N.all() else [text for text in texts if text.strip()])
        lengths_N = np.zeros(len(texts), np.int64)
        lengths_N[told_N] = np.diff(np.flatnonzero(ids_X == END), prepend=-1)
        return ids_X, np.append(0, np.cumsum(lengths_N))

    def evaluate(self, text: Text, report: Callable[[Progress], None] = quiet) -> TextFigures:
        """How well the text is predicted, each line a sentence; blank ones do not count."""
        walk, found, done = iter(text), TextFigures(0.0, 0, 0, 0, 0), 0
        while lines := list(islice(walk, AT_ONCE)):
            done += len(lines)
            found = found + self._figures([line for line in lines if line.strip()])
            report(Progress("evaluating", done, len(text)))
        if not found.tokens:
            raise UserError("there is no line with text in it")
        return found

    def _figures(self, lines: Sequence[str]) -> TextFigures:
        ids_X, _ = self._ids(lines)
        log_probs_X = self.ngrams.predict(ids_X)
        unknown_X = ids_X == UNKNOWN
        return TextFigures(
            log_probability=float(log_probs_X.sum(dtype=np.float64)),
            tokens=len(ids_X),
            words=sum(len(word_spans(line)) + 1 for line in lines),
            characters=sum(len(line) + 1 for line in lines),
            lines=len(lines),
            unknown=int(unknown_X.sum()),
            unknown_log_probability=float(log_probs_X[unknown_X].sum(dtype=np.float64)),
        )

    def all_next(self, prefix: str = "") -> dict[str, float]:
        """The natural log-probability of every unit that may follow the units of a text; as probabilities they sum to
        1."""
        log_probs_V = self.ngrams.following(self.ngrams.behind(self.vocabulary.ids(prefix))).tolist()
        return {word: log_probs_V[number] for number, word in enumerate(self.vocabulary.words) if number != START}

    def coverage(self, texts: Sequence[str]) -> Coverage:
        """What of these texts it does not know."""
        units, index = self.vocabulary.units, self.vocabulary.index
        counts = Counter(key for text in texts for key in keys_of(text, units))
        counts = Counter({key: count for key, count in counts.items() if units == "words" or key.strip("\u2581")})
        unknown = {name_of(key): count for key, count in counts.items() if key not in index}
        return Coverage(units, counts.total(), unknown)

    # --- writing ------------------------------------------------------------------------------

    def generate(self, prefix: str = "", options: Generating = Generating()) -> list[Generated]:
        """Texts that begin with the prefix, each drawn on its own; the prefix comes out as it is."""
        return written(self.ngrams, self.vocabulary, prefix, options)

    # --- keeping ------------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """ngrams.json, words.txt (a line a unit, by its number) and ngrams.safetensors."""
        ngrams, vocabulary = self.ngrams, self.vocabulary
        facts = {
            **{"format": FORMAT, "language": self.language, "units": vocabulary.units, "bounds": ngrams.bounds},
            "learnt": dict(self.facts),
        }
        (folder / FACTS).write_text(json.dumps(facts, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        words = "".join(f"{word}\n" for word in vocabulary.words)
        (folder / WORDS).write_bytes(words.encode("utf-8", "surrogatepass"))
        arrays = {name: np.ascontiguousarray(getattr(ngrams, attribute)) for name, attribute in ARRAYS.items()}
        save_file(arrays, folder / TABLES)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Raises UserError or OSError where this is no whole model."""
        try:
            facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
            if facts["format"] > FORMAT:
                raise UserError(f"{folder / FACTS}: format {facts['format']} is newer than this program")
            words = (folder / WORDS).read_bytes().decode("utf-8", "surrogatepass").split("\n")[:-1]
            arrays = load_file(folder / TABLES)
            tables: dict[str, Any] = {attribute: arrays[name] for name, attribute in ARRAYS.items()}
            ngrams = Ngrams(**tables, bounds=tuple(facts["bounds"]))
            if len(words) != ngrams.vocabulary or len(ngrams.words_X) != ngrams.bounds[-1]:
                raise ValueError("sizes differ")
            return cls(facts["language"], Vocabulary(facts["units"], tuple(words)), ngrams, facts["learnt"])
        except (ValueError, KeyError, TypeError, SafetensorError) as error:
            raise UserError(f"{folder}: its tables are damaged, or not of this release") from error

    def write_arpa(self, path: str | Path) -> None:
        """Write it for other programs; see `arpa`."""
        from dragoman.lm.arpa import write_arpa

        write_arpa(self, path)

    @classmethod
    def read_arpa(
        cls, path: str | Path, language: str = "und", units: Units = "words", report: Callable[[Progress], None] = quiet
    ) -> NgramModel:
        """The model that another program wrote. UserError with file and line for what is none."""
        from dragoman.lm.arpa import read_arpa

        return read_arpa(path, language, units, report)

    def describe(self) -> Mapping[str, object]:
        return {
            "order": self.ngrams.order,
            "pieces": len(self.vocabulary),
            "units": self.vocabulary.units,
            "n-grams": list(self.ngrams.counts),
            **self.facts,
        }


def _sums(found_X: Floats, begins_N: npt.NDArray[np.int64]) -> Doubles:
    """Those of each text."""
    full_N = np.diff(begins_N) > 0
    sums_N = np.zeros(len(full_N), np.float64)
    if full_N.any():
        sums_N[full_N] = np.add.reduceat(found_X, begins_N[:-1][full_N], dtype=np.float64)
    return sums_N


ARRAYS = {
    **{"words": "words_X", "begins": "begins_Y", "log_probs": "log_probs_X", "backoffs": "backoffs_Y"},
    **{"states": "states_X", "backs": "backs_Y"},
}
