"""How are links drawn, each given all others, at the speed of C?

Gibbs sampling of both directions of a hidden Markov model with fertilities, its tables integrated out (Östling &
Tiedemann 2016): what is known of p(f | e) is how often the two are linked just now.
"""

from __future__ import annotations

import numpy as np

from dragoman.alignment.kernels import total_of
from dragoman.compiling import kernel

MODULUS, MULTIPLIER = 2147483647, 48271  # Park & Miller 1993: the same draws compiled or not


@kernel
def draw(state):
    """A number from 0 to 1; the state (one integer) moves on."""
    state[0] = state[0] * MULTIPLIER % MODULUS
    return state[0] / MODULUS


@kernel
def draw_first(first, last, begins_0, begins_1, cell_begins_N, post_X2, seeds_N, state, links_0, links_1):
    """Links of the pairs [first, last) drawn from posteriors, each on its own: links_0 of target words (place of the
    source word, -1 for none), links_1 of source words. seeds_N as in `sample_links`."""
    for pair in range(first, last):
        rows = begins_0[pair + 1] - begins_0[pair]
        columns = begins_1[pair + 1] - begins_1[pair]
        cell = cell_begins_N[pair]
        if len(seeds_N):
            state[0] = seeds_N[pair]
        for j in range(columns):
            left = draw(state)
            chosen = -1
            for i in range(rows):
                left -= post_X2[cell + i * columns + j, 0]
                if left < 0:
                    chosen = i
                    break
            links_0[begins_1[pair] + j] = chosen
        for i in range(rows):
            left = draw(state)
            chosen = -1
            for j in range(columns):
                left -= post_X2[cell + i * columns + j, 1]
                if left < 0:
                    chosen = j
                    break
            links_1[begins_0[pair] + i] = chosen


@kernel
def count_drawn(
    way,
    first_pair,
    last_pair,
    inputs_X,
    in_begins_N,
    outputs_X,
    out_begins_N,
    cell_begins_N,
    slots_X,
    links_X,
    counts_D2,
    sums_V,
    nulls_V,
    jumps_W,
    left_KK,
    fertile_VF,
):
    """What the links of one direction amount to in the pairs [first_pair, last_pair): of each row, each input word,
    each output word from no word, each jump (and departures by state and length), each fertility. Links, sums and nulls
    are added; jumps and fertilities too."""
    most = fertile_VF.shape[1] - 1
    middle = len(jumps_W) // 2
    born = np.empty(len(left_KK), np.int64)
    for pair in range(first_pair, last_pair):
        begin, first = in_begins_N[pair], out_begins_N[pair]
        inputs, outputs = in_begins_N[pair + 1] - begin, out_begins_N[pair + 1] - first
        state = 0
        for i in range(inputs):
            born[i] = 0
        for j in range(outputs):
            i = links_X[first + j]
            if i < 0:
                nulls_V[outputs_X[first + j]] += 1
                continue
            cell = cell_begins_N[pair] + (i * outputs + j if way == 0 else j * inputs + i)
            counts_D2[slots_X[cell], way] += 1
            sums_V[inputs_X[begin + i]] += 1
            jumps_W[middle + i - state + 1] += 1
            left_KK[state, inputs] += 1
            state = i + 1
            born[i] += 1
        for i in range(inputs):
            fertile_VF[inputs_X[begin + i], min(most, born[i])] += 1


@kernel
def sample_links(
    way,
    first_pair,
    last_pair,
    inputs_X,
    in_begins_N,
    outputs_X,
    out_begins_N,
    cell_begins_N,
    slots_X,
    links_X,
    others_X,
    counts_D2,
    sums_V,
    nulls_V,
    null_sum,
    weights,
    ratio_VF,
    alpha,
    prior_V,
    null_alpha,
    none,
    bonus,
    longest,
    step,
    seeds_N,
    state,
    kept_X2,
):
    """Draw every link of one direction in the pairs [first_pair, last_pair) anew, given all others; counts follow at
    once.

    p(a_j = i | all else) ~ (c(e_i, f_j) + alpha) / (c(e_i) + prior(e_i)) p(i | i_before) p(i_after | i) ratio(e_i,
    phi_i), times bonus where the other direction links i and j; phi_i are the links that word i has without j, ratio
    = p(phi + 1) / p(phi). step: 1, or 0 where the counts are those of other pairs and stay. seeds_N, if it is not of
    length 0: with what the draws of each pair begin. kept_X2, if it is not of length 0, is increased by these
    probabilities, cell by cell. Result: words from no word.
    """
    most = ratio_VF.shape[1] - 1
    middle = len(weights) // 2
    p = np.empty(longest, np.float32)
    s = np.empty(longest + 1, np.float32)
    born = np.empty(longest, np.int64)
    vocabulary = len(nulls_V)
    for pair in range(first_pair, last_pair):
        begin, first = in_begins_N[pair], out_begins_N[pair]
        inputs, outputs = in_begins_N[pair + 1] - begin, out_begins_N[pair + 1] - first
        if inputs == 0 or outputs == 0:
            continue
        if len(seeds_N):
            state[0] = seeds_N[pair]
        for i in range(inputs):
            born[i] = 0
        for j in range(outputs):
            if links_X[first + j] >= 0:
                born[links_X[first + j]] += 1
        for k in range(inputs + 1):
            s[k] = np.float32(1) / total_of(weights, middle - k + 1, inputs)
        before = 0
        for j in range(outputs):
            at = first + j
            word, old = outputs_X[at], links_X[at]
            cell = cell_begins_N[pair] + (j if way == 0 else j * inputs)
            stride = outputs if way == 0 else 1
            if old >= 0:
                counts_D2[slots_X[cell + old * stride], way] -= step
                sums_V[inputs_X[begin + old]] -= step
                born[old] -= 1
            else:
                nulls_V[word] -= step
                null_sum -= step
            after = -1
            for later in range(at + 1, first + outputs):
                if links_X[later] >= 0:
                    after = links_X[later]
                    break
            total = np.float32(0)
            for i in range(inputs):
                e = inputs_X[begin + i]
                value = (counts_D2[slots_X[cell + i * stride], way] + alpha) / (sums_V[e] + prior_V[e])
                value *= weights[middle + i - before + 1] * ratio_VF[e, min(most, born[i])]
                if after >= 0:
                    value *= weights[middle + after - i] * s[i + 1]
                if others_X[begin + i] == j:
                    value *= bonus
                p[i] = value
            for i in range(inputs):
                total += p[i]
            total *= s[before] * (1 - none)
            nothing = none * (nulls_V[word] + null_alpha) / (null_sum + null_alpha * vocabulary)
            if after >= 0:
                nothing *= weights[middle + after - before + 1] * s[before]
            scale = s[before] * (1 - none) / (total + nothing)
            for i in range(inputs):
                p[i] *= scale
            if len(kept_X2):
                for i in range(inputs):
                    kept_X2[cell + i * stride, way] += p[i]
            left = draw(state)
            new = -1
            for i in range(inputs):
                left -= p[i]
                if left < 0:
                    new = i
                    break
            links_X[at] = new
            if new >= 0:
                counts_D2[slots_X[cell + new * stride], way] += step
                sums_V[inputs_X[begin + new]] += step
                born[new] += 1
                before = new + 1
            else:
                nulls_V[word] += step
                null_sum += step
    return null_sum
