"""Does a training run end in the same model whatever cut it, and do its limits mean what they say?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.contracts import Progress, UserError
from dragoman.evaluation.curves import learning_curve
from dragoman.system import lifecycle, store
from dragoman.system.lifecycle import Outcome, finish_model
from tests.system.fake import FakeTranslator
from tests.system.life import fingerprint, install, interrupted, names, state, steps_of, train, unbroken

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def with_fake(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


# --- a run from end to end ----------------------------------------------------------------------


def test_a_run_leaves_a_model_and_its_records(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "learning_curve", learning_curve)
    outcome = train(out, command={"train": "a.tmx", "dev": "b.tmx"})
    assert isinstance(outcome.product, FakeTranslator)
    assert not outcome.already_finished
    assert store.load_model(out) == outcome.product
    assert names(out) == {
        "model.json",
        "recipe.toml",
        "report.json",
        "progress.jsonl",
        "learning_curve.png",
        "text",
        "weights.json",
        "work",
    }
    report = json.loads((out / "report.json").read_text())
    assert report == outcome.facts
    assert report["train"] == "a.tmx (en-zh, 7 pairs)"
    assert report["dev_figures"] == {"step": 10, "bleu": 10.0}
    assert report["done"]["updates"] == 10
    assert steps_of(out, "dev") == list(range(1, 11))
    assert (out / "learning_curve.png").read_bytes().startswith(b"\x89PNG")


def test_every_sign_of_life_reaches_the_caller(out: Path) -> None:
    seen: list[Progress] = []
    train(out, report=seen.append)
    assert [progress.step for progress in seen if progress.phase == "training"] == list(range(1, 11))


def test_the_same_command_on_a_finished_model_says_so(out: Path) -> None:
    first = train(out)
    before = (out / "model.json").read_bytes()
    again = train(out)
    assert again == Outcome(None, True, first.facts)
    assert (out / "model.json").read_bytes() == before


def test_more_threads_do_not_make_a_finished_model_unfinished(out: Path) -> None:
    train(out, threads=1)
    assert train(out, threads=2, device="cpu").already_finished


def test_equal_content_under_another_name_is_the_same_data(out: Path) -> None:
    train(out, command={"train": "a.tmx"})
    assert train(out, command={"train": "moved/a.tmx"}).already_finished


# --- interrupted and killed ---------------------------------------------------------------------


def test_an_interrupted_run_goes_on_to_the_same_model(out: Path, tmp_path: Path) -> None:
    interrupted(out, 4)
    assert state(out)["updates"] == 4
    with pytest.raises(UserError, match="training is not finished"):
        store.load_model(out)
    notes: list[str] = []
    train(out, report=lambda progress: notes.append(progress.note) if progress.note else None)
    assert fingerprint(out) == unbroken(tmp_path)
    assert notes == ["goes on after 4 updates"]
    assert steps_of(out, "dev") == list(range(1, 11))


SCRIPT = """
import sys
from pathlib import Path
from dragoman.system import catalogue
from dragoman.system.lifecycle import train_model
from dragoman.system.settings import with_settings
from tests.system.fake import DEV, FAKE, TRAIN

catalogue.KINDS["fake"] = "tests.system.fake:Fake"
train_model(with_settings(FAKE, sys.argv[2:]), TRAIN, DEV, Path(sys.argv[1]))
"""
LONG = ("max_updates=400", "pause=0.01s", "save_every=7")


@pytest.fixture
def under_way(out: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process in the middle of training `out`."""
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(out), *LONG], cwd=ROOT)
    try:
        deadline = time.monotonic() + 60
        while not (out / "work" / "state.json").exists() or state(out)["updates"] < 21:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_second_process_is_refused(out: Path, under_way: subprocess.Popen[bytes]) -> None:
    with pytest.raises(UserError, match=r"out: another process is training there"):
        train(out, *LONG)
    with pytest.raises(UserError, match=r"out: another process is training there"):
        finish_model(out)


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
def test_a_killed_run_goes_on_to_the_same_model(
    out: Path, tmp_path: Path, under_way: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    under_way.send_signal(signal.SIGKILL)
    under_way.wait()
    done = state(out)["updates"]
    assert 21 <= done < 400
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    train(out, *LONG)
    assert fingerprint(out) == unbroken(tmp_path, *LONG)
    assert steps_of(out, "dev") == list(range(1, 401))


def test_a_row_cut_by_a_crash_does_not_spoil_the_journal(out: Path) -> None:
    interrupted(out, 4)
    with (out / "work" / "progress.jsonl").open("a") as file:
        file.write('{"phase": "dev", "step": 5, "total": 0}\n{"phase": "dev", "st')
    train(out)
    assert steps_of(out, "dev") == list(range(1, 11))


def test_a_crash_between_training_and_publication_costs_nothing(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(store, "publish", lambda finished, folder: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            train(out)
    assert not (out / "model.json").exists()
    assert isinstance(train(out).product, FakeTranslator)


def test_a_publication_that_was_cut_is_completed_by_the_same_command(out: Path) -> None:
    train(out)
    expected = fingerprint(out)
    pending = out / "work" / "publish"
    (pending / "text").mkdir(parents=True)
    for name in ("text/words.json", "report.json", "model.json"):
        os.replace(out / name, pending / name)
    assert train(out).already_finished
    assert fingerprint(out) == expected
    assert names(out / "work") - {"lock"} == {"run.json", "state.json", "progress.jsonl"}


def test_other_threads_on_the_way_are_said(out: Path) -> None:
    interrupted(out, 4, threads=1)
    notes: list[str] = []
    train(out, threads=2, report=lambda progress: notes.append(progress.note))
    assert "threads 1 -> 2: the weights may differ slightly from those of an unbroken run" in notes


def test_the_run_says_which_device_and_how_many_threads_it_had(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeTranslator, "resolve_device", staticmethod(lambda device: "cpu"), raising=False)
    monkeypatch.setattr(lifecycle, "cores", lambda: 6)
    interrupted(out, 4, device="auto", threads=0)
    notes: list[str] = []
    facts = train(out, device="cpu", threads=6, report=lambda progress: notes.append(progress.note)).facts
    assert (facts["device"], facts["threads"]) == ("cpu", 6)
    assert [note for note in notes if note] == ["goes on after 4 updates"]


def test_without_a_state_learning_begins_anew(out: Path, tmp_path: Path) -> None:
    interrupted(out, 4)
    (out / "work" / "state.json").unlink()
    notes: list[str] = []
    train(out, report=lambda progress: notes.append(progress.note))
    assert "begins anew: no state of the learning was saved yet" in notes
    assert fingerprint(out) == unbroken(tmp_path)


# --- limits -------------------------------------------------------------------------------------


def test_with_a_limit_raised_training_goes_on(out: Path, tmp_path: Path) -> None:
    train(out)
    old = store.load_model(out)
    interrupted(out, 5, "max_updates=20")
    assert state(out)["updates"] == 15
    assert store.load_model(out) == old
    train(out, "max_updates=20")
    assert fingerprint(out) == unbroken(tmp_path, "max_updates=20")
    assert train(out, "max_updates=20").already_finished
    assert steps_of(out, "dev") == list(range(1, 21))


@pytest.mark.parametrize("updates", [9, 10])
def test_a_limit_lowered_to_or_below_what_was_done_is_refused(out: Path, updates: int) -> None:
    interrupted(out, 10, "max_updates=20")
    with pytest.raises(UserError, match=rf"max_updates = {updates} is not above what is done already \(10\)"):
        train(out, f"max_updates={updates}")


def test_a_limit_lowered_but_not_reached_is_taken(out: Path, tmp_path: Path) -> None:
    interrupted(out, 5, "max_updates=20")
    train(out, "max_updates=8")
    assert fingerprint(out) == unbroken(tmp_path, "max_updates=8")


def test_the_first_command_after_a_raised_limit_is_a_lowered_one(out: Path) -> None:
    train(out)
    train(out, "max_updates=20")
    with pytest.raises(UserError, match=r"max_updates = 10 is not above what is done already \(20\)"):
        train(out)


def test_no_limit_counts_as_the_highest(out: Path) -> None:
    train(out)
    with pytest.raises(UserError, match=r"max_epochs = 1 is not above what is done already \(1\)"):
        train(out, "max_epochs=1")
    (out / "work" / "state.json").write_text(json.dumps({**state(out), "seconds": 60.2}))
    with pytest.raises(UserError, match=r"time_budget = 1s is not above what is done already \(1m\)"):
        train(out, "time_budget=1s")
