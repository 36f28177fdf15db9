"""Raw text in, raw text out: white space, long texts, scores, prefixes, ensembles, files."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.contracts import Flag, Request, Sampling, SearchOptions, SentencePair, UserError
from dragoman.neural.outputs import flags_of, kept_space, repeats
from dragoman.neural.seq2seq import NeuralTranslator
from tests.neural.small import small_translator

LONG = "The young teacher bought the old lamp. " * 30


def test_a_hypothesis_is_scored_as_the_search_scored_it() -> None:
    translator = small_translator()
    sources = ["The quiet nurse saw two red books.", LONG.strip(), "12"]
    for options in (SearchOptions(n_best=3, beam=4), SearchOptions(beam=2, alpha=0.3, length_form="gnmt")):
        for translation in translator.translate(sources, options):
            for hypothesis in translation.hypotheses:
                score = translator.score([(translation.source, hypothesis)], options)[0]
                assert score.score == pytest.approx(hypothesis.score, abs=1e-4)
                assert score.log_probability == pytest.approx(hypothesis.log_probability, abs=1e-3)
                assert len(score.token_log_probabilities) == len(hypothesis.pieces) + 1


def test_a_text_is_scored_by_its_canonical_pieces() -> None:
    translator = small_translator()
    pair = SentencePair("The old lamp.", "die alte Lampe")
    score = translator.score([pair])[0]
    assert len(score.token_log_probabilities) == len(translator.pipeline.target.encode([pair.target])[0]) + 1
    assert score.log_probability == pytest.approx(sum(score.token_log_probabilities))
    assert all(value < 0 for value in score.token_log_probabilities)


def test_long_texts_are_cut_and_keep_their_white_space() -> None:
    translator = small_translator()
    text = "  The young teacher bought the old lamp.  \t" * 30
    assert len(translator.pipeline.source.encode([text])[0]) > translator.pipeline.longest
    hypothesis = translator.translate([text])[0].hypotheses[0]
    assert hypothesis.text.startswith("  ")
    assert hypothesis.text.endswith("  \t")
    assert hypothesis.pieces.count(translator.pipeline.target.pieces.end) >= 5
    unbroken = translator.translate(["x" * 2000, "word " * 500])
    assert all(translation.text.strip() for translation in unbroken)
    assert translator.translate(["one\n two\r\nthree"])[0].text.count("\n") == 2


def test_a_short_line_of_several_sentences_is_cut_where_training_had_one_a_line() -> None:
    translator = small_translator()
    text = "The old lamp. Two red books!  The nurse saw 12 apples."
    assert len(translator.pipeline.source.encode([text])[0]) <= translator.pipeline.longest
    assert translator.pipeline.sentences == 1
    together = translator.translate([text])[0].hypotheses[0]
    alone = translator.translate(["The old lamp.", "Two red books!", "The nurse saw 12 apples."])
    first, second, third = (translation.text for translation in alone)
    assert together.text == f"{first} {second}  {third}"


def test_batching_order_and_n_best_change_nothing() -> None:
    translator = small_translator()
    sources = [f"The child lost {count} letters in the city." * (1 + count % 3) for count in range(12)]
    expected = [translation.text for translation in translator.translate(sources)]
    assert [t.text for t in translator.translate(sources, SearchOptions(n_best=5, batch_tokens=60))] == expected
    assert [t.text for t in translator.translate(sources[::-1])][::-1] == expected


def test_n_best_lists_are_distinct_and_ordered() -> None:
    translator = small_translator()
    translation = translator.translate(["The farmer found the red picture."], SearchOptions(n_best=5))[0]
    texts = [hypothesis.text for hypothesis in translation.hypotheses]
    scores = [hypothesis.score for hypothesis in translation.hypotheses]
    assert len(set(texts)) == len(texts) > 1
    assert scores == sorted(scores, reverse=True)
    with pytest.raises(UserError, match="n-best 9 is above the beam of 5"):
        translator.translate(["x"], SearchOptions(n_best=9))


def test_a_prefix_is_how_the_translation_begins() -> None:
    translator = small_translator()
    translation = translator.translate([Request("The old lamp.", prefix="Der alte")])[0]
    assert translation.text.startswith("Der alte")
    with pytest.raises(UserError, match="cannot keep to given terms"):
        translator.translate([Request("lamp", terms=(("lamp", "Lampe"),))])


def test_a_prefix_that_cannot_come_out_is_refused() -> None:
    with pytest.raises(UserError, match="has a line end in it"):
        small_translator().translate([Request("The old lamp.", prefix="a\nb")])


@pytest.mark.parametrize(
    "options",
    [
        SearchOptions(alpha=float("nan")),
        SearchOptions(alpha=1e9),
        SearchOptions(alpha=-1.0),
        SearchOptions(max_ratio=float("inf")),
        SearchOptions(max_ratio=1e12),
        SearchOptions(beam=0),
        SearchOptions(n_best=-1),
        SearchOptions(batch_tokens=0),
    ],
)
def test_options_out_of_bounds_are_refused(options: SearchOptions) -> None:
    with pytest.raises(UserError, match="is a number from"):
        small_translator().translate(["The old lamp."], options)
    with pytest.raises(UserError, match="is a number from"):
        small_translator().score([SentencePair("The old lamp.", "die Lampe")], options)


def test_a_blank_text_and_its_own_hypothesis_have_an_empty_score() -> None:
    translator = small_translator()
    hypothesis = translator.translate([" "])[0].hypotheses[0]
    assert translator.score([(" ", hypothesis)])[0].token_log_probabilities == ()


def test_samples_depend_on_seed_and_text_alone() -> None:
    translator = small_translator()
    sources = ["The nurse lost 12 bottles.", "The doctor saw two lamps."]

    def texts(asked: list[str], seed: int) -> list[list[str]]:
        options = SearchOptions(n_best=3, sampling=Sampling(seed=seed))
        return [[hypothesis.text for hypothesis in each.hypotheses] for each in translator.translate(asked, options)]

    assert [texts([source], 4)[0] for source in sources] == texts(sources, 4)
    assert texts(sources, 5) != texts(sources, 4)


def test_an_ensemble_of_a_model_with_itself_is_the_model() -> None:
    one, other = small_translator(1), small_translator(2)
    sources = ["The old lamp.", "Two red books!"]
    alone, doubled = one.translate(sources), one.together([small_translator(1)]).translate(sources)
    for a, b in zip(alone, doubled, strict=True):
        assert a.text == b.text
        assert a.hypotheses[0].score == pytest.approx(b.hypotheses[0].score, abs=1e-5)
    mixed = one.together([other])
    hypothesis = mixed.translate(sources)[0].hypotheses[0]
    assert mixed.score([(sources[0], hypothesis)])[0].score == pytest.approx(hypothesis.score, abs=1e-4)


def test_attention_comes_out_a_row_a_piece() -> None:
    translator = small_translator()
    hypothesis = translator.translate(["The old lamp."], SearchOptions(attention=True))[0].hypotheses[0]
    sources = len(translator.pipeline.source.encode(["The old lamp."])[0]) + 1
    assert hypothesis.attention.shape == (len(hypothesis.pieces), sources)
    assert hypothesis.attention.sum(1) == pytest.approx(1, abs=1e-4)
    drawn = translator.translate(["The old lamp."], SearchOptions(attention=True, sampling=Sampling()))[0]
    assert drawn.hypotheses[0].attention.shape == (len(drawn.hypotheses[0].pieces), sources)


def test_saved_and_loaded_it_is_the_same(tmp_path: Path) -> None:
    translator = small_translator()
    translator.save(tmp_path)
    again = NeuralTranslator.load(tmp_path, device="cpu")
    sources = ["The old lamp.", "Two red books!"]
    assert again.translate(sources) == translator.translate(sources)
    assert again.describe() == translator.describe()


def test_flags() -> None:
    assert flags_of("a b c", "a b c", False) == (Flag.COPY,)
    assert flags_of("a", "", True) == (Flag.LENGTH_CAP, Flag.EMPTY)
    assert Flag.REPEATS in flags_of("x", "no no no no", False)
    assert not repeats(["one", "two", "one", "two", "one", "three"])
    assert repeats(["so", "it", "is", "so", "it", "is", "so", "it", "is", "so", "it", "is"])
    assert repeats(["but", *"他们都在那里" * 3, "了"])
    assert not repeats(["but", *"他们都在那里" * 2, *"他们"])
    assert not repeats([])


def test_outer_white_space_is_the_sources() -> None:
    assert kept_space("\t a b ", " x  y") == "\t x  y "
