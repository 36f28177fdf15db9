"""How are forwards and backwards of hidden Markov models walked, at the speed of C?"""

from __future__ import annotations

import math

import numpy as np

from dragoman.alignment.kernels import TINY, gather, keep_pair, total_of
from dragoman.compiling import kernel


@kernel
def add_scaled(total, to, vector, begin, length, factor):
    """total[to + i] += factor * vector[begin + i]."""
    for i in range(length):
        total[to + i] += factor * vector[begin + i]


@kernel
def dot(left, begin, right, length):
    """The sum of left[begin + i] * right[i]."""
    total = np.float32(0)
    for i in range(length):
        total += left[begin + i] * right[i]
    return total


@kernel
def forward(emit, null, weights, middle, none, ignore, outputs, inputs, a, n, s, c, t):
    """a[j, i]: p(f_1 .. f_j, a_j = i), n[j, k]: the same with f_j from no word and state k; each j scaled by c[j] to 1.

    State k is "the last linked word is k - 1", k = 0 being none yet. From it, word i is next with
    (1 - none) w(i - k + 1) / sum_i w(i - k + 1), = s_k w(i - k + 1); no word is, with `none`, and the state stays.
    States with less than `ignore` are passed over. Result: log p(f | e).
    """
    one = np.float32(1)
    for k in range(inputs + 1):
        s[k] = (one - none) / total_of(weights, middle - k + 1, inputs)
        t[k] = 0
    t[0] = 1
    loglik = 0.0
    for j in range(outputs):
        row, idle = a[j], none * null[j]
        for i in range(inputs):
            row[i] = 0
        total = idle * total_of(t, 0, inputs + 1)
        for k in range(inputs + 1):
            n[j, k] = idle * t[k]
            if t[k] > ignore:
                add_scaled(row, 0, weights, middle - k + 1, inputs, s[k] * t[k])
        for i in range(inputs):
            row[i] *= emit[j, i]
        total += total_of(row, 0, inputs)
        if total < TINY:  # nothing explains this word: it comes from no word, and tells nothing
            null[j] = one / none
            for i in range(inputs):
                emit[j, i] = row[i] = 0
            for k in range(inputs + 1):
                n[j, k] = t[k]
            c[j] = 1
            loglik += math.log(TINY)
            continue
        c[j] = total
        loglik += math.log(total)
        scale = one / total
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
    one = np.float32(1)
    for k in range(inputs + 1):
        b[k] = one
    for back in range(outputs):
        j = outputs - 1 - back
        chosen, scale = emit[j], one / c[j]
        null_post[j] = dot(n[j], 0, b, inputs + 1)
        for i in range(inputs):
            post[j, i] = a[j, i] * b[i + 1]
            chosen[i] *= b[i + 1] * scale
        t[0] = n[j - 1, 0] if j > 0 else one
        for k in range(1, inputs + 1):
            t[k] = n[j - 1, k] + a[j - 1, k - 1] if j > 0 else np.float32(0)
        for k in range(inputs + 1):
            if t[k] <= ignore:
                b[k] = 0
                continue
            leaving = s[k] * t[k]
            add_scaled(jumps, middle - k + 1, chosen, 0, inputs, leaving)
            value = dot(weights, middle - k + 1, chosen, inputs)
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
    table_DW,
    scale_0,
    scale_1,
    null_0,
    null_1,
    weights_2W,
    none,
    ignore,
    longest,
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
    emit, post = np.empty((2, longest, longest), np.float32), np.empty((2, longest, longest), np.float32)
    null, null_post = np.empty((2, longest), np.float32), np.empty((2, longest), np.float32)
    walked, scratch = np.empty((2, longest, longest + 1), np.float32), np.empty((4, longest + 1), np.float32)
    a, n, b, s, c, t = walked[0], walked[1], scratch[0], scratch[1], scratch[2], scratch[3]
    jumps, left = np.zeros(weights_2W.shape[1], np.float32), np.zeros(longest + 1, np.float32)
    middle = weights_2W.shape[1] // 2
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
            one, nothing, weights = emit[way], null[way], weights_2W[way]
            gather(
                *(slots_X, cell, rows, columns, table_DW, scale_V, way),
                *(inputs_X, input_, null_V, outputs_X, output, one, nothing),
            )
            logs[way] += forward(one, nothing, weights, middle, none, ignore, outputs, inputs, a, n, s, c, t)
            backward(
                one,
                nothing,
                weights,
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
                post[way],
                null_post[way],
                jumps,
                left,
            )
            for d in range(middle - inputs, middle + inputs + 1):
                jumps_2W[way, d] += jumps[d]
                jumps[d] = 0
            for k in range(inputs + 1):
                left_2KK[way, k, inputs] += left[k]
                left[k] = 0
        keep_pair(cell, rows, columns, post, null_post, targets_X, target, sources_X, source, nulls_0, nulls_1, kept_X2)
    return logs
