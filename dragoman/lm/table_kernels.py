"""How are many n-grams looked up at once, by a table, at the speed of C?

The time goes into waiting for memory. So many rows are looked up side by side: first the places of all of them are
asked for, which the processor does at once, then each is seen to; those that were not found back off and are asked for
again.
"""

from __future__ import annotations

import numpy as np

from dragoman.compiling import kernel

END = 2


@kernel
def slot_of(state, word, keys_S2):
    """Where (state, word) should be in the table."""
    hashed = np.uint64((np.int64(state) << 32) | np.int64(word)) * np.uint64(0x9E3779B97F4A7C15)
    hashed = (hashed ^ (hashed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64(((hashed >> np.uint64(32)) * np.uint64(len(keys_S2))) >> np.uint64(32))


@kernel
def put(count, asked_3B, words_X, log_probs_X, states_X, keys_S2, logs_S4, ends_S4):
    """Put the n-grams asked_3B[0] behind the contexts asked_3B[1] into the table, at slots [2] or behind them."""
    touched = 0
    for row in range(count):
        slot = slot_of(asked_3B[1, row], words_X[asked_3B[0, row]], keys_S2)
        asked_3B[2, row] = slot
        touched += keys_S2[slot, 0] != 0
    for row in range(count):
        child, parent, slot = asked_3B[0, row], asked_3B[1, row], asked_3B[2, row]
        while keys_S2[slot, 0] != 0:
            slot = slot + 1 if slot + 1 < len(keys_S2) else 0
        keys_S2[slot, 0] = (parent << 32) | np.int64(words_X[child])
        logs_S4[slot, 2] = log_probs_X[child]
        ends_S4[slot, 3] = states_X[child]
    return touched


@kernel
def fill_table(words_X, begins_Y, log_probs_X, states_X, keys_S2, logs_S4, ends_S4, lanes):
    """Put every n-gram of more than one word where its context and word lead, or behind: its key, log-probability and
    the state behind it lie side by side."""
    asked_3B = np.empty((3, lanes), np.int64)
    count = 0
    for parent in range(1, len(begins_Y) - 1):
        for child in range(begins_Y[parent], begins_Y[parent + 1]):
            asked_3B[0, count], asked_3B[1, count] = child, parent
            count += 1
            if count == lanes:
                put(count, asked_3B, words_X, log_probs_X, states_X, keys_S2, logs_S4, ends_S4)
                count = 0
    put(count, asked_3B, words_X, log_probs_X, states_X, keys_S2, logs_S4, ends_S4)


@kernel
def look_up(
    count, words_B, keys_S2, logs_S4, ends_S4, backoffs_Y2, backs_Y2, log_probs_X, states_X, asked_3B, states_B, found_B
):
    """log p of a word in each of the first `count` states, which become those behind. asked_3B: room for rows, their
    slots and what is there."""
    for row in range(count):
        asked_3B[0, row] = row
        found_B[row] = 0.0
    waiting = count
    while waiting > 0:
        for place in range(waiting):
            row = asked_3B[0, place]
            slot = slot_of(states_B[row], words_B[row], keys_S2)
            asked_3B[1, place] = slot
            asked_3B[2, place] = keys_S2[slot, 0]
        left = 0
        for place in range(waiting):
            row = asked_3B[0, place]
            state, word = np.int64(states_B[row]), np.int64(words_B[row])
            if state == 0:
                found_B[row] += log_probs_X[1 + word]
                states_B[row] = states_X[1 + word]
                continue
            wanted, slot, there = (state << 32) | word, asked_3B[1, place], asked_3B[2, place]
            while there != 0 and there != wanted:
                slot = slot + 1 if slot + 1 < len(keys_S2) else 0
                there = keys_S2[slot, 0]
            if there == wanted:
                found_B[row] += logs_S4[slot, 2]
                states_B[row] = ends_S4[slot, 3]
            else:
                found_B[row] += backoffs_Y2[state, 0]
                states_B[row] = backs_Y2[state, 1]
                asked_3B[0, left] = row
                left += 1
        waiting = left


@kernel
def predict_quickly(
    ids_X, begins_N, start, keys_S2, logs_S4, ends_S4, backoffs_Y2, backs_Y2, log_probs_X, states_X, lanes, found_X
):
    """What `predict` finds, so many sentences side by side; begins_N: where each begins, and the end."""
    places_B, words_B, states_B = np.empty(lanes, np.int64), np.empty(lanes, np.int32), np.empty(lanes, np.int32)
    found_B, asked_3B = np.empty(lanes, np.float64), np.empty((3, lanes), np.int64)
    begun, count = 0, 0
    while True:
        while count < lanes and begun < len(begins_N) - 1:
            places_B[count], states_B[count] = begins_N[begun], start
            begun += 1
            count += 1
        if count == 0:
            return
        for row in range(count):
            words_B[row] = ids_X[places_B[row]]
        look_up(
            *(count, words_B, keys_S2, logs_S4, ends_S4, backoffs_Y2, backs_Y2, log_probs_X, states_X),
            *(asked_3B, states_B, found_B),
        )
        left = 0
        for row in range(count):
            found_X[places_B[row]] = found_B[row]
            if words_B[row] != END:
                places_B[left], states_B[left] = places_B[row] + 1, states_B[row]
                left += 1
        count = left
