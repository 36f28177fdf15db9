"""How is the top of IBM model 3 climbed, and what is expected beside it, at the speed of C?"""

from __future__ import annotations

import math

import numpy as np

from dragoman.alignment.kernels import count_places, gather, keep_pair
from dragoman.compiling import kernel

LEAST = 1e-12


@kernel
def null_weight(words, nulls, p1):
    """C(J - n, n) p1^n (1 - p1)^(J - 2n): n of J words come from no word (Brown et al. 1993, eq. 31)."""
    if nulls < 0 or 2 * nulls > words:
        return 0.0
    rest = words - nulls
    ways = math.lgamma(rest + 1) - math.lgamma(nulls + 1) - math.lgamma(rest - nulls + 1)
    return math.exp(ways + nulls * math.log(p1) + (rest - nulls) * math.log(1 - p1))


@kernel
def gain(i, more, born, words, p1, fertility_VF, inputs_X, begin):
    """By what p(f, a | e) changes, apart from t and d, if word i (0: no word) has one word more, or (more = -1) less:
    phi! n(phi | e) of both fertilities; 0 where that cannot be."""
    now = born[i]
    new = now + more
    if i == 0:
        return null_weight(words, new, p1) / max(null_weight(words, now, p1), LEAST)
    e = inputs_X[begin + i - 1]
    if new < 0 or new >= fertility_VF.shape[1]:
        return 0.0
    factorial = float(new) if more > 0 else 1.0 / now
    return factorial * fertility_VF[e, new] / max(fertility_VF[e, now], LEAST)


@kernel
def climb(score, links, born, outputs, inputs, p1, fertility_VF, inputs_X, begin):
    """From links, take the best move (one word gets another origin) or swap (two words change theirs) until none is
    better.

    score[j, i]: t(f_j | e_i) d(j | i, I, J), t(f_j | no word) for i = 0; links[j] and born[i] change.
    """
    for _ in range(4 * (outputs + inputs) + 10):  # it ends long before
        best, best_j, best_i, best_k = 1.0 + 1e-6, -1, -1, -1
        for j in range(outputs):
            i = links[j]
            old = max(score[j, i], LEAST)
            less = gain(i, -1, born, outputs, p1, fertility_VF, inputs_X, begin)
            for other in range(inputs + 1):
                if other != i and score[j, other] > 0:
                    value = score[j, other] / old * less
                    value *= gain(other, 1, born, outputs, p1, fertility_VF, inputs_X, begin)
                    if value > best:
                        best, best_j, best_i, best_k = value, j, other, -1
            for k in range(j + 1, outputs):
                if links[k] != i:
                    value = score[j, links[k]] * score[k, i] / (old * max(score[k, links[k]], LEAST))
                    if value > best:
                        best, best_j, best_i, best_k = value, j, links[k], k
        if best_j < 0:
            return
        i = links[best_j]
        if best_k >= 0:
            links[best_k] = i
        else:
            born[i] -= 1
            born[best_i] += 1
        links[best_j] = best_i


@kernel
def expect_beside(score, links, born, outputs, inputs, p1, fertility_VF, inputs_X, begin, post_JI, fertile_IF):
    """Expected links post_JI (i = 0: no word) and fertilities fertile_IF over the links, all their moves and swaps;
    each weighs what its probability is beside that of the links. Result: the sum of the weights."""
    total = 1.0
    most = fertile_IF.shape[1]
    for i in range(inputs + 1):
        for j in range(outputs):
            post_JI[j, i] = 0.0
        for phi in range(most):
            fertile_IF[i, phi] = 0.0
    for j in range(outputs):
        i = links[j]
        old = max(score[j, i], LEAST)
        less = gain(i, -1, born, outputs, p1, fertility_VF, inputs_X, begin)
        for other in range(inputs + 1):
            if other == i or score[j, other] <= 0:
                continue
            value = score[j, other] / old * less * gain(other, 1, born, outputs, p1, fertility_VF, inputs_X, begin)
            total += value
            post_JI[j, other] += value
            post_JI[j, i] -= value
            for word, more in ((i, -1), (other, 1)):
                if word > 0 and value > 0:
                    fertile_IF[word, born[word]] -= value
                    fertile_IF[word, born[word] + more] += value
        for k in range(j + 1, outputs):
            other = links[k]
            if other == i:
                continue
            value = score[j, other] * score[k, i] / (old * max(score[k, other], LEAST))
            total += value
            post_JI[j, other] += value
            post_JI[j, i] -= value
            post_JI[k, i] += value
            post_JI[k, other] -= value
    for j in range(outputs):
        post_JI[j, links[j]] += total
    for i in range(inputs + 1):
        if i > 0:
            fertile_IF[i, born[i]] += total
        for j in range(outputs):
            post_JI[j, i] /= total
        for phi in range(most):
            fertile_IF[i, phi] /= total
    return total


@kernel
def log_probability(score, links, born, outputs, inputs, p1, fertility_VF, inputs_X, begin):
    """log p(f, a | e) of IBM 3: nulls, phi! n(phi | e) of each word, t and d of each link."""
    total = math.log(max(null_weight(outputs, born[0], p1), LEAST))
    for i in range(1, inputs + 1):
        total += math.lgamma(born[i] + 1) + math.log(max(fertility_VF[inputs_X[begin + i - 1], born[i]], LEAST))
    for j in range(outputs):
        total += math.log(max(score[j, links[j]], LEAST))
    return total


@kernel
def expect_fertile(
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
    p1,
    longest,
    fertility_0,
    fertility_1,
    nulls_0,
    nulls_1,
    places_0,
    places_1,
    fertile_0,
    fertile_1,
    kept_X2,
):
    """The E-step of IBM 3 over the pairs [first, last), beside the tops that are climbed, both directions. prior_0,
    prior_1: d(j | i, I, J), laid out as places. Result: sums of log p(f, these links | e)."""
    emit, post = np.empty((longest, longest), np.float32), np.empty((2, longest, longest), np.float32)
    null, null_post = np.empty(longest, np.float32), np.empty((2, longest), np.float32)
    score, post_JI = np.empty((longest, longest + 1)), np.empty((longest, longest + 1))
    fertile_IF = np.empty((longest + 1, fertility_0.shape[1]))
    links, born = np.empty(longest, np.int64), np.empty(longest + 1, np.int64)
    logs = np.zeros(2)
    for pair in range(first, last):
        source, target = source_begins_N[pair], target_begins_N[pair]
        rows, columns = source_begins_N[pair + 1] - source, target_begins_N[pair + 1] - target
        if rows == 0 or columns == 0:
            continue
        cell = cell_begins_N[pair]
        for way in range(2):
            outputs, inputs = (columns, rows) if way == 0 else (rows, columns)
            words, begin = (sources_X, source) if way == 0 else (targets_X, target)
            fertility, prior = (fertility_0, prior_0) if way == 0 else (fertility_1, prior_1)
            at = prior_begins_N2[pair, way]
            null_V, others, at_others = (null_0, targets_X, target) if way == 0 else (null_1, sources_X, source)
            scale_V = scale_0 if way == 0 else scale_1
            places_X, fertile_VF = (places_0, fertile_0) if way == 0 else (places_1, fertile_1)
            gather(
                *(slots_X, cell, rows, columns, table_DW, scale_V, way),
                *(words, begin, null_V, others, at_others, emit, null),
            )
            for i in range(inputs + 1):
                born[i] = 0
            for j in range(outputs):
                score[j, 0] = null[j]
                best = 0
                for i in range(1, inputs + 1):
                    score[j, i] = emit[j, i - 1] * prior[at + j * (inputs + 1) + i]
                    room = born[i] + 1 < fertility.shape[1]
                    if room and (best == 0 or score[j, i] > score[j, best]):
                        best = i
                if 2 * (born[0] + 1) <= outputs and (best == 0 or score[j, 0] * p1 > score[j, best]):
                    best = 0
                links[j] = best
                born[best] += 1
            climb(score, links, born, outputs, inputs, p1, fertility, words, begin)
            sum_ = expect_beside(score, links, born, outputs, inputs, p1, fertility, words, begin, post_JI, fertile_IF)
            logs[way] += math.log(sum_) + log_probability(
                score, links, born, outputs, inputs, p1, fertility, words, begin
            )
            for j in range(outputs):
                null_post[way, j] = post_JI[j, 0]
                for i in range(inputs):
                    post[way, j, i] = max(0.0, post_JI[j, i + 1])
            if len(places_X):
                count_places(post[way], null_post[way], outputs, inputs, at, places_X)
                for i in range(inputs):
                    for phi in range(fertility.shape[1]):
                        fertile_VF[words[begin + i], phi] += fertile_IF[i + 1, phi]
        keep_pair(cell, rows, columns, post, null_post, targets_X, target, sources_X, source, nulls_0, nulls_1, kept_X2)
    return logs
