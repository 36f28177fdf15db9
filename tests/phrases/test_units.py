"""Are the looked-up units the words that a reader would look up?"""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.phrases.units import cohesion, count_strings, cut, freedom, key_of, learn_compounds, neighbours, words_of

NO_COMPOUNDS: frozenset[str] = frozenset()


def keys(text: str, compounds: frozenset[str] = NO_COMPOUNDS, longest: int = 4) -> list[str]:
    return [unit.key for unit in cut(text, compounds, longest)]


def test_words_and_signs_are_units_with_folded_keys() -> None:
    assert keys("Die Straße, bitte!") == ["die", "strasse", ",", "bitte", "!"]
    assert keys("") == []
    assert keys(" \t ") == []


def test_decomposed_letters_have_the_key_of_composed_ones() -> None:
    assert key_of("E\u0301te\u0301") == key_of("Été") == "été"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,000.50 EUR", ["1,000.50", "eur"]),
        ("at 12:30.", ["at", "12:30", "."]),
        ("2020-01-31", ["2020-01-31"]),
        ("3. Then", ["3", ".", "then"]),
        ("1 , 2", ["1", ",", "2"]),
        ("5%", ["5", "%"]),
    ],
)
def test_a_number_is_one_unit(text: str, expected: list[str]) -> None:
    assert keys(text) == expected


def test_numbers_are_known_as_such() -> None:
    assert [unit.number for unit in cut("12 dogs, 3rd 1.5", NO_COMPOUNDS, 1)] == [True, False, False, False, True]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I didn't go", ["i", "didn't", "go"]),
        ("We’re here", ["we’re", "here"]),
        ("the dogs' home", ["the", "dogs", "'", "home"]),
        ("'quoted'", ["'", "quoted", "'"]),
        ("l'homme", ["l", "'", "homme"]),
    ],
)
def test_a_contraction_is_one_unit(text: str, expected: list[str]) -> None:
    assert keys(text) == expected


def test_the_longest_known_chinese_word_is_taken() -> None:
    compounds = frozenset({"图书", "图书馆", "电脑"})
    assert keys("我去图书馆买电脑。", compounds) == ["我", "去", "图书馆", "买", "电脑", "。"]
    assert keys("我去图书馆", compounds, longest=2) == ["我", "去", "图书", "馆"]
    assert keys("图 书", compounds) == ["图", "书"]
    assert keys("电脑", compounds, longest=1) == ["电", "脑"]


def test_units_know_their_words_and_characters() -> None:
    text = "我 12:30 去图书馆"
    units = cut(text, frozenset({"图书馆"}), 4)
    assert [text[unit.start : unit.end] for unit in units] == ["我", "12:30", "去", "图书馆"]
    assert [(unit.first, unit.last) for unit in units] == [(0, 1), (1, 4), (4, 5), (5, 8)]
    words = words_of(text, units[3])
    assert [(text[word.start : word.end], word.first, word.last) for word in words] == [
        ("图", 5, 6),
        ("书", 6, 7),
        ("馆", 7, 8),
    ]


@given(st.text(max_size=40), st.integers(1, 4))
def test_units_cover_all_but_white_space_in_order(text: str, longest: int) -> None:
    units = cut(text, frozenset({"中国", "一二三"}), longest)
    place = 0
    for number, unit in enumerate(units):
        assert unit.key
        assert text[place : unit.start].strip() == ""
        assert unit.start < unit.end
        assert unit.first == (units[number - 1].last if number else 0)
        place = unit.end
    assert text[place:].strip() == ""


def test_cohesion_is_the_information_of_the_weakest_cut() -> None:
    counts = Counter({"a": 4, "b": 2, "c": 5, "ab": 2, "bc": 1, "abc": 1})
    weakest = min(math.log(1 * 20 / (4 * 1)), math.log(1 * 20 / (2 * 5)))
    assert cohesion("abc", counts, signs=20) == pytest.approx(weakest)


def test_freedom_is_the_entropy_of_the_neighbours_and_ends_are_all_different() -> None:
    assert freedom(4, [2, 2]) == pytest.approx(math.log(2))
    assert freedom(4, [4]) == 0
    assert freedom(4, []) == pytest.approx(math.log(4))
    assert freedom(4, [2]) == pytest.approx(0.5 * math.log(2) + 0.5 * math.log(4))


def test_strings_and_neighbours_are_counted_inside_runs_of_signs() -> None:
    counts, signs = count_strings(["猫狗a猫狗鱼"], longest=3)
    assert signs == 5
    assert counts == Counter({"猫": 2, "狗": 2, "鱼": 1, "猫狗": 2, "狗鱼": 1, "猫狗鱼": 1})
    before, after = neighbours(counts, {"猫狗", "狗鱼"})
    assert after["猫狗"] == [1]
    assert before["狗鱼"] == [1]
    assert "猫狗" not in before


def test_words_are_found_by_their_company() -> None:
    people, verbs, things = "张李王刘陈杨", "买看卖借画", ["电脑", "图书", "桌布", "苹果"]
    texts = [f"{who}{verb}{thing}" for who in people for verb in verbs for thing in things]
    assert learn_compounds(texts, 4) == frozenset(things)
    assert learn_compounds(texts, 1) == frozenset()
    assert learn_compounds(["no Chinese here"], 4) == frozenset()
