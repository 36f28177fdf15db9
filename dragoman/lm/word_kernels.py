"""Which words stand in many lines, as numbers, at the speed of C?"""

from __future__ import annotations

import numpy as np

from dragoman.compiling import kernel

UNKNOWN, END = 0, 2
LINE_FEED, SPACE = 10, 32


@kernel
def hash_of(bytes_X, first, last):
    """A hash of these bytes (FNV-1a, stirred)."""
    found = np.uint64(0xCBF29CE484222325)
    for place in range(first, last):
        found = (found ^ np.uint64(bytes_X[place])) * np.uint64(0x100000001B3)
    found = (found ^ (found >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return found ^ (found >> np.uint64(29))


@kernel
def slot_of(bytes_X, first, last, words_X, begins_V, hashes_S, numbers_S):
    """Where these bytes are in the table, or the free slot where they would be."""
    hashed = hash_of(bytes_X, first, last)
    last_slot = np.uint64(len(numbers_S) - 1)
    slot = hashed & last_slot
    while numbers_S[slot] >= 0:
        if hashes_S[slot] == hashed:
            begin, end = begins_V[numbers_S[slot]], begins_V[numbers_S[slot] + 1] - 1
            same = end - begin == last - first
            if same:
                for place in range(end - begin):
                    same = same and words_X[begin + place] == bytes_X[first + place]
            if same:
                break
        slot = (slot + np.uint64(1)) & last_slot
    return slot, hashed


@kernel
def fill_words(first, words_X, begins_V, hashes_S, numbers_S):
    """Put the words from number `first` on into the table; words_X: all of them, with a byte behind each."""
    for number in range(first, len(begins_V) - 1):
        begin, end = begins_V[number], begins_V[number + 1] - 1
        slot, hashed = slot_of(words_X, begin, end, words_X, begins_V, hashes_S, numbers_S)
        hashes_S[slot] = hashed
        numbers_S[slot] = number


@kernel
def number_words(bytes_X, words_X, begins_V, hashes_S, numbers_S, ids_N):
    """The numbers of the words of lines, each of which ends with a line feed, and </s> behind each line; how many."""
    made, begin = 0, 0
    for place in range(len(bytes_X)):
        byte = bytes_X[place]
        if byte == SPACE or 9 <= byte <= 13:
            if begin < place:
                slot, _ = slot_of(bytes_X, begin, place, words_X, begins_V, hashes_S, numbers_S)
                ids_N[made] = max(numbers_S[slot], UNKNOWN)
                made += 1
            begin = place + 1
            if byte == LINE_FEED:
                ids_N[made] = END
                made += 1
    return made
