"""Subwords: lossless for anything, never a crash, the same each time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dragoman.contracts import UserError
from dragoman.text.normalise import nfc
from dragoman.text.pieces import BYTE_IDS, BYTE_PIECES, RESERVED, RESERVED_IDS, SPACE, escape, unescape
from dragoman.text.subwords import SMALLEST, Method, SubwordSegmenter, fit_subwords
from tests.text.tiny import made_pairs

METHODS: tuple[Method, ...] = ("unigram", "bpe")
LINES = [text for pair in made_pairs(300) for text in pair]
NAMES = ["<s>", "</s>", "<0x41>", "<unk>", "<pad>", RESERVED[0], RESERVED[-1]]
TROUBLE = st.sampled_from(
    [
        *"ab我 \t\0",
        "\u2581",
        "\u2585",
        "\u200c",
        "\u200d",
        "\ufffd",
        "\ufeff",
        "\U0010fffd",
        "\ue000",
        "e\u0301",
        *NAMES,
    ]
)
ANY_TEXT = st.lists(st.characters(codec="utf-8", exclude_characters="\r\n") | TROUBLE).map("".join)


def fit(
    lines: list[str], size: int = 600, method: Method = "unigram", coverage: float = 0.9995
) -> tuple[SubwordSegmenter, list[str]]:
    def texts() -> Iterator[str]:
        return iter(lines)

    return fit_subwords(texts, size, method, coverage=coverage)


SEGMENTERS = {method: fit(LINES, 500, method)[0] for method in METHODS}


@pytest.mark.parametrize("method", METHODS)
@given(text=ANY_TEXT)
@example(text="\u2581")
@example(text=" \u2581 \U0010fffd1\U0010fffd ")
@example(text="  two  spaces  ")
@example(text="<s></s><0x41><unk><pad>" + "".join(RESERVED))
@example(text="\u2581\u0301")
def test_lossless(method: Method, text: str) -> None:
    segmenter = SEGMENTERS[method]
    ids = segmenter.encode([text])[0]
    assert segmenter.decode(ids) == nfc(text)
    assert not {0, 1, 2, 3, *RESERVED_IDS} & set(ids)
    assert bool(ids) == bool(text)


@given(ANY_TEXT)
def test_escape_is_undone(text: str) -> None:
    assert SPACE not in escape(text)
    assert unescape(escape(text)) == text


@pytest.mark.parametrize("method", METHODS)
def test_special_pieces_stand_where_they_should(method: Method) -> None:
    table = SEGMENTERS[method].pieces
    assert (table.padding, table.unknown, table.start, table.end) == (0, 1, 2, 3)
    assert table.pieces[:4] == ("<pad>", "<unk>", "<s>", "</s>")
    assert len(table.reserved) == 32 + 2 + 8
    assert tuple(table.pieces[index] for index in table.reserved) == RESERVED
    assert table.byte_ids == BYTE_IDS
    assert tuple(table.pieces[index] for index in BYTE_IDS) == BYTE_PIECES
    assert len(set(table.pieces)) == len(table) <= 500


def test_training_text_becomes_few_pieces() -> None:
    for segmenter in SEGMENTERS.values():
        for line, ids in zip(LINES[:20], segmenter.encode(LINES[:20]), strict=True):
            assert len(ids) < len(line)
            assert not set(ids) & set(BYTE_IDS)


def test_bytes_that_are_no_utf8_are_dropped() -> None:
    segmenter = SEGMENTERS["unigram"]
    euro = [BYTE_IDS[byte] for byte in "€".encode()]
    assert segmenter.decode(euro) == "€"
    assert segmenter.decode([*euro[:2], BYTE_IDS[0x41]]) == "A"
    assert segmenter.decode([2, *RESERVED_IDS, 0, BYTE_IDS[0x41], 3]) == "A"
    assert segmenter.decode([]) == ""


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "lines",
    [
        ["a"],
        ["a b", "你好", "c"],
        [SPACE],
        ["\0", "\u2585", "x\ty"],
        ["中" * 3000] * 2,
        NAMES * 40,
        ["a\nb\r\nc"],
    ],
)
def test_tiny_and_odd_corpora(method: Method, lines: list[str]) -> None:
    segmenter, notes = fit(lines, 8000, method)
    assert len(notes) == 1
    assert f"{len(segmenter.pieces):,} pieces, not 8,000" in notes[0]
    for text in (*lines, "other 文 \u2581"):
        if "\n" not in text:
            assert segmenter.decode(segmenter.encode([text])[0]) == text


def test_more_characters_than_pieces_lower_the_coverage_with_a_note() -> None:
    lines = ["".join(map(chr, range(0x4E00 + start, 0x4E00 + start + 50))) for start in range(0, 2000, 50)]
    segmenter, notes = fit(lines * 2, SMALLEST)
    assert len(segmenter.pieces) <= SMALLEST
    assert "spelt by bytes" in notes[0]
    assert segmenter.decode(segmenter.encode([lines[-1]])[0]) == lines[-1]


def test_sizes_and_texts_that_cannot_be() -> None:
    with pytest.raises(UserError, match="at least 400 pieces, not 399"):
        fit(["a"], 399)
    with pytest.raises(UserError, match="no text"):
        fit([" ", "\n"])


@pytest.mark.parametrize("method", METHODS)
def test_same_texts_same_model_and_round_trip(method: Method) -> None:
    again = fit(LINES, 500, method)[0]
    assert again == SEGMENTERS[method]
    assert SubwordSegmenter.from_bytes(again.to_bytes()) == again


@pytest.mark.parametrize("content", [b"", b"no model", SEGMENTERS["bpe"].model[:1000]])
def test_what_is_no_model_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="sentencepiece model"):
        SubwordSegmenter.from_bytes(content)


def test_threads_do_not_change_ids() -> None:
    segmenter = SEGMENTERS["unigram"]
    assert (
        segmenter.encode(LINES, threads=2) == segmenter.encode(LINES) == [segmenter.encode([line])[0] for line in LINES]
    )
    assert segmenter.encode([]) == []
