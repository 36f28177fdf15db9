"""How do the links of two directions become one set, for all pairs at the speed of C?

A cell's bits: 1 where direction 0 links it, 2 where direction 1 does.
"""

from __future__ import annotations

import math

import numpy as np

from dragoman.compiling import kernel

STEPS = np.array([(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)], np.int64)


@kernel
def bits_of_posteriors(first, last, in_begins_N, out_begins_N, cell_begins_N, post_X2, bits_X):
    """Each word's likeliest origin in either direction, unless no word at all is likelier."""
    for pair in range(first, last):
        rows, columns = in_begins_N[pair + 1] - in_begins_N[pair], out_begins_N[pair + 1] - out_begins_N[pair]
        cell = cell_begins_N[pair]
        for j in range(columns):
            best, at, total = 0.0, -1, 0.0
            for i in range(rows):
                p = post_X2[cell + i * columns + j, 0]
                total += p
                if p > best:
                    best, at = p, i
            if at >= 0 and best >= 1 - total:
                bits_X[cell + at * columns + j] |= 1
        for i in range(rows):
            best, at, total = 0.0, -1, 0.0
            for j in range(columns):
                p = post_X2[cell + i * columns + j, 1]
                total += p
                if p > best:
                    best, at = p, j
            if at >= 0 and best >= 1 - total:
                bits_X[cell + i * columns + at] |= 2


@kernel
def grow(rows, columns, bits, chosen, linked_i, linked_j):
    """From the links in `chosen` to those beside them that either direction has and whose words are not both linked yet
    (Koehn et al. 2005), until there are none; i before j."""
    added = True
    while added:
        added = False
        for i in range(rows):
            for j in range(columns):
                if not chosen[i * columns + j]:
                    continue
                for step in range(len(STEPS)):
                    y, x = i + STEPS[step, 0], j + STEPS[step, 1]
                    if y < 0 or x < 0 or y >= rows or x >= columns:
                        continue
                    cell = y * columns + x
                    if bits[cell] and not chosen[cell] and not (linked_i[y] and linked_j[x]):
                        chosen[cell] = 1
                        linked_i[y] = linked_j[x] = True
                        added = True


@kernel
def finish(rows, columns, bits, chosen, linked_i, linked_j, both):
    """Add what is left of direction 0, then of direction 1, where a word is not linked yet; `both`: where neither
    is."""
    for bit in (1, 2):
        for i in range(rows):
            for j in range(columns):
                cell = i * columns + j
                if not bits[cell] & bit or chosen[cell]:
                    continue
                if (linked_i[i] or linked_j[j]) if both else (linked_i[i] and linked_j[j]):
                    continue
                chosen[cell] = 1
                linked_i[i] = linked_j[j] = True


@kernel
def symmetrise_pairs(
    first, last, in_begins_N, out_begins_N, cell_begins_N, bits_X, least, most_bits, final, longest, chosen_X
):
    """Choose links of each pair from the bits of both directions.

    A cell whose bits are at least `least` is a link at once (3: intersection, 1: union). most_bits: grow from there.
    final: 0 nothing, 1 add where a word is not linked yet, 2 where neither is.
    """
    linked_i, linked_j = np.empty(longest, np.bool_), np.empty(longest, np.bool_)
    for pair in range(first, last):
        rows, columns = in_begins_N[pair + 1] - in_begins_N[pair], out_begins_N[pair + 1] - out_begins_N[pair]
        begin, end = cell_begins_N[pair], cell_begins_N[pair + 1]
        bits, chosen = bits_X[begin:end], chosen_X[begin:end]
        for i in range(rows):
            linked_i[i] = False
        for j in range(columns):
            linked_j[j] = False
        for i in range(rows):
            for j in range(columns):
                cell = i * columns + j
                if bits[cell] >= least:
                    chosen[cell] = 1
                    linked_i[i] = linked_j[j] = True
        if most_bits:
            grow(rows, columns, bits, chosen, linked_i, linked_j)
        if final:
            finish(rows, columns, bits, chosen, linked_i, linked_j, final == 2)


@kernel
def agreed(first, last, post_X2, least, chosen_X):
    """Links of the cells [first, last) whose sqrt(p q) is more than `least`."""
    for cell in range(first, last):
        if math.sqrt(post_X2[cell, 0] * post_X2[cell, 1]) > least:
            chosen_X[cell] = 1
