"""Are the probabilities those of the papers?"""

from __future__ import annotations

import math

import numpy as np
import pytest

from dragoman.contracts import UserError
from dragoman.corpus.textfiles import ListText
from dragoman.lm.model import NgramModel
from dragoman.lm.recipes import NgramRecipe
from dragoman.lm.smoothing import discounts_of
from tests.lm.small import BABBLE, CATS, SMOOTHINGS, Definition, babble, learn

HISTORIES = ["", "a", "c b", "the", "b a c", "j j j j", "a c b a c", "nobody knows", "i h g", "a nobody a c"]


def sums(model: NgramModel, histories: list[str]) -> list[float]:
    return [sum(map(math.exp, model.all_next(history).values())) for history in histories]


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_probabilities_are_those_of_the_definition(smoothing: str, order: int) -> None:
    defined, model = Definition(BABBLE, order, smoothing, 0.3), learn(BABBLE, order=order, smoothing=smoothing, k=0.3)
    for history in HISTORIES:
        seen = ("<s>", *(word if word in defined.words else "<unk>" for word in history.split()))
        for word, log_prob in model.all_next(history).items():
            assert math.exp(log_prob) == pytest.approx(defined.p(word, seen), rel=1e-5), (history, word)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_scores_are_products_of_them(smoothing: str) -> None:
    defined, model = Definition(BABBLE, 3, smoothing), learn(BABBLE, order=3, smoothing=smoothing)
    for line in [*BABBLE[:5], *babble(5, seed=9)]:
        words = ("<s>", *line.split(), "</s>")
        wanted = [defined.p(word, words[:at]) for at, word in enumerate(words) if at]
        (score,) = model.score([line])
        assert np.exp(score.token_log_probabilities) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("seed", range(4))
def test_every_context_sums_to_one(smoothing: str, seed: int) -> None:
    """Of texts, orders, thresholds and vocabularies drawn at random."""
    random = np.random.default_rng(seed)
    lines = babble(int(random.integers(1, 60)), seed)
    order = int(random.integers(1, 6))
    prune = np.append(0, np.sort(random.integers(0, 4, random.integers(0, order)))).tolist()
    model = learn(lines, order=order, smoothing=smoothing, prune=prune, vocabulary=int(random.integers(0, 8)))
    for state in range(len(model.ngrams.backs_Y)):
        assert math.fsum(np.exp(model.ngrams.following(state))) == pytest.approx(1, abs=1e-5)


def test_small_figures_by_hand() -> None:
    """Eight words: the, cat, sat, ran, a, dog, </s>, <unk>. Behind *the* there was *cat* twice, and nothing else."""
    for smoothing, behind_the, sat_behind_cat in (
        ("maximum-likelihood", 1.0, 1 / 2),
        ("add-k", 3 / 10, 2 / 10),
        # unigrams (c + 8/8) / (12 + 8 - 1): 12 running words and ends, 7 kinds of them; 7/8 go to each of 8 words
        ("witten-bell", (2 + 1 * (2 + 7 / 8) / 19) / 3, (1 + 2 * (2 + 7 / 8) / 19) / 4),
    ):
        model = learn(CATS, order=2, smoothing=smoothing)
        assert math.exp(model.all_next("the")["cat"]) == pytest.approx(behind_the)
        assert math.exp(model.all_next("the cat")["sat"]) == pytest.approx(sat_behind_cat)


def test_kneser_and_ney_count_what_stands_before() -> None:
    """The bigrams <s> the (2), the cat (2), cat sat, cat ran, sat </s> (2), ran </s>, <s> a, a dog, dog sat: 9 kinds,
    two before *sat* and before </s>. With D1 = 0.5 and D2 = 1 p(sat) = (2 - 1) / 9 + gamma / 8, where gamma is
    (5 D1 + 2 D2) / 9; behind *cat* (two kinds, once each): (1 - 0.5) / 2 + 0.5 p(sat)."""
    notes: list[str] = []
    model = learn(CATS, notes, order=2)
    sat = 1 / 9 + (5 * 0.5 + 2 * 1) / 9 / 8
    assert math.exp(model.all_next("nobody")["sat"]) == pytest.approx(sat)
    assert math.exp(model.all_next("the cat")["sat"]) == pytest.approx(0.25 + 0.5 * sat)
    assert [note.partition(":")[0] for note in notes] == ["order 1", "order 2"]


def test_a_text_of_three_lines_trains_with_a_warning() -> None:
    notes: list[str] = []
    model = learn(CATS, notes, order=3)
    assert "discounts cannot be estimated" in notes[0]
    assert "0.5, 1.0, 1.5" in notes[0]
    assert np.isfinite(model.ngrams.log_probs_X).all()
    assert np.isfinite(model.ngrams.backoffs_Y).all()
    assert sums(model, ["", "the", "the cat", "cat", "a dog", "no"]) == pytest.approx([1] * 6, abs=1e-6)


def test_discounts_are_those_of_equation_26() -> None:
    masses_N = np.repeat([1, 2, 3, 4, 9], [40, 20, 10, 5, 30]).astype(np.int32)
    found, note = discounts_of(masses_N, 2)
    assert found == pytest.approx((1 - 2 * 0.5 * 20 / 40, 2 - 3 * 0.5 * 10 / 20, 3 - 4 * 0.5 * 5 / 10))
    assert note == ""
    found, note = discounts_of(masses_N[masses_N != 3], 2)
    assert found == (0.5, 1.0, 1.5)
    assert "order 2" in note


def test_what_stands_there_seldom_is_pruned_by_its_occurrences() -> None:
    whole, pruned = learn(BABBLE, order=3), learn(BABBLE, order=3, prune="0 1 2")
    counts = Definition(BABBLE, 3, "kneser-ney").counts
    kept = [
        sum(len(gram) == size and count > least for gram, count in counts.items()) for size, least in ((2, 1), (3, 2))
    ]
    assert pruned.ngrams.counts == (whole.ngrams.counts[0], *kept)
    assert pruned.facts["discounts"] == whole.facts["discounts"]
    figures = [model.evaluate(ListText([BABBLE])).perplexity for model in (whole, pruned)]
    assert figures[0] < figures[1] < 2 * figures[0]


def test_the_last_threshold_holds_for_the_orders_behind_it() -> None:
    assert (
        learn(BABBLE, order=4, prune=(0, 1)).ngrams.counts == learn(BABBLE, order=4, prune=(0, 1, 1, 1)).ngrams.counts
    )


def test_what_is_no_threshold_is_refused() -> None:
    for prune in ("1", "0 2 1", "0 -1", "0 0 0 0"):
        with pytest.raises(ValueError, match="prune"):
            NgramRecipe(order=3, prune=prune)  # type: ignore[arg-type]


def test_a_bounded_vocabulary_makes_the_others_unknown() -> None:
    notes: list[str] = []
    model = learn(BABBLE, notes, order=2, vocabulary=3)
    assert model.vocabulary.words == ("<unk>", "<s>", "</s>", *sorted("abc", key=" ".join(BABBLE).index))
    assert notes[0].startswith("3 words are known; ")
    seen = [word if word in "abc" else "<unk>" for line in BABBLE for word in line.split()]
    unknown = learn(BABBLE, order=1, vocabulary=3, smoothing="maximum-likelihood")
    assert math.exp(unknown.all_next()["<unk>"]) == pytest.approx(seen.count("<unk>") / (len(seen) + len(BABBLE)))


def test_characters_are_units_too() -> None:
    model = learn(["我 是 学生", "我是老师", "他是学生"] * 3, order=3, units="characters")
    assert set(model.vocabulary.words[3:]) == set("我是学生老师他\u2581")
    assert model.all_next("我是")["老"] > model.all_next("他是")["老"]
    (text,) = model.generate("我是")
    assert text.text.startswith("我是")
    assert not {"\u2581", "<unk>"} & set(text.text)
    (score,) = model.score(["我 是"])
    assert len(score.token_log_probabilities) == 4


def test_an_empty_text_and_reserved_words_are_refused() -> None:
    with pytest.raises(UserError, match="no line with text"):
        learn(["", "  "])
    with pytest.raises(UserError, match=r"text 1:2: <unk>, <s>, </s>: reserved"):
        learn(["the cat", "the <s> cat </s> sat <unk>"])
    with pytest.raises(UserError, match=r"text 1:1: <UNK>: reserved"):
        learn(["the <UNK> cat"])
    notes: list[str] = []
    model = learn(["the <s> cat </s> sat <unk>", "<UNK> a </s>"] * 4, notes, reserved="skip", order=2)
    assert notes[0].startswith("text 1:1: reserved words are left out")
    assert sorted(model.vocabulary.words) == ["</s>", "<s>", "<unk>", "a", "cat", "sat", "the"]
    assert model.facts["words"] == 16


def test_a_text_without_spaces_is_noticed() -> None:
    notes: list[str] = []
    learn(["我们今天去看电影。"] * 4, notes, order=2)
    assert "units=characters counts signs" in notes[0]
    for line, units in (
        ("我们 今天 去 看 电影 。", "words"),
        ("the cat sat on the mat", "words"),
        ("我们今天去", "characters"),
    ):
        notes.clear()
        learn([line] * 4, notes, order=2, units=units)
        assert not any("few spaces" in note for note in notes)


def test_without_smoothing_what_was_not_seen_is_impossible() -> None:
    model = learn(CATS, order=2, smoothing="maximum-likelihood")
    likely, unlikely, unknown = (score.log_probability for score in model.score(["a dog sat", "a cat sat", "my dog"]))
    assert likely == pytest.approx(math.log(1 / 3))
    assert unlikely == unknown == -math.inf
    assert model.evaluate(ListText([["a cat sat"]])).perplexity == math.inf
