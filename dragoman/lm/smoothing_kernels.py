"""How do counts become probabilities at the speed of C?"""

from __future__ import annotations

import numpy as np

from dragoman.compiling import kernel


@kernel
def estimate(
    first, last, begins_Y, links_X, masses_X, kept_X, discounts_4, added, for_each, probabilities_X, backoffs_Y
):
    """Probabilities of the children of the nodes [first, last), interpolated with those of their links.

    p(w | h) = (a(h w) - D) / A + gamma(h) p(w | h'), A = sum_w a(h w) + added + for_each * (how many w there are);
    gamma(h) is what is left. D is that of the mass a; of what is not kept all goes to gamma.
    """
    for parent in range(first, last):
        begin, end = begins_Y[parent], begins_Y[parent + 1]
        if begin == end:
            backoffs_Y[parent] = 1
            continue
        total, kept = 0.0, 0.0
        for child in range(begin, end):
            mass = masses_X[child]
            total += mass
            if kept_X[child]:
                kept += mass - discounts_4[min(mass, 3)]
        whole = total + added + for_each * (end - begin)
        gamma = (whole - kept) / whole
        backoffs_Y[parent] = gamma
        for child in range(begin, end):
            mass = masses_X[child]
            value = (mass - discounts_4[min(mass, 3)]) / whole if kept_X[child] else 0.0
            probabilities_X[child] = value + gamma * probabilities_X[links_X[child]]


@kernel
def count_of_counts(masses_N):
    """How many of these are 0, 1, 2, 3 and 4."""
    found_5 = np.zeros(5, np.int64)
    for place in range(len(masses_N)):
        if masses_N[place] < 5:
            found_5[masses_N[place]] += 1
    return found_5
