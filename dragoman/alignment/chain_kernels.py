"""How are forwards and backwards of hidden Markov models walked, at the speed of C?"""

from __future__ import annotations

import math

import numpy as np

from dragoman.alignment.kernels import TINY, count_links, gather, keep_posteriors
from dragoman.compiling import kernel


@kernel
def add_scaled(total, vector, factor):
    """total += factor * vector."""
    for i in range(len(total)):
        total[i] += factor * vector[i]


@kernel
def dot(left, right):
    """left . right"""
    total = left.dtype.type(0)
    for i in range(len(left)):
        total += left[i] * right[i]
    return total


@kernel
def forward(emit, null, weights, middle, none, ignore, outputs, inputs, a, n, s, c, t):
    """a[j, i]: p(f_1 .. f_j, a_j = i), n[j, k]: the same with f_j from no word and state k; each j scaled by c[j] to 1.

    State k is "the last linked word is k - 1", k = 0 being none yet. From it, word i is next with
    (1 - none) w(i - k + 1) / sum_i w(i - k + 1), = s_k w(i - k + 1); no word is, with `none`, and the state stays.
    States with less than `ignore` are passed over. Result: log p(f | e).
    """
    ones = emit.dtype.type(1)
    for k in range(inputs + 1):
        s[k] = (ones - none) / weights[middle - k + 1 : middle - k + 1 + inputs].sum()
        t[k] = 0
    t[0] = 1
    loglik = 0.0
    for j in range(outputs):
        row, chosen = a[j, :inputs], emit[j, :inputs]
        row[:] = 0
        total = none * null[j] * t[: inputs + 1].sum()
        for k in range(inputs + 1):
            n[j, k] = none * null[j] * t[k]
            if t[k] > ignore:
                add_scaled(row, weights[middle - k + 1 : middle - k + 1 + inputs], s[k] * t[k])
        for i in range(inputs):
            row[i] *= chosen[i]
        total += row.sum()
        if total < TINY:  # nothing explains this word: it comes from no word, and tells nothing
            null[j] = ones / none
            chosen[:] = 0
            row[:] = 0
            n[j, : inputs + 1] = t[: inputs + 1]
            c[j] = 1
            loglik += math.log(TINY)
            continue
        c[j] = total
        loglik += math.log(total)
        scale = ones / total
        t[0] = n[j, 0] = n[j, 0] * scale
        for i in range(inputs):
            row[i] *= scale
            n[j, i + 1] *= scale
            t[i + 1] = row[i] + n[j, i + 1]
    return loglik


@kernel
def backward(
    emit, null, weights, middle, none, ignore, outputs, inputs, a, n, b, s, c, t, post, null_post, jumps, left_K
):
    """post[j, i]: p(a_j = i | e, f), by what `forward` left; emit is spent.

    jumps[middle + d] += expected jumps / w(d); left_K[k] += expected departures from state k, to another word.
    """
    b[: inputs + 1] = 1
    for back in range(outputs):
        j = outputs - 1 - back
        row, chosen, after = a[j, :inputs], emit[j, :inputs], post[j, :inputs]
        scale = emit.dtype.type(1) / c[j]
        null_post[j] = dot(n[j, : inputs + 1], b[: inputs + 1])
        for i in range(inputs):
            after[i] = row[i] * b[i + 1]
            chosen[i] *= b[i + 1] * scale
        for k in range(inputs + 1):
            if j == 0:
                t[k] = 1 if k == 0 else 0
            else:
                t[k] = n[j - 1, k] + (a[j - 1, k - 1] if k > 0 else 0)
        for k in range(inputs + 1):
            if t[k] <= ignore:
                b[k] = 0
                continue
            leaving = s[k] * t[k]
            add_scaled(jumps[middle - k + 1 : middle - k + 1 + inputs], chosen, leaving)
            value = dot(weights[middle - k + 1 : middle - k + 1 + inputs], chosen)
            left_K[k] += leaving * value
            b[k] = s[k] * value + none * null[j] * scale * b[k]


@kernel
def expect_chains(
    first,
    last,
    sources_X,
    source_begins_N,
    targets_X,
    target_begins_N,
    cell_begins_N,
    slots_X,
    table_D2,
    null_0,
    null_1,
    weights_2W,
    none,
    ignore,
    agree,
    longest,
    counts_D2,
    nulls_0,
    nulls_1,
    jumps_2W,
    left_2KK,
    kept_X2,
):
    """E-step of hidden Markov models over the pairs [first, last), both directions. Result: their log-likelihoods.

    weights_2W: w(d) for d = -longest .. longest; jumps_2W receives expected jumps / w(d), left_2KK departures by (k,
    I).
    """
    shape = (longest, longest + 1)
    emit_0, emit_1, post_0, post_1 = (
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
    )
    a, n, left, jumps = (
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
        np.zeros(longest + 1, np.float32),
        np.zeros(weights_2W.shape[1], np.float32),
    )
    none_0, none_1, null_0_J, null_1_I = np.empty((4, longest), np.float32)
    b, s, c, t = np.empty((4, longest + 1), np.float32)
    middle = weights_2W.shape[1] // 2
    logs = np.zeros(2)
    for pair in range(first, last):
        source, target = source_begins_N[pair], target_begins_N[pair]
        rows, columns = source_begins_N[pair + 1] - source, target_begins_N[pair + 1] - target
        if rows == 0 or columns == 0:
            continue
        cell = cell_begins_N[pair]
        gather(slots_X, cell, rows, columns, table_D2, 0, null_0, targets_X, target, emit_0, none_0)
        gather(slots_X, cell, rows, columns, table_D2, 1, null_1, sources_X, source, emit_1, none_1)
        for way in range(2):
            emit, null, post, null_post = (
                (emit_0, none_0, post_0, null_0_J) if way == 0 else (emit_1, none_1, post_1, null_1_I)
            )
            outputs, inputs = (columns, rows) if way == 0 else (rows, columns)
            logs[way] += forward(emit, null, weights_2W[way], middle, none, ignore, outputs, inputs, a, n, s, c, t)
            backward(
                emit,
                null,
                weights_2W[way],
                middle,
                none,
                ignore,
                outputs,
                inputs,
                a,
                n,
                b,
                s,
                c,
                t,
                post,
                null_post,
                jumps,
                left,
            )
            for d in range(middle - inputs, middle + inputs + 1):
                jumps_2W[way, d] += jumps[d]
                jumps[d] = 0
            for k in range(inputs + 1):
                left_2KK[way, k, inputs] += left[k]
                left[k] = 0
        if len(counts_D2):
            count_links(
                agree,
                slots_X,
                cell,
                rows,
                columns,
                post_0,
                post_1,
                null_0_J,
                null_1_I,
                targets_X,
                target,
                sources_X,
                source,
                counts_D2,
                nulls_0,
                nulls_1,
            )
        if len(kept_X2):
            keep_posteriors(cell, rows, columns, post_0, post_1, kept_X2)
    return logs
