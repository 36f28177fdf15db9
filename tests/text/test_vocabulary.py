"""Vocabularies of whole words and of characters; sampling."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.contracts import UserError
from dragoman.text.pieces import FIRST_FREE, RESERVED, SPACE, UNKNOWN
from dragoman.text.sampling import Texts, sample_texts
from dragoman.text.vocabulary import (
    CharacterSegmenter,
    WordSegmenter,
    characters_of,
    fit_characters,
    fit_words,
    words_of,
)

LINES = ["the cat sat", "the cat  ran.", "the dog, the cat", "我看见\tcat"]


def given_lines(lines: list[str]) -> Texts:
    def texts() -> Iterator[str]:
        return iter(lines)

    return texts


def test_words_carry_the_space_before_them() -> None:
    assert words_of("so, 我 go  ") == ["▁so", ",", "▁我", "▁go", "▁", "▁"]
    assert words_of(" a\tb") == ["▁", "▁a", "\t", "b"]
    assert words_of("") == []


@given(st.text(st.characters(codec="utf-8")))
def test_units_join_to_the_text(text: str) -> None:
    escaped = text.replace(SPACE, "")
    assert "".join(words_of(escaped)).replace(SPACE, " ") == (" " + escaped if escaped else "")
    assert "".join(characters_of(escaped)).replace(SPACE, " ") == escaped


def test_the_most_frequent_words_first_and_rare_ones_unknown() -> None:
    segmenter, notes = fit_words(given_lines(["the cat", "the cat", "the cat and a dog ran off"]), 400)
    assert segmenter.learnt[:3] == (SPACE, "▁cat", "▁the")
    assert "▁ran" not in segmenter.learnt
    assert notes == ["3 words cover 54.5% of the running text; any other is unknown"]
    assert segmenter.encode(["the ran cat"]) == [[FIRST_FREE + 2, UNKNOWN, FIRST_FREE + 1]]


def test_words_seen_twice_are_known_and_lossless() -> None:
    segmenter, notes = fit_words(given_lines(LINES * 2), 400)
    assert notes == []
    for line in [*LINES, "the  cat, the dog.", "我 看\tcat ", "dog"]:
        ids = segmenter.encode([line])[0]
        assert UNKNOWN not in ids
        assert segmenter.decode(ids) == line
    assert segmenter.pieces.pieces[4:FIRST_FREE] == RESERVED
    assert segmenter.pieces.byte_ids == ()


def test_the_size_counts_special_and_reserved_pieces() -> None:
    segmenter, notes = fit_words(given_lines([" ".join(f"w{index}" for index in range(900))] * 3), 400)
    assert len(segmenter.pieces) == 400
    assert len(notes) == 1
    characters, _ = fit_characters(given_lines([chr(0x4E00 + index) * 2 for index in range(900)]), 400)
    assert len(characters.pieces) == 400


def test_characters() -> None:
    segmenter, notes = fit_characters(given_lines(["abab cd", "dcba!"]), 400)
    assert segmenter.learnt == (SPACE, "a", "b", "c", "d")
    assert notes == ["5 characters cover 91.7% of the running text; any other is unknown"]
    assert segmenter.decode(segmenter.encode([" ab  dc "])[0]) == " ab  dc "
    assert segmenter.encode(["z"]) == [[UNKNOWN]]
    assert segmenter.decode([UNKNOWN, 0, 2, 3]) == ""


def test_a_sign_for_a_space_is_no_space() -> None:
    for fit in (fit_words, fit_characters):
        segmenter, _ = fit(given_lines([f"a{SPACE}b a"] * 3), 400)
        text = f"a {SPACE}b{SPACE} "
        assert segmenter.decode(segmenter.encode([text])[0]) == text


def test_saved_and_read() -> None:
    words = fit_words(given_lines(LINES), 400)[0]
    assert WordSegmenter.from_bytes(words.to_bytes()) == words
    characters = fit_characters(given_lines(LINES), 400)[0]
    assert CharacterSegmenter.from_bytes(characters.to_bytes()) == characters


@pytest.mark.parametrize("content", [b"", b"[]", b'{"pieces": 3}', b'{"pieces": [1]}', b'{"pieces": [""]}', b"\xff"])
def test_what_is_no_vocabulary_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r".*"):
        WordSegmenter.from_bytes(content)


def test_a_sample_is_even_ordered_and_repeatable() -> None:
    texts = given_lines([f"line {index}" for index in range(4000)])
    sample = sample_texts(texts, seed=3, lines=1000)
    assert 900 < len(sample) < 1100
    assert sample == sorted(sample, key=lambda line: int(line.split()[1]))
    assert sample == sample_texts(texts, seed=3, lines=1000) != sample_texts(texts, seed=4, lines=1000)
    assert 400 < len(sample_texts(texts, seed=3, characters=4000)) < 500
    assert len(sample_texts(texts, seed=3)) == 4000


def test_no_text_at_all() -> None:
    with pytest.raises(UserError, match="no text"):
        fit_words(given_lines([" "]), 400)
