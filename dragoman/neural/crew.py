"""How do the threads of one process share a batch?

Threads that share one matrix product wait for each other after every operation, and are woken for the next: on small
batches that costs as much as the second core brings (docs/decisions/20). So a batch is cut by rows instead, each
part goes forwards and backwards in a thread of its own, and the gradients are added up: the update stays the same.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import Any, TypeVar

import torch
from torch import nn

from dragoman.neural.dropout import drawing
from dragoman.neural.network import Predictor

MOST = 2  # members; how more of them get on has not been measured

T = TypeVar("T")


def members_on(device: torch.device) -> int:
    """How many learn side by side there: on another device than a CPU, or with one thread, one alone."""
    return min(MOST, torch.get_num_threads()) if device.type == "cpu" else 1


class Crew:
    """Networks that share one set of weights, a thread each; gradients are each one's own until `add_up`.

    Inside `with`, each thread has its share of this process's threads, the caller's too; in `rest` it has all. For one
    member alone the caller's thread does the work.
    """

    def __init__(self, network: Predictor, device: torch.device) -> None:
        self.threads = torch.get_num_threads()
        self.members = [network, *(twin_of(network) for _ in range(members_on(device) - 1))]
        self.pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Crew:
        size = len(self)
        if size > 1:
            self.pool, met = ThreadPoolExecutor(size), Barrier(size)  # so that nobody is given two turns

            def begin(_: object) -> None:
                torch.set_num_threads(self.threads // size)
                met.wait()

            list(self.pool.map(begin, self.members))
            torch.set_num_threads(self.threads // size)
        return self

    def __exit__(self, *error: object) -> None:
        if self.pool:
            self.pool.shutdown()
            self.pool = None
            torch.set_num_threads(self.threads)

    @contextmanager
    def rest(self) -> Iterator[None]:
        """What the caller does inside has all threads."""
        torch.set_num_threads(self.threads)
        try:
            yield
        finally:
            torch.set_num_threads(self.threads // len(self) if self.pool else self.threads)

    def __len__(self) -> int:
        return len(self.members)

    def each(self, work: Callable[..., T], tasks: Iterable[Sequence[Any]]) -> Iterator[T]:
        """work(network, *task) of each task, in their order; side by side if there are as many members.

        What the tasks drop out is drawn from seeds of their own, so that it does not depend on which thread is first.
        """
        tasks = list(tasks)
        if not self.pool or len(tasks) > len(self):
            return (work(self.members[0], *task) for task in tasks)
        seeds = torch.randint(2**62, (len(tasks),)).tolist()

        def own(network: Predictor, seed: int, task: Sequence[Any]) -> T:
            network.train()
            with drawing(torch.Generator().manual_seed(seed)):
                return work(network, *task)

        return self.pool.map(own, self.members, seeds, tasks)

    @torch.no_grad()
    def add_up(self) -> None:
        """Bring all gradients to the first member, in the order of the members, and whole: an embedding's has rows for
        some pieces only."""
        for parameter, *twins in zip(*(member.parameters() for member in self.members), strict=True):
            for twin in twins:
                if parameter.grad is None:
                    parameter.grad = twin.grad
                elif twin.grad is not None:
                    parameter.grad = parameter.grad.to_dense().add_(twin.grad)
                twin.grad = None
            if parameter.grad is not None:
                parameter.grad = parameter.grad.to_dense()


def twin_of(network: Predictor) -> Predictor:
    """A network over the same numbers whose gradients are its own."""
    shared: dict[int, Any] = {id(buffer): buffer for buffer in network.buffers()}
    for parameter in network.parameters():
        shared[id(parameter)] = nn.Parameter(parameter.detach(), parameter.requires_grad)
    return copy.deepcopy(network, shared)
