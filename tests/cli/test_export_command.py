"""From a model folder to one that another engine runs, and what a user is told on the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.contract.models import TEST, Trained

pytest.importorskip("ctranslate2")

LINES = "The teacher bought the red book.\n\nThe nurse saw 12 letters. The child lost the lamp.\n7\n"


@pytest.fixture(scope="module")
def transformer(model_of: Callable[[str], Trained]) -> Path:
    """A network that has learnt enough to prefer one output clearly."""
    return model_of("transformer").folder


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The test pairs, in two files."""
    folder = tmp_path_factory.mktemp("sample")
    names = [folder / "sample.en", folder / "sample.zh"]
    names[0].write_text("".join(f"{pair.source}\n" for pair in TEST), encoding="utf-8")
    names[1].write_text("".join(f"{pair.target}\n" for pair in TEST), encoding="utf-8")
    return names


def test_a_journey_from_a_model_to_translations(dragoman: Command, transformer: Path, sample: list[Path]) -> None:
    made = dragoman("export", transformer, "out", "--to", "ctranslate2", "--sample", *sample)
    assert made.code == 0, made.err
    assert made.out.startswith("out: ctranslate2, fp32, ")
    assert "24 of 24 sentences translated equally (100.0%)" in made.out
    assert sorted(path.name for path in Path("out").iterdir()) == [
        *("config.json", "export.json", "model.bin", "model.json", "report.json", "shared_vocabulary.json", "text"),
    ]
    Path("in.txt").write_text(LINES, encoding="utf-8")
    ours = dragoman("translate", transformer, "in.txt").out
    for options in ([], ["--engine", "ctranslate2"], ["--threads", "2", "--batch-tokens", "40"]):
        translated = dragoman("translate", "out", "in.txt", *options)
        assert (translated.code, translated.out) == (0, ours), translated.err
    rows = [json.loads(row) for row in dragoman("translate", "out", "in.txt", "--json").out.splitlines()]
    assert [len(row["hypotheses"]) for row in rows] == [1, 0, 1, 1]
    several = dragoman(
        "translate", "out", "in.txt", "--n-best", "2", "--beam", "2", "--prefix", "老师"
    ).out.splitlines()
    assert all(" ||| 老师" in row for row in several if not row.startswith("1 ||| "))
    measured = json.loads(dragoman("evaluate", "out", "--test", *sample, "--json", "--engine", "ctranslate2").out)
    assert measured["sentences"] == 24
    scores = [dragoman("score", folder, "--test", *sample).out.split() for folder in (transformer, "out")]
    assert list(map(float, scores[1])) == pytest.approx(list(map(float, scores[0])), abs=1e-3)
    facts = json.loads(dragoman("info", "out", "--json").out)
    assert (facts["kind"], facts["model"]["quantization"]) == ("ctranslate2", "fp32")


def test_an_export_is_replaced_and_a_refused_one_changes_nothing(
    dragoman: Command, transformer: Path, sample: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("export", transformer, "new/out", "--to", "ctranslate2", "--sample", sample[0])
    with monkeypatch.context() as strict:
        strict.setattr("dragoman.system.export.EQUAL", 1.1)
        refused = dragoman(*command)
        assert refused.error_line.startswith("not exported: 24 of 24 sentences translated equally (100.0%)")
        assert not Path("new").exists()
        assert dragoman(*command[:2], "out", *command[3:]).code == 2
    assert dragoman(*command).code == 0
    before = json.loads(Path("new/out/model.json").read_text(encoding="utf-8"))
    with monkeypatch.context() as strict:
        strict.setattr("dragoman.system.export.EQUAL", 1.1)
        assert dragoman(*command).code == 2
    assert json.loads(Path("new/out/model.json").read_text(encoding="utf-8")) == before
    assert dragoman(*command).code == 0
    assert not Path("new/out/work").exists()


def test_mistakes_are_told_in_one_line(
    dragoman: Command, transformer: Path, dictionary: Path, sample: list[Path]
) -> None:
    Path("in.txt").write_text(LINES, encoding="utf-8")
    to = ("--to", "ctranslate2")
    for command, why in (
        (("export", transformer, transformer, *to), "holds a transformer model; name another folder"),
        (("export", dictionary, "out", *to), "kind 'dictionary' cannot be exported to ctranslate2"),
        (("export", "nowhere", "out", *to), "nowhere: no such folder"),
        (("export", transformer, "out", *to, "--sample", "no.txt"), "no.txt: no such file"),
        (("export", transformer, ".", *to), "holds other files"),
        (("export", transformer, "out"), "--to"),
        (("translate", transformer, "in.txt", "--engine", "ctranslate2"), f"dragoman export {transformer} OUT --to"),
        (("evaluate", "copy", "--test", *sample, "--engine", "ctranslate2"), "computed without an engine"),
        (("evaluate", "--hypotheses", sample[1], "--test", *sample, "--engine", "ctranslate2"), "would be dropped"),
    ):
        assert why in dragoman(*command).error_line
    assert not Path("out").exists()


def test_what_the_engine_cannot_do_is_refused(dragoman: Command, transformer: Path, sample: list[Path]) -> None:
    assert dragoman("export", transformer, "out", "--to", "ctranslate2", "--sample", sample[0]).code == 0
    Path("in.txt").write_text(LINES, encoding="utf-8")
    for options, why in (
        (["--sample"], "kind 'ctranslate2' cannot sample (sampling); kinds that can: transformer"),
        (["--with", "out"], "cannot join an ensemble (--with); kinds that can: transformer"),
        (["--length-form", "gnmt"], "no length form 'gnmt'"),
        (["--device", "abacus"], "cannot run it on 'abacus'"),
    ):
        assert why in dragoman("translate", "out", "in.txt", *options).error_line
    again = dragoman("export", "out", "out2", "--to", "ctranslate2")
    assert "kind 'ctranslate2' cannot be exported" in again.error_line
    train = ("train", "dictionary", "--train", *sample, "--out", "out")
    assert "holds a model that `train` did not make" in dragoman(*train).error_line
