"""How is a text predicted, and drawn, at the speed of C?

A state is the number of an n-gram of which something follows: the longest such end of what was read.
"""

from __future__ import annotations

import math

import numpy as np

from dragoman.compiling import kernel
from dragoman.lm.trie_kernels import find_between

UNKNOWN, START, END = 0, 1, 2


@kernel
def step(state, word, words_X, begins_Y, log_probs_X, backoffs_Y, states_X, backs_Y):
    """log p(word | state), and the state behind it."""
    log_prob = 0.0
    while state > 0:
        found = find_between(words_X, begins_Y[state], begins_Y[state + 1], word)
        if found >= 0:
            return log_prob + log_probs_X[found], np.int64(states_X[found])
        log_prob += backoffs_Y[state]
        state = np.int64(backs_Y[state])
    return log_prob + log_probs_X[1 + word], np.int64(states_X[1 + word])


@kernel
def walk(ids_N, state, words_X, begins_Y, log_probs_X, backoffs_Y, states_X, backs_Y):
    """The state behind these words."""
    for place in range(len(ids_N)):
        _, state = step(state, ids_N[place], words_X, begins_Y, log_probs_X, backoffs_Y, states_X, backs_Y)
    return state


@kernel
def predict(ids_X, start, words_X, begins_Y, log_probs_X, backoffs_Y, states_X, backs_Y, found_X):
    """The log-probability of each word of sentences laid end to end, which end with </s>; they begin in `start`."""
    state = np.int64(start)
    for place in range(len(ids_X)):
        word = ids_X[place]
        found_X[place], state = step(state, word, words_X, begins_Y, log_probs_X, backoffs_Y, states_X, backs_Y)
        if word == END:
            state = np.int64(start)


@kernel
def accumulate(begins_Y, log_probs_X, masses_X):
    """The probabilities of the children of each node, added up from the first one on."""
    for parent in range(len(begins_Y) - 1):
        total = 0.0
        for child in range(begins_Y[parent], begins_Y[parent + 1]):
            if child != 1 + START:
                total += math.exp(log_probs_X[child])
            masses_X[child] = total


@kernel
def mixed(number):
    """splitmix64 (Steele et al. 2014): a good hash of a 64-bit number."""
    number = np.uint64(number) + np.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@kernel
def pick(low, high, masses_X, share):
    """The child in [low, high) at this share of their mass."""
    wanted = share * masses_X[high - 1]
    last = high - 1
    while low < last:
        middle = (low + last) >> 1
        if masses_X[middle] > wanted:
            last = middle
        else:
            low = middle + 1
    return low


@kernel
def draw_word(state, random_1, masses_X, path_W, words_X, begins_Y, backoffs_Y, backs_Y):
    """A word by its probability in this state, never <unk>.

    With the mass of what was seen here, one of that; else one of the shorter context that was not seen here: one that
    was is drawn anew. random_1: where the stream of random numbers is.
    """
    depth, node = 0, state
    path_W[0] = node
    while node > 0:
        node = backs_Y[node]
        depth += 1
        path_W[depth] = node
    level = 0
    while True:
        node = path_W[level]
        low, high = begins_Y[node], begins_Y[node + 1]
        random_1[0] += np.uint64(0x9E3779B97F4A7C15)
        share = (mixed(random_1[0]) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
        if level < depth and (low == high or not math.isinf(backoffs_Y[node])):
            if low == high or share >= masses_X[high - 1]:
                level += 1
                continue
            share /= masses_X[high - 1]
        word = words_X[pick(low, high, masses_X, share)]
        again = 0 if word == UNKNOWN else -1
        for shorter in range(level - 1, -1, -1):
            if again < 0:
                node = path_W[shorter]
                if find_between(words_X, begins_Y[node], begins_Y[node + 1], word) >= 0:
                    again = shorter + 1
        if again < 0:
            return word
        level = again


@kernel
def draw_text(
    state, stream, masses_X, words_X, begins_Y, log_probs_X, backoffs_Y, states_X, backs_Y, path_W, words_N, found_N
):
    """Words up to </s>, or as many as there is room for, and their log-probabilities; how many."""
    random_1 = np.empty(1, np.uint64)
    random_1[0] = stream
    for place in range(len(words_N)):
        word = draw_word(state, random_1, masses_X, path_W, words_X, begins_Y, backoffs_Y, backs_Y)
        words_N[place] = word
        found_N[place], state = step(state, word, words_X, begins_Y, log_probs_X, backoffs_Y, states_X, backs_Y)
        if word == END:
            return place + 1
    return len(words_N)
