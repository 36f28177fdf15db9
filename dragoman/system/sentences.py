"""Do sentences of like meaning lie close to each other in a model?

A map alone proves nothing. So it is counted for how many sentences the nearest other one is a paraphrase, and the same
for bags of words and of pieces, which know no order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dragoman.contracts import Ability, UserError
from dragoman.corpus.lines import read_lines
from dragoman.seeing import MapsSentences
from dragoman.system.stream import System, require_ability
from dragoman.text.words import word_spans

Array = np.ndarray[Any, Any]
Method = Literal["pca", "tsne"]
EQUAL = 1e-6  # similarities this close are the same
MOST = 5_000  # sentences that are compared with each other


@dataclass(frozen=True)
class Nearest:
    """accuracy: the share of sentences whose nearest other one is of their group; of several that are equally near, the
    share that is. nearest: one of these for each sentence."""

    of: str
    accuracy: float
    nearest: tuple[int, ...]


@dataclass(frozen=True)
class SentenceMap:
    """groups: the line of each text, from 1. places_N2: the map. chance: the accuracy of who draws blindly."""

    kind: str
    texts: tuple[str, ...]
    groups: tuple[int, ...]
    method: Method
    places_N2: Array
    measured: tuple[Nearest, ...]
    chance: float


def read_groups(path: str | Path) -> tuple[list[str], list[int]]:
    """Texts and the line that each stands in: a line holds sentences that mean the same, tabs between; blank ones are
    passed over. UserError that names file and line."""
    texts: list[str] = []
    groups: list[int] = []
    for line in read_lines(path):
        if not line.text.strip():
            continue
        found = [text.strip() for text in line.text.split("\t")]
        if len(found) < 2 or not all(found):
            raise UserError(
                f"{path}:{line.number}: a line holds at least two sentences that mean the same, a tab between"
            )
        texts += found
        groups += [line.number] * len(found)
        if len(texts) > MOST:
            raise UserError(f"{path}:{line.number}: a map holds {MOST:,} sentences at most")
    if len(set(groups)) < 2:
        raise UserError(f"{path}: at least two lines of paraphrases are needed")
    return texts, groups


def map_sentences(
    system: System, texts: Sequence[str], groups: Sequence[int], method: Method = "pca", seed: int = 1
) -> SentenceMap:
    """UserError for a kind without states, and for t-SNE where scikit-learn is not installed."""
    require_ability(system.kind, system.abilities, Ability.STATES)
    assert isinstance(system, MapsSentences)
    states = system.sentence_states(texts)
    words = [[text[start:end].casefold() for start, end in word_spans(text)] for text in texts]
    of_N = np.asarray(groups)
    same_NN = of_N[:, None] == of_N
    vectors_ND = states.vectors_ND.astype(np.float64)
    return SentenceMap(
        kind=system.kind,
        texts=tuple(texts),
        groups=tuple(groups),
        method=method,
        places_N2=_tsne(vectors_ND, seed) if method == "tsne" else principal_axes(vectors_ND),
        measured=(
            nearest_of("the model's states", vectors_ND, same_NN),
            nearest_of("a bag of words", bags(words), same_NN),
            nearest_of("a bag of pieces", bags(states.pieces), same_NN),
        ),
        chance=float(((same_NN.sum(1) - 1) / (len(texts) - 1)).mean()),
    )


def bags(rows: Sequence[Sequence[Any]]) -> Array:
    """How often each unit stands in each row.

    >>> bags([["a", "b"], ["b", "b"]]).tolist()
    [[1.0, 1.0], [0.0, 2.0]]
    """
    columns: dict[Any, int] = {}
    for row in rows:
        for unit in row:
            columns.setdefault(unit, len(columns))
    counts_NV = np.zeros((len(rows), len(columns)))
    for number, row in enumerate(rows):
        np.add.at(counts_NV[number], [columns[unit] for unit in row], 1.0)
    return counts_NV


def nearest_of(of: str, vectors_ND: Array, same_NN: Array) -> Nearest:
    """Near: the cosine of the angle between two vectors, of which their common mean was taken away.

    >>> groups = np.array([1, 1, 2, 2])
    >>> near = np.array([[0, 1.0], [0.1, 1], [1, 0], [0.9, -0.1]])
    >>> nearest_of("", near, groups[:, None] == groups).accuracy
    1.0
    """
    centred_ND = vectors_ND - vectors_ND.mean(0)
    unit_ND = centred_ND / np.maximum(np.linalg.norm(centred_ND, axis=1, keepdims=True), 1e-12)
    near_NN = unit_ND @ unit_ND.T
    np.fill_diagonal(near_NN, -np.inf)
    nearest_NN = near_NN >= near_NN.max(1, keepdims=True) - EQUAL
    right_N = (nearest_NN & same_NN).sum(1) / nearest_NN.sum(1)
    return Nearest(of, float(right_N.mean()), tuple(near_NN.argmax(1).tolist()))


def principal_axes(vectors_ND: Array) -> Array:
    """The two directions in which the vectors differ most (principal component analysis), N x 2."""
    centred_ND = vectors_ND - vectors_ND.mean(0)
    left_NK, sizes_K, _ = np.linalg.svd(centred_ND, full_matrices=False)
    places_NK = left_NK[:, :2] * sizes_K[:2]
    return np.pad(places_NK, ((0, 0), (0, 2 - places_NK.shape[1])))


def _tsne(vectors_ND: Array, seed: int) -> Array:
    """t-SNE (van der Maaten & Hinton 2008) by scikit-learn."""
    try:
        from sklearn.manifold import TSNE
    except ImportError as error:
        raise UserError("--map tsne needs scikit-learn: pip install scikit-learn; --map pca does without") from error
    perplexity = min(30.0, (len(vectors_ND) - 1) / 3)
    places_N2: Array = TSNE(2, perplexity=perplexity, init="pca", random_state=seed).fit_transform(vectors_ND)
    return places_N2
