"""Are the figures sacrebleu's, and their parts those of the formula?"""

from __future__ import annotations

import json
import math

import pytest
from sacrebleu.metrics.bleu import BLEU

from dragoman.contracts import UserError
from dragoman.evaluation.metrics import (
    base_language,
    bleu_metric,
    clipped_counts,
    corpus_scores,
    sentence_scores,
    tokeniser_for,
)

HYPOTHESES = ["the cat sat on the mat .", "a dog runs fast in the park .", "it rains ."]
REFERENCES = ["the cat sat on a mat .", "the dog runs quickly in the park .", "it is raining ."]
OTHERS = ["a cat was on the mat .", "a dog is running fast in the park .", "it rains ."]


def test_bleu_is_the_formula_over_its_parts() -> None:
    scores = corpus_scores(HYPOTHESES, [REFERENCES], "en")
    parts = scores.parts
    assert (parts.hypothesis_length, parts.reference_length) == (18, 19)
    assert parts.total == (18, 15, 12, 9)
    assert parts.matched == (6 + 6 + 2, 4 + 4, 2 + 2, 1 + 1)
    assert parts.brevity_penalty == pytest.approx(math.exp(1 - 19 / 18))
    expected = 100 * parts.brevity_penalty * math.exp(sum(math.log(p) for p in parts.precisions) / 4)
    assert scores.bleu.value == pytest.approx(expected)
    assert scores.bleu.value == pytest.approx(BLEU().corpus_score(HYPOTHESES, [REFERENCES]).score)
    assert scores.sentences == 3


def test_signatures_name_tokeniser_and_version() -> None:
    scores = corpus_scores(HYPOTHESES, [REFERENCES], "en")
    assert scores.bleu.signature.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert "nc:6" in scores.chrf.signature
    assert scores.ter is not None
    assert "tok:tercom" in scores.ter.signature


def test_identical_corpora_are_perfect() -> None:
    scores = corpus_scores(REFERENCES, [REFERENCES], "en")
    assert [scores.bleu.value, scores.chrf.value] == pytest.approx([100, 100])
    assert scores.ter is not None
    assert scores.ter.value == 0
    assert scores.notes == ()


def test_reference_length_is_the_closest_one() -> None:
    scores = corpus_scores(["a b c d e"], [["a b c d e f g"], ["a b c d"]], "en")
    assert scores.parts.reference_length == 4
    assert scores.parts.brevity_penalty == 1
    assert "nrefs:2" in scores.bleu.signature


def test_counts_are_clipped_by_the_maximum_over_references_not_their_sum() -> None:
    """Papineni et al. 2002, section 2.1: 'the' seven times, twice in the first reference, once in the second."""
    hypothesis = "the the the the the the the"
    references = ["the cat is on the mat", "there is a cat on the mat"]
    (the,) = clipped_counts(hypothesis, references, "en")[0]
    assert (the.ngram, the.count, the.reference, the.clipped) == (("the",), 7, 2, 2)
    parts = corpus_scores([hypothesis], [[line] for line in references], "en").parts
    assert (parts.matched[0], parts.total[0]) == (2, 7)


def test_clipped_counts_add_up_to_the_corpus_counts() -> None:
    parts = corpus_scores(HYPOTHESES, [REFERENCES, OTHERS], "en").parts
    tables = [
        clipped_counts(hypothesis, [one, other], "en")
        for hypothesis, one, other in zip(HYPOTHESES, REFERENCES, OTHERS, strict=True)
    ]
    for order in range(4):
        rows = [row for table in tables for row in table[order]]
        assert sum(row.clipped for row in rows) == parts.matched[order]
        assert sum(row.count for row in rows) == parts.total[order]


def test_clipped_counts_stand_in_order_of_appearance() -> None:
    bigrams = clipped_counts("b a b a", ["a b"], "en")[1]
    assert [(row.ngram, row.count, row.clipped) for row in bigrams] == [(("b", "a"), 2, 0), (("a", "b"), 1, 1)]
    assert clipped_counts("b a", ["a b"], "en")[2:] == ((), ())


def test_one_word_corpus_gives_nought_and_says_why() -> None:
    scores = corpus_scores(["yes"], [["yes"]], "en")
    assert scores.bleu.value == 0
    assert scores.notes == ("BLEU is 0 because the translations have no 2-grams: see chrF",)
    assert scores.chrf.value == pytest.approx(100)
    three = corpus_scores(["one two three"], [["one two three"]], "en")
    assert three.notes == ("BLEU is 0 because the translations have no 4-grams: see chrF",)


def test_disjoint_corpus_says_so() -> None:
    scores = corpus_scores(["a b c d"], [["e f g h"]], "en")
    assert scores.bleu.value == 0
    assert "not one word" in scores.notes[0]


def test_empty_translations_are_scored_not_refused() -> None:
    scores = corpus_scores(["", ""], [["a b c d", "e"]], "en")
    assert scores.bleu.value == 0
    assert math.isfinite(scores.chrf.value)
    assert scores.ter is not None
    assert scores.ter.value == 100


def test_sentence_scores_of_one_word() -> None:
    assert sentence_scores("yes", ["yes"], "en").bleu == pytest.approx(100)
    assert sentence_scores("yes", ["yes"], "en").chrf == pytest.approx(100)
    assert sentence_scores("no", ["yes"], "en").bleu == 0
    assert sentence_scores("", ["yes"], "en").bleu == 0


@pytest.mark.parametrize(
    ("language", "tokeniser"),
    [("zh", "zh"), ("zh-Hant", "zh"), ("ZH_cn", "zh"), ("cmn", "zh"), ("de", "13a"), ("th", "char"), ("", "13a")],
)
def test_tokeniser_follows_the_target_language(language: str, tokeniser: str) -> None:
    assert tokeniser_for(language)[0] == tokeniser
    assert f"tok:{tokeniser}|" in corpus_scores(["x y"], [["x y"]], language).bleu.signature


@pytest.mark.parametrize(("language", "extra"), [("ja", "sacrebleu[ja]"), ("ko", "sacrebleu[ko]")])
def test_characters_stand_in_for_a_missing_analyser(language: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.evaluation.metrics.find_spec", lambda name: None)
    name, note = tokeniser_for(language)
    assert name == "char"
    assert extra in note
    assert extra in " ".join(corpus_scores(["あ"], [["あ"]], language).notes)


def test_chinese_is_counted_by_signs_in_bleu_and_in_ter() -> None:
    scores = corpus_scores(["我喜欢红茶。"], [["我喜欢绿茶。"]], "zh")
    assert scores.parts.total == (6, 5, 4, 3)
    assert scores.parts.matched == (5, 3, 1, 0)
    assert scores.ter is not None
    assert scores.ter.value == pytest.approx(100 / 6)
    assert "asian:yes" in scores.ter.signature


def test_ter_is_an_edit_rate() -> None:
    scores = corpus_scores(["a b x d"], [["a b c d"]], "en")
    assert scores.ter is not None
    assert scores.ter.value == pytest.approx(25)
    assert corpus_scores(["a"], [["a"]], "en", with_ter=False).ter is None


def test_streams_of_other_lengths_are_refused_with_both_counts() -> None:
    with pytest.raises(UserError, match="2 translations, but 3 lines in reference 2"):
        corpus_scores(["a", "b"], [["a", "b"], ["a", "b", "c"]], "en")
    with pytest.raises(UserError, match="0 translations"):
        corpus_scores([], [[]], "en")
    with pytest.raises(UserError, match="no reference"):
        corpus_scores(["a"], [], "en")


def test_blank_line_of_a_further_stream_is_no_reference() -> None:
    scores = corpus_scores(["a b c d", "e f g h"], [["a b c d", "e f g h"], ["", "x y"]], "en")
    assert scores.bleu.value == pytest.approx(100)
    assert "nrefs:var" in scores.bleu.signature


def test_json_is_plain_data() -> None:
    data = json.loads(json.dumps(corpus_scores(HYPOTHESES, [REFERENCES], "en").to_json()))
    assert data["parts"]["precisions"][3] == pytest.approx(2 / 9)
    assert data["bleu"]["signature"] == str(signature_of(HYPOTHESES, REFERENCES))


def signature_of(hypotheses: list[str], references: list[str]) -> object:
    metric = bleu_metric("en")
    metric.corpus_score(hypotheses, [references])
    return metric.get_signature()


def test_base_language() -> None:
    assert [base_language(code) for code in ["zh-Hans", "zh_CN", "EN-gb", "de"]] == ["zh", "zh", "en", "de"]
