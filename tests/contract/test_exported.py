"""Does an exported model keep what ours promise, and translate as the model that it was made of?"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.contracts import (
    Ability,
    CanScore,
    Flag,
    Hypothesis,
    Request,
    Sampling,
    SearchOptions,
    SentencePair,
    Translator,
    UserError,
)
from dragoman.system.export import export_model
from dragoman.system.measure import evaluate
from dragoman.system.store import load_model, read_card, verify
from dragoman.system.stream import check_options
from tests.contract.models import DEV, SOURCES, TEST, Trained
from tests.contract.test_lines import ODD

pytest.importorskip("ctranslate2")

CLOSE = 1e-4


@pytest.fixture(scope="module")
def model(model_of: Callable[[str], Trained]) -> Trained:
    return model_of("transformer")


@pytest.fixture(scope="module")
def folder(model: Trained, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny Transformer, exported."""
    out = tmp_path_factory.mktemp("exported") / "model"
    export_model(model.folder, out, "ctranslate2")
    return out


@pytest.fixture(scope="module")
def exported(folder: Path) -> Translator:
    translator: Translator = load_model(folder)
    return translator


def best_of(translator: Translator, texts: list[str], options: SearchOptions = SearchOptions()) -> list[Hypothesis]:
    return [translation.hypotheses[0] for translation in translator.translate(texts, options)]


# --- the same translations ------------------------------------------------------------------------


@pytest.mark.parametrize("options", [SearchOptions(), SearchOptions(beam=1), SearchOptions(beam=3, alpha=0.0)])
def test_it_translates_as_the_model(model: Trained, exported: Translator, options: SearchOptions) -> None:
    texts = [pair.source for pair in (*TEST, *DEV)]
    ours, theirs = best_of(model.translator, texts, options), best_of(exported, texts, options)
    equal = [(one, other) for one, other in zip(ours, theirs, strict=True) if one.text == other.text]
    assert len(equal) >= 0.99 * len(texts)
    for one, other in equal:
        assert one.pieces == other.pieces
        assert one.flags == other.flags
        assert other.score == pytest.approx(one.score, abs=CLOSE)
        assert other.log_probability == pytest.approx(one.log_probability, abs=1e-3)


def test_n_best_lists_are_sorted_distinct_and_those_of_the_model(model: Trained, exported: Translator) -> None:
    options = SearchOptions(n_best=3, beam=4)
    ours, theirs = model.translator.translate(SOURCES, options), exported.translate(SOURCES, options)
    for translation in theirs:
        scores = [hypothesis.score for hypothesis in translation.hypotheses]
        assert scores == sorted(scores, reverse=True)
        assert len({hypothesis.text for hypothesis in translation.hypotheses}) == len(scores) <= 3
    lists = [[hypothesis.text for hypothesis in one.hypotheses] for one in ours]
    equal = [one == [h.text for h in other.hypotheses] for one, other in zip(lists, theirs, strict=True)]
    assert sum(equal) >= 0.9 * len(equal)
    with pytest.raises(UserError, match="n-best 3 is above the beam of 2"):
        exported.translate(SOURCES[:1], SearchOptions(n_best=3, beam=2))


def test_a_prefix_begins_every_hypothesis_and_counts_in_the_score(model: Trained, exported: Translator) -> None:
    prefix = TEST.pairs[1].target[:3]
    requests = [Request(source, prefix=prefix) for source in SOURCES[:8]]
    for options in (SearchOptions(), SearchOptions(n_best=3, beam=3)):
        pairs = zip(model.translator.translate(requests, options), exported.translate(requests, options), strict=True)
        for ours, theirs in pairs:
            assert all(hypothesis.text.startswith(prefix) for hypothesis in theirs.hypotheses)
            if ours.text == theirs.text:
                assert theirs.hypotheses[0].score == pytest.approx(ours.hypotheses[0].score, abs=CLOSE)
    for prefix, why in (("a\nb", "line end"), ("我" * 5000, "longer than the 1,024 pieces")):
        with pytest.raises(UserError, match=why):
            exported.translate([Request(SOURCES[0], prefix=prefix)])


def test_a_text_with_a_length_limit_of_its_own_keeps_it_in_company(exported: Translator) -> None:
    options = SearchOptions(max_ratio=0.1)
    together = best_of(exported, SOURCES, options)
    for source, one in zip(SOURCES, together, strict=True):
        (alone,) = best_of(exported, [source], options)
        assert one.text == alone.text
        assert one.score == pytest.approx(alone.score, abs=CLOSE)
        assert len(one.pieces) < 10 + 0.1 * len(source)
    assert any(Flag.LENGTH_CAP in one.flags for one in together)


def test_company_and_order_change_no_translation(exported: Translator) -> None:
    together = best_of(exported, SOURCES)
    backwards = best_of(exported, SOURCES[::-1])[::-1]
    small = best_of(exported, SOURCES, SearchOptions(batch_tokens=1))
    for others in (backwards, small):
        for one, other in zip(together, others, strict=True):
            assert one.text == other.text or abs(one.score - other.score) <= CLOSE


# --- lines ----------------------------------------------------------------------------------------


def test_every_line_has_its_line(exported: Translator) -> None:
    texts = [SOURCES[0], "", "  ", *ODD, "\u2028", f" {SOURCES[1]}  "]
    for text, translation in zip(texts, exported.translate(texts), strict=True):
        assert translation.source == text
        assert not set(translation.text) & {"\n", "\r"}
        if not text.strip():
            assert translation.text == text
        else:
            assert translation.text.strip() or Flag.EMPTY in translation.hypotheses[0].flags
        if "<unk>" not in text:
            assert not any(sign in translation.text for sign in ("\ufffd", "<unk>", "\u2047"))
    assert translation.text.startswith(" ")
    assert translation.text.endswith("  ")


def test_long_texts_are_cut_as_ours(model: Trained, exported: Translator) -> None:
    text = f"{SOURCES[0]}  {SOURCES[1]} {SOURCES[2]}"
    (ours,), (theirs,) = best_of(model.translator, [text]), best_of(exported, [text])
    assert (ours.text, ours.pieces) == (theirs.text, theirs.pieces)
    assert theirs.score == pytest.approx(ours.score, abs=CLOSE)
    score = exported.score([(text, theirs)])[0]  # type: ignore[attr-defined]
    assert score.score == pytest.approx(theirs.score, abs=CLOSE)


def test_signs_beyond_all_positions_are_told(exported: Translator) -> None:
    (best,) = best_of(exported, ["e" + "\u0301" * 2000])
    assert Flag.LENGTH_CAP in best.flags


# --- scores ---------------------------------------------------------------------------------------


def test_scores_are_those_of_the_model(model: Trained, exported: Translator) -> None:
    assert isinstance(exported, CanScore)
    assert isinstance(model.translator, CanScore)
    for one, other in zip(model.translator.score(list(TEST)), exported.score(list(TEST)), strict=True):
        assert other.token_log_probabilities == pytest.approx(one.token_log_probabilities, abs=CLOSE)
        assert other.score == pytest.approx(one.score, abs=CLOSE)
    found = [(source, best) for source, best in zip(SOURCES, best_of(exported, SOURCES), strict=True)]
    for (_, best), score in zip(found, exported.score(found), strict=True):
        assert score.score == pytest.approx(best.score, abs=CLOSE)
    far, empty = exported.score([SentencePair(SOURCES[0], "我" * 2000), SentencePair(SOURCES[0], "")])
    assert far.log_probability == float("-inf")
    assert empty.log_probability < 0


def test_it_is_measured_as_the_model(model: Trained, exported: Translator) -> None:
    ours, theirs = evaluate(model.translator, TEST), evaluate(exported, TEST)
    assert theirs.hypotheses == ours.hypotheses
    assert theirs.canonical_share == ours.canonical_share


# --- what it cannot do ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (
            SearchOptions(sampling=Sampling()),
            "kind 'ctranslate2' cannot sample .sampling.; kinds that can: transformer",
        ),
        (SearchOptions(attention=True), "cannot show attention"),
    ],
)
def test_what_it_cannot_do_is_refused_with_the_kinds_that_can(
    exported: Translator, options: SearchOptions, why: str
) -> None:
    with pytest.raises(UserError, match=why):
        check_options(exported, options)
    with pytest.raises(UserError):
        exported.translate(SOURCES[:1], options)


def test_another_length_form_is_refused(exported: Translator) -> None:
    with pytest.raises(UserError, match="ctranslate2 has no length form 'gnmt'"):
        exported.translate(SOURCES[:1], SearchOptions(length_form="gnmt"))


def test_a_device_that_is_not_there_is_told_in_one_line(folder: Path) -> None:
    with pytest.raises(UserError, match="ctranslate2 cannot run it on 'abacus'"):
        load_model(folder, "abacus")


# --- the folder -----------------------------------------------------------------------------------


def test_the_folder_is_whole_and_has_its_pieces_and_its_search(model: Trained, folder: Path) -> None:
    card = read_card(folder)
    assert (card.kind, card.source_language, card.target_language) == ("ctranslate2", "en", "zh")
    assert {"model.bin", "config.json", "export.json", "text/text.json"} <= set(card.checksums)
    verify(folder, card)
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert names == {"model.json", *card.checksums, *card.records}
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert report["exported from"] == read_card(model.folder).fingerprint
    assert report["checked"].startswith("12 of 12 dev sentences translated equally (100.0%)")
    kept = model.translator.search  # type: ignore[attr-defined]
    assert (report["model"]["search alpha"], report["model"]["search beam"]) == (kept.alpha, kept.beam)


def test_damage_is_noticed(exported: Translator, folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    exported.save(copy)
    again = type(exported).load(copy)
    assert best_of(again, SOURCES) == best_of(exported, SOURCES)
    for name in ("model.json", "report.json"):
        (copy / name).write_bytes((folder / name).read_bytes())
    assert load_model(copy).describe() == exported.describe()
    (copy / "export.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match=r"export\.json: damaged"):
        load_model(copy)


def test_it_translates_without_torch(folder: Path) -> None:
    code = (
        "import sys, dragoman; model = dragoman.load(sys.argv[1]);"
        "print(len(model.translate([sys.argv[2]])[0].text) > 0, 'torch' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(folder), SOURCES[0]]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert done.stdout.split() == ["True", "False"]


def test_its_abilities_are_known_without_a_model(exported: Translator) -> None:
    assert exported.abilities == {Ability.SCORE, Ability.BEAM, Ability.PREFIX}
