"""How are the cells of all sentence pairs numbered, and the expected links of models without memory counted, at the
speed of C?

Arrays in, arrays out; `kernel.py_func` is the same in plain Python. A cell is a pair of words (i, j) of one sentence
pair; its slot is the row of the lexical table that the two words share, wherever they meet again.
"""

from __future__ import annotations

import math

import numpy as np

from dragoman.compiling import kernel

TINY = 1e-30


@kernel
def total_of(vector, begin, length):
    """The sum of so many numbers."""
    total = np.float32(0)
    for i in range(length):
        total += vector[begin + i]
    return total


@kernel
def number_partners(occurrences_X, word_begins_V, sentence_X, target_begins_N, targets_X, stamp_V, partners_D):
    """Give each source word's partners their rows in the table, the rows of one source word one after the other.

    occurrences_X: places of source words, sorted by word; sentence_X: the pair that a place is in. partners_D receives
    the target words (long enough for all cells, or the result is negative and no more than its length was written).
    Result: where the rows of each source word begin, and their number at the end.
    """
    words = len(word_begins_V) - 1
    row_begins_V = np.zeros(words + 1, np.int64)
    count = 0
    for word in range(words):
        row_begins_V[word] = count
        for place in range(word_begins_V[word], word_begins_V[word + 1]):
            pair = sentence_X[occurrences_X[place]]
            for at in range(target_begins_N[pair], target_begins_N[pair + 1]):
                target = targets_X[at]
                if stamp_V[target] != word:
                    stamp_V[target] = word
                    if count >= len(partners_D):
                        row_begins_V[words] = -1
                        return row_begins_V
                    partners_D[count] = target
                    count += 1
    row_begins_V[words] = count
    return row_begins_V


@kernel
def places_from(occurrences_X, begin, end, least):
    """The first of [begin, end) whose occurrence is at least so far on; they are sorted."""
    while begin < end:
        middle = (begin + end) // 2
        if occurrences_X[middle] < least:
            begin = middle + 1
        else:
            end = middle
    return begin


@kernel
def fill_slots(
    first_word,
    last_word,
    first,
    last,
    occurrences_X,
    word_begins_V,
    sentence_X,
    source_begins_N,
    target_begins_N,
    targets_X,
    cell_begins_N,
    row_begins_V,
    partners_D,
    missing,
    slot_V,
    slots_X,
):
    """Slots of the cells of the source words [first_word, last_word) in the pairs [first, last): cell (i, j) of a pair
    lies at cell_begins + i * J + j.

    slot_V: scratch, `missing` everywhere: the slot of words that are no partners. missing negative: all of them are.
    """
    for word in range(first_word, last_word):
        begin = places_from(occurrences_X, word_begins_V[word], word_begins_V[word + 1], source_begins_N[first])
        end = places_from(occurrences_X, begin, word_begins_V[word + 1], source_begins_N[last])
        if begin == end:
            continue
        for row in range(row_begins_V[word], row_begins_V[word + 1]):
            slot_V[partners_D[row]] = row
        for place in range(begin, end):
            at = occurrences_X[place]
            pair = sentence_X[at]
            target = target_begins_N[pair]
            length = target_begins_N[pair + 1] - target
            cell = cell_begins_N[pair] + (at - source_begins_N[pair]) * length
            for j in range(length):
                slots_X[cell + j] = slot_V[targets_X[target + j]]
        if missing >= 0:
            for row in range(row_begins_V[word], row_begins_V[word + 1]):
                slot_V[partners_D[row]] = missing


@kernel
def count_links(
    first_word,
    last_word,
    first,
    last,
    sources_X,
    source_begins_N,
    target_begins_N,
    cell_begins_N,
    slots_X,
    post_X2,
    counts_DW,
):
    """Add the expected links of the source words [first_word, last_word) in the pairs [first, last) to the counts: p
    and q, each direction in its column; in a single one p q, which both directions get where they agree (Liang et al.
    2006). A source word's rows are its own, so that threads share the counts."""
    agreed = counts_DW.shape[1] == 1
    for pair in range(first, last):
        begin, columns = cell_begins_N[pair], target_begins_N[pair + 1] - target_begins_N[pair]
        for at in range(source_begins_N[pair], source_begins_N[pair + 1]):
            if first_word <= sources_X[at] < last_word:
                for cell in range(begin, begin + columns):
                    if agreed:
                        counts_DW[slots_X[cell], 0] += post_X2[cell, 0] * post_X2[cell, 1]
                    else:
                        counts_DW[slots_X[cell], 0] += post_X2[cell, 0]
                        counts_DW[slots_X[cell], 1] += post_X2[cell, 1]
            begin += columns


@kernel
def gather(
    slots_X, cell, rows, columns, table_DW, scale_V, direction, inputs_X, input_, null_V, outputs_X, output, emit, null
):
    """t(f | e) of one sentence pair: emit[j, i] of direction 0 (targets come from sources), emit[i, j] of direction 1.

    rows, columns: source and target words of the pair. inputs_X from `input_` on are the e, outputs_X from `output` on
    the f; null[j] is t(f_j | no word). A table of one column serves both directions, times scale_V of the e.
    """
    shared = table_DW.shape[1] == 1
    if direction == 0:
        for i in range(rows):
            if shared:
                scale = scale_V[inputs_X[input_ + i]]
                for j in range(columns):
                    emit[j, i] = table_DW[slots_X[cell + i * columns + j], 0] * scale
            else:
                for j in range(columns):
                    emit[j, i] = table_DW[slots_X[cell + i * columns + j], 0]
        for j in range(columns):
            null[j] = null_V[outputs_X[output + j]]
    else:
        for i in range(rows):
            if shared:
                for j in range(columns):
                    scale = scale_V[inputs_X[input_ + j]]
                    emit[i, j] = table_DW[slots_X[cell + i * columns + j], 0] * scale
            else:
                for j in range(columns):
                    emit[i, j] = table_DW[slots_X[cell + i * columns + j], 1]
        for i in range(rows):
            null[i] = null_V[outputs_X[output + i]]


@kernel
def position_posteriors(emit, null, prior_X, at, outputs, inputs, post, null_post):
    """p(a_j = i | e, f) where words choose by place alone: prior_X[at + j * (I + 1) + i], no word first. Result: log
    p(f | e)."""
    total = 0.0
    for j in range(outputs):
        base = at + j * (inputs + 1)
        nothing = prior_X[base] * null[j]
        sum_ = nothing
        for i in range(inputs):
            post[j, i] = prior_X[base + 1 + i] * emit[j, i]
        for i in range(inputs):  # a loop of its own: in one that writes, where arrays lie decides how sums are ordered
            sum_ += post[j, i]
        if sum_ < TINY:
            for i in range(inputs):
                post[j, i] = 0.0
            null_post[j] = 1.0
            total += math.log(TINY)
            continue
        total += math.log(sum_)
        for i in range(inputs):
            post[j, i] /= sum_
        null_post[j] = nothing / sum_
    return total


@kernel
def keep_pair(cell, rows, columns, post, null_post, targets_X, target, sources_X, source, nulls_0, nulls_1, kept_X2):
    """How every E-step ends with a pair: write the posteriors of both directions where its cells are, and add its words
    from no word."""
    for i in range(rows):
        for j in range(columns):
            kept_X2[cell + i * columns + j, 0] = post[0, j, i]
            kept_X2[cell + i * columns + j, 1] = post[1, i, j]
    for j in range(columns):
        nulls_0[targets_X[target + j]] += null_post[0, j]
    for i in range(rows):
        nulls_1[sources_X[source + i]] += null_post[1, i]


@kernel
def expect_positions(
    first,
    last,
    sources_X,
    source_begins_N,
    targets_X,
    target_begins_N,
    cell_begins_N,
    slots_X,
    table_DW,
    scale_0,
    scale_1,
    null_0,
    null_1,
    prior_0,
    prior_1,
    prior_begins_N2,
    longest,
    nulls_0,
    nulls_1,
    places_0,
    places_1,
    kept_X2,
):
    """E-step of IBM models 1 and 2 over the pairs [first, last), both directions. Result: their log-likelihoods.

    places_0, places_1 receive the expected choices of places, laid out as the priors; with length 0 they are not
    counted. kept_X2 receives the posteriors, by cell.
    """
    emit, post = np.empty((longest, longest), np.float32), np.empty((2, longest, longest), np.float32)
    null, null_post = np.empty(longest, np.float32), np.empty((2, longest), np.float32)
    logs = np.zeros(2)
    for pair in range(first, last):
        source, target = source_begins_N[pair], target_begins_N[pair]
        rows, columns = source_begins_N[pair + 1] - source, target_begins_N[pair + 1] - target
        if rows == 0 or columns == 0:
            continue
        cell = cell_begins_N[pair]
        for way in range(2):
            outputs, inputs = (columns, rows) if way == 0 else (rows, columns)
            scale_V, inputs_X, input_ = (scale_0, sources_X, source) if way == 0 else (scale_1, targets_X, target)
            null_V, outputs_X, output = (null_0, targets_X, target) if way == 0 else (null_1, sources_X, source)
            prior_X, places_X = (prior_0, places_0) if way == 0 else (prior_1, places_1)
            at = prior_begins_N2[pair, way]
            gather(
                *(slots_X, cell, rows, columns, table_DW, scale_V, way),
                *(inputs_X, input_, null_V, outputs_X, output, emit, null),
            )
            logs[way] += position_posteriors(emit, null, prior_X, at, outputs, inputs, post[way], null_post[way])
            if len(places_X):
                count_places(post[way], null_post[way], outputs, inputs, at, places_X)
        keep_pair(cell, rows, columns, post, null_post, targets_X, target, sources_X, source, nulls_0, nulls_1, kept_X2)
    return logs


@kernel
def count_places(post, null_post, outputs, inputs, at, places_X):
    """Add the expected choices of places of one pair, no word first."""
    for j in range(outputs):
        base = at + j * (inputs + 1)
        places_X[base] += null_post[j]
        for i in range(inputs):
            places_X[base + 1 + i] += post[j, i]
