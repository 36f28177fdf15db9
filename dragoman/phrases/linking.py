"""Which word of a sentence translates which word of the other, as far as counting can tell?

Words that stand in the same pairs more often than chance are partners: log-likelihood ratio (Dunning
1993) over the pairs of a bitext. In each pair the strongest partners are linked first, and a linked
word is taken: competitive linking (Melamed 2000). What was linked most often is the translation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dragoman.phrases.numbered import Integers, NumberedPairs

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int32]

CHUNK = 2_000_000
RATED_AT_ONCE = 1 << 18
MOST_PARTNERS = 10_000_000


@dataclass(frozen=True)
class Entry:
    """A line of the dictionary. share: links between the two over occurrences of the source word."""

    source: str
    target: str
    share: float
    links: int


@dataclass(frozen=True)
class Partners:
    """Words that share pairs at least as often as chance would have it, sorted by code.

    code: source number * target vocabulary size + target number. rank: 0 for the strongest, by the
    log-likelihood ratio, then by Dice 2 c(s,t) / (c(s) + c(t)), which still ranks words that stand
    in every pair; equals share a rank.
    """

    codes_P: Integers
    rank_P: Integers
    targets: int


def learn_entries(pairs: NumberedPairs, min_links: int) -> list[Entry]:
    """One entry for each source word that was linked often enough, in order of first appearance.

    `pairs` is walked twice; memory grows with the distinct words and partners, not with the pairs.
    """
    partners, occurrences_V = find_partners(pairs)
    links_P = np.zeros(len(partners.codes_P), dtype=np.int64)
    for sources_I, targets_J in pairs:
        np.add.at(links_P, [row for _, _, row in link(sources_I, targets_J, partners)], 1)
    return [
        Entry(pairs.source_words[source], pairs.target_words[target], round(links / occurrences, 4), links)
        for source, target, links in strongest(links_P, partners, min_links)
        for occurrences in [int(occurrences_V[source])]
    ]


# --- counting -----------------------------------------------------------------------------------


def find_partners(pairs: NumberedPairs) -> tuple[Partners, Integers]:
    """The pairs in which two words stand together, rated; and how often each source word occurs."""
    targets = len(pairs.target_words)
    occurrences_V, source_pairs_V = np.zeros((2, len(pairs.source_words)), dtype=np.int64)
    target_pairs_V = np.zeros(targets, dtype=np.int64)
    codes, counts = np.zeros(0, np.int64), np.zeros(0, np.int32)
    waiting: list[Integers] = []
    held = 0
    for sources_I, targets_J in pairs:
        distinct_I, times_I = np.unique(sources_I, return_counts=True)
        distinct_J = np.unique(targets_J)
        occurrences_V[distinct_I] += times_I
        source_pairs_V[distinct_I] += 1
        target_pairs_V[distinct_J] += 1
        waiting.append((distinct_I[:, None] * targets + distinct_J).ravel())
        held += len(waiting[-1])
        if held > CHUNK:
            codes, counts = merged(codes, counts, waiting)
            waiting, held = [], 0
    codes, counts = merged(codes, counts, waiting)
    return rated(codes, counts, source_pairs_V, target_pairs_V, len(pairs)), occurrences_V


def merged(codes: Integers, counts: Counts, waiting: Sequence[Integers]) -> tuple[Integers, Counts]:
    """Sorted distinct codes with their counts; those seen once are forgotten where there are too many
    (lossy counting, Manku and Motwani 2002)."""
    if not waiting:
        return codes, counts
    new_codes, new_counts = np.unique(np.concatenate(waiting), return_counts=True)
    places = np.searchsorted(codes, new_codes)
    known = np.zeros(len(new_codes), dtype=bool)
    inside = places < len(codes)
    known[inside] = codes[places[inside]] == new_codes[inside]
    counts = counts.copy()
    counts[places[known]] += new_counts[known].astype(np.int32)
    codes = np.insert(codes, places[~known], new_codes[~known])
    counts = np.insert(counts, places[~known], new_counts[~known].astype(np.int32))
    if len(codes) > MOST_PARTNERS:
        return codes[counts > 1], counts[counts > 1]
    return codes, counts


def rated(codes: Integers, counts: Counts, source_pairs_V: Integers, target_pairs_V: Integers, total: int) -> Partners:
    """Partners of what is not below chance."""
    targets = len(target_pairs_V)
    kept_codes, ratios, dices = [np.zeros(0, np.int64)], [np.zeros(0)], [np.zeros(0)]
    for start in range(0, len(codes), RATED_AT_ONCE):
        some, both = codes[start : start + RATED_AT_ONCE], counts[start : start + RATED_AT_ONCE].astype(np.int64)
        source, target = source_pairs_V[some // targets], target_pairs_V[some % targets]
        kept = both * total >= source * target
        both, source, target = both[kept], source[kept], target[kept]
        kept_codes.append(some[kept])
        ratios.append(likelihood_ratio(both, source, target, total))
        dices.append(2 * both / (source + target))
    ratio, dice = np.concatenate(ratios), np.concatenate(dices)
    order = np.lexsort((-dice, -ratio))
    step = (np.diff(ratio[order], prepend=-1) != 0) | (np.diff(dice[order], prepend=-1) != 0)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.cumsum(step)
    return Partners(np.concatenate(kept_codes), rank, targets)


def likelihood_ratio(both: Integers, source: Integers, target: Integers, total: int) -> Floats:
    """G^2 = 2 sum_ij k_ij log(k_ij N / (row_i column_j)) over the four cells of a 2 x 2 table (Dunning 1993).

    both: pairs with the two words; source, target: pairs with the one; total: all pairs.
    """
    cells = [
        (both, source, target),
        (source - both, source, total - target),
        (target - both, total - source, target),
        (total - source - target + both, total - source, total - target),
    ]
    ratio = np.zeros(len(both))
    for count, row, column in cells:
        some = count > 0
        ratio[some] += 2 * count[some] * np.log(count[some] * (total / (row[some] * column[some].astype(float))))
    return np.maximum(np.round(ratio, 6), 0.0)


# --- linking ------------------------------------------------------------------------------------


def link(sources_I: Integers, targets_J: Integers, partners: Partners) -> list[tuple[int, int, int]]:
    """(source word, target word, row of the partners) of each link of one pair; no word is linked twice.

    Strongest first; of equals those that stand nearest to the same place in their lines.
    """
    if not (len(sources_I) and len(targets_J) and len(partners.codes_P)):
        return []
    codes_N = (sources_I[:, None] * partners.targets + targets_J).ravel()
    rows_N = np.minimum(np.searchsorted(partners.codes_P, codes_N), len(partners.codes_P) - 1)
    (known,) = np.nonzero(partners.codes_P[rows_N] == codes_N)
    rows, (place_i, place_j) = rows_N[known], np.divmod(known, len(targets_J))
    distance = np.abs(place_i / len(sources_I) - place_j / len(targets_J))
    order = np.lexsort((distance, partners.rank_P[rows]))
    return greedy(place_i[order].tolist(), place_j[order].tolist(), rows[order].tolist())


def greedy(place_i: list[int], place_j: list[int], rows: list[int]) -> list[tuple[int, int, int]]:
    """Take each candidate whose two words are still free."""
    free_i, free_j = set(place_i), set(place_j)
    links = []
    for i, j, row in zip(place_i, place_j, rows, strict=True):
        if i in free_i and j in free_j:
            links.append((i, j, row))
            free_i.remove(i)
            free_j.remove(j)
            if not free_i or not free_j:
                break
    return links


def strongest(links_P: Integers, partners: Partners, min_links: int) -> list[tuple[int, int, int]]:
    """(source, target, links) of the most often linked partner of each source word; of equals the stronger, then
    the one that appeared first."""
    (rows,) = np.nonzero(links_P >= min_links)
    sources, targets = np.divmod(partners.codes_P[rows], partners.targets)
    order = np.lexsort((targets, partners.rank_P[rows], -links_P[rows], sources))
    _, first = np.unique(sources[order], return_index=True)
    best = order[first]
    return list(zip(sources[best].tolist(), targets[best].tolist(), links_P[rows[best]].tolist(), strict=True))
