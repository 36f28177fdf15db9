"""When is an export good enough, on what is it compared, and whose files are left alone?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from dragoman.contracts import Hypothesis, Translation, UserError
from dragoman.system.export import (
    Parity,
    Quantization,
    Sample,
    compare,
    drawn_sample,
    export_model,
    kept_sample,
    needed,
    read_sample,
    refuse_foreign,
    same,
)
from dragoman.system.lifecycle import train_model
from dragoman.system.settings import recipe_from
from tests.generated import generated_bitext
from tests.neural.small import small_pipeline


@dataclass(frozen=True)
class Phrasebook:
    """Knows these sentences."""

    phrases: dict[str, str]
    target_language: str = "de"

    def translate(self, sources: Sequence[str]) -> list[Translation]:
        return [
            Translation(text, (), (Hypothesis(self.phrases[text], score=-float(len(self.phrases[text]))),))
            for text in sources
        ]


REFERENCES = Parity("dev sentence", 200, 190, alike=93.0, bleu=25.0, exported_bleu=24.8)
ALONE = Parity("sentence", 200, 190, alike=80.0)


@pytest.mark.parametrize(
    ("parity", "quantization", "good"),
    [
        (replace(REFERENCES, equal=198), "fp32", True),
        (replace(REFERENCES, equal=197), "fp32", False),
        (replace(REFERENCES, exported_bleu=26.0), "fp32", False),
        (REFERENCES, "int8", True),
        (replace(REFERENCES, exported_bleu=24.71), "int8", True),
        (replace(REFERENCES, exported_bleu=24.69), "int8", False),
        (replace(REFERENCES, exported_bleu=20.0, equal=199), "int8", True),
        (replace(REFERENCES, bleu=float("nan")), "int8", False),
        (ALONE, "int8", True),
        (replace(ALONE, alike=74.9), "int8", False),
        (ALONE, "fp32", False),
    ],
)
def test_what_passes(parity: Parity, quantization: Quantization, good: bool) -> None:
    assert parity.passes(quantization) is good


def test_figures_in_a_line() -> None:
    assert str(REFERENCES) == "190 of 200 dev sentences translated equally (95.0%), BLEU 25.00 -> 24.80"
    assert str(ALONE).endswith("(95.0%), BLEU 80.0 against the model's own translations")
    assert needed(REFERENCES, "fp32") == "99% are needed"
    assert needed(REFERENCES, "int8").startswith("at most 0.3 may be lost; --sample")
    assert needed(ALONE, "int8").startswith("75 are needed")


def test_equal_texts_and_ties_are_the_same() -> None:
    def given(text: str, score: float) -> Translation:
        return Translation("x", (), (Hypothesis(text, score=score),))

    assert same(given("a", -1.0), given("a", -2.0))
    assert same(given("a", -1.0), given("b", -1.00009))
    assert not same(given("a", -1.0), given("b", -1.0002))


def test_the_comparison_counts_and_scores() -> None:
    model = Phrasebook({"one": "eins", "two": "zwei und zwei sind vier", "three": "drei"})
    other = Phrasebook({"one": "eins", "two": "zwei und drei sind fünfe", "three": "drei"})
    sources, references = ["one", "two", "three"], ["eins", "zwei und zwei sind vier", "drei"]
    parity = compare(model, other, Sample("sentence", sources, references), most=10)
    assert (parity.sentences, parity.equal) == (3, 2)
    assert parity.bleu == pytest.approx(100)
    assert parity.exported_bleu == pytest.approx(parity.alike)
    assert parity.alike < 90
    assert compare(model, other, Sample("sentence", sources), most=2).sentences == 2
    assert compare(model, other, Sample("sentence", sources), most=2).bleu is None


# --- samples --------------------------------------------------------------------------------------


def test_sentences_and_pairs_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_text("One.\n\nTwo.\n", encoding="utf-8")
    (tmp_path / "a.de").write_text("Eins.\n\nZwei.\n", encoding="utf-8")
    (tmp_path / "a.tsv").write_text("One.\tEins.\n", encoding="utf-8")
    assert read_sample([str(tmp_path / "a.en")], "en", "de") == Sample("sentence", ["One.", "Two."])
    files = [str(tmp_path / "a.en"), str(tmp_path / "a.de")]
    assert read_sample(files, "en", "de") == Sample("sentence", ["One.", "Two."], ["Eins.", "Zwei."])
    assert read_sample([str(tmp_path / "a.tsv")], "en", "de") == Sample("sentence", ["One."], ["Eins."])
    (tmp_path / "blank.en").write_text("\n \n", encoding="utf-8")
    with pytest.raises(UserError, match="no sentence to check with"):
        read_sample([str(tmp_path / "blank.en")], "en", "de")


def test_dev_sentences_are_found_where_training_left_them(tmp_path: Path) -> None:
    assert kept_sample(tmp_path) is None
    (tmp_path / "work").mkdir()
    dev = tmp_path / "work" / "dev.json"
    for damaged in ("[]", "{", '["x"]', "3"):
        dev.write_text(damaged, encoding="utf-8")
        assert kept_sample(tmp_path) is None
    dev.write_text('[["One.", "Eins."]]', encoding="utf-8")
    assert kept_sample(tmp_path) == Sample("dev sentence", ["One."], ["Eins."])


def test_generated_sentences_are_texts_and_the_same_each_time() -> None:
    sample = drawn_sample(small_pipeline(), 50)
    assert sample == drawn_sample(small_pipeline(), 50)
    assert 45 < len(sample.sources) <= 50
    assert sample.references is None
    assert len(set(sample.sources)) > 40
    assert not any(set(text) & set("\n\r\ufffd") or "<" in text for text in sample.sources)


# --- whose files ----------------------------------------------------------------------------------


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    refuse_foreign(tmp_path / "new")
    refuse_foreign(tmp_path)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "finished").mkdir()
    refuse_foreign(tmp_path)  # what an export leaves that was killed
    (tmp_path / "work" / "run.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match="holds other files"):
        refuse_foreign(tmp_path)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "letter.txt").write_text("Dear", encoding="utf-8")
    with pytest.raises(UserError, match="holds other files"):
        refuse_foreign(tmp_path / "own")
    with pytest.raises(UserError, match="is a file"):
        refuse_foreign(tmp_path / "own" / "letter.txt")


def test_a_kind_without_a_way_there_is_refused(tmp_path: Path) -> None:
    train_model(recipe_from("dictionary", []), generated_bitext(40, "en", "de"), None, tmp_path / "dictionary")
    with pytest.raises(UserError, match="'dictionary' cannot be exported to ctranslate2; kinds that can: transformer"):
        export_model(tmp_path / "dictionary", tmp_path / "out", "ctranslate2")
    with pytest.raises(UserError, match="holds a dictionary model"):
        refuse_foreign(tmp_path / "dictionary")
    assert not (tmp_path / "out").exists()
