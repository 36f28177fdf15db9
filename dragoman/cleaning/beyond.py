"""What speaks against a pair that its own signs do not tell: a test set, the format it is for, a guess of languages?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dragoman.cleaning.filters import AtLeast, AtMost, Chunk, Scores
from dragoman.cleaning.guessing import likelihood
from dragoman.cleaning.signs import DIGIT, Signs
from dragoman.corpus.languages import parse_language
from dragoman.corpus.layouts import Rule
from dragoman.corpus.splitting import key_hash
from dragoman.corpus.writers import leaves_nothing

FEWEST_WORDS = 5  # of fewer nobody can say in which language a text is


@dataclass(frozen=True)
class InTestSet(AtMost):
    """Sides that stand in a test set, of which the hashes are known (`duplicates.held_out_keys`)."""

    held_out: frozenset[int] = frozenset()
    name: ClassVar[str] = "in a test set"

    def score(self, chunk: Chunk) -> Scores:
        counts_N = np.zeros(len(chunk))
        for side in chunk.sides if self.held_out else ():
            counts_N += [key_hash(text) in self.held_out for text in side.texts]
        return counts_N


@dataclass(frozen=True)
class NothingToWrite(AtMost):
    """Sides of which nothing is left in the format that the pairs are written in (`writers.rules_of`)."""

    rules: tuple[Rule, ...] = ()
    name: ClassVar[str] = "nothing to write"

    def score(self, chunk: Chunk) -> Scores:
        counts_N = np.zeros(len(chunk))
        for side in chunk.sides:
            for row in np.flatnonzero(side.letters_N + side.counts_NC[:, DIGIT] == 0).tolist():  # others fit any format
                counts_N[row] += leaves_nothing(side.texts[row], self.rules)
        return counts_N


class OtherLanguage(AtLeast):
    """How likely each side is in its language, by a guess; the lower one of the two. 1 for sides of fewer than
    FEWEST_WORDS."""

    name = "other language"

    def score(self, chunk: Chunk) -> Scores:
        return np.minimum(*map(_likelihoods, chunk.sides, chunk.languages))


def _likelihoods(side: Signs, code: str) -> Scores:
    likely_N, language = np.ones(len(side.texts)), parse_language(code).language
    for row in np.flatnonzero(side.words_N >= FEWEST_WORDS).tolist():
        likely_N[row] = likelihood(side.texts[row], language)
    return likely_N
