"""How do several processes share a long input?

A step of decoding is made of small matrix products, on which two processes of one thread each get further than one
of two threads (docs/decisions/12). Requests are sorted by length and cut into shares; a share is one call of
`translate`, whichever process makes it, so that how many there are changes no bit of the output.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Self

from dragoman.contracts import Request, SearchOptions, Translation, UserError
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


def cores() -> int:
    """How many processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def shares(requests: Requests) -> list[list[int]]:
    """The indices of the requests, the longest texts first, in shares of like length."""
    lengths = [len(request if isinstance(request, str) else request.text) for request in requests]
    order = sorted(range(len(requests)), key=lambda index: -lengths[index])
    return [order[start : start + SHARE] for start in range(0, len(order), SHARE)]


@dataclass(frozen=True)
class Worker:
    """A process that translates what it is sent, and our end of the pipe to it."""

    process: BaseProcess
    pipe: Connection

    def ask(self, requests: Requests, options: SearchOptions) -> None:
        """Send a share; one at a time."""
        try:
            self.pipe.send((requests, options))
        except OSError:
            raise self.death() from None

    def answer(self) -> list[Translation]:
        """What it sends next. Raises what was raised there, and UserError where the process is gone."""
        try:
            answer: list[Translation] | Exception = self.pipe.recv()
        except (EOFError, OSError):
            raise self.death() from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def death(self) -> UserError:
        """The error that a process is gone."""
        self.process.join(1)
        code = self.process.exitcode or 0
        how = f"was killed by signal {-code} (9 is often for want of memory)" if code < 0 else f"ended with code {code}"
        return UserError(f"a worker process {how}; --workers 1 does without and needs less memory")


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
        spawn = multiprocessing.get_context("spawn")  # torch does not survive a fork
        with undisturbed():
            for _ in range(self.count):
                ours, theirs = spawn.Pipe()
                process = spawn.Process(target=serve, args=(theirs, self.load), daemon=True)
                process.start()
                theirs.close()
                self.crew.append(Worker(process, ours))
        for worker in self.crew:
            worker.answer()

    def end(self) -> None:
        """End the processes at once."""
        for worker in self.crew:
            worker.process.terminate()
            worker.pipe.close()
        for worker in self.crew:
            worker.process.join()
        self.crew.clear()

    def _alone(self, requests: Requests, options: SearchOptions) -> Iterator[tuple[list[int], list[Translation]]]:
        """Each share and its translations, by the system at hand."""
        for share in shares(requests):
            yield share, self.system.translate([requests[index] for index in share], options)

    def _by_crew(self, requests: Requests, options: SearchOptions) -> Iterator[tuple[list[int], list[Translation]]]:
        """Each share and its translations, as they are done: a worker that is free takes the next share."""
        waiting = deque(shares(requests))
        idle, busy = list(self.crew), dict[Connection, tuple[Worker, list[int]]]()
        while waiting or busy:
            while waiting and idle:
                worker, share = idle.pop(), waiting.popleft()
                worker.ask([requests[index] for index in share], options)
                busy[worker.pipe] = worker, share
            for pipe in wait(list(busy)):
                worker, share = busy.pop(pipe)  # type: ignore[call-overload]
                yield share, worker.answer()
                idle.append(worker)


@contextmanager
def undisturbed() -> Iterator[None]:
    """A signal to stop takes effect at the end of the block, so that no process is half started; the processes that
    are started in it never see Ctrl-C, which is for us to hear."""
    came: list[int] = []
    handlers = {
        one: signal.signal(one, lambda number, _: came.append(number)) for one in (signal.SIGINT, signal.SIGTERM)
    }
    resource_tracker.ensure_running()  # its start would unblock the signal
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
    try:
        yield
    finally:
        if blocked is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        for one, handler in handlers.items():
            signal.signal(one, handler)
        for number in came:
            signal.raise_signal(number)


def serve(pipe: Connection, load: Callable[[], System]) -> None:
    """A worker's life: load, say so by an empty answer, then answer each share until the pipe is closed; an error is
    its last answer."""
    answer: list[Translation] | Exception = []
    try:
        system = load()
        while True:
            pipe.send(answer)
            answer = system.translate(*pipe.recv())
    except EOFError:
        return
    except UserError as mistake:
        answer = mistake
    except Exception:
        answer = RuntimeError(f"in a worker process:\n{traceback.format_exc()}")
    with suppress(OSError):  # nobody is there to hear it
        pipe.send(answer)
