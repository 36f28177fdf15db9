"""Word spans in several scripts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.words import word_spans


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in word_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't stop, 3.5 km!", ["Don", "'", "t", "stop", ",", "3", ".", "5", "km", "!"]),
        ("我喜欢 Python3。", ["我", "喜", "欢", "Python3", "。"]),
        ("東京タワーへようこそ", ["東", "京", "タワー", "へようこそ"]),
        ("한국어를 배우다", ["한국어를", "배우다"]),
        ("cafe\u0301 naïve", ["cafe\u0301", "naïve"]),
        ("می\u200cخواهم بروم", ["می\u200cخواهم", "بروم"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("ok 👨‍👩‍👧👍🏽🇫🇷", ["ok", "👨‍👩‍👧", "👍🏽", "🇫🇷"]),
        ("{name}_x", ["{", "name", "}", "_", "x"]),
        ("   \t", []),
        ("", []),
    ],
)
def test_words_of_scripts(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text(alphabet=st.characters(codec="utf-8") | st.sampled_from("a我カ\u0301\u200d\u200c\ufe0f👩 \u0600\u3000")))
def test_spans_cover_everything_but_white_space(text: str) -> None:
    spans = word_spans(text)
    covered = [index for start, end in spans for index in range(start, end)]
    assert covered == sorted(set(covered))
    assert all(start < end for start, end in spans)
    assert all(text[index].isspace() for index in set(range(len(text))) - set(covered))
    assert not any(text[index].isspace() for index in covered)
