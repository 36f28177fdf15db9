"""Which small texts do the tests of n-grams share, and what do the definitions say of them, n-gram by n-gram?"""

from __future__ import annotations

import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dragoman.contracts import Progress, Work
from dragoman.corpus.textfiles import ListText
from dragoman.lm.learning import learn_ngrams
from dragoman.lm.model import NgramModel
from dragoman.lm.recipes import NgramRecipe

CATS = ["the cat sat", "the cat ran", "a dog sat"]
SMOOTHINGS = ("kneser-ney", "witten-bell", "add-k", "maximum-likelihood")
Gram = tuple[str, ...]


def babble(count: int, seed: int, words: str = "abcdefghij") -> list[str]:
    """Sentences in which early letters are frequent and some follow each other often."""
    draw = random.Random(seed)
    weights = [1 / (place + 1) for place in range(len(words))]
    lines = []
    for _ in range(count):
        line = draw.choices(words, weights, k=draw.randint(1, 9))
        line += ["a", "c", "b"] if draw.random() < 0.3 else []
        lines.append(" ".join(line))
    return lines


BABBLE = babble(80, seed=3)


def learn(lines: Sequence[str], notes: list[str] | None = None, **choices: Any) -> NgramModel:
    """A model of these lines; what it says while it learns goes to `notes`."""

    def report(progress: Progress) -> None:
        if progress.note and notes is not None:
            notes.append(progress.note)

    with tempfile.TemporaryDirectory() as folder:
        work = Work(Path(folder), report, threads=2)
        return learn_ngrams(NgramRecipe(**choices), ListText([list(lines)], "en"), None, work)


@dataclass(frozen=True)
class Definition:
    """p(word | history) as the papers write it, from dictionaries."""

    lines: Sequence[str]
    order: int
    smoothing: str
    k: float = 1.0

    @cached_property
    def counts(self) -> Counter[Gram]:
        found: Counter[Gram] = Counter()
        for line in self.lines:
            words = ("<s>", *line.split(), "</s>")
            found.update(
                words[at : at + size] for size in range(1, self.order + 1) for at in range(len(words) - size + 1)
            )
        return found

    @cached_property
    def words(self) -> list[str]:
        return ["<unk>", *sorted({word for line in self.lines for word in line.split()}), "</s>"]

    @cached_property
    def masses(self) -> dict[Gram, int]:
        """What is counted: occurrences, or for Kneser-Ney words before."""
        before: defaultdict[Gram, set[str]] = defaultdict(set)
        for gram in self.counts:
            before[gram[1:]].add(gram[0])
        return {
            gram: len(before[gram])
            if self.smoothing == "kneser-ney" and len(gram) < self.order and gram[0] != "<s>"
            else count
            for gram, count in self.counts.items()
            if gram != ("<s>",)
        }

    @cached_property
    def discounts(self) -> dict[int, list[float]]:
        found = {}
        for size in range(1, self.order + 1):
            n = Counter(mass for gram, mass in self.masses.items() if len(gram) == size)
            if self.smoothing != "kneser-ney":
                found[size] = [0.0] * 4
            elif n[1] and n[2] and n[3]:
                y = n[1] / (n[1] + 2 * n[2])
                found[size] = [0, 1 - 2 * y * n[2] / n[1], 2 - 3 * y * n[3] / n[2], 3 - 4 * y * n[4] / n[3]]
            if size not in found or any(not 0 <= d <= i for i, d in enumerate(found[size])):
                found[size] = [0, 0.5, 1.0, 1.5]
        return found

    @cached_property
    def followers(self) -> dict[Gram, dict[str, int]]:
        found: defaultdict[Gram, dict[str, int]] = defaultdict(dict)
        for gram, mass in self.masses.items():
            found[gram[:-1]][gram[-1]] = mass
        return found

    def p(self, word: str, history: Gram) -> float:
        history = history[max(0, len(history) - self.order + 1) :]
        uniform = 1 / len(self.words)
        if self.smoothing == "add-k":
            whole = len(history) == self.order - 1 or history[:1] == ("<s>",)
            seen = self.followers.get(history)
            if not whole:
                return uniform
            if not seen:
                return self.p(word, history[1:])
            return (seen.get(word, 0) + self.k) / (sum(seen.values()) + self.k * len(self.words))
        lower = self.p(word, history[1:]) if history else uniform
        seen = self.followers.get(history)
        if not seen:
            return lower
        discounts = self.discounts[len(history) + 1]
        total = sum(seen.values()) + (len(seen) if self.smoothing == "witten-bell" else 0)
        kept = {one: mass - discounts[min(mass, 3)] for one, mass in seen.items()}
        return kept.get(word, 0) / total + (total - sum(kept.values())) / total * lower
