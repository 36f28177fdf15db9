"""NFC and line ends."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.normalise import nfc, one_line


def test_nfc_composes_and_leaves_compatibility_signs_alone() -> None:
    assert nfc("e\u0301") == "é"
    assert nfc("ﬁ１\u3000") == "ﬁ１\u3000"
    assert nfc("plain") == "plain"


@given(st.text(st.characters(codec="utf-8")))
def test_nfc_is_the_unicode_one(text: str) -> None:
    assert nfc(text) == unicodedata.normalize("NFC", text)


def test_line_ends_become_one_space_each() -> None:
    assert one_line("a\r\nb\nc\rd\u2028e") == "a b c d\u2028e"
    assert one_line("as it is ") == "as it is "
