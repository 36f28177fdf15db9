"""What signs a text is made of, counted for many texts at once, and how long it is."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.cleaning.scripts import SCRIPTS, scripts_of
from dragoman.cleaning.signs import (
    CLASSES,
    DIGIT,
    MARK,
    ODD,
    OTHER,
    PUNCTUATION,
    SPACE,
    Signs,
    class_of,
    classes_of,
)


@pytest.mark.parametrize(
    ("sign", "wanted"),
    [
        ("a", class_of("Latin")),
        ("é", class_of("Latin")),
        ("ß", class_of("Latin")),
        ("Ж", class_of("Cyrillic")),
        ("漢", class_of("Han")),
        ("の", class_of("Hiragana")),
        ("カ", class_of("Katakana")),
        ("한", class_of("Hangul")),
        ("ไ", class_of("Thai")),
        ("\u093f", class_of("Devanagari")),
        ("7", DIGIT),
        ("٧", DIGIT),
        ("。", PUNCTUATION),
        ("€", PUNCTUATION),
        (" ", SPACE),
        ("\u3000", SPACE),
        ("\u2028", SPACE),
        ("\x1c", SPACE),
        ("\0", ODD),
        ("\ufffd", ODD),
        ("\ufeff", ODD),
        ("\ue000", ODD),
        ("\U0010ffff", ODD),
        ("\u0301", MARK),
        ("\u200d", MARK),
    ],
)
def test_classes(sign: str, wanted: int) -> None:
    assert classes_of(np.array([ord(sign)])) == [wanted]


def test_half_of_a_pair_is_odd() -> None:
    assert classes_of(np.array([0xD800, 0xDFFF, 0xD800])).tolist() == [ODD] * 3
    assert Signs(["a\ud800"]).counts_NC[0, ODD] == 1


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=20), max_size=8))
def test_counts_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    together = Signs(texts)
    assert together.counts_NC.shape == (len(texts), CLASSES)
    assert together.counts_NC.sum(1).tolist() == [len(text) for text in texts]
    for place, text in enumerate(texts):
        alone = Signs([text])
        assert together.counts_NC[place].tolist() == alone.counts_NC[0].tolist()
        assert together.units_N[place] == alone.units_N[0]
        assert together.longest_word_N[place] == alone.longest_word_N[0]


@given(st.lists(st.text(st.sampled_from("abZ é,.-7 \u00a0\t"), max_size=30), min_size=1, max_size=8))
def test_units_of_scripts_with_spaces_are_what_stands_between_white_space(texts: list[str]) -> None:
    signs = Signs(texts)
    assert signs.units_N.tolist() == [len(text.split()) for text in texts]
    assert signs.longest_word_N.tolist() == [max(map(len, text.split()), default=0) for text in texts]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("two words, really", 3),
        ("", 0),
        ("你好。", 2),
        ("我用 numpy 写", 4),
        ("我用numpy写", 4),
        ("第3章", 3),
        ("ไทย", 3),
        ("한국어 단어", 2),
        ("すし", 2),
        ("— 是", 2),
    ],
)
def test_units(text: str, units: int) -> None:
    assert Signs([text]).units_N.tolist() == [units]


@given(st.characters(codec="utf-8"))
def test_the_table_agrees_with_the_unicode_database(sign: str) -> None:
    category, found = unicodedata.category(sign), int(classes_of(np.array([ord(sign)]))[0])
    if category == "Nd":
        assert found == DIGIT
    elif sign.isspace():
        assert found == SPACE
    elif category[0] in "PS" and sign != "\ufffd":
        assert found == PUNCTUATION
    elif category[0] == "L":
        assert found >= OTHER


@pytest.mark.parametrize(
    ("language", "scripts"),
    [
        ("en", ("Latin",)),
        ("yor", ("Latin",)),
        ("zh", ("Han", "Bopomofo")),
        ("zh_TW", ("Han", "Bopomofo")),
        ("ja", ("Han", "Hiragana", "Katakana")),
        ("sr@latin", ("Latin",)),
        ("sr", ("Cyrillic", "Latin")),
        ("kpv", SCRIPTS),
        ("uz-Cyrl", ("Cyrillic",)),
        ("ru-RU", ("Cyrillic",)),
    ],
)
def test_scripts_of_languages(language: str, scripts: tuple[str, ...]) -> None:
    assert scripts_of(language) == scripts
