"""Do counts and odd signs read as people write them?"""

from __future__ import annotations

import json
import math

from hypothesis import given
from hypothesis import strategies as st

from dragoman.wording import counted, escaped, json_text, visible, with_visible_spaces


def test_one_is_not_plural() -> None:
    assert [counted(number, "pair") for number in (0, 1, 25_007)] == ["0 pairs", "1 pair", "25,007 pairs"]


def test_controls_are_escaped_and_what_languages_need_stays() -> None:
    assert escaped("\0\x1b[31m\x9b\u2028\u202e\ud800") == r"\x00\x1b[31m\x9b\u2028\u202e\ud800"
    for text in ("می\u200cخواهم", "\U0001f469\u200d\U0001f467", "«\u00a0oui\u00a0»", "你好\u3000"):
        assert escaped(text) == text


def test_what_nobody_sees_is_shown() -> None:
    assert visible("a b\u00a0c\u200b\t好\u3000") == r"a b\xa0c\u200b\t好\u3000"
    assert with_visible_spaces("  a b  c ") == "␣␣a b ␣c␣"


@given(st.text())
def test_json_has_no_controls_and_says_the_same(text: str) -> None:
    written = json_text({"text": text})
    assert json.loads(written) == {"text": text}
    assert escaped(written.replace("\n", "")) == written.replace("\n", "")


def test_json_has_no_infinity() -> None:
    shown = json_text({"a": [math.inf, 1.5, (math.nan,)], "b": {"c": -math.inf, "d": "inf"}})
    assert json.loads(shown) == {"a": [None, 1.5, [None]], "b": {"c": None, "d": "inf"}}
