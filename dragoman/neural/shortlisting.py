"""Which translations of a piece does a shortlist need to know?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dragoman.alignment.cells import find_cells
from dragoman.alignment.em import expect_and_maximise
from dragoman.alignment.ibm import PlaceModel, Uniform
from dragoman.alignment.lexicon import Lexicon, uniform_lexicon
from dragoman.alignment.numbers import NumberedPairs, Side
from dragoman.contracts import PieceTable, Work
from dragoman.neural.shortlist import Ids, Shortlist
from dragoman.processes import cores

ITERATIONS = 4
CELLS_AT_ONCE = 1 << 24


def learn_shortlist(
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    tables: tuple[PieceTable, PieceTable],
    partners: int,
    frequent: int,
    work: Work,
) -> Shortlist:
    """From pairs as piece ids. Of each source piece: itself, where it is a target piece too, and its `partners`
    likeliest translations by IBM model 1. For all: the `frequent` most frequent target pieces."""
    source, target = tables
    pairs = NumberedPairs(side_of(sources, len(source)), side_of(targets, len(target)))
    cells, threads = find_cells(pairs, CELLS_AT_ONCE), work.threads or cores()
    model = PlaceModel(uniform_lexicon(cells.partners), (Uniform(), Uniform()))
    lexicon = expect_and_maximise(model, cells, ITERATIONS, work, threads, "lexicon").model.lexicon.plain
    counts_V = np.bincount(pairs.target.words_X, minlength=len(target))
    usual_A = np.argsort(-counts_V, kind="stable")[:frequent]
    always_A = np.union1d(usual_A[counts_V[usual_A] > 0], [target.end]).astype(np.int32)
    return Shortlist(always_A, np.concatenate([copies(source, target), likeliest(lexicon, partners)], axis=1))


def side_of(lines: Sequence[Sequence[int]], vocabulary: int) -> Side:
    """The lines end to end."""
    begins_N = np.zeros(len(lines) + 1, np.int64)
    np.cumsum([len(line) for line in lines], out=begins_N[1:])
    return Side(np.concatenate([np.asarray(line, np.int32) for line in lines]), begins_N, vocabulary)


def likeliest(lexicon: Lexicon, partners: int) -> Ids:
    """The targets of the highest t(f | e) of each source word, V x N; -1 where there are no more."""
    rows = lexicon.partners
    sources_D = rows.sources_D
    order_D = np.lexsort((rows.targets_D, -lexicon.table_D2[:, 0], sources_D))
    place_D = np.arange(len(rows)) - rows.row_begins_V[sources_D]  # sorted by source, as the rows are
    kept_D = place_D < partners
    found_VN = np.full((rows.source_words, partners), -1, np.int32)
    found_VN[sources_D[kept_D], place_D[kept_D]] = rows.targets_D[order_D[kept_D]]
    return found_VN


def copies(source: PieceTable, target: PieceTable) -> Ids:
    """Each source piece as a target piece, V x 1; -1 where it is none."""
    places = {piece: place for place, piece in enumerate(target.pieces)}
    return np.array([[places.get(piece, -1)] for piece in source.pieces], np.int32)
