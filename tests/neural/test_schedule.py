"""The learning rate over the schedule, and what a time budget makes of it."""

from __future__ import annotations

import time

import pytest

from dragoman.neural.recipes import TrainingOptions
from dragoman.neural.training import Clock, Learner, Lesson, rate


def test_cosine_goes_up_linearly_and_down_to_nothing() -> None:
    options = TrainingOptions(learning_rate=1.0, warmup_updates=9, schedule="cosine")
    assert rate(0, 109, options) == pytest.approx(0.1)
    assert rate(9, 109, options) == pytest.approx(1.0)
    assert rate(59, 109, options) == pytest.approx(0.5)
    assert rate(109, 109, options) == pytest.approx(0.0)


def test_inverse_square_root() -> None:
    options = TrainingOptions(learning_rate=1.0, warmup_updates=100, schedule="inverse-sqrt")
    assert rate(100, 10_000, options) == pytest.approx(1.0)
    assert rate(400, 10_000, options) == pytest.approx(0.5)


def test_a_short_schedule_still_has_a_way_down() -> None:
    options = TrainingOptions(learning_rate=1.0, warmup_updates=1000)
    assert rate(5, 10, options) == pytest.approx(1.0)
    assert rate(10, 10, options) == pytest.approx(0.0)


def test_below_a_bleu_of_one_the_loss_decides() -> None:
    learner = Learner.__new__(Learner)
    learner.lesson = Lesson(lambda epoch: [], lambda group: 0, lambda group: [], 0, None, select="chrf")
    noise = learner.figure({"loss": 5.03, "bleu": 0.0, "chrf": 4.62})
    better = learner.figure({"loss": 3.27, "bleu": 0.0, "chrf": 4.36})
    assert noise < better < learner.figure({"loss": 3.2, "bleu": 1.2, "chrf": 4.0})


def test_positions_are_updates_without_a_budget_and_time_with_one() -> None:
    began = time.monotonic() - 30
    assert Clock(TrainingOptions(), 1000, began, 0.0).position(17, 1.0) == 17
    clock = Clock(TrainingOptions(time_budget=111.0), 1000, began, before=20.0)
    assert clock.seconds() == pytest.approx(50, abs=0.5)
    assert clock.position(17, look_seconds=1.0) == pytest.approx(1000 * 50 / (111 - 11), rel=0.02)
