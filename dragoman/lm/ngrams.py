"""What does a finished n-gram model say of the next word, and which state is behind it?

A state is one number: the node of the longest end of what was read of which the model knows how it goes on; 0 knows
nothing. It is all that a decoder has to keep of a hypothesis, and two hypotheses in the same state have the same
future: they may be recombined.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dragoman.lm import table_kernels, trie_kernels, walk_kernels
from dragoman.lm.counting import Integers
from dragoman.lm.smoothing import Estimate, Floats
from dragoman.lm.trie import Trie
from dragoman.lm.units import END, START

AT_ONCE = 100_000  # n-grams that are listed together
LANES = 64  # sentences that are predicted side by side
WORTH_A_TABLE = 32  # n-grams for each word that is looked up: with more of them none is made
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Ngrams:
    """words_X, begins_Y, bounds: as in Trie. log_probs_X: of the last word of each n-gram given the others; backoffs_Y:
    log of what a context leaves to the one that is shorter by a word. states_X: the state behind each n-gram; backs_Y:
    the state to go on from where a word never followed this one. Logarithms are natural."""

    words_X: Integers
    begins_Y: Integers
    log_probs_X: Floats
    backoffs_Y: Floats
    states_X: Integers
    backs_Y: Integers
    bounds: tuple[int, ...]

    @property
    def order(self) -> int:
        return len(self.bounds) - 2

    @property
    def vocabulary(self) -> int:
        return self.bounds[2] - self.bounds[1]

    @property
    def counts(self) -> tuple[int, ...]:
        """How many n-grams there are of each order."""
        return tuple(np.diff(self.bounds[1:]).tolist())

    @property
    def start(self) -> int:
        """The state at the beginning of a sentence."""
        return int(self.states_X[1 + START])

    @property
    def _arrays(self) -> tuple[npt.NDArray[np.generic], ...]:
        return self.words_X, self.begins_Y, self.log_probs_X, self.backoffs_Y, self.states_X, self.backs_Y

    def advance(self, states_B: npt.NDArray[np.integer], words_B: npt.NDArray[np.integer]) -> tuple[Doubles, Integers]:
        """log p of a word in each state, and the states behind them. Both may have any shape, and are broadcast: the
        states B x 1 and words B x K of a search give B x K. </s> is the word 2; behind it nothing is known (state 0).
        ValueError for what is no state or no word."""
        whole_states, whole_words = np.broadcast_arrays(states_B, words_B)
        after_X, words_X = np.array(whole_states, np.int32).ravel(), np.array(whole_words, np.int32).ravel()
        for numbers, most in ((after_X, len(self.backs_Y)), (words_X, self.vocabulary)):
            if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < most:
                raise ValueError(f"a state or word outside of 0 to {most - 1}")
        found_X = np.empty(len(words_X), np.float64)
        asked_3X = np.empty((3, len(words_X)), np.int64)
        table_kernels.look_up(len(words_X), words_X, *self._table, asked_3X, after_X, found_X)
        return found_X.reshape(whole_words.shape), after_X.reshape(whole_words.shape)

    def behind(self, ids: Sequence[int], state: int | None = None) -> int:
        """The state behind these words, at the beginning of a sentence where none is given."""
        begun = np.int64(self.start if state is None else state)
        return int(walk_kernels.walk(np.array(ids, np.int32), begun, *self._arrays))

    def predict(self, ids_X: Integers) -> Floats:
        """log p of each word of sentences laid end to end, each with its </s>."""
        found_X = np.empty(len(ids_X), np.float32)
        if "_table" in self.__dict__ or len(ids_X) * WORTH_A_TABLE > len(self.words_X):
            begins_N = np.append(0, np.flatnonzero(ids_X == END) + 1)
            table_kernels.predict_quickly(ids_X, begins_N, self.start, *self._table, LANES, found_X)
        else:
            walk_kernels.predict(ids_X, self.start, *self._arrays, found_X)
        return found_X

    @cached_property
    def _table(self) -> tuple[npt.NDArray[np.generic], ...]:
        """All n-grams by context and word (open addressing, 16 bytes a slot), and what is left where there is none;
        made when many words are asked for. Each array is seen as whole numbers and as floats."""
        keys_S2 = np.empty((len(self.words_X) * 3 // 2 + 2, 2), np.int64)
        keys_S2[:] = 0  # what np.zeros gives lies in small pages, which are slower to find
        logs_S4, ends_S4 = keys_S2.view(np.float32), keys_S2.view(np.int32)
        table_kernels.fill_table(
            *(self.words_X, self.begins_Y, self.log_probs_X, self.states_X, keys_S2, logs_S4, ends_S4, LANES)
        )
        backs_Y2 = np.empty((len(self.backs_Y), 2), np.int32)
        backoffs_Y2 = backs_Y2.view(np.float32)
        backoffs_Y2[:, 0], backs_Y2[:, 1] = self.backoffs_Y, self.backs_Y
        return keys_S2, logs_S4, ends_S4, backoffs_Y2, backs_Y2, self.log_probs_X, self.states_X

    def following(self, state: int) -> Doubles:
        """log p of every word in a state; of <s> -inf."""
        path = [state]
        while path[-1]:
            path.append(int(self.backs_Y[path[-1]]))
        found_V = self.log_probs_X[slice(*self.bounds[1:3])].astype(np.float64)
        found_V[START] = -np.inf
        for node in reversed(path[:-1]):
            found_V += self.backoffs_Y[node]
            children = slice(self.begins_Y[node], self.begins_Y[node + 1])
            found_V[self.words_X[children]] = self.log_probs_X[children]
        return found_V

    @cached_property
    def masses_X(self) -> Doubles:
        """The probabilities of the children of each node, added up; made when first drawn from."""
        masses_X = np.zeros(len(self.words_X), np.float64)
        walk_kernels.accumulate(self.begins_Y, self.log_probs_X, masses_X)
        return masses_X

    def draw(self, state: int, stream: int, longest: int) -> tuple[list[int], list[float]]:
        """Words by their probabilities, never <unk>, up to </s> or so many, and the log-probability of each; another
        stream, other words."""
        words_N, found_N = np.empty(longest, np.int32), np.empty(longest, np.float64)
        path_W = np.zeros(self.order + 1, np.int64)
        made = walk_kernels.draw_text(
            *(np.int64(state), np.uint64(stream), self.masses_X, *self._arrays, path_W, words_N, found_N)
        )
        return words_N[:made].tolist(), found_N[:made].tolist()

    def listed(self, order: int) -> Iterator[tuple[Integers, Floats, Floats]]:
        """Words, log-probabilities and back-offs of the n-grams of an order, many at once; no back-offs at the highest
        one."""
        begin, end = self.bounds[order : order + 2]
        for first in range(begin, end, AT_ONCE):
            last = min(end, first + AT_ONCE)
            nodes_N = np.arange(first, last)
            words_NW = np.empty((last - first, order), np.int32)
            for column in range(order - 1, -1, -1):
                words_NW[:, column] = self.words_X[nodes_N]
                nodes_N = np.searchsorted(self.begins_Y, nodes_N, side="right") - 1
            yield words_NW, self.log_probs_X[first:last], self.backoffs_Y[first:last]


def estimated(trie: Trie, estimate: Estimate) -> Ngrams:
    """The model of an estimate, which is used up by it, without what is not kept."""
    probabilities_X, backoffs_Y, kept_X = estimate.probabilities_X, estimate.backoffs_Y, estimate.kept_X
    if not kept_X.all():
        backoffs_Y = backoffs_Y[kept_X[: len(backoffs_Y)]]
        trie, probabilities_X = without(trie, kept_X), probabilities_X[kept_X]
    with np.errstate(divide="ignore"):  # in place: these are the largest arrays that there are
        return settled(trie, np.log(probabilities_X, out=probabilities_X), np.log(backoffs_Y, out=backoffs_Y))


def without(trie: Trie, kept_X: npt.NDArray[np.bool_]) -> Trie:
    """The trie of the nodes that are kept; what they begin with and end in is kept too."""
    before_X = np.zeros(len(kept_X) + 1, np.int32)
    np.cumsum(kept_X, out=before_X[1:])
    inner_Y = kept_X[: trie.bounds[-2]]
    begins_Y = before_X[np.append(trie.begins_Y[:-1][inner_Y], trie.begins_Y[-1])]
    bounds = tuple(int(before_X[bound]) for bound in trie.bounds)
    return Trie(trie.words_X[kept_X], begins_Y, before_X[trie.links_X[kept_X]], bounds)


def settled(trie: Trie, log_probs_X: Floats, backoffs_Y: Floats) -> Ngrams:
    """The model of these n-grams, with its states."""
    extends_Y = (np.diff(trie.begins_Y) > 0) | (backoffs_Y != 0)
    states_X = np.empty(len(trie.words_X), np.int32)
    trie_kernels.settle_states(trie.links_X, extends_Y, states_X)
    backs_Y = states_X[trie.links_X[: len(extends_Y)]]
    return Ngrams(trie.words_X, trie.begins_Y, log_probs_X, backoffs_Y, states_X, backs_Y, trie.bounds)
