"""Does a command with several processes answer, fail and stop as with one?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dragoman.system import workers
from tests.cli.conftest import Command

LINES = "".join(f"The nurse saw {number} old zyxwv.\n" if number % 9 else "\n" for number in range(40))


def test_lines_flags_and_json_are_those_of_one_process(
    dragoman: Command, dictionary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That the bits of a network are too, tests/contract/test_translation.py says."""
    monkeypatch.setattr(workers, "SHARE", 8)
    Path("in.txt").write_text(LINES, encoding="utf-8")
    for options in ([], ["--json"]):
        one, two = (dragoman("translate", dictionary, "in.txt", *options, "--workers", count) for count in (1, 2))
        assert (one.code, two.code) == (0, 0), two.err
        assert (two.out, two.err) == (one.out, one.err)
    assert [json.loads(line)["line"] for line in two.out.splitlines()] == list(range(1, 41))


def test_figures_are_those_of_one_process(dragoman: Command, dictionary: Path) -> None:
    Path("test.tsv").write_text("".join(f"the book {n}\t那本书 {n}\n" for n in range(150)), encoding="utf-8")
    asked = ("evaluate", dictionary, "--test", "test.tsv", "--source", "en", "--target", "zh", "--json")
    one, two = (json.loads(dragoman(*asked, "--workers", count).out) for count in (1, 2))
    assert one.pop("sentences_per_second") != two.pop("sentences_per_second")
    assert two == one
    Path("out.txt").write_text("x\n" * 150, encoding="utf-8")
    judged = dragoman("evaluate", "--hypotheses", "out.txt", "--test", "test.tsv", "--workers", "2")
    assert "--workers" in judged.error_line


@pytest.mark.skipif(sys.platform != "linux", reason="finds the processes in /proc")
@pytest.mark.parametrize("signalled", ["interrupted", "terminated", "a worker killed"])
def test_however_it_ends_nothing_is_left(dictionary: Path, tmp_path: Path, signalled: str) -> None:
    command = [sys.executable, "-m", "dragoman", "translate", str(dictionary), "--out", "out.txt", "--workers", "2"]
    running = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, text=True
    )
    assert running.stdin is not None
    running.stdin.write("The book.\n" * 2000)  # one window
    running.stdin.flush()
    at_work = wait_for_workers(running)
    if signalled == "a worker killed":
        os.kill(at_work[0], signal.SIGKILL)
    else:
        running.send_signal(signal.SIGINT if signalled == "interrupted" else signal.SIGTERM)
    _, error = running.communicate("The book.\n" * 2000, timeout=60)
    assert running.returncode == (2 if signalled == "a worker killed" else 130)
    assert "a worker process was killed by signal 9" in error or error == "interrupted\n"
    assert list(tmp_path.iterdir()) == []
    assert not any(Path(f"/proc/{process}").exists() for process in at_work)


def wait_for_workers(running: subprocess.Popen[str]) -> list[int]:
    """The two processes that it has started to translate."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
        found = [int(child) for child in children if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text()]
        if len(found) == 2:
            return found
        time.sleep(0.05)
    raise AssertionError("no processes were started")
