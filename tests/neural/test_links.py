"""Do links join the words that were looked at, wherever these stand in the raw texts?"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from dragoman.contracts import Request, SearchOptions, Translation
from dragoman.neural.links import Side, links_of
from dragoman.neural.segments import Found, Segment, Settled, translated
from dragoman.text.options import TextOptions, Units
from dragoman.text.pieces import SPACE
from dragoman.text.pipeline import Pipeline, fit_pipeline
from dragoman.text.words import word_spans
from tests.generated import generated_bitext
from tests.neural.small import small_translator

PLAIN = Side([(0, 1), (2, 3), (4, 5)], [(0, 2), (2, 4), (4, 5)])  # "a b c" in pieces "a ", "b ", "c"
BITEXT = generated_bitext(150, "en", "zh")
PIPELINES = {
    units: replace(fit_pipeline(BITEXT, TextOptions(units=units, pieces=450)), longest=12)
    for units in ("unigram", "bpe", "characters")
}


def test_each_word_is_linked_with_the_word_that_was_looked_at_most() -> None:
    attention_TS = [[0.1, 0.2, 0.6, 0.1], [0.7, 0.1, 0.1, 0.1], [0.2, 0.3, 0.1, 0.4]]
    assert links_of(attention_TS, PLAIN, PLAIN) == [(0, 1), (1, 2), (2, 0)]


def test_pieces_of_a_word_are_added_up_on_both_sides() -> None:
    """0.3 + 0.3 for the first word against 0.4 for the second; the target word is seen through both of its pieces."""
    source = Side([(0, 2), (3, 4)], [(0, 1), (1, 3), (3, 4)])
    assert links_of([[0.3, 0.3, 0.4, 0.0]], source, Side([(0, 1)], [(0, 1)])) == [(0, 0)]
    target = Side([(0, 2)], [(0, 1), (1, 2)])
    assert links_of([[0.3, 0.2, 0.5, 0.0], [0.1, 0.1, 0.8, 0.0]], source, target) == [(1, 0)]
    assert links_of([[0.5, 0.4, 0.1, 0.0], [0.1, 0.3, 0.6, 0.0]], source, target) == [(0, 0)]


def test_white_space_and_the_end_piece_are_passed_over() -> None:
    """A piece that is a space alone, and the last column, take what is looked at but are linked with nothing."""
    source = Side([(0, 1), (2, 3)], [(0, 1), (1, 2), (2, 3)])
    target = Side([(1, 2)], [(0, 1), (1, 2)])
    assert links_of([[0.9, 0.0, 0.1, 0.0], [0.02, 0.3, 0.05, 0.63]], source, target) == [(1, 0)]
    assert links_of([[0.0, 0.0, 1.0, 0.0], [0.0, 0.5, 0.0, 0.5]], source, target) == []


def test_words_that_share_a_piece_are_linked_together() -> None:
    both = Side([(0, 1), (1, 2), (2, 3)], [(0, 2), (2, 3)])
    assert links_of([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1]], both, both) == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2)]
    assert links_of([[0.1, 0.8, 0.1], [0.3, 0.6, 0.1]], both, both) == [(2, 0), (2, 1), (2, 2)]


def test_without_words_there_are_no_links() -> None:
    assert links_of(np.ones((1, 2)), Side([], [(0, 1)]), PLAIN) == []
    assert links_of(np.ones((0, 4)), PLAIN, Side([], [])) == []


# --- through the whole of a translation -----------------------------------------------------------


def copied(pipeline: Pipeline, texts: Sequence[str], prefix: str = "") -> list[Translation]:
    """What a model would give that writes each piece of the source, looking at it."""

    def search(segments: Sequence[Segment]) -> list[list[Found]]:
        return [
            [Found(tuple(each.pieces), 0.0, 0.0, attention=np.eye(len(each.pieces), len(each.pieces) + 1))]
            for each in segments
        ]

    return translated(pipeline, [Request(text, prefix) for text in texts], Settled(links=True), search)


COPIED = [
    BITEXT.pairs[0].source,
    BITEXT.pairs[0].target,
    "  the  red \t apple  ",
    "Cafe\u0301 in the garden\u0301.",
    "a\u0323\u0307b 我 的\u0301书",
    "\u1100\u1161\u11a8 book",
    "▁ x▁y 👩\u200d👧 apple",
    " ".join(pair.source for pair in BITEXT.pairs[:5]),
    " \u3000" + "".join(pair.target for pair in BITEXT.pairs[:6]) + "  ",
    "first line\nCafe\u0301 second  line\r\n third",
    "x" * 40 + " apple",
]


@pytest.mark.parametrize("units", PIPELINES)
@pytest.mark.parametrize("prefix", ["", "The"])
def test_a_copy_links_every_word_with_itself(units: Units, prefix: str) -> None:
    """Also where composition moved it, and where the text was cut (`longest` is 12 pieces) and joined again."""
    pipeline = PIPELINES[units]
    texts = [unicodedata.normalize("NFC", text) if units == "characters" else text for text in COPIED]
    if units == "characters":  # what is unknown is not written
        known = set(pipeline.source.pieces.pieces) - {SPACE}
        texts = ["".join(sign for sign in text if sign in known or sign.isspace()) for text in texts]
    for text, translation in zip(texts, copied(pipeline, texts, prefix), strict=True):
        best = translation.hypotheses[0]
        assert best.links is not None
        assert len(best.words) == len(word_spans(text))
        assert {(word, word) for word in range(len(best.words))} <= set(best.links)
        assert best.attention is None
        for source, target in best.links:  # the others share a piece, which is at most some characters long
            between = text[slice(*sorted([translation.source_words[source][0], translation.source_words[target][1]]))]
            assert source == target or (units != "characters" and len(between.split()) <= 1)


def test_unknown_words_are_linked_where_they_stand() -> None:
    pipeline = fit_pipeline(BITEXT, TextOptions(units="words", pieces=400))
    text = "The Zyx teacher  bought the Cafe\u0301 book."
    (translation,) = copied(pipeline, [text])
    best = translation.hypotheses[0]
    assert best.links is not None
    linked = [(text[slice(*translation.source_words[i])], best.text[slice(*best.words[j])]) for i, j in best.links]
    assert linked == [(word, word) for word in ("The", "teacher", "bought", "the", "book", ".")]


def test_links_are_there_where_they_are_asked_for() -> None:
    translator = small_translator()
    texts = [pair.source for pair in BITEXT.pairs[:3]] + ["", " ", " ".join(pair.source for pair in BITEXT.pairs[:9])]
    plain = translator.translate(texts)
    linked = translator.translate(texts, SearchOptions(links=True, n_best=2, beam=2))
    assert all(translation.hypotheses[0].links is None for translation in plain)
    for translation in linked:
        for hypothesis in translation.hypotheses:
            assert hypothesis.links is not None
            assert {target for _, target in hypothesis.links} <= set(range(len(hypothesis.words)))
            assert hypothesis.attention is None
    assert linked[3].hypotheses[0].links == linked[4].hypotheses[0].links == ()
    assert {s for s, _ in linked[5].hypotheses[0].links or ()} != set()
