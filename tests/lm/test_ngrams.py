"""Do states, tables and draws say what the probabilities say?"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dragoman.contracts import Flag, Sampling, UserError
from dragoman.lm import smoothing_kernels as estimating
from dragoman.lm import table_kernels, trie_kernels, walk_kernels, window_kernels, word_kernels
from dragoman.lm.arpa import read_arpa, write_arpa
from dragoman.lm.counting import windows_of
from dragoman.lm.model import NgramModel
from dragoman.lm.units import END, UNKNOWN
from dragoman.texts import Generating
from tests.lm.small import BABBLE, SMOOTHINGS, babble, learn

MODULES = (window_kernels, trie_kernels, estimating, walk_kernels, word_kernels, table_kernels)


@pytest.fixture(scope="module")
def model() -> NgramModel:
    """Trigrams of letters."""
    return learn(BABBLE, order=3)


def test_batches_of_states_go_on_like_single_sentences(model: NgramModel) -> None:
    lines = [line for line in babble(30, seed=8, words="abcxyz") if len(line.split()) == 6]
    ids_BT = np.array([[*model.vocabulary.ids(line), END] for line in lines], np.int32)
    states_B = np.full(len(lines), model.ngrams.start)
    for column, score in enumerate(zip(*(one.token_log_probabilities for one in model.score(lines)), strict=True)):
        log_probs_B, after_B = model.ngrams.advance(states_B, ids_BT[:, column])
        assert log_probs_B == pytest.approx(score, abs=1e-6)
        assert (states_B == model.ngrams.start).all() or column  # what was passed in stays
        states_B = after_B
    assert UNKNOWN in ids_BT


def test_words_of_a_beam_are_asked_for_at_once(model: NgramModel) -> None:
    states_B1, words_BK = np.array([[model.ngrams.start], [0]]), np.array([[3, 4, 5], [2, 0, 3]])
    log_probs_BK, after_BK = model.ngrams.advance(states_B1, words_BK)
    for row, column in np.ndindex(2, 3):
        state, word = int(states_B1[row, 0]), int(words_BK[row, column])
        assert log_probs_BK[row, column] == pytest.approx(model.ngrams.following(state)[word], abs=1e-6)
        assert after_BK[row, column] == model.ngrams.behind([word], state)
    assert model.ngrams.advance(np.array(0), np.array(3))[0].shape == ()


def test_a_state_is_all_that_the_future_depends_on(model: NgramModel) -> None:
    histories = babble(60, seed=5)
    by_state: dict[int, list[str]] = {}
    for history in histories:
        by_state.setdefault(model.ngrams.behind(model.vocabulary.ids(history)), []).append(history)
    assert len(by_state) < len(histories)
    for state, same in by_state.items():
        for history in same:
            assert model.all_next(history)["b"] == pytest.approx(
                model.ngrams.following(state)[model.vocabulary.ids("b")[0]]
            )
    states = np.unique(model.ngrams.states_X[1:])
    children = np.diff(model.ngrams.begins_Y)
    assert all(children[state] for state in states if state)  # a shorter one would do


def test_what_is_no_state_or_word_is_refused(model: NgramModel) -> None:
    advance = model.ngrams.advance
    for states, words in (([-1], [3]), ([10**6], [3]), ([0], [-1]), ([0], [10**6]), ([0, 0, 0], [3, 3])):
        with pytest.raises(ValueError, match=r"outside|broadcast"):
            advance(np.array(states), np.array(words))
    assert [len(each) for each in advance(np.array([], np.int64), np.array([], np.int64))] == [0, 0]


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_searching_and_the_table_say_the_same(smoothing: str) -> None:
    model = learn(BABBLE, order=4, smoothing=smoothing, prune="0 0 1")
    ids_X = model.vocabulary.ids_of_lines(babble(40, seed=6, words="abcdefghijkl"))
    found_X = np.empty(len(ids_X), np.float32)
    walk_kernels.predict(ids_X, model.ngrams.start, *model.ngrams._arrays, found_X)
    assert (model.ngrams.predict(ids_X) == found_X).all()
    assert "_table" in model.ngrams.__dict__


def test_lines_are_numbered_as_one_by_one(model: NgramModel) -> None:
    lines = ["a b  c", "", " a\tb ", "q a\x0bb\x0cc\rd", "\u3000 a", "a </s> <s>", "é b", "<unk>"]
    wanted = [number for line in lines for number in (*model.vocabulary.ids(line), END)]
    assert model.vocabulary.ids_of_lines(lines).tolist() == wanted
    assert model.vocabulary.ids("q a </s> <s> <unk> b") == [
        UNKNOWN,
        *model.vocabulary.ids("a"),
        *[UNKNOWN] * 3,
        *model.vocabulary.ids("b"),
    ]
    assert model.vocabulary.ids_of_lines(["a\nb", "c"]).tolist() == [
        *model.vocabulary.ids("a b"),
        END,
        *model.vocabulary.ids("c"),
        END,
    ]
    assert model.vocabulary.ids_of_lines([]).tolist() == []


# --- drawing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(top_p=1 - 1e-12)])
def test_draws_follow_the_probabilities(model: NgramModel, sampling: Sampling) -> None:
    """Of single words in a context with much that was not seen; chi-squared stays below what 1 in 10^4 has."""
    total = 4000 if sampling.top_p == 1 else 1000
    following = {name: math.exp(value) for name, value in model.all_next("a c").items() if name != "<unk>"}
    whole = sum(following.values())
    ids = [model.vocabulary.words.index(name) for name in following]
    state = model.ngrams.behind(model.vocabulary.ids("a c"))
    if sampling.top_p == 1:
        drawn = Counter(model.ngrams.draw(state, stream * 977, 1)[0][0] for stream in range(total))
    else:
        texts = model.generate("a c ", Generating(total, 1, sampling))
        names = Counter(text.text.removeprefix("a c ") or "</s>" for text in texts)
        drawn = Counter({model.vocabulary.words.index(name): count for name, count in names.items()})
    assert sum(drawn.values()) == total
    expected = [share / whole * total for share in following.values()]
    statistic = sum((drawn[word] - much) ** 2 / much for word, much in zip(ids, expected, strict=True))
    assert statistic < len(ids) + 4 * math.sqrt(2 * len(ids)) + 8


def test_what_is_drawn_has_the_log_probability_of_the_model(model: NgramModel) -> None:
    for sampling in (Sampling(seed=4), Sampling(0.7, seed=4), Sampling(top_k=3, seed=4)):
        for one in model.generate("", Generating(5, 30, sampling)):
            (score,) = model.score([one.text]) if one.text else (None,)
            if score is not None and not one.flags:
                assert one.log_probability == pytest.approx(score.log_probability, abs=1e-4)


def test_a_begun_word_is_ended() -> None:
    model = learn(["the cat sat", "the cattle ran", "the dog sat"] * 5, order=2)
    texts = {one.text for one in model.generate("the ca", Generating(40, 1))}
    assert {text.split()[1] for text in texts} == {"cat", "cattle"}
    assert {one.text.split()[1] for one in model.generate("the zz", Generating(5, 3))} == {"zz"}
    assert model.generate("the ca", Generating(sampling=Sampling(temperature=0)))[0].text in (
        "the cat sat",
        "the cattle ran",
    )
    for one in model.generate("the zz", Generating(5, 3)):
        assert one.text == "the zz" or one.text.startswith("the zz ")


def test_without_smoothing_only_what_was_seen_is_written() -> None:
    model = learn(BABBLE, order=3, smoothing="maximum-likelihood")
    seen = {
        gram for line in BABBLE for gram in zip(*(["<s>", *line.split(), "</s>"][at:] for at in range(3)), strict=False)
    }
    for one in model.generate("", Generating(200, 50)):
        words = ["<s>", *one.text.split(), "</s>"]
        grams = set(zip(*(words[at:] for at in range(3)), strict=False))
        assert Flag.LENGTH_CAP in one.flags or grams <= seen


def test_a_line_end_in_the_prefix_is_refused(model: NgramModel) -> None:
    with pytest.raises(UserError, match="single lines"):
        model.generate("a\nb")


# --- kernels --------------------------------------------------------------------------------------


def everything(folder: Path) -> dict[str, Any]:
    """What all kernels make of a few lines."""
    found: dict[str, Any] = {}
    for smoothing in SMOOTHINGS:
        model = learn(BABBLE[:12], order=3, smoothing=smoothing, prune="0 0 1")
        ngrams = model.ngrams
        found |= {
            f"{smoothing} {name}": getattr(ngrams, name)
            for name in ("words_X", "log_probs_X", "backoffs_Y", "states_X")
        }
        found[f"{smoothing} scores"] = model.log_probabilities(BABBLE[10:14])
        found[f"{smoothing} drawn"] = ngrams.draw(ngrams.start, 5, 6)
        few = model.vocabulary.ids_of_lines(["a"])
        found[f"{smoothing} few"] = replace(ngrams).predict(few)  # has made no table
        found[f"{smoothing} batch"] = ngrams.advance(np.array([0, ngrams.start]), np.array([3, 4]))
        found[f"{smoothing} behind"] = ngrams.behind([3, 4])
    write_arpa(model, folder / "model.arpa")
    found["read"] = read_arpa(folder / "model.arpa").ngrams.states_X
    blocks = [np.array([1, *ids, 2], np.int32) for ids in ([3, 4, 5], [3, 4], [9, 3])]
    first, second = (windows_of(np.concatenate(part), 3) for part in (blocks[:2], blocks[1:]))
    rows_NW, counts_N = np.zeros((20, 3), np.uint32), np.zeros(20, np.int32)
    found["merged"] = window_kernels.merge_rows(
        first.rows_NW, first.counts_N, second.rows_NW, second.counts_N, rows_NW, counts_N
    )
    found |= {"rows": rows_NW, "counts": counts_N}
    return found


def test_every_kernel_is_its_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = everything(tmp_path)
    names = {name for module in MODULES for name, thing in vars(module).items() if hasattr(thing, "py_func")}
    for module in MODULES:
        for name in names:
            if hasattr(module, name):
                monkeypatch.setattr(module, name, getattr(module, name).py_func)
    with np.errstate(over="ignore"):
        plain = everything(tmp_path)
    for name, value in compiled.items():
        np.testing.assert_allclose(value, plain[name], rtol=1e-5, atol=1e-6, err_msg=name)


def test_a_saved_model_is_the_same(tmp_path: Path) -> None:
    model = learn(["naïve \u2028 x\xa0y 我", "a\x85b c"], order=2)
    model.save(tmp_path)
    again = NgramModel.load(tmp_path)
    assert again.vocabulary == model.vocabulary
    assert again.score(["我 a\x85b"]) == model.score(["我 a\x85b"])
    (tmp_path / "words.txt").write_bytes(b"<unk>\n<s>\n</s>\n")
    with pytest.raises(UserError, match="damaged"):
        NgramModel.load(tmp_path)
