"""Dropout keeps expectations."""

from __future__ import annotations

import torch

from dragoman.neural.dropout import Dropout, drop


def test_share_scale_and_mean() -> None:
    torch.manual_seed(4)
    dropped = drop(torch.ones(1_000_000), 0.1, training=True)
    kept = dropped[dropped > 0]
    assert abs(len(kept) / 1_000_000 - 0.9) < 0.002
    scale = 65536 / (65536 - round(0.1 * 65536))
    torch.testing.assert_close(kept, torch.full_like(kept, scale))
    assert abs(float(dropped.mean()) - 1) < 0.002


def test_neighbours_are_dropped_independently() -> None:
    torch.manual_seed(5)
    gone = (drop(torch.ones(400_000), 0.5, training=True) == 0).view(-1, 4).float()
    correlation = torch.corrcoef(gone.mT) - torch.eye(4)
    assert float(correlation.abs().max()) < 0.02


def test_off_in_evaluation_and_at_zero() -> None:
    values = torch.randn(10)
    assert Dropout(0.5).eval()(values) is values
    assert drop(values, 0.0, training=True) is values
