"""Steps that make text uniform: what they change, and what they leave alone."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.cleaning.normalising import (
    Changes,
    Normalisations,
    evenly_spaced,
    has_odd_spaces,
    is_mojibake,
    looks_like_mojibake,
    made_uniform,
    quoted,
    quotes_of,
    repaired,
)
from dragoman.cleaning.signs import Signs
from dragoman.contracts import UserError


@pytest.mark.parametrize("text", ["schön", "中文", "naïve café", "“quoted” – dash", "привет", "Ω ≈ 5", "ĂȚȘ"])
def test_mojibake_is_put_right(text: str) -> None:
    try:
        spoilt = text.encode().decode("cp1252")
    except UnicodeDecodeError:
        spoilt = text.encode().decode("latin-1")
    assert repaired(text) == text
    assert repaired(spoilt) == text
    assert not is_mojibake(text)


BROKEN = [
    "我们可以直接去北京吧",
    "počítač je dobrý",
    "Привет всем, как дела сегодня?",
    "Ο κόσμος είναι μικρός",
    "東京は大きいです",
]


@pytest.mark.parametrize("instead", ["", "?", " "])
@pytest.mark.parametrize("text", BROKEN)
def test_what_can_be_put_right_in_part_only_is_mojibake(text: str, instead: str) -> None:
    """Windows-1252 has no sign for some bytes: programs leave them out, or write another sign."""
    spoilt = text.encode().decode("cp1252", "replace").replace("\ufffd", instead)
    assert spoilt != text.encode().decode("latin-1")
    changes = Changes()
    found = made_uniform([spoilt], Normalisations().steps("zh"), changes).texts[0]
    assert is_mojibake(found) or "\ufffd" in found
    if not instead:
        assert found == spoilt


@pytest.mark.parametrize("text", ["你好ç•，世界", "所以å…Ž可以"])
def test_what_somebody_put_right_in_part_is_mojibake(text: str) -> None:
    assert is_mojibake(text)


@given(st.text(st.characters(max_codepoint=127)))
def test_plain_text_is_never_repaired(text: str) -> None:
    assert repaired(text) == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (" a  b ", "a b"),
        ("a\u00a0b\u3000c", "a b c"),
        ("a\u200bb\ufeff", "ab"),
        ("a\tb", "a b"),
        ("a b", "a b"),
        ("soft\u00adhyphen", "softhyphen"),
        ("\u2028", ""),
        *((f"a{end}b{end}", "a b") for end in "\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029"),
    ],
)
def test_spaces(text: str, wanted: str) -> None:
    assert evenly_spaced(text) == wanted


def test_spaces_that_say_something_stay() -> None:
    assert evenly_spaced("ខ្មែរ\u200bភាសា") == "ខ្មែរ\u200bភាសា"
    french = Normalisations().steps("fr")["spaces"].change
    assert french(" Oui\u202f!  «\u00a0Non\u00a0»\u00a0et ") == "Oui\u202f! «\u00a0Non\u00a0» et"


@given(st.text())
def test_spaces_are_made_even_once(text: str) -> None:
    once = evenly_spaced(text)
    assert evenly_spaced(once) == once
    assert once.split() == evenly_spaced("  ".join(text.replace("\u200b", "").split(" "))).split()


@pytest.mark.parametrize(
    ("text", "language", "wanted"),
    [
        ('say "yes" or "no"', "de", "say „yes“ or „no“"),
        ("« oui »", "en", "“oui”"),
        ('"oui"', "fr", "«\u00a0oui\u00a0»"),
        ("他说“好”", "zh-TW", "他说「好」"),
        ("他说「好」", "zh", "他说“好”"),
        ('5" wide', "de", '5" wide'),
        ("it's", "de", "it's"),
        ('<a href="x">"Go"</a> name="x"', "de", '<a href="x">„Go“</a> name="x"'),
    ],
)
def test_quotes(text: str, language: str, wanted: str) -> None:
    assert quoted(text, *quotes_of(language)) == wanted


def test_changes_are_counted_by_step_with_examples() -> None:
    steps, changes = Normalisations(quotes="straight").steps("de"), Changes()
    texts = ["a  b", "„schÃ¶n“", "fertig"]
    assert made_uniform(texts, steps, changes).texts == ["a b", '"schön"', "fertig"]
    assert changes.counts == {"spaces": 1, "mojibake": 1, "quotes": 1}
    assert changes.samples["spaces"] == [("a  b", "a b")]
    later = Changes()
    untouched = ["a", "b"]
    assert made_uniform(untouched, steps, later).texts is untouched
    made_uniform([" x"] * 9, steps, later)
    changes.add(later)
    assert changes.counts["spaces"] == 10
    assert changes.samples["spaces"] == [("a  b", "a b"), *[(" x", "x")] * 4]


@given(st.lists(st.text(st.sampled_from("ab \t\u00a0\u200b\u3000Ã¶©€") | st.characters(), max_size=12)))
def test_no_text_is_passed_by_that_a_step_would_change(texts: list[str]) -> None:
    signs = Signs(texts)
    for may_change, change in ((has_odd_spaces, evenly_spaced), (looks_like_mojibake, repaired)):
        for text, worth_a_try in zip(texts, may_change(signs).tolist(), strict=True):
            assert worth_a_try or change(text) == text


def test_nothing_is_done_that_is_not_wanted() -> None:
    assert Normalisations(mojibake=False, spaces=False).steps("en") == {}
    assert list(Normalisations(quotes="language").steps("fr")) == ["mojibake", "spaces", "quotes"]


def test_letters_are_composed() -> None:
    steps, changes = Normalisations(composed=True).steps("fr"), Changes()
    assert made_uniform(["cafe\u0301", "café", "cafe"], steps, changes).texts == ["café", "café", "cafe"]
    assert changes.counts == {"composed": 1}


def test_simplified_is_for_simplified_chinese_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opencc", None)
    wanted = Normalisations(simplified=True)
    assert "simplified" not in wanted.steps("en")
    with pytest.raises(UserError, match="the side is zh-TW"):
        wanted.steps("zh-TW")
    with pytest.raises(UserError, match="needs opencc"):
        wanted.steps("zh")


def test_traditional_becomes_simplified() -> None:
    pytest.importorskip("opencc", reason="opencc is an extra")
    assert Normalisations(simplified=True).steps("zh")["simplified"].change("漢語 頭髮") == "汉语 头发"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("»A« und »B« sind da", '"A" und "B" sind da'),
        ("« oui » dit-il", '"oui" dit-il'),
        ("sagte «C» und »D« heute", 'sagte "C" und "D" heute'),
        ("« A », »B« et « C »", '"A", "B" et "C"'),
        ('5" and 6" pipes', '5" and 6" pipes'),
        ("„in 2005“, said he", '"in 2005", said he'),
    ],
)
def test_quotes_keep_the_spaces_outside_them(text: str, wanted: str) -> None:
    assert quoted(text, '"', '"') == wanted


@pytest.mark.parametrize(
    "text",
    ["“Beyoncé”是一位歌手。", "单词“café”来自法语。", "“ê”这样", "René·笛卡尔", "他叫Tomáš吗？", "用é表示", "café—oui"],
)
def test_an_accent_beside_other_signs_is_no_mojibake(text: str) -> None:
    assert repaired(text) == text
    assert not is_mojibake(text)
