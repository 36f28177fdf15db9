"""How does an n-gram model go on with a text, so that not a sign of its beginning changes?

A beginning may end inside of a word: the first word that is drawn is then one that begins so, and only the rest of it
is added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dragoman.contracts import Flag, Sampling, UserError
from dragoman.lm import walk_kernels
from dragoman.lm.ngrams import Ngrams
from dragoman.lm.units import END, START, UNKNOWN, Vocabulary, joined
from dragoman.texts import Generated, Generating, settled

Doubles = npt.NDArray[np.float64]
SILENT = (UNKNOWN, START)


@dataclass(frozen=True)
class Begun:
    """state: behind what was read. log_probs: of the word that was drawn to end it, if one was; beyond: its signs that
    go beyond the prefix. apart: does a space stand before the next word?"""

    state: int
    log_probs: tuple[float, ...] = ()
    beyond: str = ""
    apart: bool = False


def written(ngrams: Ngrams, vocabulary: Vocabulary, prefix: str, options: Generating) -> list[Generated]:
    """`options.count` texts; equal ones may be among them. Text i depends on seed, prefix and i alone.

    UserError for options that make no sense, and for a line end in the prefix: texts are lines.
    """
    sampling = settled(options)
    if "\n" in prefix or "\r" in prefix:
        raise UserError("the prefix has a line end in it, and this model was trained on single lines")
    plain = sampling.temperature == 1 and not sampling.top_k and sampling.top_p == 1
    opening = Opening.of(ngrams, vocabulary, prefix)
    found = []
    for number in range(options.count):
        seed = int(walk_kernels.mixed(np.uint64(sampling.seed)))
        stream = int(walk_kernels.mixed(np.uint64(seed ^ number)))
        begun = opening.begun(sampling, stream)
        if plain:
            ids, log_probs = ngrams.draw(begun.state, stream, options.longest + 1)
        else:
            ids, log_probs = chosen(ngrams, begun.state, sampling, stream, options.longest + 1)
        found.append(_generated(vocabulary, prefix, begun, ids, log_probs, options.longest))
    return found


def _generated(
    vocabulary: Vocabulary, prefix: str, begun: Begun, ids: list[int], log_probs: list[float], longest: int
) -> Generated:
    """The prefix and what comes behind it."""
    capped = ids[-1] != END
    if capped:
        log_probs = log_probs[:longest]
    new = joined([vocabulary.words[number] for number in ids[: len(log_probs) if capped else -1]], vocabulary.units)
    text = prefix + begun.beyond + (f" {new}" if begun.apart and new else new)
    flags = [Flag.LENGTH_CAP] if capped else []
    if not text[len(prefix) :].strip():
        flags.append(Flag.EMPTY)
    tokens = (*begun.log_probs, *log_probs)
    return Generated(text, math.fsum(tokens), tokens, tuple(flags))


@dataclass(frozen=True)
class Opening:
    """What a prefix leaves open. before: the state behind its whole words; begun_word: the last one, which may go on.
    fitting_C: the words that begin so; log_probs_C: theirs."""

    ngrams: Ngrams
    vocabulary: Vocabulary
    before: int
    begun_word: str = ""
    fitting_C: npt.NDArray[np.int64] | None = None
    log_probs_C: Doubles | None = None

    @classmethod
    def of(cls, ngrams: Ngrams, vocabulary: Vocabulary, prefix: str) -> Opening:
        """That of a prefix."""
        rest = ""
        if vocabulary.units == "words" and prefix and prefix[-1] not in " \t\x0b\x0c":
            rest = prefix.encode("utf-8", "surrogatepass").split()[-1].decode("utf-8", "surrogatepass")
        before = prefix[: len(prefix) - len(rest)]
        state = ngrams.behind(vocabulary.ids(before))
        if not rest:
            return cls(ngrams, vocabulary, state)
        words = enumerate(vocabulary.words)
        fitting_C = np.array([number for number, word in words if number > END and word.startswith(rest)], np.int64)
        log_probs_C = ngrams.following(state)[fitting_C]
        if not np.isfinite(log_probs_C).any():
            fitting_C = fitting_C[:0]
        return cls(ngrams, vocabulary, state, rest, fitting_C, log_probs_C)

    def begun(self, sampling: Sampling, stream: int) -> Begun:
        """The last word ended: drawn among those that fit, or taken for an unknown one where none does."""
        if self.fitting_C is None or self.log_probs_C is None:
            return Begun(self.before)
        if not len(self.fitting_C):
            return Begun(self.ngrams.behind([UNKNOWN], self.before), apart=True)
        uniform = np.random.default_rng(stream ^ 1).random()
        place = drawn(self.log_probs_C, sampling, uniform)
        word = int(self.fitting_C[place])
        beyond = self.vocabulary.words[word][len(self.begun_word) :]
        return Begun(self.ngrams.behind([word], self.before), (float(self.log_probs_C[place]),), beyond, apart=True)


def chosen(ngrams: Ngrams, state: int, sampling: Sampling, stream: int, longest: int) -> tuple[list[int], list[float]]:
    """Words drawn one by one from what temperature, top_k and top_p leave."""
    random = np.random.default_rng(stream)
    ids, log_probs = list[int](), list[float]()
    while len(ids) < longest and (not ids or ids[-1] != END):
        following_V = ngrams.following(state)
        allowed_V = following_V.copy()
        allowed_V[list(SILENT)] = -np.inf
        word = drawn(allowed_V, sampling, random.random())
        ids.append(word)
        log_probs.append(float(following_V[word]))
        state = ngrams.behind([word], state)
    return ids, log_probs


def drawn(log_probs_C: Doubles, sampling: Sampling, uniform: float) -> int:
    """The place at a share of the mass: p^(1 / temperature), the top_k best, then the fewest with mass top_p."""
    if sampling.top_k == 1:
        return int(log_probs_C.argmax())
    order_C = np.arange(len(log_probs_C))
    if 0 < sampling.top_k < len(order_C):
        order_C = np.argpartition(-log_probs_C, sampling.top_k)[: sampling.top_k]
    if sampling.top_k or sampling.top_p < 1:
        order_C = order_C[np.argsort(-log_probs_C[order_C], kind="stable")]
    logits_C = log_probs_C[order_C] / sampling.temperature
    mass_C = np.exp(logits_C - logits_C.max())
    mass_C /= mass_C.sum()
    if sampling.top_p < 1:
        mass_C = mass_C[mass_C.cumsum() - mass_C < sampling.top_p]
    sums_C = mass_C.cumsum()
    place = int(np.searchsorted(sums_C, uniform * sums_C[-1], side="right"))
    return int(order_C[min(place, len(sums_C) - 1)])
