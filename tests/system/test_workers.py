"""Do several processes give what one would, and end well whatever becomes of them?"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.process import BaseProcess

import pytest

from dragoman import processes
from dragoman.contracts import Ability, Flag, Hypothesis, Request, SearchOptions, Translation, UserError
from dragoman.corpus.lines import Line
from dragoman.system import workers
from dragoman.system.stream import translate_lines
from dragoman.system.workers import Workers, shares, workers_for


@dataclass(frozen=True)
class Where:
    """Answers with the length of the text and the company that it came in; says in which process by a flag."""

    parent: int
    kind: str = "where"
    source_language: str = "en"
    target_language: str = "en"
    abilities: frozenset[Ability] = frozenset({Ability.PREFIX})

    def translate(
        self, requests: Sequence[str | Request], options: SearchOptions = SearchOptions()
    ) -> list[Translation]:
        texts = [request if isinstance(request, str) else request.prefix + request.text for request in requests]
        for text in texts:
            if text in ACTS:
                ACTS[text]()
        flags = () if os.getpid() == self.parent else (Flag.COPY,)
        return [Translation(text, (), (Hypothesis(f"{text} {len(texts)}", flags=flags),)) for text in texts]


def refuse() -> None:
    raise UserError("the prefix is no good")


def fail() -> None:
    raise ZeroDivisionError


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def linger() -> None:
    time.sleep(0.005)


ACTS: dict[str, Callable[[], None]] = {"refuse": refuse, "fail": fail, "die": die, "linger": linger}
TEXTS = ["x" * (index * 37 % 50 + 1) for index in range(700)]


def where() -> Where:
    return Where(os.getpid())


def no_model() -> Where:
    raise UserError("model: no such folder")


def crew(count: int = 2, enough: int = 2) -> Workers:
    here = os.getpid()
    return Workers(Where(here), partial(Where, here), count, enough)


def processes_of(several: Workers) -> list[BaseProcess]:
    return [worker.process for worker in several.crew]


def test_shares_hold_every_request_once_with_like_lengths() -> None:
    dealt = shares([*TEXTS, Request("y" * 60)])
    assert sorted(index for share in dealt for index in share) == list(range(701))
    assert all(len(share) <= workers.SHARE for share in dealt)
    assert dealt[0][0] == 700
    lengths = [len(TEXTS[index]) for share in dealt for index in share if index < 700]
    assert lengths == sorted(lengths, reverse=True)
    assert shares([]) == []


@pytest.fixture(scope="module")
def pair() -> Iterator[Workers]:
    """Two processes, for tests that leave them alive."""
    with crew() as several:
        yield several


def test_results_come_back_in_order_and_in_the_company_of_one_process(pair: Workers) -> None:
    with crew(count=1) as alone:
        expected = alone.translate(TEXTS)
    found = pair.translate(TEXTS)
    assert [translation.source for translation in found] == TEXTS
    assert [translation.text for translation in found] == [translation.text for translation in expected]
    assert all(translation.hypotheses[0].flags for translation in found)
    assert not any(translation.hypotheses[0].flags for translation in expected)


def test_lines_keep_their_places_numbers_and_blanks(pair: Workers) -> None:
    lines = [Line("" if number % 7 == 0 else "word " * (number % 5 + 1), number) for number in range(1, 40)]
    with crew(count=1) as alone:
        results, expected = (
            list(translate_lines(one.system, iter(lines), window=20, prefix="> ", translate=one.translate))
            for one in (pair, alone)
        )
    assert [(result.line, result.text) for result in results] == [(result.line, result.text) for result in expected]
    assert [result.line for result in results] == lines
    assert results[0].text.startswith("> word")


def test_the_processes_do_not_hear_ctrl_c_themselves(pair: Workers) -> None:
    pair.start_for(2)
    for process in processes_of(pair):
        os.kill(process.pid or 0, signal.SIGINT)
    assert len(pair.translate(TEXTS)) == len(TEXTS)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_stop_waits_until_every_process_is_started(number: signal.Signals) -> None:
    came: list[str] = []
    before = signal.signal(number, lambda _number, _frame: came.append("handled"))
    try:
        with processes.undisturbed():
            os.kill(os.getpid(), number)
            came.append("started")
        assert came == ["started", "handled"]
    finally:
        signal.signal(number, before)
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_a_short_input_starts_no_process_and_an_error_ends_them() -> None:
    running: list[BaseProcess] = []

    def interrupted() -> None:
        with crew(enough=10) as several:
            several.translate(TEXTS[:9])
            assert not several.crew
            several.translate(TEXTS[:10])
            running.extend(processes_of(several))
            assert [process.is_alive() for process in running] == [True, True]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [process.is_alive() for process in running] == [False, False]


KILLED = r"a worker process was killed by signal 9 .*; --workers 1 does without"


def test_a_worker_that_dies_is_one_line_that_says_what_to_do() -> None:
    with pytest.raises(UserError, match=KILLED), crew() as several:
        several.translate(["linger"] * 300 + ["die"])


def test_a_worker_that_died_between_two_windows_too() -> None:
    with crew() as several:
        several.start_for(2)
        for process in processes_of(several):
            process.kill()
            process.join()
        with pytest.raises(UserError, match=KILLED):
            several.translate(TEXTS)


def test_more_than_the_cores_can_use_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "cores", lambda: 2)
    several = Workers(where(), where, 17, 1)
    with pytest.raises(UserError, match=r"^--workers 17: at most 16 here, 8 for each processor core$"), several:
        several.translate(["a"])


def test_mistakes_and_bugs_come_through() -> None:
    several = crew()
    with pytest.raises(UserError, match=r"^the prefix is no good$"), several:
        several.translate(["a", "refuse"])
    with pytest.raises(RuntimeError, match="ZeroDivisionError"), several:
        several.translate(["a", "fail"])
    with pytest.raises(UserError, match=r"^model: no such folder$"), Workers(where(), no_model, 2, 1) as several:
        several.translate(["a"])


def test_only_kinds_that_gain_have_workers_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "cores", lambda: 6)
    assert workers_for(where(), where, threads=0, device="cpu").count == 1
    assert workers_for(where(), where, 3, threads=0, device="cpu").count == 3

    class Gaining(Where):
        gains_by_processes = True

    network = Gaining(1, kind="transformer")
    assert workers_for(network, where, threads=0, device="cpu").count == 6
    assert workers_for(network, where, threads=4, device="cpu").count == 4
    assert workers_for(network, where, threads=64, device="cpu").count == workers.MOST
    assert workers_for(network, where, 1, threads=4, device="cpu").count == 1
