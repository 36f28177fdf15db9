"""Is a folder a model only when it is whole, and does a new one replace the old one at any cut?"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.contracts import UserError
from dragoman.system import catalogue, store
from dragoman.system.settings import read_toml
from tests.system.fake import FAKE, FakeTranslator

OLD = FakeTranslator("en", "zh", 1, "words")
NEW = FakeTranslator("en", "zh", 2, "signs")  # another file name under text/: the old one has to go


@pytest.fixture(autouse=True)
def with_fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catalogue.KINDS, "fake", "tests.system.fake:Fake")


def saved(folder: Path, product: FakeTranslator = OLD) -> Path:
    store.save_model(product, FAKE, folder, {"seconds": 1.5})
    return folder


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


# --- saving and loading -------------------------------------------------------------------------


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    saved(tmp_path / "m")
    assert dragoman.load(str(tmp_path / "m")) == OLD
    assert files(tmp_path / "m") == {"model.json", "recipe.toml", "report.json", "text/words.json", "weights.json"}
    assert read_toml(tmp_path / "m" / "recipe.toml") == FAKE
    assert store.read_report(tmp_path / "m") == {"seconds": 1.5}


def test_the_card_says_what_the_model_is(tmp_path: Path) -> None:
    card = store.read_card(saved(tmp_path / "m"))
    assert (card.kind, card.source_language, card.target_language, card.format) == ("fake", "en", "zh", 1)
    assert set(card.checksums) == {"text/words.json", "weights.json"}


def test_equal_products_have_equal_fingerprints(tmp_path: Path) -> None:
    one, two, other = (
        store.read_card(saved(tmp_path / name, product)) for name, product in (("a", OLD), ("b", OLD), ("c", NEW))
    )
    assert one.fingerprint == two.fingerprint != other.fingerprint


def test_a_full_folder_is_not_saved_into(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(UserError, match="not empty"):
        saved(tmp_path)
    assert files(tmp_path) == {"mine.txt"}


def test_the_device_goes_to_kinds_that_take_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path / "m")
    with pytest.raises(UserError, match="no device 'tpu'"):
        store.load_model(tmp_path / "m", "tpu")
    monkeypatch.setattr(FakeTranslator, "load", classmethod(lambda cls, folder: OLD))
    assert store.load_model(tmp_path / "m", "auto") == OLD
    with pytest.raises(UserError, match="'fake' runs on the cpu only, not on 'cuda'"):
        store.load_model(tmp_path / "m", "cuda")


# --- what is no model ---------------------------------------------------------------------------


def change_card(folder: Path, **changes: Any) -> None:
    card = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps({**card, **changes}))


def truncate(folder: Path) -> None:
    (folder / "model.json").write_text((folder / "model.json").read_text()[:-20])


def flip(folder: Path) -> None:
    (folder / "weights.json").write_text("[3]")


def replace_by_a_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("x")


def stop_in_training(folder: Path) -> None:
    (folder / "model.json").unlink()
    (folder / "work").mkdir()
    (folder / "work" / "run.json").write_text("{}")


REFUSALS: list[tuple[Callable[[Path], object], str]] = [
    (lambda folder: shutil.rmtree(folder), "m: no such folder"),
    (replace_by_a_file, "m: a file, not a model folder"),
    (lambda folder: (folder / "model.json").unlink(), r"m: not a model folder \(it has no model.json\)"),
    (stop_in_training, "m: training is not finished; the same train command goes on with it"),
    (truncate, r"m/model\.json: damaged, or not of Dragoman"),
    (lambda folder: (folder / "model.json").write_text('{"name": "theirs"}'), r"model\.json: damaged, or not of"),
    (lambda folder: (folder / "model.json").write_text("[]"), r"model\.json: damaged, or not of Dragoman"),
    (lambda folder: (folder / "model.json").write_bytes(b"\xff"), r"model\.json: damaged, or not of Dragoman"),
    (lambda folder: change_card(folder, format=2, news=1), r"newer Dragoman \(format 2, this one reads 1\)"),
    (lambda folder: change_card(folder, kind="oracle"), "kind 'oracle' is unknown to this Dragoman; it knows"),
    (lambda folder: change_card(folder, records=["../../x"]), "names a file outside of the folder"),
    (lambda folder: change_card(folder, checksums={"/etc/passwd": ""}), "names a file outside of the folder"),
    (flip, r"m/weights\.json: damaged"),
    (lambda folder: (folder / "text" / "words.json").unlink(), r"m/text/words\.json: missing"),
]


@pytest.mark.parametrize(("spoil", "message"), REFUSALS)
def test_what_is_no_whole_model_is_refused_in_one_line(
    spoil: Callable[[Path], object], message: str, tmp_path: Path
) -> None:
    spoil(saved(tmp_path / "m"))
    with pytest.raises(UserError, match=message) as error:
        store.load_model(tmp_path / "m")
    assert "\n" not in str(error.value)


def test_a_record_may_be_edited(tmp_path: Path) -> None:
    (saved(tmp_path / "m") / "report.json").write_text("notes of my own")
    assert store.load_model(tmp_path / "m") == OLD
    with pytest.raises(UserError, match=r"m/report\.json: damaged; the model does without it"):
        store.read_report(tmp_path / "m")
    (tmp_path / "m" / "report.json").unlink()
    assert store.read_report(tmp_path / "m") == {}


# --- one model after another --------------------------------------------------------------------


class Cut(Exception):
    """The process ends here."""


def cut_at(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `count` changes of the file system happen, then no more."""
    left = [count]

    def counted(change: Callable[..., Any]) -> Callable[..., Any]:
        def change_or_cut(*arguments: Any, **options: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise Cut
            return change(*arguments, **options)

        return change_or_cut

    monkeypatch.setattr(os, "replace", counted(os.replace))
    monkeypatch.setattr(Path, "unlink", counted(Path.unlink))
    monkeypatch.setattr(Path, "rmdir", counted(Path.rmdir))
    monkeypatch.setattr(shutil, "rmtree", counted(shutil.rmtree))


def publish_and_cut(folder: Path, count: int) -> bool:
    """Was the publication of NEW over OLD cut?"""
    saved(folder)
    saved(folder / "work" / "finished", NEW)
    with pytest.MonkeyPatch.context() as patch:
        cut_at(count, patch)
        try:
            store.publish(folder / "work" / "finished", folder)
        except Cut:
            return True
    return False


def test_a_new_model_replaces_the_old_one_and_its_files(tmp_path: Path) -> None:
    assert not publish_and_cut(tmp_path / "m", 1000)
    assert store.load_model(tmp_path / "m") == NEW
    assert files(tmp_path / "m") == {"model.json", "recipe.toml", "report.json", "text/signs.json", "weights.json"}
    assert list((tmp_path / "m" / "work").iterdir()) == []


def test_a_publication_cut_anywhere_leaves_one_whole_model(tmp_path: Path) -> None:
    count, found = 0, []
    while publish_and_cut(tmp_path / str(count), count):
        folder = tmp_path / str(count)
        found.append(store.load_model(folder))
        assert found[-1] == store.load_model(folder)
        assert not (folder / "work" / "publish" / "model.json").exists()
        if found[-1] == NEW:
            assert "text/words.json" not in files(folder)
        count += 1
    assert found[0] == OLD
    assert found[-1] == NEW
    assert found == sorted(found, key=lambda product: product.total)
    assert len(found) >= 7


def test_what_is_half_made_is_not_published(tmp_path: Path) -> None:
    saved(tmp_path / "m")
    half = saved(tmp_path / "m" / "work" / "finished", NEW)
    (half / "model.json").unlink()
    with pytest.raises(UserError, match="not a model folder"):
        store.publish(half, tmp_path / "m")
    assert store.load_model(tmp_path / "m") == OLD


def test_a_reader_waits_for_a_publication_under_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = saved(tmp_path / "m")
    saved(folder / "work" / "publish", NEW)
    monkeypatch.setattr(store, "_PATIENCE", 0.2)
    with store.locked(folder), pytest.raises(UserError, match="another process is training there"):
        store.load_model(folder)
    assert store.load_model(folder) == NEW


def test_a_model_replaced_while_it_is_read_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, load = saved(tmp_path / "m"), FakeTranslator.load
    saved(folder / "work" / "finished", NEW)

    def load_late(path: Path, device: str = "cpu") -> FakeTranslator:
        if (folder / "work" / "finished").exists():
            store.publish(folder / "work" / "finished", folder)
        return load(path)

    monkeypatch.setattr(FakeTranslator, "load", load_late)
    assert store.load_model(folder) == NEW


def test_a_second_holder_is_refused(tmp_path: Path) -> None:
    second = store.locked(tmp_path)
    with store.locked(tmp_path), pytest.raises(UserError, match="another process is training there"), second:
        pass
    with store.locked(tmp_path):
        pass


def test_a_folder_that_cannot_be_locked_is_named(tmp_path: Path) -> None:
    (tmp_path / "work").write_text("a file")
    with pytest.raises(UserError, match="work: File exists"), store.locked(tmp_path):
        pass
