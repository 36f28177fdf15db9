"""How do several processes share a long input?

A step of decoding is made of small matrix products, on which two processes of one thread each can get further than
one of two threads (docs/decisions/17). Requests are sorted by length and cut into shares; a share is one call of
`translate`, whichever process makes it, so that how many there are changes no bit of the output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import TracebackType
from typing import Self

from dragoman.contracts import Request, SearchOptions, Translation
from dragoman.processes import Worker, as_done, cores, end, started
from dragoman.system.store import resolve_device
from dragoman.system.stream import System

SHARE = 128
ENOUGH = 1000  # requests at once, from which on the start of the processes pays
MOST = 8  # processes that are started unasked: each has the libraries and the model in memory

Requests = Sequence[str | Request]


def workers_for(system: System, load: Callable[[], System], asked: int = 0, *, threads: int, device: str) -> Workers:
    """The workers that were asked for, at any input of two requests; 0 are as many as threads (0: as processor cores)
    for a long input, if the kind gains by them and runs on the CPU."""
    if asked:
        return Workers(system, load, asked, enough=2)
    pays = getattr(system, "gains_by_processes", False) and resolve_device(system.kind, device) == "cpu"
    return Workers(system, load, min(threads or cores(), MOST) if pays else 1)


def shares(requests: Requests) -> list[list[int]]:
    """The indices of the requests, the longest texts first, in shares of like length."""
    lengths = [len(request if isinstance(request, str) else request.text) for request in requests]
    order = sorted(range(len(requests)), key=lambda index: -lengths[index])
    return [order[start : start + SHARE] for start in range(0, len(order), SHARE)]


class Workers:
    """`translate` by `count` processes, which are started when first `enough` requests come at once; before that, and
    with a count of 1, by the system at hand. Each process makes its own system by `load`, which must be picklable.

    A context manager: at its end, an error or Ctrl-C, the processes are ended.
    """

    def __init__(self, system: System, load: Callable[[], System], count: int = 1, enough: int = ENOUGH) -> None:
        self.system = system
        self.load = load
        self.count = count
        self.enough = enough
        self.crew: list[Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.end()

    def translate(self, requests: Requests, options: SearchOptions = SearchOptions()) -> list[Translation]:
        """As the system's own `translate`. UserError where a process dies."""
        self.start_for(len(requests))
        done = self._by_crew(requests, options) if self.crew else self._alone(requests, options)
        found = {index: one for share, ones in done for index, one in zip(share, ones, strict=True)}
        return [found[index] for index in range(len(requests))]

    def start_for(self, requests: int) -> None:
        """Start the processes, and wait until they have loaded, if so many requests are enough."""
        if self.crew or self.count < 2 or requests < self.enough:
            return
        self.crew = started(partial(translate_by, self.load), self.count)
        for worker in self.crew:
            worker.ready()

    def end(self) -> None:
        """End the processes at once."""
        end(self.crew)
        self.crew = []

    def _alone(self, requests: Requests, options: SearchOptions) -> Iterator[tuple[list[int], list[Translation]]]:
        """Each share and its translations, by the system at hand."""
        for share in shares(requests):
            yield share, self.system.translate([requests[index] for index in share], options)

    def _by_crew(self, requests: Requests, options: SearchOptions) -> Iterator[tuple[list[int], list[Translation]]]:
        """Each share and its translations, as they are done."""
        dealt = shares(requests)
        tasks = (([requests[index] for index in share], options) for share in dealt)
        for number, translations in as_done(self.crew, tasks):
            yield dealt[number], translations


def translate_by(load: Callable[[], System]) -> Callable[[Requests, SearchOptions], list[Translation]]:
    """What a worker does."""
    return load().translate
