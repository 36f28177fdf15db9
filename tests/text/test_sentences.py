"""Sentence ends, cuts of long texts, and how translations of the parts are joined again."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.sentences import Part, cut_long, rejoin, split_sentences

MIXED = st.text(
    alphabet=st.characters(codec="utf-8") | st.sampled_from("aAb我。！？!?.…,，;\"'”「」« »()\n\r\t 1\u0301\u200d👩")
)


def sentences(text: str) -> list[str]:
    return [part.text for part in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He left. She stayed! Why? Nobody knew…", ["He left.", "She stayed!", "Why?", "Nobody knew…"]),
        ("Dr. Li met Mrs. J. K. Smith at No. 5.", ["Dr. Li met Mrs. J. K. Smith at No. 5."]),
        ("He said no. Then he left.", ["He said no.", "Then he left."]),
        ("It costs 3.14 dollars. See example.com now.", ["It costs 3.14 dollars.", "See example.com now."]),
        ("The U.S. Army, i.e. The army.", ["The U.S. Army, i.e. The army."]),
        ("Apples, pears etc. are fruit.", ["Apples, pears etc. are fruit."]),
        ("Am 3. Oktober. Am Abend.", ["Am 3. Oktober.", "Am Abend."]),
        ("In 1999. Then.", ["In 1999.", "Then."]),
        ('"Really?" she said. "Yes." He went.', ['"Really?" she said.', '"Yes."', "He went."]),
        ("(It rains.) We go.", ["(It rains.)", "We go."]),
        ("Il dit « Bonjour. » Puis il part.", ["Il dit « Bonjour. »", "Puis il part."]),
        ("„Hallo.“ Er ging.", ["„Hallo.“", "Er ging."]),
        ("¿Qué? ¡Hola! Bien.", ["¿Qué?", "¡Hola!", "Bien."]),
        ("Wait... what?! Go!!", ["Wait... what?!", "Go!!"]),
        ("... and so. . . . Foo", ["... and so.", ". . . Foo"]),
        ("我来了。你呢？他走了！", ["我来了。", "你呢？", "他走了！"]),
        ("“你好！”他说。", ["“你好！”", "他说。"]),
        ("“真的吗？”，他问。", ["“真的吗？”，他问。"]),
        ("他走了。“再见。”", ["他走了。", "“再见。”"]),
        ('他说："好。"我走了。"再见。"', ['他说："好。"', "我走了。", '"再见。"']),
        ("Great! 😀", ["Great! 😀"]),
        ("我……不知道。", ["我……不知道。"]),
        ("你好!我是老师。", ["你好!", "我是老师。"]),
        ("「はい。」と言った。次です。", ["「はい。」と言った。", "次です。"]),
        ("約3．5倍です．次です．", ["約3．5倍です．", "次です．"]),
        ("यह है। वह है।", ["यह है।", "वह है।"]),
        ("هل هذا؟ نعم.", ["هل هذا؟", "نعم."]),
        ("no stop here\nNext line", ["no stop here", "Next line"]),
    ],
)
def test_sentence_ends(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_white_space_is_kept_where_it_stood() -> None:
    assert split_sentences("  A!  B.\t") == [Part("", "  "), Part("A!", "  "), Part("B.", "\t")]
    assert split_sentences(" ") == [Part("", " ")]
    assert split_sentences("") == []


@given(MIXED)
def test_splitting_loses_nothing(text: str) -> None:
    parts = split_sentences(text)
    assert "".join(part.text + part.space for part in parts) == text
    assert all(part.space.isspace() or not part.space for part in parts)
    assert all(part.text == part.text.strip() for part in parts)
    assert all(part.text for part in parts[1:])
    assert not any(sign in part.text for part in parts for sign in "\r\n")


@given(MIXED, st.integers(1, 12))
def test_cuts_lose_nothing_fit_and_spare_signs(text: str, longest: int) -> None:
    parts = cut_long(text, lambda piece: len(piece) <= longest)
    assert "".join(part.text + part.space for part in parts) == text
    assert all(part.text == part.text.strip() for part in parts)
    assert all(part.text for part in parts[1:])
    for part in parts:
        assert len(part.text) <= longest or regex.fullmatch(r"\X", part.text)
    for left, right in pairwise(parts):
        if not left.space and left.text:
            assert regex.findall(r"\X", left.text[-1] + right.text[0]) == [left.text[-1], right.text[0]]


def test_a_text_that_fits_stays_whole() -> None:
    assert cut_long(" One. Two! ", lambda text: True) == [Part("", " "), Part("One. Two!", " ")]


def test_sentences_are_packed_while_they_fit() -> None:
    text = "One two. Three four. Five six."
    assert [part.text for part in cut_long(text, lambda piece: len(piece) <= 20)] == [
        "One two. Three four.",
        "Five six.",
    ]


def test_a_long_sentence_is_cut_at_clauses_then_words_then_anywhere() -> None:
    text = "A clause, and another; then many more words. 我们今天去公园，天气很好也不冷。"
    parts = cut_long(text, lambda piece: len(piece) <= 12)
    assert [part.text for part in parts] == [
        "A clause,",
        "and another;",
        "then many",
        "more words.",
        "我们今天去公园，",
        "天气很好也不冷。",
    ]
    assert [part.text for part in cut_long("aaaaaaa, b", lambda piece: len(piece) <= 3)] == ["aaa", "aaa", "a,", "b"]


def test_a_no_break_space_does_not_break() -> None:
    assert [part.text for part in cut_long("10\u00a0000 et 5", lambda piece: len(piece) <= 8)] == [
        "10\u00a0000",
        "et 5",
    ]


def test_nothing_fits_and_still_nothing_is_lost() -> None:
    parts = cut_long("ab 👨‍👩‍👧", lambda piece: False)
    assert [part.text for part in parts] == ["a", "b", "👨‍👩‍👧"]


def test_few_questions_are_asked_about_a_very_long_text() -> None:
    asked = []

    def fits(piece: str) -> bool:
        asked.append(len(piece))
        return len(piece) <= 100

    assert "".join(part.text for part in cut_long("x" * 20_000, fits)) == "x" * 20_000
    assert len(asked) < 5_000
    assert sum(asked) < 1_000_000


@pytest.mark.parametrize("unit", [".", " ", "\u00a0", "?!", '。"', "(", "»", "a. ", "\u0301"])
def test_long_runs_take_no_quadratic_time(unit: str) -> None:
    text = f"{unit * 20_000}x"
    began = time.process_time()
    parts = cut_long(text, lambda piece: len(piece) <= 1000)
    assert time.process_time() - began < 3
    assert "".join(part.text + part.space for part in parts) == text


def test_translations_are_joined_as_their_script_wants() -> None:
    chinese = split_sentences("你好。再见。  完。")
    assert rejoin(chinese, ["Hello.", "Bye.", "End."]) == "Hello. Bye.  End."
    english = split_sentences(" Hello. Bye.\n")
    assert rejoin(english, ["", "你好。", "再见。"]) == " 你好。再见。\n"
    assert rejoin(english, ["", "Hallo.", "Tschüss."]) == " Hallo. Tschüss.\n"
    quoted = split_sentences("“你好！”他说。")
    assert rejoin(quoted, ["“Hello!”", "he said."]) == "“Hello!” he said."
    assert rejoin(split_sentences("He left. “Bye.”"), ["他走了。", "“再见。”"]) == "他走了。“再见。”"
    assert rejoin([], []) == ""


@given(MIXED)
def test_joining_the_parts_themselves_is_no_translation(text: str) -> None:
    parts = split_sentences(text)
    joined = rejoin(parts, [part.text for part in parts])
    assert "".join(joined.split()) == "".join(text.split())
