"""In which order, and in which company, does a network meet the pairs?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from dragoman.contracts import PieceTable
from dragoman.text.store import PairStore


class Batch(NamedTuple):
    """sources_BS ends each row with the end piece; inputs_BT are targets_BT shifted right by the start piece.

    `target_tokens` counts real target pieces, the end piece included. linked_BTS: for each target piece the source
    pieces that it is linked with, in equal shares of 1; None where no pair has links. goes_on: each row begins where
    that of the batch before ended. A language model's sources have no positions.
    """

    sources_BS: Tensor
    inputs_BT: Tensor
    targets_BT: Tensor
    target_tokens: int
    linked_BTS: Tensor | None = None
    goes_on: bool = False


def pairs_of_epoch(real: int, synthetic: int, ratio: float, seed: int, epoch: int) -> np.ndarray:
    """Indices of the pairs that an epoch sees: all real ones, and a part of the synthetic ones behind them.

    The part is ratio * real pairs, or all where there are fewer: none comes twice in an epoch. The parts of
    successive epochs go round one shuffled circle, so each pair has its turn before any comes again.
    """
    wanted = min(synthetic, round(ratio * real))
    circle_N = np.random.default_rng(seed).permutation(synthetic)
    part_N = circle_N[(epoch * wanted + np.arange(wanted)) % max(1, synthetic)]
    return np.concatenate((np.arange(real), real + part_N))


def plan(
    source_lengths_N: np.ndarray,
    target_lengths_N: np.ndarray,
    tokens_per_batch: int,
    seed: int,
    epoch: int,
    pairs_N: np.ndarray | None = None,
) -> list[np.ndarray]:
    """One epoch over pairs_N (None: all): index arrays, one a batch, depending on lengths, pairs, seed and epoch alone.

    Pairs are sorted by target length, then source length (ties shuffled), and cut so that no side has
    more than tokens_per_batch positions, padding included; then the batches are shuffled.
    """
    draw = np.random.default_rng((seed, epoch))
    order_N = draw.permutation(len(source_lengths_N) if pairs_N is None else pairs_N)
    order_N = order_N[np.lexsort((source_lengths_N[order_N], target_lengths_N[order_N]))]
    longest_N = np.maximum(source_lengths_N, target_lengths_N)[order_N] + 1
    batches, first, widest = [], 0, 0
    for place, length in enumerate(longest_N.tolist()):
        widest = max(widest, length)
        if place > first and widest * (place - first + 1) > tokens_per_batch:
            batches.append(order_N[first:place])
            first, widest = place, length
    batches.append(order_N[first:])
    return [batches[i] for i in draw.permutation(len(batches))]


def pad(rows: Sequence[Sequence[int] | np.ndarray], padding: int, end: int | None = None) -> np.ndarray:
    """Rows of unequal length as one int64 array, each closed by `end` where given, filled with `padding`."""
    closed = 0 if end is None else 1
    table_BT = np.full((len(rows), max((len(row) for row in rows), default=0) + closed), padding, dtype=np.int64)
    for index, row in enumerate(rows):
        table_BT[index, : len(row)] = row
        if end is not None:
            table_BT[index, len(row)] = end
    return table_BT


def collate(
    sources: Sequence[Sequence[int] | np.ndarray],
    targets: Sequence[Sequence[int] | np.ndarray],
    source: PieceTable,
    target: PieceTable,
    device: torch.device,
    links: Sequence[np.ndarray] | None = None,
) -> Batch:
    """A batch of rows of ids that have neither start nor end pieces yet. links: (source piece, target piece) of each
    pair, N x 2."""
    sources_BS = pad(sources, source.padding, source.end)
    targets_BT = pad(targets, target.padding, target.end)
    inputs_BT = np.concatenate((np.full((len(targets), 1), target.start), targets_BT[:, :-1]), axis=1)
    inputs_BT[inputs_BT == target.end] = target.padding
    linked_BTS = None if links is None else shares_of(links, targets_BT.shape[1], sources_BS.shape[1])
    return Batch(
        torch.from_numpy(sources_BS).to(device),
        torch.from_numpy(inputs_BT).to(device),
        torch.from_numpy(targets_BT).to(device),
        sum(len(row) for row in targets) + len(targets),
        None if linked_BTS is None else torch.from_numpy(linked_BTS).to(device),
    )


def shares_of(links: Sequence[np.ndarray], targets: int, sources: int) -> np.ndarray | None:
    """`linked_BTS`: 1 / n at each of the n source pieces that a target piece is linked with; None without any link."""
    if not any(map(len, links)):
        return None
    linked_BTS = np.zeros((len(links), targets, sources), dtype=np.float32)
    for row, links_N2 in enumerate(links):
        linked_BTS[row, links_N2[:, 1], links_N2[:, 0]] = 1.0
    shares_BTS: np.ndarray = linked_BTS / np.maximum(linked_BTS.sum(2, keepdims=True), 1.0)
    return shares_BTS


def rows_apart(batch: Batch, parts: int) -> list[Batch]:
    """The batch cut by rows into so many parts, or as many as it has rows (`target_tokens` stay those of the whole)."""
    cut = [each.tensor_split(parts) if isinstance(each, Tensor) else [each] * parts for each in batch]
    return [Batch(*part) for part in zip(*cut, strict=True) if len(part[0])]


def share(indices: np.ndarray, rank: int, world: int) -> np.ndarray:
    """The rows of a planned batch that process `rank` of `world` takes."""
    return indices[rank::world]


def read(
    store: PairStore, batches: Sequence[np.ndarray], source: PieceTable, target: PieceTable, device: torch.device
) -> Iterator[Batch]:
    """The tensors of planned batches, one after another; empty ones are left out."""
    for indices in (indices.tolist() for indices in batches if len(indices)):
        links = None if store.links is None else [store.piece_links(i) for i in indices]
        yield collate(
            [store.source(i) for i in indices], [store.target(i) for i in indices], source, target, device, links
        )
