"""N lines in, N lines out, in order, for every kind and whatever the lines are."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.contracts import Flag, UserError
from dragoman.corpus.lines import Line, read_lines
from dragoman.system.stream import translate_lines
from tests.contract.models import SOURCES, Trained, every_translator

ODD = [
    "7",
    "x",
    "?!",
    "3.14 + 2 = 5.14",
    "THE QUIET TEACHER BOUGHT THE RED APPLE!",
    "Tom &amp; Jerry &lt;b&gt;",
    "  two  spaces \t and a tab ",
    "a\u2028b\x0bc\x85d",
    "👩\u200d👩\u200d👧 🇸🇪",
    "\u200b\u200d\ufeff",
    "▁ \ue000 <unk> <s> </s> <pad> <0x41>",
    "e\u0301 \u0301",
    "我喜欢苹果。",
    "مرحبا بالعالم",
    "%s {name} <br/> https://example.org/a?b=c",
    "\x00\x1f",
]


@every_translator
def test_every_line_has_its_line(model: Trained, tmp_path: Path) -> None:
    lines = [SOURCES[0], "", "  ", *ODD, "\u2028", SOURCES[1], ""]
    results = list(translate_lines(model.translator, [Line(t, n) for n, t in enumerate(lines, 1)], window=7))
    assert [result.line.text for result in results] == lines
    for result in results:
        assert not set(result.text) & {"\n", "\r"}
        if not result.line.text.strip():
            assert result.text == result.line.text
        else:
            assert result.text.strip() or Flag.EMPTY in result.flags


@every_translator
def test_blank_in_blank_out(model: Trained) -> None:
    blanks = ["", " ", "\t\u3000", "\u2028\x85"]
    assert all(not translation.text.strip() for translation in model.translator.translate(blanks))


@every_translator
def test_nothing_is_made_of_nothing(model: Trained) -> None:
    assert model.translator.translate([]) == []


@every_translator
def test_no_unknown_sign_that_was_not_there(model: Trained) -> None:
    texts = [*SOURCES, *(text for text in ODD if "<" not in text)]
    for translation in model.translator.translate(texts):
        assert "\ufffd" not in translation.text
        assert "<unk>" not in translation.text
        assert "\u2047" not in translation.text


@every_translator
@pytest.mark.timeout(120)
def test_very_long_lines_neither_crash_nor_go_missing(model: Trained) -> None:
    words = " ".join(" ".join(SOURCES * 10).split()[:1500])
    letters = "A" * 5000
    assert len(words.split()) == 1500
    translations = model.translator.translate([words, letters, SOURCES[0]])
    assert translations[2].text == model.translator.translate([SOURCES[0]])[0].text
    for translation in translations:
        assert translation.text.strip() or Flag.EMPTY in translation.hypotheses[0].flags
        assert not set(translation.text) & {"\n", "\r"}


@every_translator
def test_a_text_with_line_ends_is_translated_too(model: Trained) -> None:
    """From Python a text may have several lines; every one of them leaves something."""
    (translation,) = model.translator.translate([f"{SOURCES[0]}\n{SOURCES[1]}\r\n{SOURCES[2]}"])
    alone = model.translator.translate(SOURCES[:1])[0].text
    assert len("".join(translation.text.split())) > len("".join(alone.split()))


@every_translator
def test_files_of_odd_lines_keep_their_count(model: Trained, tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes("\ufeffHello\r\nA\rB\n\na\u2028b\x0b\x0c\x1c\x85c\nlast".encode())
    results = list(translate_lines(model.translator, read_lines(path), window=1))
    assert [result.line.number for result in results] == [1, 2, 3, 4, 5]
    assert [bool(result.text) for result in results] == [True, True, False, True, True]


@every_translator
def test_a_broken_line_ends_after_whole_lines_or_is_skipped(model: Trained, tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes(b"the red apple\nbr\xffken\nthe book\n")
    results = translate_lines(model.translator, read_lines(path), window=100)
    assert next(results).text
    with pytest.raises(UserError, match=r"in\.txt:2: not UTF-8"):
        next(results)
    skipped = list(translate_lines(model.translator, read_lines(path, "skip"), window=100))
    assert [bool(result.text) for result in skipped] == [True, False, True]
    assert skipped[1].line.fault
