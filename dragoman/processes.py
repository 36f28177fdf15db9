"""How do several processes share work, and what does one ask of the system?

A worker makes what does the work by itself, then answers one task after another. An error there is an error here, and
a worker that dies is one line. Workers never see Ctrl-C, which is for their parent to hear.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from threading import Thread
from typing import Any

from dragoman.contracts import UserError
from dragoman.stopping import stop_signals

Load = Callable[[], Callable[..., Any]]
"""What a worker makes first; picklable. A task is the tuple of arguments that the result is called with."""

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3  # malloc.h of glibc
AT_HAND = 2  # tasks of a worker, the one that it does among them
WORKERS_A_CORE = 8  # more of them would only wait for each other
AHEAD = 4  # answers for each worker that wait for an earlier one


def cores() -> int:
    """How many processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def keep_freed_memory() -> None:
    """Have glibc hand freed tensors and arrays on to the next ones, rather than to the system, which would clear each
    page of them anew (docs/decisions/11). Elsewhere nothing is changed."""
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_M_MMAP_THRESHOLD, 1 << 30)
            mallopt(_M_TRIM_THRESHOLD, (1 << 31) - 1)
            mallopt(_M_TOP_PAD, 1 << 26)  # a thread's heap ends at 64 MiB: it is taken whole


@dataclass
class Worker:
    """A process that works on what it is sent, and our end of the pipe to it. loading: it has not yet said that it is
    ready; tasks can be sent all the same."""

    process: BaseProcess
    pipe: Connection
    loading: bool = True

    def ready(self) -> None:
        """Wait until it has loaded."""
        if self.loading:
            self.loading = False
            self._hear()

    def ask(self, task: tuple[Any, ...]) -> None:
        """Send a task; at most AT_HAND without an answer."""
        try:
            self.pipe.send(task)
        except OSError:
            raise self.death() from None

    def answer(self) -> Any:
        """What it answers next. Raises what was raised there, and UserError where the process is gone."""
        self.ready()
        return self._hear()

    def _hear(self) -> Any:
        try:
            answer = self.pipe.recv()
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


def started(load: Load, count: int) -> list[Worker]:
    """So many workers, which load by now. To be ended by `end`. UserError where they are too many for the cores."""
    most = WORKERS_A_CORE * cores()
    if count > most:
        raise UserError(f"--workers {count}: at most {most} here, {WORKERS_A_CORE} for each processor core")
    spawn = multiprocessing.get_context("spawn")  # neither torch nor a thread of ours survives a fork
    crew: list[Worker] = []
    try:
        with undisturbed():
            for _ in range(count):
                ours, theirs = spawn.Pipe()
                process = spawn.Process(target=serve, args=(theirs, load), daemon=True)
                process.start()
                theirs.close()
                crew.append(Worker(process, ours))
    except BaseException:
        end(crew)
        raise
    return crew


def end(crew: Sequence[Worker]) -> None:
    """End the processes at once."""
    for worker in crew:
        worker.process.terminate()
        worker.pipe.close()
    for worker in crew:
        worker.process.join()


def as_done(crew: Sequence[Worker], tasks: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
    """The number of each task and its answer, as they are done: a worker that is free takes the next task."""
    idle, busy = list(crew), dict[Connection, tuple[Worker, int]]()

    def finished() -> Iterator[tuple[int, Any]]:
        for pipe in wait(list(busy)):
            worker, number = busy.pop(pipe)  # type: ignore[call-overload]
            idle.append(worker)
            yield number, worker.answer()

    for number, task in enumerate(tasks):
        while not idle:
            yield from finished()
        worker = idle.pop()
        worker.ask(task)
        busy[worker.pipe] = worker, number
    while busy:
        yield from finished()


def in_order(crew: Sequence[Worker], tasks: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    """The answers in the order of the tasks. Each worker has a task waiting (AT_HAND) while it does another; only some
    tasks are taken before their time (AHEAD)."""
    at_hand = {worker.pipe: deque[int]() for worker in crew}
    of_pipe = {worker.pipe: worker for worker in crew}
    answers: dict[int, Any] = {}
    waiting = deque[int]()

    def hear() -> None:
        for pipe in wait([pipe for pipe, numbers in at_hand.items() if numbers]):
            answers[at_hand[pipe].popleft()] = of_pipe[pipe].answer()  # type: ignore[index]

    for number, task in enumerate(tasks):
        pipe = min(at_hand, key=lambda each: len(at_hand[each]))
        while len(at_hand[pipe]) >= AT_HAND:
            hear()
            pipe = min(at_hand, key=lambda each: len(at_hand[each]))
        of_pipe[pipe].ask(task)  # before any answer is given on, so that there is something to do meanwhile
        at_hand[pipe].append(number)
        waiting.append(number)
        while len(waiting) > AHEAD * len(crew) and waiting[0] not in answers:
            hear()
        while waiting and waiting[0] in answers:
            yield answers.pop(waiting.popleft())
    while waiting:
        while waiting[0] not in answers:
            hear()
        yield answers.pop(waiting.popleft())


@contextmanager
def undisturbed() -> Iterator[None]:
    """A signal to stop takes effect at the end of the block, so that no process is half started; the processes that
    are started in it never see Ctrl-C."""
    came: list[int] = []
    handlers = {one: signal.signal(one, lambda number, _: came.append(number)) for one in stop_signals()}
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


def serve(pipe: Connection, load: Load) -> None:
    """A worker's life: load, say so by an empty answer, then answer each task until the pipe is closed; an error is
    its last answer. Tasks are taken from the pipe at once, so that neither side ever waits for the other to read."""
    tasks: SimpleQueue[tuple[Any, ...] | None] = SimpleQueue()
    Thread(target=_take, args=(pipe, tasks), daemon=True).start()

    def say(answer: Any) -> None:
        with suppress(OSError):  # nobody is there to hear it
            pipe.send(answer)

    try:
        work = load()
        say(None)
        while (task := tasks.get()) is not None:
            say(work(*task))
    except UserError as mistake:
        say(mistake)
    except Exception:
        say(RuntimeError(f"in a worker process:\n{traceback.format_exc()}"))


def _take(pipe: Connection, tasks: SimpleQueue[tuple[Any, ...] | None]) -> None:
    """Put on the queue what comes, None at the end."""
    with suppress(EOFError, OSError):
        while True:
            tasks.put(pipe.recv())
    tasks.put(None)
