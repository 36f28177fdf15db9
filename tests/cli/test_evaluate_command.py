"""Do evaluate and score say the same as the libraries beneath, and keep pairs and lines together?"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import sacrebleu

from tests.cli.conftest import Command
from tests.generated import generated_pairs

TEST = generated_pairs(40, "en", "zh", seed=9)


@pytest.fixture
def test_files(tmp_path: Path) -> list[str]:
    """A test set with one blank side, at line 3."""
    sources, targets = [pair.source for pair in TEST], [pair.target for pair in TEST]
    sources.insert(2, "This has no translation.")
    targets.insert(2, "")
    (tmp_path / "test.en").write_text("".join(f"{line}\n" for line in sources), encoding="utf-8")
    (tmp_path / "test.zh").write_text("".join(f"{line}\n" for line in targets), encoding="utf-8")
    return ["test.en", "test.zh"]


def test_figures_are_those_of_sacrebleu(dragoman: Command, test_files: list[str], dictionary: Path) -> None:
    run = dragoman("evaluate", dictionary, "--test", *test_files, "--out", "hypotheses.zh", "--json")
    assert run.code == 0, run.err
    found = json.loads(run.out)
    hypotheses = Path("hypotheses.zh").read_text(encoding="utf-8").splitlines()
    truth = sacrebleu.corpus_bleu(hypotheses, [[pair.target for pair in TEST]], tokenize="zh")
    assert found["bleu"]["value"] == pytest.approx(truth.score)
    assert "tok:zh" in found["bleu"]["signature"]
    assert found["sentences"] == len(TEST)
    assert "1 blank target" in run.err
    again = json.loads(dragoman("evaluate", "--hypotheses", "hypotheses.zh", "--test", *test_files, "--json").out)
    assert again["bleu"] == found["bleu"]


def test_hypotheses_may_have_a_line_for_every_record(dragoman: Command, test_files: list[str]) -> None:
    run = dragoman("evaluate", "--hypotheses", "test.zh", "--test", *test_files, "--json")
    assert json.loads(run.out)["bleu"]["value"] == pytest.approx(100)
    Path("short.zh").write_text("x\n", encoding="utf-8")
    wrong = dragoman("evaluate", "--hypotheses", "short.zh", "--test", *test_files)
    assert "1 line," in wrong.error_line
    assert "41 pairs" in wrong.error_line


def test_a_second_reference_can_only_help(dragoman: Command, test_files: list[str], dictionary: Path) -> None:
    system = ["evaluate", dictionary, "--test", *test_files, "--json"]
    Path("second.zh").write_text("".join(f"{pair.target[::-1]}\n" for pair in TEST), encoding="utf-8")
    one, two = (json.loads(dragoman(*system, *more).out) for more in ([], ["--reference", "second.zh"]))
    assert two["bleu"]["value"] >= one["bleu"]["value"]
    assert "nrefs:2" in two["bleu"]["signature"]


def test_baselines(dragoman: Command, test_files: list[str], pair_files: tuple[Path, Path]) -> None:
    copy = dragoman("evaluate", "copy", "--test", *test_files)
    assert copy.code == 0
    assert "BLEU" in copy.out
    trained = f"memory:{pair_files[0]},{pair_files[1]}"
    memory = json.loads(dragoman("evaluate", trained, "--test", *test_files, "--json").out)
    assert memory["bleu"]["value"] > 10
    known = dragoman("evaluate", "memory:test.en,test.zh", "--test", *test_files, "--json")
    assert json.loads(known.out)["bleu"]["value"] == pytest.approx(100)


def test_all_parts_of_bleu_are_shown(dragoman: Command, test_files: list[str], dictionary: Path) -> None:
    shown = dragoman("evaluate", dictionary, "--test", *test_files).out
    for part in ("BLEU", "BP", "c ", "r ", "p1", "p4", "chrF", "TER", "sentences/s", "length cap", "version:"):
        assert part in shown


def test_explain_shows_clipped_counts(dragoman: Command, tmp_path: Path) -> None:
    Path("t.de").write_text("der die das\nx\n", encoding="utf-8")
    Path("t.en").write_text("the cat is on the mat\nx\n", encoding="utf-8")
    Path("h.en").write_text("the the the cat\nx\n", encoding="utf-8")
    command = ["evaluate", "--hypotheses", "h.en", "--test", "t.de", "t.en", "--explain"]
    run = dragoman(*command, "1")
    rows = [line.split() for line in run.out.splitlines()]
    assert ["3", "2", "2", "the"] in rows
    assert ["1", "1", "1", "the", "cat"] in rows
    assert "3 of 4 count" in run.out
    assert "1 to 2" in dragoman(*command, "3").error_line


def test_explain_leaves_out_references_that_are_not_there(dragoman: Command) -> None:
    for name, text in {"t.de": "der die\nx\n", "t.en": "the cat\nx\n", "h.en": "the cat\nx\n"}.items():
        Path(name).write_text(text, encoding="utf-8")
    Path("second.en").write_text("\ny\n", encoding="utf-8")
    command = ["evaluate", "--hypotheses", "h.en", "--test", "t.de", "t.en", "--reference", "second.en", "--explain"]
    shown = [dragoman(*command, place).out.splitlines() for place in (1, 2)]
    references = [[line.split()[1:] for line in lines if line.startswith("reference")] for lines in shown]
    assert references == [[["the", "cat"]], [["x"], ["y"]]]


def test_score_gives_a_line_a_record(dragoman: Command, test_files: list[str], transformer: Path) -> None:
    run = dragoman("score", transformer, "--test", *test_files)
    assert run.code == 0, run.err
    lines = run.out.splitlines()
    assert len(lines) == len(TEST) + 1
    assert lines[2] == ""
    figures = [[float(figure) for figure in line.split("\t")] for line in lines if line]
    assert all(log_probability <= score < 0 for score, log_probability in figures)
    plain = dragoman("score", transformer, "--test", *test_files, "--alpha", "0").out.splitlines()
    assert [line.split("\t")[1] for line in plain if line] == [line.split("\t")[1] for line in lines if line]
    assert all(first == second for first, second in (line.split("\t") for line in plain if line))


def test_the_wrong_verb_names_the_kinds_that_have_it(
    dragoman: Command, test_files: list[str], dictionary: Path
) -> None:
    assert "transformer" in dragoman("score", dictionary, "--test", *test_files).error_line


def test_a_model_of_other_languages_is_not_fooled(dragoman: Command, test_files: list[str], dictionary: Path) -> None:
    run = dragoman("evaluate", dictionary, "--test", "test.zh", "test.en")
    assert "test.en test.zh" in run.error_line
    Path("test.zh").rename("test.fr")
    given = ("evaluate", dictionary, "--test", "test.en", "test.fr")
    assert dragoman(*given).error_line.startswith("test.fr: its name says fr, and ")
    assert dragoman(*given, "--source", "en", "--target", "zh").code == 0


def test_languages_that_are_not_the_models_are_refused(
    dragoman: Command, test_files: list[str], dictionary: Path
) -> None:
    given = ["evaluate", dictionary, "--test", *test_files]
    assert "translates en-zh; --source fr" in dragoman(*given, "--source", "fr").error_line
    assert "translates en-zh; --target zh-TW" in dragoman(*given, "--target", "zh-TW").error_line
    assert dragoman(*given, "--source", "en-GB", "--target", "zh_CN", "--json").code == 0


def test_a_damaged_report_is_one_line(dragoman: Command, dictionary: Path) -> None:
    shutil.copytree(dictionary, "copy")
    for content in (b"{", b"[]", b"\xff"):
        Path("copy/report.json").write_bytes(content)
        for more in ([], ["--json"]):
            run = dragoman("info", "copy", *more)
            assert "copy/report.json: damaged" in run.error_line
            assert len(run.err.splitlines()) == 1
    Path("copy/report.json").unlink()
    assert json.loads(dragoman("info", "copy", "--json").out)["kind"] == "dictionary"


@pytest.mark.parametrize("kind", ["dictionary", "transformer"])
def test_info_says_what_is_in_a_folder(dragoman: Command, kind: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(kind)
    shown = dragoman("info", folder).out
    assert kind in shown
    assert "en-zh" in shown
    assert json.loads(dragoman("info", folder, "--json").out)["kind"] == kind
