"""Which of several spellings of the same text is the one that is kept?"""

from __future__ import annotations

import unicodedata

import regex

_LINE_END = regex.compile(r"\r\n|\n|\r")


def nfc(text: str) -> str:
    """The text in Unicode normalisation form C (UAX #15): composed, nothing else changed."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def one_line(text: str) -> str:
    """Each line end (`\\r\\n`, `\\n` or `\\r`) becomes a space, for a search never puts one out."""
    return _LINE_END.sub(" ", text) if "\n" in text or "\r" in text else text
