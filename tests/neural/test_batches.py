"""Order, company and padding of training batches."""

from __future__ import annotations

import numpy as np
import torch

from dragoman.contracts import PieceTable
from dragoman.neural.batches import collate, plan

TABLE = PieceTable(tuple("pusexyz"), padding=0, unknown=1, start=2, end=3)


def lengths(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Like sentences: sources around 13 pieces, targets alike but not equal."""
    draw = np.random.default_rng(5)
    source = np.clip(draw.lognormal(2.5, 0.4, count), 1, 100).astype(np.int32)
    return source, np.clip(source * draw.normal(1.05, 0.2, count), 1, 120).astype(np.int32)


def test_every_pair_once_within_the_budget() -> None:
    source, target = lengths(3000)
    batches = plan(source, target, 1024, seed=1, epoch=0)
    assert sorted(np.concatenate(batches).tolist()) == list(range(3000))
    for batch in batches:
        widest = max(source[batch].max(), target[batch].max()) + 1
        assert len(batch) == 1 or widest * len(batch) <= 1024


def test_most_positions_are_real_pieces() -> None:
    source, target = lengths(20_000)
    batches = plan(source, target, 2048, seed=1, epoch=0)
    real = sum(int((target[batch] + 1).sum()) for batch in batches)
    positions = sum(int(target[batch].max() + 1) * len(batch) for batch in batches)
    assert real / positions > 0.95


def test_order_depends_on_seed_and_epoch_alone() -> None:
    source, target = lengths(500)

    def order(seed: int, epoch: int) -> list[int]:
        return [int(index) for index in np.concatenate(plan(source, target, 256, seed, epoch))]

    assert order(1, 0) == order(1, 0)
    assert order(1, 0) != order(1, 1)
    assert order(1, 0) != order(2, 0)


def test_a_pair_above_the_budget_stands_alone() -> None:
    batches = plan(np.array([50, 2, 2]), np.array([50, 2, 2]), 10, seed=1, epoch=0)
    assert sorted(len(batch) for batch in batches) == [1, 2]


def test_inputs_are_targets_shifted_by_the_start_piece() -> None:
    batch = collate([[4, 5], [4]], [[6], [5, 6, 4]], TABLE, TABLE, torch.device("cpu"))
    assert batch.sources_BS.tolist() == [[4, 5, 3], [4, 3, 0]]
    assert batch.targets_BT.tolist() == [[6, 3, 0, 0], [5, 6, 4, 3]]
    assert batch.inputs_BT.tolist() == [[2, 6, 0, 0], [2, 5, 6, 4]]
    assert batch.target_tokens == 6
