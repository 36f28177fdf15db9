"""Threads that share a batch make the update that one thread makes of the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from dragoman.contracts import PieceTable
from dragoman.neural.batches import Batch, rows_apart
from dragoman.neural.crew import Crew, twin_of
from dragoman.neural.network import Predictor
from dragoman.neural.recipes import AttentionOptions, TransformerOptions
from dragoman.neural.recurrent import Recurrent
from dragoman.neural.training import batch_loss
from dragoman.neural.transformer import Transformer

CPU = torch.device("cpu")
PIECES = PieceTable(tuple("abcdefghij"), padding=0, unknown=1, start=2, end=3)
SOURCES = torch.tensor([[4, 5, 6, 3], [7, 8, 3, 0], [9, 3, 0, 0], [4, 4, 9, 3], [5, 3, 0, 0]])
TARGETS = torch.tensor([[6, 5, 3], [8, 3, 0], [3, 0, 0], [9, 4, 3], [5, 3, 0]])


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def transformer(dropout: float) -> Predictor:
    options = TransformerOptions(
        width=16, inner=32, heads=2, encoder_layers=2, decoder_layers=2,
        dropout=dropout, attention_dropout=dropout, inner_dropout=dropout,
    )  # fmt: skip
    return Transformer(options, PIECES, PIECES, joint=True)


def untied(dropout: float) -> Predictor:
    options = AttentionOptions(embedding=16, width=16, encoder_width=8, dropout=dropout, tied=False)
    return Recurrent(options, PIECES, PIECES, joint=False)


every_network = pytest.mark.parametrize("make", [transformer, untied])


def gradients_of(network: Predictor, members: int, rows: slice = slice(None)) -> list[Tensor]:
    """What a batch teaches; members: 1 takes it whole in this thread."""

    def learn(one: Predictor, part: Batch) -> float:
        loss, _ = batch_loss(one, part, PIECES.padding, 0.1)
        loss.smoothed.backward()  # type: ignore[no-untyped-call]
        return float(loss.negative_log_likelihood)

    crew = Crew(network.train(), CPU)
    assert len(crew) == 2
    batch = Batch(SOURCES[rows], TARGETS[rows].roll(1, 1), TARGETS[rows], 0)
    for parameter in network.parameters():
        parameter.grad = None
    with crew:
        learnt = list(crew.each(learn, ((part,) for part in rows_apart(batch, members))))
        assert len(learnt) == min(members, len(batch.targets_BT))
        crew.add_up()
    found = [parameter.grad for parameter in network.parameters()]
    assert all(each is not None and not each.is_sparse for each in found)
    return [each for each in found if each is not None]


@every_network
@pytest.mark.parametrize("rows", [slice(None), slice(1)])
def test_the_gradients_are_those_of_the_whole_batch(make: Callable[[float], Predictor], rows: slice) -> None:
    network = make(0.0)
    whole, parts = (gradients_of(network, members, rows) for members in (1, 2))
    for one, other in zip(whole, parts, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)
    assert any(one.any() for one in whole)


@every_network
def test_what_is_dropped_does_not_depend_on_which_thread_is_first(make: Callable[[float], Predictor]) -> None:
    network = make(0.3)
    runs = []
    for seed in (5, 5, 6):
        torch.manual_seed(seed)
        runs.append(gradients_of(network, 2))
    assert all(torch.equal(one, other) for one, other in zip(*runs[:2], strict=True))
    assert not all(torch.equal(one, other) for one, other in zip(*runs[1:], strict=True))


def test_a_twin_has_the_same_numbers_and_gradients_of_its_own() -> None:
    network = transformer(0.0)
    twin = twin_of(network)
    with torch.no_grad():
        network.output.weight.add_(1.0)
    for parameter, other in zip(network.parameters(), twin.parameters(), strict=True):
        assert torch.equal(parameter, other)
        assert parameter is not other
    twin.output.weight.sum().backward()  # type: ignore[no-untyped-call]
    assert twin.output.weight.grad is not None
    assert network.output.weight.grad is None


def test_threads_are_given_back() -> None:
    seen = []
    with Crew(transformer(0.0), CPU) as crew:
        seen += [torch.get_num_threads(), *crew.each(lambda network: torch.get_num_threads(), [(), ()])]
        with crew.rest():
            seen.append(torch.get_num_threads())
        seen.append(torch.get_num_threads())
    assert seen == [1, 1, 1, 2, 1]
    assert torch.get_num_threads() == 2


def test_what_fails_in_a_thread_fails_here() -> None:
    def fail(network: Predictor) -> None:
        raise ValueError("no")

    with Crew(transformer(0.0), CPU) as crew, pytest.raises(ValueError, match="no"):
        list(crew.each(fail, [(), ()]))
