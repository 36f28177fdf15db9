"""What do expected links make of lexical tables, at the speed of C?"""

from __future__ import annotations

import math

import numpy as np

from dragoman.compiling import kernel


@kernel
def exp_digamma(x):
    """exp(psi(x)), psi by recurrence up to 6 and its asymptotic series from there."""
    if x < 0.012:
        return 0.0  # below e^-83
    shift = 0.0
    while x < 6.0:
        shift += 1.0 / x
        x += 1.0
    inverse = 1.0 / x
    square = inverse * inverse
    return x * math.exp(-0.5 * inverse - square * (1 / 12 - square * (1 / 120 - square / 252)) - shift)


@kernel
def normalise(first, last, counts_D2, row_begins_V, partners_D, sums_T, alpha, floor, table_D2):
    """M-step for the source words [first, last): t(f | e) and t(e | f) from expected links.

    alpha 0: c / sum c, the maximum of the likelihood. Else exp(psi(c + alpha)) / exp(psi(sum (c + alpha))), variational
    Bayes under a Dirichlet prior (Riley & Gildea 2012); sums_T already holds the latter denominators for t(e | f).
    """
    for word in range(first, last):
        begin, end = row_begins_V[word], row_begins_V[word + 1]
        total = 0.0
        for row in range(begin, end):
            total += counts_D2[row, 0]
        if alpha > 0.0:
            total = exp_digamma(total + alpha * (end - begin))
        scale = 1.0 / total if total > 0.0 else 0.0
        for row in range(begin, end):
            divisor = sums_T[partners_D[row]]
            reverse = 1.0 / divisor if divisor > 0.0 else 0.0
            if alpha > 0.0:
                table_D2[row, 0] = max(floor, exp_digamma(counts_D2[row, 0] + alpha) * scale)
                table_D2[row, 1] = max(floor, exp_digamma(counts_D2[row, 1] + alpha) * reverse)
            else:
                table_D2[row, 0] = max(floor, counts_D2[row, 0] * scale)
                table_D2[row, 1] = max(floor, counts_D2[row, 1] * reverse)


@kernel
def sums_of_sources(counts_DW, row_begins_V, sums_S):
    """Expected links of each source word in direction 0."""
    for word in range(len(sums_S)):
        total = 0.0
        for row in range(row_begins_V[word], row_begins_V[word + 1]):
            total += counts_DW[row, 0]
        sums_S[word] = total


@kernel
def sums_of_targets(counts_DW, partners_D, sums_T, partners_T):
    """Expected links of each target word in direction 1, and how many partners it has."""
    second = counts_DW.shape[1] - 1
    for row in range(len(partners_D)):
        sums_T[partners_D[row]] += counts_DW[row, second]
        partners_T[partners_D[row]] += 1


@kernel
def keep_rows(row_begins_V, partners_D, links_D1, scale_S, scale_T, least, new_begins_V, kept_D, table_D2):
    """The rows in which links times either scale are at least `least`, and these products. Outputs of length 0 are not
    written; new_begins_V, where the rows of each word begin then, always is."""
    count = 0
    for word in range(len(row_begins_V) - 1):
        new_begins_V[word] = count
        for row in range(row_begins_V[word], row_begins_V[word + 1]):
            forward = np.float32(links_D1[row, 0] * scale_S[word])
            reverse = np.float32(links_D1[row, 0] * scale_T[partners_D[row]])
            if max(forward, reverse) >= least:
                if len(kept_D):
                    kept_D[count] = partners_D[row]
                    table_D2[count, 0] = forward
                    table_D2[count, 1] = reverse
                count += 1
    new_begins_V[len(row_begins_V) - 1] = count
