"""What may be relied on of a translator in fewer bits, and of a kind that has no choice?"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import dragoman
from benchmarks.precision import compared, shown
from dragoman.contracts import Ability, CanScore, HasPrecision, Precision, SearchOptions, UserError
from dragoman.corpus.bitext import ListBitext
from dragoman.system.baselines import CopyTranslator
from dragoman.system.measure import evaluate
from dragoman.system.precision import in_precision
from dragoman.system.stream import kinds_with
from tests.contract.models import SOURCES, TEST, Trained, kinds_that, kinds_without

FEW = ListBitext(list(TEST)[:10], "en", "zh")  # without kernels of its own a processor is slow at these
GREEDY = SearchOptions(beam=1)
fewer_bits = pytest.mark.parametrize("precision", ["bf16", "int8"])


@kinds_that(Ability.PRECISION, Ability.SCORE)
@fewer_bits
def test_translations_stay_near_those_of_fp32(
    model: Trained, precision: Precision, record_property: Callable[[str, object], None]
) -> None:
    plain = model.translator
    assert isinstance(plain, HasPrecision)
    assert isinstance(plain, CanScore)
    changed = plain.at_precision(precision)
    assert (plain.precision, changed.precision) == ("fp32", precision)
    for before, after in zip(plain.score(list(FEW)), changed.score(list(FEW)), strict=True):
        assert after.token_log_probabilities == pytest.approx(before.token_log_probabilities, abs=0.1)
        assert after.log_probability / before.log_probability == pytest.approx(1, abs=0.01)
    some, others = evaluate(plain, FEW, options=GREEDY), evaluate(changed, FEW, options=GREEDY)
    equal = sum(one == other for one, other in zip(some.hypotheses, others.hypotheses, strict=True))
    record_property("equal 1-bests", f"{equal} of {len(FEW)}")
    assert equal >= len(FEW) / 2
    assert (some.precision, others.precision) == ("fp32", precision)


@kinds_that(Ability.PRECISION)
@fewer_bits
def test_what_is_taken_is_what_was_asked_for_or_a_line_says_why(model: Trained, precision: Precision) -> None:
    told: list[str] = []
    system = in_precision(model.translator, precision, told.append)
    assert isinstance(system, HasPrecision)
    if system.precision == precision:
        assert told == []
    else:
        assert told[0].startswith(f"{precision} ")
        assert told[0].endswith(f"on this processor: {system.precision} is used")
        assert len(told) == 1
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        loaded = dragoman.load(model.folder, precision=precision)
    assert [str(each.message) for each in warned] == told
    assert all(each.filename == __file__ for each in warned)
    assert loaded.translate(SOURCES[:2], GREEDY) == system.translate(SOURCES[:2], GREEDY)


@kinds_that(Ability.PRECISION)
@fewer_bits
def test_what_another_process_chose_is_taken_without_a_trial(model: Trained, precision: Precision) -> None:
    assert isinstance(model.translator, HasPrecision)
    system = in_precision(model.translator, precision, None)
    assert isinstance(system, HasPrecision)
    assert system.precision == precision


@kinds_that(Ability.PRECISION)
def test_fp32_is_the_translator_as_it_was(model: Trained) -> None:
    told: list[str] = []
    assert in_precision(model.translator, "fp32", told.append) is model.translator
    assert dragoman.load(model.folder).translate(SOURCES[:2]) == model.translator.translate(SOURCES[:2])
    assert told == []


@kinds_that(Ability.PRECISION, Ability.ENSEMBLE)
def test_an_ensemble_has_one_precision(model: Trained) -> None:
    translator = model.translator
    assert isinstance(translator, HasPrecision)
    together = translator.together([translator])  # type: ignore[attr-defined]
    both = together.at_precision("int8").translate(SOURCES[:2], GREEDY)
    alone = translator.at_precision("int8")
    expected = alone.translate(SOURCES[:2], GREEDY)
    assert [each.text for each in both] == [each.text for each in expected]


@kinds_that(Ability.PRECISION)
def test_the_benchmark_shows_what_evaluate_shows(model: Trained, tmp_path: Path) -> None:
    file = tmp_path / "test.tsv"
    file.write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in FEW), encoding="utf-8")
    found = compared(model.folder, [str(file)], GREEDY, sentences=6, repeats=1, threads=1)
    rows = {row["precision"]: row for row in found["rows"]}
    assert list(rows) == list(found["taken"]) == ["fp32", "bf16", "int8"]
    assert (rows["fp32"]["changed"], rows["fp32"]["ratio"]) == (0, 1)
    judged = evaluate(model.translator, list(FEW)[:6], options=GREEDY)
    assert rows["fp32"]["bleu"] == pytest.approx(judged.scores.bleu.value)
    assert json.loads(json.dumps(found))["sentences"] == 6
    assert [line.split()[0] for line in shown(found)[1:4]] == list(rows)


@kinds_without(Ability.PRECISION)
@fewer_bits
def test_a_kind_without_a_choice_refuses_and_names_those_which_have_it(model: Trained, precision: Precision) -> None:
    assert not isinstance(model.translator, HasPrecision)
    for system in (model.translator, CopyTranslator("en", "zh")):
        assert in_precision(system, "fp32", print) is system
        with pytest.raises(UserError, match=f"cannot compute in fewer bits .precision {precision}") as refused:
            in_precision(system, precision, print)
        assert all(kind in str(refused.value) for kind in kinds_with(Ability.PRECISION))
    assert evaluate(model.translator, TEST).precision is None
