"""Where do words stand in raw text, without a word list?

Words are character spans in the raw text, so that links and pictures can point at it. The rules
need no language: Chinese signs are words of their own, and scripts that write several words
without a space between them (Thai, Khmer) keep such a run whole.
"""

from __future__ import annotations

import regex

from dragoman.contracts import Span

_KANA_LENGTH = "ーｰ"
WHITE_SPACE = r"\s\x1c-\x1f"  # as str.isspace()
_HAN = r"\p{Han}\p{M}*"
_HIRAGANA = rf"(?:[\p{{Hiragana}}{_KANA_LENGTH}]\p{{M}}*)+"
_KATAKANA = rf"(?:[\p{{Katakana}}{_KANA_LENGTH}]\p{{M}}*)+"
# A joiner or non-joiner (U+200D, U+200C) between letters belongs to the word: Persian, Indic scripts.
_LETTERS = (
    rf"(?:(?![\p{{Han}}\p{{Hiragana}}\p{{Katakana}}{_KANA_LENGTH}])[\p{{L}}\p{{N}}]"
    r"\p{M}*(?:[\u200c\u200d]+(?=[\p{L}\p{N}]))?)+"
)
# Any other sign with all that is drawn on it: an emoji sequence or a flag is one sign.
_SIGN = rf"(?![{WHITE_SPACE}]|\p{{Grapheme_Cluster_Break=Prepend}})\X|[^{WHITE_SPACE}]"

WORD_PATTERN = rf"{_HAN}|{_KATAKANA}|{_HIRAGANA}|{_LETTERS}|{_SIGN}"
_WORD = regex.compile(WORD_PATTERN)


def word_spans(text: str) -> tuple[Span, ...]:
    """Spans of the words of `text`, from left to right; white space is in none of them.

    A run of letters, marks and digits is a word; so is each Chinese sign, each run of one kind of
    kana, and each other sign that is not white space.

    >>> [text[i:j] for text in ["It's 5 %."] for i, j in word_spans(text)]
    ['It', "'", 's', '5', '%', '.']
    >>> [text[i:j] for text in ["我是李明。"] for i, j in word_spans(text)]
    ['我', '是', '李', '明', '。']
    """
    return tuple(match.span() for match in _WORD.finditer(text))
