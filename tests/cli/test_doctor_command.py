"""The doctor on models and corpora: what it finds wrong, and what it says to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dragoman.abilities import Coverage
from dragoman.cleaning.signs import Signs
from dragoman.contracts import Flag, Hypothesis, SentencePair
from dragoman.system.diagnosis import (
    leak_findings,
    output_findings,
    quality_findings,
    report_findings,
    unseen_scripts,
)
from tests.cli.conftest import Command

STRANGE = "ⵣⵣⵣ ⵣⵣ\nanother line of the text\nand one more of them\n"


def test_a_model_that_has_learnt_nothing(dragoman: Command, transformer: Path, pair_files: tuple[Path, Path]) -> None:
    Path("new.txt").write_text(STRANGE, encoding="utf-8")
    run = dragoman("doctor", transformer, "--text", "new.txt")
    assert run.code == 0
    assert "outputs run on" in run.out
    assert "characters are unknown" in run.out
    assert "ⵣ" in run.out
    files = ["test.en", "test.zh"]
    for file, name in zip(pair_files, files, strict=True):  # a few: what has learnt nothing finds no end
        Path(name).write_text(
            "".join(file.read_text(encoding="utf-8").splitlines(keepends=True)[:20]), encoding="utf-8"
        )
    told = json.loads(dragoman("doctor", transformer, "--test", *files, "--train", *files, "--json").out)
    findings = {one["what"]: one["level"] for one in told["findings"]}
    assert any("of test pairs have a side that stands in the training text" in what for what in findings)
    assert any(what.startswith("BLEU ") for what in findings)
    assert told["findings"][0]["level"] == "warning"


def test_a_dictionary_knows_its_words(dragoman: Command, dictionary: Path) -> None:
    Path("new.txt").write_text("the teacher bought the zyzzyva\n", encoding="utf-8")
    run = dragoman("doctor", dictionary, "--text", "new.txt")
    assert run.code == 0
    assert "words are unknown: zyzzyva" in run.out
    assert "words that the training text does not have" in run.out


def test_without_text_only_the_training_is_examined(dragoman: Command, dictionary: Path) -> None:
    run = dragoman("doctor", dictionary)
    assert run.code == 0
    assert "give --text FILE or --test FILES" in run.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["gone.tmx"], "gone.tmx: no such file"),
        (["model", "--train", "x.tsv"], "give --test too"),
        (["model", "--text", "gone.txt"], "gone.txt: no such file"),
        (["model", "x.tsv"], "a model is examined alone"),
    ],
)
def test_refused(dragoman: Command, dictionary: Path, arguments: list[str], told: str) -> None:
    given = [str(dictionary) if argument == "model" else argument for argument in arguments]
    assert told in dragoman("doctor", *given).error_line


def test_scripts_of_which_no_letter_is_known() -> None:
    texts = Signs(["вот и 好 cat", "да"])
    cover = Coverage("characters", 10, {"в": 1, "о": 1, "т": 1, "и": 1, "д": 1, "а": 1, "c": 1})
    assert unseen_scripts(cover, texts) == ["Cyrillic"]
    assert unseen_scripts(Coverage("characters", 10, {}), texts) == []


class Fake:
    """A system whose outputs are given."""

    kind = "fake"
    abilities: frozenset[str] = frozenset()
    source_language, target_language = "en", "zh"


def test_outputs_that_look_wrong() -> None:
    sources = [f"source {number}" for number in range(10)]
    same = [Hypothesis("一样的话", flags=(Flag.REPEATS,)) for _ in sources]
    told = [one.what for one in output_findings(Fake(), sources, same)]  # type: ignore[arg-type]
    assert told == [
        "repeats itself: 10 (100 %) of translations",
        "10 (100 %) of translations are one and the same: 一样的话",
    ]
    latin = [Hypothesis(f"not Chinese {number}") for number in range(10)]
    assert "only 0% of the letters" in output_findings(Fake(), sources, latin)[0].what  # type: ignore[arg-type]
    fine = [Hypothesis(f"第{number}句中文") for number in range(10)]
    assert output_findings(Fake(), sources, fine)[0].level == "good"  # type: ignore[arg-type]


def test_what_a_training_tells() -> None:
    def looks(*losses: float) -> list[dict[str, object]]:
        return [{"phase": "dev", "step": 10 * number, "loss": loss} for number, loss in enumerate(losses, 1)]

    report = {"dev": "x", "dev_figures": {"bleu": 20.0}, "ended": "time"}
    assert [one.level for one in report_findings(report, looks(3, 2.9, 2.85))] == ["good", "note"]
    assert "still getting better" in report_findings(report, looks(3, 2.9, 2.85))[1].what
    assert "learnt by heart" in report_findings(report, looks(3, 2.5, 2.9))[1].what
    assert report_findings({"dev": "", "dev_figures": {}}, [])[0].what == "trained without a dev set"
    assert report_findings({"dev": "x", "dev_figures": {"bleu": 0.2}}, [])[0].level == "warning"


def test_quality_beside_what_costs_nothing() -> None:
    pairs = [SentencePair("one two three four five", "eins zwei drei vier fünf")]
    right = quality_findings(pairs, [Hypothesis(pairs[0].target)], "de")[0]
    assert right.level == "good"
    assert quality_findings(pairs, [Hypothesis("x")], "de")[0].level == "warning"


def test_leaks() -> None:
    pairs = [SentencePair("One", "Eins"), SentencePair("Two", "Zwei")]
    assert leak_findings(pairs, frozenset())[0].level == "good"
