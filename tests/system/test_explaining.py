"""Whose fault it is, by hand; and whether like sentences lie close, on vectors that are made so."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from dragoman.contracts import SearchOptions, SentencePair, UserError
from dragoman.evaluation.metrics import sentence_scores
from dragoman.neural.seq2seq import NeuralTranslator
from dragoman.seeing import Branch, Explanation, Reference, Said, SentenceStates, Tree
from dragoman.system.explain import CLOSE, as_json, explain, verdict_on
from dragoman.system.sentences import bags, map_sentences, nearest_of, principal_axes, read_groups
from dragoman.system.shown import MOST_ROWS, MOST_STEPS, tree_picture
from tests.neural.small import small_translator

ROOT = Path(__file__).parents[2]
OURS, THEIRS = "the cat sat on the mat", "a dog stood under a tree"


def case(ours: float, theirs: float, text: str = OURS, reference: str = THEIRS, unsayable: str = "") -> Explanation:
    given = Reference(Said(reference, (), (), theirs), ours, unsayable)
    return Explanation("transformer", ("de", "en"), "quelle", text, reference=given)


@pytest.mark.parametrize(
    ("explanation", "fault", "said"),
    [
        (case(-2.0, -1.0), "search", "score(y*) -1.0000 > score(y^) -2.0000: this proves a search error"),
        (case(-1.0, -2.0), "model", "no search error is proven, nor is it that there is none"),
        (case(-1.0, -1.0), "model", "<="),
        (case(-1.0, -1.0 + 5e-5), "model", "<="),  # closer than scores are computed
        (case(-1.0, -2.0, reference=OURS + " there"), "neither", "no fault"),
        (case(-2.0, -1.0, reference=OURS + " there"), "search", "this proves"),
        (case(-2.0, -1.0, reference=OURS), "neither", "the translation is the reference"),
        (
            case(-2.0, -1.0, unsayable="the reference has 9 pieces"),
            "unknown",
            "say nothing here: the reference has 9",
        ),
    ],
)
def test_verdicts(explanation: Explanation, fault: str, said: str) -> None:
    verdict = verdict_on(explanation)
    assert verdict.fault == fault
    assert said in verdict.why
    assert explanation.reference is not None
    assert verdict.chrf == sentence_scores(explanation.text, [explanation.reference.said.text], "en").chrf


def test_how_good_is_good_enough_is_for_the_user_to_say() -> None:
    explanation = case(-1.0, -2.0, reference=OURS + " there")
    assert verdict_on(explanation).fault == "neither"
    strict = verdict_on(explanation, good_chrf=99.0)
    assert strict.fault == "model"
    assert "below 99" in strict.why


def test_a_narrow_search_is_proven_wrong_by_what_a_wide_one_finds() -> None:
    """The reference is the output of a wide beam: where it scores higher, a beam of 1 has missed it."""
    proven = 0
    wide, narrow = SearchOptions(beam=5, max_ratio=0.5), SearchOptions(beam=1, max_ratio=20)
    for seed in range(3):
        translator = small_translator(seed)
        best = translator.translate(["dog"], wide)[0].hypotheses[0]
        greedy = translator.translate(["dog"], narrow)[0].hypotheses[0]
        verdict = explain(translator, "dog", best.text, narrow).verdict
        assert verdict is not None
        canonical = translator.score([SentencePair("dog", best.text)], wide)[0].score
        assert (verdict.fault == "search") == (canonical > greedy.score + CLOSE)
        proven += verdict.fault == "search"
    assert proven


def test_what_a_search_could_not_say_proves_nothing() -> None:
    translator = small_translator()
    long = explain(translator, "house", "a b c " * 40).explanation
    assert long.reference is not None
    assert "and a search stops at" in long.reference.unsayable
    line = explain(translator, "house", "a\nb").explanation.reference
    assert line is not None
    assert line.unsayable == ""  # scored as one line


def test_numbers_that_are_none_have_no_place_in_json() -> None:
    table = {"a": math.inf, "b": np.array([1.0, math.nan]), "c": (1, "x", None, True)}
    assert as_json(table) == {"a": None, "b": [1.0, None], "c": [1, "x", None, True]}


# --- trees --------------------------------------------------------------------------------------


def test_a_large_tree_is_cut_and_what_was_cut_is_said() -> None:
    steps, rows = MOST_STEPS + 5, MOST_ROWS + 4
    branches = [
        Branch(step, (step - 1) * rows + rows - 1 if step else None, "x", -1.0, -1.0 * step, "kept")
        for step in range(steps)
        for _ in range(rows)
    ]
    branches[-1] = replace(branches[-1], fate="ended", score=-1.0)
    picture, cut = tree_picture(Tree(6, tuple(branches), len(branches) - 1))
    assert f"steps {MOST_STEPS + 1} to {steps} are not drawn" in cut
    assert f"{4 * MOST_STEPS} continuations beyond the best {MOST_ROWS}" in cut
    assert sum(text == "x" for text in picture.words()) == MOST_STEPS * MOST_ROWS
    thick = [mark for mark in picture.marks if getattr(mark, "thick", 0) == 2.4]
    assert len(thick) == MOST_STEPS - 1  # the way of the winner, though it is the last of each step


# --- sentences ----------------------------------------------------------------------------------


class Mapper:
    """Vectors that are given."""

    def __init__(self, vectors: list[list[float]]) -> None:
        self.vectors = vectors

    kind, source_language, target_language = "fake", "en", "de"
    abilities = NeuralTranslator.abilities

    def sentence_states(self, texts: list[str]) -> SentenceStates:
        return SentenceStates(np.array(self.vectors), tuple((ord(text[0]),) for text in texts))


def test_foils_deceive_a_bag_of_words_and_not_what_knows_who_does_what() -> None:
    texts = ["dog bites man", "man bitten by dog", "man bites dog", "dog bitten by man"]
    knowing: Any = Mapper([[1, 0.1], [1, 0], [0, 1], [0.1, 1]])
    mapped = map_sentences(knowing, texts, [1, 1, 2, 2])
    accuracy = {each.of: each.accuracy for each in mapped.measured}
    assert accuracy["the model's states"] == 1
    assert accuracy["a bag of words"] == 0
    assert mapped.chance == pytest.approx(1 / 3)
    assert mapped.measured[0].nearest == (1, 0, 3, 2)


def test_equally_near_ones_share() -> None:
    same_NN = np.array([[True, True, False], [True, True, False], [False, False, True]])
    found = nearest_of("", np.array([[1.0, 0], [1.0, 0], [1.0, 0]]), same_NN)
    assert found.accuracy == pytest.approx((0.5 + 0.5 + 0) / 3)


def test_principal_axes_keep_distances_of_points_on_a_plane() -> None:
    rng = np.random.default_rng(0)
    flat_N2 = rng.normal(size=(20, 2))
    turn_2D = np.linalg.qr(rng.normal(size=(7, 7)))[0][:2]
    places_N2 = principal_axes(flat_N2 @ turn_2D + 3)
    for one, other in ((flat_N2, places_N2),):
        before = np.linalg.norm(one[:, None] - one, axis=-1)
        np.testing.assert_allclose(np.linalg.norm(other[:, None] - other, axis=-1), before, atol=1e-9)
    assert places_N2[:, 0].var() >= places_N2[:, 1].var()
    assert principal_axes(np.zeros((3, 1))).shape == (3, 2)


def test_bags_count() -> None:
    assert bags([[7, 7], [8]]).tolist() == [[2, 0], [0, 1]]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("a\tb\nalone\n", r":2: a line holds at least two sentences"),
        ("a\tb\nc\t \n", r":2: a line holds at least two"),
        ("a\tb\n\n", "at least two lines"),
        ("", "at least two lines"),
        ("a\tb\n" * 2501, ":2501: a map holds 5,000 sentences at most"),
    ],
)
def test_a_file_of_paraphrases_that_is_none_is_refused(tmp_path: Path, content: str, why: str) -> None:
    path = tmp_path / "p.tsv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=why):
        read_groups(path)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_examples_are_sixty_pairs_whose_foils_deceive_a_bag_of_words(language: str) -> None:
    texts, groups = read_groups(ROOT / "examples" / f"paraphrases.{language}.tsv")
    assert len(texts) == len(set(texts)) == 120
    assert sorted(set(groups)) == list(range(1, 61))
    of_N = np.array(groups)
    words = [list(text) if language == "zh" else text.lower().split() for text in texts]
    accuracy = nearest_of("", bags(words), of_N[:, None] == of_N).accuracy
    assert 0.3 < accuracy < 0.7


def test_tsne_needs_scikit_learn_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "sklearn.manifold", None)
    knowing: Any = Mapper(torch.eye(4).tolist())
    with pytest.raises(UserError, match="pip install scikit-learn"):
        map_sentences(knowing, ["a", "b", "c", "d"], [1, 1, 2, 2], "tsne")
