"""Order, company and padding of training batches."""

from __future__ import annotations

import numpy as np
import torch

from dragoman.contracts import PieceTable
from dragoman.neural.batches import collate, pairs_of_epoch, plan

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


def test_an_epoch_sees_all_real_pairs_and_its_part_of_the_synthetic_ones() -> None:
    real, synthetic = 30, 100
    parts = [pairs_of_epoch(real, synthetic, 1.5, seed=1, epoch=epoch) for epoch in range(5)]
    for part in parts:
        assert part[:real].tolist() == list(range(real))
        assert len(set(part.tolist())) == len(part) == real + 45
        assert part.max() < real + synthetic
    round_about = np.concatenate([part[real:] for part in parts])
    assert set(round_about[:100].tolist()) == set(range(real, real + synthetic))
    assert round_about[100:200].tolist() == round_about[:100].tolist()


def test_fewer_synthetic_pairs_than_the_ratio_come_once_each() -> None:
    for epoch in (0, 3):
        assert sorted(pairs_of_epoch(30, 12, 5.0, seed=1, epoch=epoch).tolist()) == list(range(42))
    assert pairs_of_epoch(30, 0, 1.0, seed=1, epoch=2).tolist() == list(range(30))


def test_the_part_depends_on_seed_and_epoch_alone() -> None:
    def part(seed: int, epoch: int) -> list[int]:
        return [int(index) for index in pairs_of_epoch(10, 100, 1.0, seed, epoch)]

    assert part(1, 4) == part(1, 4)
    assert part(1, 4) != part(1, 5)
    assert part(1, 4) != part(2, 4)


def test_a_plan_over_some_pairs_holds_these_and_over_all_is_the_plain_one() -> None:
    source, target = lengths(300)
    some = np.arange(5, 300, 3)
    batches = plan(source, target, 256, seed=1, epoch=2, pairs_N=some)
    assert sorted(np.concatenate(batches).tolist()) == some.tolist()
    plain = plan(source, target, 256, seed=1, epoch=2)
    whole = plan(source, target, 256, seed=1, epoch=2, pairs_N=np.arange(300))
    assert [batch.tolist() for batch in whole] == [batch.tolist() for batch in plain]
