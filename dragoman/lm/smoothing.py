"""How do counts become probabilities?

All ways of smoothing have one form, by which counts of what was seen are discounted and what they lose goes to shorter
contexts; they differ in what is counted and what is lost.

    p(w | h) = (a(h w) - D) / A(h) + gamma(h) p(w | h'),   h' being h without its first word

    kneser-ney          a: how many different words stand before h w (at the highest order, and behind <s>, how often
                        h w stands there); D = D1, D2, D3 for a = 1, 2, more (Chen and Goodman 1998); A = sum_w a
    witten-bell         a: how often; D = 0; A = sum_w a + how many different w there are
    add-k               a: how often; D = 0; A = sum_w a + k V; below the highest order nothing is known: 1 / V
    maximum-likelihood  a: how often; D = 0; A = sum_w a, so that gamma = 0

The empty context goes on to 1 / V, V counting all words, <unk> and </s>, but not <s>, which nothing predicts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dragoman.lm import smoothing_kernels as kernels
from dragoman.lm import trie_kernels
from dragoman.lm.counting import Integers
from dragoman.lm.recipes import Smoothing
from dragoman.lm.trie import Trie, parts_of
from dragoman.lm.units import START

FALLBACK = (0.5, 1.0, 1.5)
NONE: tuple[float, ...] = (0.0, 0.0, 0.0)
Floats = npt.NDArray[np.float32]
Marks = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Estimate:
    """probabilities_X: of the last word of each n-gram given the others; backoffs_Y: gamma of each n-gram as a context.
    kept_X: which n-grams remain. discounts: D1, D2, D3 of each order. notes: what could not be had as asked."""

    probabilities_X: Floats
    backoffs_Y: Floats
    kept_X: Marks
    discounts: tuple[tuple[float, ...], ...] = ()
    notes: tuple[str, ...] = ()


def adjusted_counts(trie: Trie, counts_X: Integers) -> Integers:
    """The counts of Kneser and Ney: how many words stand before an n-gram; of the longest ones, and of those that begin
    with <s>, how often they are there; <s> itself is never predicted."""
    adjusted_X = counts_X.copy()
    for order in range(1, trie.order):
        first, last = trie.nodes(order)
        adjusted_X[first:last] = 0
        trie_kernels.tally(*trie.nodes(order + 1), trie.links_X, first, adjusted_X[first:last])
        begun = slice(*trie.begun(order))
        adjusted_X[begun] = counts_X[begun]
    adjusted_X[1 + START] = 0
    return adjusted_X


def discounts_of(masses_N: Integers, order: int) -> tuple[tuple[float, ...], str]:
    """D_i = i - (i + 1) Y n_{i+1} / n_i with Y = n_1 / (n_1 + 2 n_2), n_i n-grams having the count i (equation 26 of
    Chen and Goodman); where that gives nothing between 0 and i the fallback, and a line that says so."""
    _, *seen, four = kernels.count_of_counts(masses_N).tolist()
    afterwards = (*seen[1:], four)
    if all(seen):
        share = seen[0] / (seen[0] + 2 * seen[1])
        found = tuple(
            i - (i + 1) * share * after / now for i, (now, after) in enumerate(zip(seen, afterwards, strict=True), 1)
        )
        if all(0 <= value <= i for i, value in enumerate(found, start=1)):
            return found, ""
    told = ", ".join(f"{count:,} with count {i}" for i, count in enumerate([*seen, four], start=1))
    return FALLBACK, f"order {order}: discounts cannot be estimated ({told}); taken are {', '.join(map(str, FALLBACK))}"


def estimate(
    trie: Trie,
    counts_X: Integers,
    smoothing: Smoothing,
    k: float,
    thresholds: Sequence[int],
    threads: int,
    go_on: Callable[[int], None],
) -> Estimate:
    """Probabilities of all n-grams. thresholds: those of an order that stand there so often or less are not kept; the
    last one holds for the orders after it. go_on: called with each order before it is estimated."""
    masses_X = adjusted_counts(trie, counts_X) if smoothing == "kneser-ney" else counts_X.copy()
    masses_X[1 + START] = 0
    kept_X = _kept(trie, counts_X, thresholds)
    found, notes = list[tuple[float, ...]](), list[str]()
    probabilities_X, backoffs_Y = np.zeros(len(masses_X), np.float32), np.ones(trie.bounds[-2], np.float32)
    probabilities_X[0] = 1
    with ThreadPoolExecutor(max(threads, 1)) as pool:
        for order in range(1, trie.order + 1):
            go_on(order)
            discounts, note = NONE, ""
            if smoothing == "kneser-ney":
                discounts, note = discounts_of(masses_X[slice(*trie.nodes(order))], order)
                found.append(discounts)
                notes += [note] if note else []
            discounts_4 = np.array([0.0, *discounts])
            added = k * (trie.vocabulary - 1) if smoothing == "add-k" else 0.0
            for_each = 1.0 if smoothing == "witten-bell" else 0.0
            if order == 1:
                known = smoothing != "add-k" or trie.order == 1
                _first_order(trie, masses_X, discounts_4, added, for_each, known, probabilities_X, backoffs_Y)
                continue
            parents = trie.nodes(order - 1)
            if smoothing == "add-k" and order < trie.order:  # only what begins a sentence is a whole context
                probabilities_X[slice(*trie.nodes(order))] = 1 / (trie.vocabulary - 1)
                parents = trie.begun(order - 1)

            def part(nodes: tuple[int, int]) -> None:
                kernels.estimate(
                    *(*nodes, trie.begins_Y, trie.links_X, masses_X, kept_X),
                    *(discounts_4, added, for_each, probabilities_X, backoffs_Y),  # noqa: B023
                )

            list(pool.map(part, parts_of(trie.begins_Y, *parents, threads)))
    return Estimate(probabilities_X, backoffs_Y, kept_X, tuple(found), tuple(notes))


def _kept(trie: Trie, counts_X: Integers, thresholds: Sequence[int]) -> Marks:
    kept_X = np.ones(len(counts_X), np.bool_)
    for order in range(2, trie.order + 1) if thresholds else ():
        nodes = slice(*trie.nodes(order))
        kept_X[nodes] = counts_X[nodes] > thresholds[min(order, len(thresholds)) - 1]
    return kept_X


def _first_order(
    trie: Trie,
    masses_X: Integers,
    discounts_4: npt.NDArray[np.float64],
    added: float,
    for_each: float,
    known: bool,
    probabilities_X: Floats,
    backoffs_Y: Floats,
) -> None:
    """Words, interpolated with 1 / V. known: or only that."""
    masses_V = masses_X[slice(*trie.nodes(1))]
    values_V = masses_V - discounts_4[np.minimum(masses_V, 3)]
    whole = float(masses_V.sum(dtype=np.int64)) + added + for_each * int((masses_V > 0).sum())
    gamma = (whole - float(values_V.sum())) / whole if known else 1.0
    probabilities_V = values_V / whole * known + gamma / (trie.vocabulary - 1)
    probabilities_V[START] = 1  # as KenLM writes it; nothing asks for it
    probabilities_X[slice(*trie.nodes(1))] = probabilities_V
    backoffs_Y[0] = gamma
