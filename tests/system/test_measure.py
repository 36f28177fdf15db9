"""Are a system's figures those of its translations?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from dragoman.contracts import (
    Ability,
    Flag,
    Hypothesis,
    Progress,
    Request,
    Score,
    SearchOptions,
    SentencePair,
    Translation,
    UserError,
)
from dragoman.corpus.bitext import ListBitext
from dragoman.evaluation.metrics import corpus_scores
from dragoman.system import measure
from dragoman.system.baselines import CopyTranslator
from dragoman.system.measure import evaluate, judge

TEST = ListBitext(
    [
        SentencePair("a b c d e", "a b c d f"),
        SentencePair("g h i j", "g h i j"),
        SentencePair("k l", "m n"),
    ],
    "en",
    "de",
)
SOURCES = [pair.source for pair in TEST]
TARGETS = [pair.target for pair in TEST]


@dataclass(frozen=True)
class Scoring:
    """Copies; the second hypothesis hit the cap; the third has other pieces than its text would have."""

    kind: str = "scoring"
    source_language: str = "en"
    target_language: str = "de"
    abilities: frozenset[Ability] = frozenset({Ability.SCORE})

    def translate(
        self, requests: Sequence[str | Request], options: SearchOptions = SearchOptions()
    ) -> list[Translation]:
        texts = [request if isinstance(request, str) else request.text for request in requests]
        return [Translation(text, (), (self.hypothesis(text),)) for text in texts]

    def hypothesis(self, text: str) -> Hypothesis:
        tokens = (-1.0, -2.0, -0.5) if text == "k l" else (-1.0, -2.0)
        flags = (Flag.LENGTH_CAP,) if text.startswith("g") else ()
        return Hypothesis(text, pieces=(5, 6), log_probability=sum(tokens), token_log_probabilities=tokens, flags=flags)

    def score(
        self, pairs: Sequence[SentencePair | tuple[str, Hypothesis]], options: SearchOptions = SearchOptions()
    ) -> list[Score]:
        return [Score(-3.0, -3.00001, (-1.0, -2.00001)) for _ in pairs]


def test_scores_are_those_of_the_translations() -> None:
    evaluation = evaluate(CopyTranslator("en", "de"), TEST)
    assert evaluation.scores == corpus_scores(SOURCES, [TARGETS], "de")
    assert evaluation.hypotheses == tuple(SOURCES)
    assert evaluation.seconds is not None
    assert evaluation.sentences_per_second is not None
    assert evaluation.sentences_per_second > 0
    assert evaluation.cap_share == 0
    assert evaluation.canonical_share is None


def test_further_references_count() -> None:
    evaluation = evaluate(CopyTranslator("en", "de"), TEST, [["", "", "k l"]])
    assert evaluation.scores == corpus_scores(SOURCES, [TARGETS, ["", "", "k l"]], "de")
    assert evaluation.scores.parts.matched[0] == 10
    assert "nrefs:var" in evaluation.scores.bleu.signature


def test_the_language_of_the_test_set_chooses_the_tokeniser() -> None:
    chinese = ListBitext([SentencePair("我喜欢茶。", "我喜欢茶。")], "zh", "zh")
    assert "tok:zh" in evaluate(CopyTranslator(), chinese).scores.bleu.signature


def test_cap_and_canonical_shares_are_counted() -> None:
    evaluation = evaluate(Scoring(), TEST)
    assert evaluation.cap_share == pytest.approx(1 / 3)
    assert evaluation.canonical_share == pytest.approx(2 / 3)
    assert evaluation.notes[-1] == "1 of 3 translations: length cap hit"


def test_windows_change_nothing_but_the_signs_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = evaluate(Scoring(), TEST)
    monkeypatch.setattr(measure, "WINDOW", 2)
    seen: list[Progress] = []
    in_windows = evaluate(Scoring(), TEST, report=seen.append)
    assert in_windows.hypotheses == at_once.hypotheses
    assert in_windows.scores == at_once.scores
    assert [(progress.phase, progress.step, progress.total) for progress in seen] == [
        ("translating", 0, 3),
        ("translating", 2, 3),
        ("scoring", 3, 3),
    ]


def test_other_systems_output_is_judged_without_a_speed() -> None:
    judged = judge(SOURCES, TEST, target_language="de")
    assert judged.scores == evaluate(CopyTranslator("en", "de"), TEST).scores
    assert (judged.sentences_per_second, judged.cap_share, judged.canonical_share) == (None, None, None)


def test_unequal_lengths_are_refused_with_both_counts() -> None:
    with pytest.raises(UserError, match="2 translations, but 3 lines"):
        judge(SOURCES[:2], TEST)
    with pytest.raises(UserError, match="3 translations, but 1 lines in reference 2"):
        evaluate(CopyTranslator(), TEST, [["only one"]])
    with pytest.raises(UserError, match="0 translations"):
        evaluate(CopyTranslator(), ListBitext([], "en", "de"))


def test_options_that_the_kind_lacks_are_refused() -> None:
    with pytest.raises(UserError, match="kind 'copy' cannot search with a beam"):
        evaluate(CopyTranslator(), TEST, options=SearchOptions(beam=4))


def test_json_has_every_figure_and_its_signature() -> None:
    data = json.loads(json.dumps(evaluate(Scoring(), TEST).to_json()))
    assert set(data) == {
        "bleu",
        "chrf",
        "ter",
        "parts",
        "sentences",
        "notes",
        "sentences_per_second",
        "precision",
        "cap_share",
        "canonical_share",
        "flags",
    }
    assert data["flags"] == {"length cap hit": 1}
    assert set(data["parts"]) == {
        "hypothesis_length",
        "reference_length",
        "brevity_penalty",
        "matched",
        "total",
        "precisions",
    }
    assert json.loads(json.dumps(judge(SOURCES, TEST).to_json()))["sentences_per_second"] is None
