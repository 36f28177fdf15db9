"""Are lines of text made into pairs once and only once, whatever cuts it, and does the training learn from them?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dragoman.contracts import (
    Hypothesis,
    Interrupted,
    Progress,
    Recipe,
    Request,
    SearchOptions,
    Translation,
    UserError,
    Work,
)
from dragoman.corpus.monolingual import open_monolingual
from dragoman.system import lifecycle, store
from dragoman.system.backtranslation import (
    FIRST_WINDOW,
    LARGEST_WINDOW,
    Backtranslation,
    Made,
    synthetic_pairs,
    time_budget,
    window_size,
    without_seconds,
)
from dragoman.system.catalogue import recipe_named
from dragoman.system.lifecycle import Outcome, finish_model, train_model
from dragoman.system.settings import with_settings
from dragoman.system.store import load_model, read_card, read_report, save_model
from dragoman.text.pieces import BACK_TRANSLATED, TAG_IDS
from tests.generated import generated_bitext, generated_pairs
from tests.neural.small import small_translator
from tests.system.fake import FAKE, FakeTranslator
from tests.system.life import install, stop_after

ROOT = Path(__file__).parents[2]
TRAIN, DEV = generated_bitext(60, "en", "zh"), generated_bitext(8, "en", "zh", seed=2)
LINES = [pair.target for pair in generated_pairs(420, "zh", "zh", seed=3)]
RECIPE = with_settings(
    recipe_named("transformer-tiny"),
    [
        *("text.pieces=400", "model.width=16", "model.inner=32", "model.heads=2"),
        *("model.encoder_layers=1", "model.decoder_layers=1", "training.max_updates=6", "training.validate_every=6"),
        *(
            "training.dev_sentences=4",
            "search.beam=1",
            "search.alpha=0.7",
            "search.max_ratio=0.5",
            "backtranslation.ratio=2",
        ),
    ],
)


@pytest.fixture(scope="module", autouse=True)
def without_drawing() -> Iterator[None]:
    """Learning curves take a second each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lifecycle, "learning_curve", lambda rows, path: False)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Text in Chinese, and a dictionary from Chinese into English and one the other way round."""
    root = tmp_path_factory.mktemp("back")
    known = generated_pairs(5, "en", "zh")
    (root / "mono.zh").write_text("\n".join([*LINES, *(pair.target for pair in known)]) + "\n", encoding="utf-8")
    dictionary = recipe_named("dictionary")
    train_model(dictionary, generated_bitext(80, "zh", "en", seed=4), None, root / "zh-en")
    train_model(dictionary, generated_bitext(20, "en", "zh", seed=4), None, root / "en-zh")
    return root


def asked(folder: Path) -> Backtranslation:
    return Backtranslation(open_monolingual([str(folder / "mono.zh")], TRAIN, DEV), folder / "zh-en")


def made_in(work: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((work / "backtranslation" / "card.json").read_text())
    return found


def texts(folder: Path, work: Work, recipe: Recipe[Any, Any] = RECIPE) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for pair in synthetic_pairs(asked(folder), recipe, "en", work)]


@pytest.fixture(scope="module")
def expected(folder: Path) -> list[tuple[str, str]]:
    """Each kept line behind its translation, in the order of the text."""
    lines = list(asked(folder).text)
    translations = load_model(folder / "zh-en").translate(lines)
    return [(translation.text, line) for translation, line in zip(translations, lines, strict=True)]


# --- making pairs -------------------------------------------------------------------------------


def test_every_kept_line_is_a_target_behind_its_translation(
    folder: Path, expected: list[tuple[str, str]], tmp_path: Path
) -> None:
    seen: list[Progress] = []
    assert texts(folder, Work(tmp_path, seen.append)) == expected
    assert len(expected) > 400
    assert not {target for _, target in expected} & {pair.target for pair in (*TRAIN, *DEV)}
    steps = [progress.step for progress in seen if not progress.note]
    assert steps == [64, 128, 256, len(expected)]
    assert all(progress.total == len(expected) for progress in seen if not progress.note)
    assert seen[-1].note.startswith(f"back-translation: {len(expected)} pairs of {len(expected)} lines, in ")


def test_stopped_after_any_window_it_goes_on_behind_it(
    folder: Path, expected: list[tuple[str, str]], tmp_path: Path
) -> None:
    steps: list[int] = []

    def report(progress: Progress) -> None:
        steps.extend([] if progress.note else [progress.step])

    for windows in (1, 2):
        with pytest.raises(Interrupted):
            texts(folder, Work(tmp_path, report, stop=stop_after(windows)))
    assert texts(folder, Work(tmp_path, report)) == expected
    assert steps == [64, 128, 256, len(expected)]
    seconds = made_in(tmp_path)["seconds"]
    assert texts(folder, Work(tmp_path, report)) == expected
    assert (len(steps), made_in(tmp_path)["seconds"]) == (4, seconds)


def wait_to_be_killed(progress: Progress) -> None:
    if progress.step == 128:
        print("here", flush=True)
        signal.pause()


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
def test_killed_it_goes_on_and_nothing_is_translated_twice(
    folder: Path, expected: list[tuple[str, str]], tmp_path: Path
) -> None:
    program = (
        "from tests.system.test_backtranslation import *;"
        f"texts(Path({str(folder)!r}), Work(Path({str(tmp_path)!r}), wait_to_be_killed))"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGKILL)
    assert made_in(tmp_path)["lines"] == 128
    with (tmp_path / "backtranslation" / "pairs.jsonl").open("a", encoding="utf-8") as file:
        file.write(
            '["a window that was',
        )
    steps: list[int] = []
    assert texts(folder, Work(tmp_path, lambda progress: steps.append(progress.step))) == expected
    assert min(step for step in steps if step) == 256


def test_another_text_or_way_of_decoding_is_translated_anew(folder: Path, tmp_path: Path) -> None:
    texts(folder, Work(tmp_path))
    keys = {made_in(tmp_path)["key"]}
    texts(folder, Work(tmp_path), with_settings(RECIPE, ["decoding=stored"]))
    keys.add(made_in(tmp_path)["key"])
    (folder / "few.zh").write_text("\n".join(LINES[:9]) + "\n", encoding="utf-8")
    few = Backtranslation(open_monolingual([str(folder / "few.zh")], TRAIN, DEV), folder / "zh-en")
    assert len(synthetic_pairs(few, RECIPE, "en", Work(tmp_path))) <= 9
    keys.add(made_in(tmp_path)["key"])
    assert len(keys) == 3


def test_a_network_writes_greedily_or_as_it_has_stored(tmp_path: Path) -> None:
    reverse = small_translator()
    save_model(reverse, RECIPE, tmp_path / "en-de")
    (tmp_path / "mono.en").write_text("\n".join(pair.source for pair in TRAIN.pairs[:6]) + "\n", encoding="utf-8")
    text = open_monolingual([str(tmp_path / "mono.en")], generated_bitext(5, "de", "en", seed=6))
    found: list[list[str]] = []
    for decoding, beam in (("greedy", 1), ("stored", None)):
        recipe = with_settings(RECIPE, [f"decoding={decoding}"])
        pairs = synthetic_pairs(Backtranslation(text, tmp_path / "en-de"), recipe, "de", Work(tmp_path))
        written = [translation.text for translation in reverse.translate(list(text), SearchOptions(beam=beam))]
        found.append([pair.source for pair in pairs])
        assert found[-1] == [source for source in written if source.strip()]
    assert found[0] != found[1]


def mute(translator: FakeTranslator, requests: Sequence[str | Request], options: SearchOptions) -> list[Translation]:
    """Says nothing to lines of an even length."""
    found = []
    for request in requests:
        assert isinstance(request, str)
        found.append(Translation(request, (), (Hypothesis("text" if len(request) % 2 else " "),)))
    return found


def test_a_line_without_a_translation_is_no_pair(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    monkeypatch.setattr(FakeTranslator, "translate", lambda self, requests, options: mute(self, requests, options))
    save_model(FakeTranslator("zh", "en", 1, "words"), FAKE, tmp_path / "mute")
    text = asked(folder).text
    pairs = synthetic_pairs(Backtranslation(text, tmp_path / "mute"), RECIPE, "en", Work(tmp_path))
    assert [pair.target for pair in pairs] == [line for line in text if len(line) % 2]
    assert (pairs.made.lines, pairs.made.pairs) == (len(text), len(pairs))
    (tmp_path / "even.zh").write_text("好书\n", encoding="utf-8")
    even = Backtranslation(open_monolingual([str(tmp_path / "even.zh")], TRAIN), tmp_path / "mute")
    with pytest.raises(UserError, match=r"--reverse .*mute: gave no text for any of 1 line$"):
        synthetic_pairs(even, RECIPE, "en", Work(tmp_path))


# --- a budget of time ---------------------------------------------------------------------------


def test_windows_depend_on_what_is_done_until_time_runs_out() -> None:
    done, sizes = 0, []
    while size := window_size(Made("", done), 2000, float("inf"), 1.0):
        sizes.append(size)
        done += size
    assert sizes == [64, 64, 128, 256, LARGEST_WINDOW, LARGEST_WINDOW, 464]
    assert window_size(Made("", 0), 2000, 0.001, 0.0) == FIRST_WINDOW  # before anything was measured
    assert window_size(Made("", 512, seconds=10), 2000, 20.0, 51.2) == 512
    assert window_size(Made("", 512, seconds=10), 2000, 12.0, 51.2) == 102
    assert window_size(Made("", 512, seconds=10), 2000, 11.0, 51.2) == 0  # less than a window is left
    assert window_size(Made("", 1990, seconds=10), 2000, 10.5, 51.2) == 10  # but enough for the last lines
    assert window_size(Made("", 1990, seconds=11), 2000, 10.5, 51.2) == 0


def test_no_more_than_its_share_of_a_budget_is_spent_and_that_is_said(folder: Path, tmp_path: Path) -> None:
    notes: list[str] = []
    recipe = with_settings(RECIPE, ["time_budget=1s", "share_of_budget=0.000001"])
    found = texts(folder, Work(tmp_path, lambda progress: notes.append(progress.note)), recipe)
    assert len(found) == FIRST_WINDOW
    assert f"64 pairs of 64 lines (the time budget allows no more of {len(asked(folder).text)})" in notes[-1]


def test_the_learner_has_what_is_left_of_the_budget() -> None:
    recipe = with_settings(RECIPE, ["time_budget=20m"])
    assert time_budget(without_seconds(recipe, 400.25)) == 799.75
    assert time_budget(without_seconds(recipe, 5000)) == 1  # not 0, which is no limit
    assert without_seconds(RECIPE, 400.25) == RECIPE
    assert time_budget(recipe_named("dictionary")) == 0


# --- a training with them -----------------------------------------------------------------------


def train(out: Path, folder: Path | None, *sets: str, **options: Any) -> Outcome:
    back = options.pop("backtranslation", asked(folder) if folder else None)
    recipe = options.pop("recipe", RECIPE)
    return train_model(with_settings(recipe, sets), TRAIN, DEV, out, threads=1, backtranslation=back, **options)


@pytest.fixture(scope="module")
def trained(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trained") / "model"
    notes: list[str] = []
    train(
        out,
        folder,
        report=lambda progress: notes.append(progress.note),
        command={"monolingual": "mono.zh", "reverse": "back"},
    )
    assert any(note.endswith(" an epoch sees 120 of them beside 60 real ones") for note in notes)
    return out


def sources_of(place: Path) -> list[list[int]]:
    ids, offsets = np.fromfile(place / "source.ids", dtype="i4"), np.fromfile(place / "source.offsets", dtype="i8")
    return [ids[first:last].tolist() for first, last in pairwise(offsets)]


def test_the_tag_begins_synthetic_sources_and_stands_nowhere_else(trained: Path, folder: Path) -> None:
    places = sorted((trained / "work").glob("ids-*"), key=lambda place: len(sources_of(place)))
    real, synthetic = map(sources_of, places)
    assert (len(real), len(synthetic)) == (60, len(asked(folder).text))
    assert all(ids[0] == BACK_TRANSLATED and not {*TAG_IDS} & {*ids[1:]} for ids in synthetic)
    assert not {*TAG_IDS} & {piece for ids in real for piece in ids}
    for place in places:
        assert not {*TAG_IDS} & {*np.fromfile(place / "target.ids", dtype="i4").tolist()}


def test_the_report_says_how_many_and_of_what(trained: Path, folder: Path) -> None:
    told, count = read_report(trained)["synthetic"], len(asked(folder).text)
    assert told.pop("seconds") == round(made_in(trained / "work")["seconds"], 1)
    assert told == {"from": f"mono.zh (zh, {count} lines)", "by": "back", "pairs": count, "lines": count}
    rows = [json.loads(row) for row in (trained / "progress.jsonl").read_text(encoding="utf-8").splitlines()]
    assert any(row["phase"] == "backtranslation" and "sentences_per_second" in row for row in rows)


def test_the_same_command_says_that_it_is_done(trained: Path, folder: Path) -> None:
    assert train(trained, folder).already_finished


def test_synthetic_pairs_change_what_is_learnt(trained: Path, tmp_path: Path) -> None:
    train(tmp_path / "plain", None)
    assert read_card(tmp_path / "plain").fingerprint != read_card(trained).fingerprint
    assert "synthetic" not in read_report(tmp_path / "plain")


def test_stopped_while_translating_it_ends_in_the_same_model(trained: Path, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        train(tmp_path / "model", folder, stop=stop_after(2))
    assert made_in(tmp_path / "model" / "work")["lines"] == 128
    train(tmp_path / "model", folder)
    assert read_card(tmp_path / "model").fingerprint == read_card(trained).fingerprint


def test_a_raised_limit_goes_on_and_a_finished_one_needs_neither_text_nor_model(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "model"
    with pytest.raises(Interrupted):
        train(out, folder, stop=stop_after(4 + 3))  # four windows, then updates
    monkeypatch.setattr(store, "load_model", None)
    assert finish_model(out).facts["done"]["updates"] == 3
    assert read_report(out)["synthetic"]["pairs"] == len(asked(folder).text)
    train(out, folder, "max_updates=8")
    assert read_report(out)["done"]["updates"] == 8


def test_other_text_or_another_model_is_refused_with_the_differences(trained: Path, folder: Path) -> None:
    count = len(asked(folder).text)
    with pytest.raises(UserError, match=rf"--monolingual mono\.zh \(zh, {count} lines\) -> none; --reverse back "):
        train(trained, None)
    (folder / "other.zh").write_text("\n".join(LINES[5:]) + "\n", encoding="utf-8")
    other = Backtranslation(open_monolingual([str(folder / "other.zh")], TRAIN, DEV), folder / "zh-en")
    with pytest.raises(UserError, match=r"--monolingual mono\.zh \(zh, .*\) -> other\.zh \(zh, "):
        train(trained, None, backtranslation=other, command={"monolingual": "other.zh"})
    train_model(recipe_named("dictionary"), generated_bitext(30, "zh", "en", seed=5), None, folder / "less")
    less = Backtranslation(asked(folder).text, folder / "less")
    with pytest.raises(UserError, match=r"holds other work: --reverse back \(\w{8}\) -> .*less \(\w{8}\)\. --restart"):
        train(trained, None, backtranslation=less)
    with pytest.raises(UserError, match=r"backtranslation\.ratio 2\.0 -> 1\.0"):
        train(trained, folder, "ratio=1")


def test_a_restart_finds_the_translations_and_discarding_the_work_removes_them(folder: Path, tmp_path: Path) -> None:
    notes: list[str] = []
    out = tmp_path / "model"
    with pytest.raises(UserError, match="diverged"):
        train(out, folder, "learning_rate=1e30", "clip=0")
    assert {path.name for path in (out / "work").iterdir()} == {"lock", "backtranslation"}
    train(out, folder, report=lambda progress: notes.append(progress.note), discard_work=True)
    assert any(note.endswith("found as they were made before") for note in notes)
    assert not (out / "work").exists()


# --- refusals -----------------------------------------------------------------------------------

REFUSED: list[tuple[str, Recipe[Any, Any], str]] = [
    ("en-zh", RECIPE, r"--reverse .*en-zh: translates en-zh, wanted is a model for zh-en$"),
    ("nowhere", RECIPE, r"nowhere: no such folder"),
    (
        "zh-en",
        recipe_named("dictionary"),
        r"'dictionary' cannot learn from --monolingual; kinds that can: transformer, transformer-auto, rnn, rnn-auto, "
        "rnn-fixed$",
    ),
]


@pytest.mark.parametrize(("reverse", "recipe", "why"), REFUSED, ids=[reverse for reverse, _, _ in REFUSED])
def test_what_cannot_serve_is_refused_and_leaves_nothing(
    reverse: str, recipe: Recipe[Any, Any], why: str, folder: Path, tmp_path: Path
) -> None:
    back = Backtranslation(asked(folder).text, folder / reverse)
    with pytest.raises(UserError, match=why):
        train(tmp_path / "model", None, recipe=recipe, backtranslation=back)
    assert not (tmp_path / "model").exists()
