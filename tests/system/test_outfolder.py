"""Is what lies in the OUT folder safe: other work, the user's own files, an old model, a started one?"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.contracts import UserError
from dragoman.system import catalogue, runs, store
from dragoman.system.lifecycle import finish_model, train_model
from dragoman.system.remembered import RememberedBitext
from tests.system.fake import DEV, FAKE, TRAIN, FakeTranslator, Pairs
from tests.system.life import fingerprint, install, interrupted, names, state, steps_of, train, unbroken


@pytest.fixture(autouse=True)
def with_fake(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


# --- other work ---------------------------------------------------------------------------------


def test_other_settings_are_refused_with_the_differences(out: Path) -> None:
    interrupted(out, 4)
    with pytest.raises(UserError) as error:
        train(out, "width=8", "training.dropout=0.3", "max_updates=50", seed=2)
    assert str(error.value) == (
        f"{out} holds other work: shape.width 4 -> 8; training.dropout 0.2 -> 0.3; seed 1 -> 2. "
        "--restart trains anew, or choose another --out"
    )
    train(out)


def test_other_data_is_refused_with_its_names(out: Path) -> None:
    train(out, command={"train": "old.tmx"})
    other = Pairs(TRAIN.texts[:-1])
    with pytest.raises(UserError, match=r"training data old\.tmx \(en-zh, 7 pairs\) -> new\.tmx \(en-zh, 6 pairs\)"):
        train(out, data=other, command={"train": "new.tmx"})
    with pytest.raises(UserError, match=r"dev data held-out pairs \(en-zh, 2 pairs\) -> none"):
        train(out, dev=None)
    with pytest.raises(UserError, match=r"dev data .* 2 pairs\) -> held-out pairs \(en-zh, 7 pairs\)"):
        train(out, dev=TRAIN)


def test_another_kind_is_refused(out: Path) -> None:
    interrupted(out, 4)
    with pytest.raises(UserError, match="kind fake -> dictionary"):
        train_model(catalogue.recipe_named("dictionary"), TRAIN, DEV, out)


@pytest.mark.parametrize("content", ["{", "[]", '{"identity": 3}'])
def test_a_damaged_run_is_refused_until_a_restart(out: Path, content: str) -> None:
    interrupted(out, 4)
    (out / "work" / "run.json").write_text(content)
    with pytest.raises(UserError, match=r"run\.json: damaged; --restart trains anew"):
        train(out)
    assert train(out, restart=True).product


@pytest.mark.parametrize("content", ["{", "[]", '{"updates": "many"}'])
def test_a_damaged_state_is_refused(out: Path, content: str) -> None:
    interrupted(out, 4)
    (out / "work" / "state.json").write_text(content)
    with pytest.raises(UserError, match=r"state\.json: damaged; --restart trains anew"):
        train(out)


@pytest.mark.parametrize("run", [{"identity": 3}, {"seed": "x"}])
def test_a_model_whose_run_is_damaged_is_refused(out: Path, run: dict[str, object]) -> None:
    train(out)
    card = json.loads((out / "model.json").read_text())
    (out / "model.json").write_text(json.dumps({**card, "run": run}))
    with pytest.raises(UserError, match=r"model\.json: damaged, or not of Dragoman"):
        train(out)


def test_a_kind_that_knows_no_device_is_refused_before_anything_is_made(out: Path) -> None:
    with pytest.raises(UserError, match="'dictionary' runs on the cpu only, not on 'cuda'"):
        train_model(catalogue.recipe_named("dictionary"), TRAIN, DEV, out, device="cuda")
    assert not out.exists()


# --- restart and discard ------------------------------------------------------------------------


def test_restart_trains_anew_and_the_old_model_stays_until_the_end(out: Path, tmp_path: Path) -> None:
    train(out)
    old = store.load_model(out)
    interrupted(out, 4, seed=2, restart=True)
    assert state(out)["updates"] == 4
    assert store.load_model(out) == old
    train(out, seed=2)
    train(tmp_path / "fresh", seed=2)
    assert fingerprint(out) == fingerprint(tmp_path / "fresh")


def test_restart_with_the_same_settings_is_another_run(out: Path) -> None:
    train(out)
    interrupted(out, 4, restart=True)
    assert not train(out).already_finished


def test_a_restart_that_was_cut_is_not_gone_on_with(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(out, 4)
    (out / "work" / "state.json").write_text("half gone")
    (out / "work" / "clearing").touch()
    assert not train(out).already_finished
    assert steps_of(out, "training")[0] == 1


def test_discarded_work_leaves_the_model_alone(out: Path) -> None:
    train(out, discard_work=True)
    assert "work" not in names(out)
    assert train(out).already_finished
    with pytest.raises(UserError, match=r"cannot go on, its work was discarded; training\.max_updates 10 -> 20"):
        train(out, "max_updates=20")
    with pytest.raises(UserError, match="holds other work: seed 1 -> 2"):
        train(out, seed=2)
    assert not train(out, "max_updates=20", restart=True).already_finished


def test_work_is_discarded_after_the_fact_too(out: Path) -> None:
    train(out)
    assert train(out, discard_work=True).already_finished
    assert "work" not in names(out)


def test_work_is_discarded_while_nobody_else_can_begin(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remove, refused = store.remove_lock, []

    def removing(folder: Path) -> None:
        with pytest.raises(store.Busy), store.locked(folder):
            pass
        refused.append(folder)
        remove(folder)

    monkeypatch.setattr(store, "remove_lock", removing)
    train(out, discard_work=True)
    assert refused == [out]
    assert "work" not in names(out)


def test_what_another_process_began_is_not_removed(out: Path) -> None:
    with store.locked(out):
        (out / "work" / "run.json").write_text("begun")
        store.remove_lock(out)
    assert names(out / "work") == {"run.json"}
    with store.locked(out):
        assert names(out / "work") == {"run.json", "lock"}


# --- what is not ours ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["thesis.txt", "work/thesis.txt", "weights.json"])
@pytest.mark.parametrize("restart", [False, True])
def test_a_folder_with_files_of_the_users_own_is_left_alone(out: Path, name: str, restart: bool) -> None:
    (out / name).parent.mkdir(parents=True)
    (out / name).write_text("mine")
    with pytest.raises(UserError, match=f"{out.name}: holds other files; name a new or empty folder as --out"):
        train(out, restart=restart)
    assert (out / name).read_text() == "mine"


def test_somebody_elses_model_json_is_left_alone(out: Path) -> None:
    out.mkdir()
    (out / "model.json").write_text('{"format": "theirs"}')
    with pytest.raises(UserError, match="damaged, or not of Dragoman"):
        train(out, restart=True)


def test_a_model_saved_by_hand_is_replaced_on_restart_only(out: Path) -> None:
    store.save_model(FakeTranslator("en", "zh", 1, "words"), FAKE, out)
    with pytest.raises(UserError, match="holds a model that `train` did not make; --restart replaces it"):
        train(out)
    assert train(out, restart=True).product


def test_a_file_is_no_folder(out: Path) -> None:
    out.write_text("x")
    with pytest.raises(UserError, match=r"out: .*; --out names a folder for the model"):
        train(out)


# --- starting from a model ----------------------------------------------------------------------


def test_init_from_starts_where_the_other_model_ended(out: Path, tmp_path: Path) -> None:
    first = train(tmp_path / "first").product
    second = train(out, "max_updates=1", init_from=tmp_path / "first").product
    assert isinstance(first, FakeTranslator)
    assert second != train(tmp_path / "alone", "max_updates=1").product
    assert train(out, "max_updates=1", init_from=tmp_path / "first").already_finished
    with pytest.raises(UserError, match=r"--init-from .*first \([0-9a-f]{8}\) -> none"):
        train(out, "max_updates=1")


def test_what_a_killed_process_wrote_aside_goes(out: Path) -> None:
    interrupted(out, 4)
    (out / "work" / ".state-3.safetensors.12.part").write_bytes(b"half")
    (out / "work" / ".ids-3.part").mkdir()
    train(out)
    assert not (out / "work" / ".state-3.safetensors.12.part").exists()
    assert store.read_card(out)


def test_init_from_must_fit(out: Path, tmp_path: Path) -> None:
    train(tmp_path / "first")
    with pytest.raises(UserError, match="translates en-zh, the data is zh-en"):
        train(out, data=replace(TRAIN, source_language="zh", target_language="en"), init_from=tmp_path / "first")
    for recipe, why in (
        ("transformer-tiny", "is of the kind fake; the recipe trains transformer"),
        ("dictionary", "dictionary counts anew each time, so it would be dropped"),
    ):
        with pytest.raises(UserError, match=why):
            train_model(catalogue.recipe_named(recipe), TRAIN, DEV, out, init_from=tmp_path / "first")
    with pytest.raises(UserError, match="is --out as well; choose another --out"):
        train(out, init_from=out)
    with pytest.raises(UserError, match="gone: no such folder"):
        train(out, init_from=tmp_path / "gone")
    notes: list[str] = []
    data = replace(TRAIN, source_language="de")
    train(out, data=data, init_from=tmp_path / "first", report=lambda progress: notes.append(progress.note))
    assert "the model of --init-from translates en-zh, the data is de-zh" in notes


# --- finish -------------------------------------------------------------------------------------


def test_finish_makes_a_model_and_training_can_go_on(out: Path, tmp_path: Path) -> None:
    interrupted(out, 4)
    outcome = finish_model(out)
    assert store.load_model(out) == outcome.product
    assert fingerprint(out) == unbroken(tmp_path, "max_updates=4")
    assert not train(out).already_finished
    assert fingerprint(out) != unbroken(tmp_path / "x", "max_updates=4")
    assert finish_model(out).already_finished


def test_there_must_be_something_to_finish(out: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="out: no such folder"):
        finish_model(out)
    train(out, discard_work=True)
    with pytest.raises(UserError, match="finished, and its work was discarded"):
        finish_model(out)
    other = tmp_path / "other"
    interrupted(other, 1)
    (other / "work" / "state.json").unlink()
    with pytest.raises(UserError, match="nothing to finish yet; training has saved no state"):
        finish_model(other)


def test_finish_after_the_work_was_removed_by_hand(out: Path) -> None:
    interrupted(out, 4)
    finish_model(out)
    shutil.rmtree(out / "work")
    with pytest.raises(UserError, match="cannot go on, its work was discarded"):
        train(out)


def test_a_learner_that_asks_for_its_data_again_is_answered_in_one_line(out: Path) -> None:
    data = RememberedBitext(runs.DataFacts("a.tmx", 7, "en", "zh", "f"))
    assert (len(data), data.source_language, data.target_language, data.fingerprint) == (7, "en", "zh", "f")
    with pytest.raises(UserError, match=r"a\.tmx: needed again to finish this model"):
        list(data)
