"""Are pieces found again in the text that they were cut from, whatever the text is?"""

from __future__ import annotations

import random
import unicodedata

import pytest

from dragoman.text import pieces
from dragoman.text.pipeline import AnySegmenter
from dragoman.text.places import piece_links, raw_spans, shared, spelt_spans
from dragoman.text.subwords import fit_subwords
from dragoman.text.vocabulary import fit_characters, fit_words
from dragoman.text.words import word_spans
from tests.text.tiny import made_pairs

TEXTS = [text for pair in made_pairs(200) for text in pair]
SEGMENTERS: dict[str, AnySegmenter] = {
    "unigram": fit_subwords(lambda: iter(TEXTS), 420)[0],
    "bpe": fit_subwords(lambda: iter(TEXTS), 420, "bpe")[0],
    "words": fit_words(lambda: iter(TEXTS), 400)[0],
    "characters": fit_characters(lambda: iter(TEXTS), 400)[0],
}
ODD = [
    "",
    " ",
    "e\u0301",
    "Cafe\u0301  mit  Milch",
    "a\u0323\u0307 a\u0307\u0323 q\u0307\u0323",
    "각 \u1100\u1161\u11a8",
    "我喜欢 老师",
    "▁ a▁b \U0010fffd0 \U0010fffd",
    "👩\u200d👩\u200d👧!",
    "\u0301x\n\u0301",
    "tab\there",
    "ﬁ \u212b \u2126",
]


@pytest.fixture(params=SEGMENTERS)
def segmenter(request: pytest.FixtureRequest) -> AnySegmenter:
    return SEGMENTERS[request.param]


def odd_text(draw: random.Random) -> str:
    signs = "ae 我老▁\U0010fffd01e\u0301\u0323\u0307\u1100\u1161\u11a8q👩\u200dÅA\u030a\t"
    return "".join(draw.choice(signs) for _ in range(draw.randint(1, 12)))


def assert_found(segmenter: AnySegmenter, text: str) -> None:
    """Every piece spells what stands at its place (or a part of it), and no sign is left out."""
    ids, spans = segmenter.encode([text])[0], segmenter.spans_in(text, segmenter.encode([text])[0])
    assert len(ids) == len(spans)
    assert [start for start, _ in spans] == sorted(start for start, _ in spans)
    assert {i for start, end in spans for i in range(start, end)} == set(range(len(text)))
    for index, (start, end) in zip(ids, spans, strict=True):
        spelt = pieces.unescape(segmenter.pieces.pieces[index].replace(pieces.SPACE, " "))
        if index == pieces.UNKNOWN or index in segmenter.pieces.byte_ids or pieces._ESCAPE in spelt:
            continue
        there = unicodedata.normalize("NFC", text[start:end])
        assert spelt.removeprefix(" ") in there
        if unicodedata.is_normalized("NFC", text):
            assert spelt in (there, " " + there)


def test_every_piece_stands_where_its_text_stands(segmenter: AnySegmenter) -> None:
    draw = random.Random(1)
    for text in [*TEXTS[:20], *ODD, *(odd_text(draw) for _ in range(400))]:
        assert_found(segmenter, text)


def test_pieces_of_an_output_stand_in_its_text(segmenter: AnySegmenter) -> None:
    """Any sequence of ids: special ones and bytes in disorder too."""
    draw = random.Random(2)
    table = segmenter.pieces
    for text in [*TEXTS[:20], *ODD]:
        ids = segmenter.encode([text])[0]
        decoded = segmenter.decode(ids)
        assert {i for start, end in segmenter.spans(ids) for i in range(start, end)} == set(range(len(decoded)))
    for _ in range(200):
        ids = [draw.randrange(len(table)) for _ in range(draw.randint(0, 9))]
        assert len(segmenter.spans(ids)) == len(ids)
        if not set(ids) & set(table.byte_ids):
            decoded = segmenter.decode(ids)
            for index, (start, end) in zip(ids, segmenter.spans(ids), strict=True):
                if index >= pieces.FIRST_FREE:
                    assert decoded[start:end] in segmenter.decode([index, index])


def test_bytes_of_one_character_stand_at_one_place() -> None:
    segmenter = SEGMENTERS["unigram"]
    ids = segmenter.encode(["a€b"])[0]
    assert sum(index in segmenter.pieces.byte_ids for index in ids) >= 3
    assert segmenter.spans_in("a€b", ids).count((1, 2)) == 3
    assert spelt_spans([b"a", b"\xe2", b"\x82", b"\xac", b"b"]) == [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)]


def test_normalisation_moves_spans_back_to_the_raw_text() -> None:
    raw = "Cafe\u0301 au lait"
    composed = unicodedata.normalize("NFC", raw)
    assert raw_spans(raw, [(0, 4), (4, 5), (5, 7), (9, 9)]) == [(0, 5), (5, 6), (6, 8), (10, 10)]
    assert raw_spans(composed, [(0, 4)]) == [(0, 4)]


def test_composition_stays_inside_clusters() -> None:
    """What `raw_spans` relies on, for every character that has a canonical decomposition."""
    for code in range(0x110000):
        if not unicodedata.decomposition(chr(code)) or unicodedata.decomposition(chr(code)).startswith("<"):
            continue
        raw = f"a{unicodedata.normalize('NFD', chr(code))}\u0323b"
        length = len(unicodedata.normalize("NFC", raw))
        spans = raw_spans(raw, [(index, index + 1) for index in range(length)])
        assert spans[-1] == (len(raw) - 1, len(raw)), hex(code)


def test_words_that_share_a_piece_are_one_block() -> None:
    text = "我喜欢 红茶 now"
    words = word_spans(text)
    assert len(words) == 6
    found = shared(words, [(0, 0), (0, 1), (1, 3), (3, 4), (4, 6), (6, 8), (8, 10), (10, 10)])
    assert found.blocks_I.tolist() == [0, 1, 1, 2, 2, 3]
    assert found.blocks_S.tolist() == [-1, 0, 1, -1, 2, 3, 3, -1]
    assert found.pieces_of() == [[1], [2], [2], [4], [4], [5, 6]]
    assert shared((), [(0, 1)]).blocks_S.tolist() == [-1]
    assert shared(words, ()).blocks_I.tolist() == [0, 1, 2, 3, 4, 5]


def test_linked_words_link_all_their_pieces() -> None:
    source = shared([(0, 2), (3, 6)], [(0, 1), (1, 2), (2, 6)])
    target = shared([(0, 1), (1, 2)], [(0, 2)])
    assert piece_links([(0, 0)], source, target) == [(0, 0), (1, 0)]
    assert piece_links([(0, 0), (0, 1), (1, 1)], source, target) == [(0, 0), (1, 0), (2, 0)]
    assert piece_links([], source, target) == []
