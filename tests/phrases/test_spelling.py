"""Is a row of words written as the target texts are?"""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.phrases.spelling import Spelling, SpellingLearner, capitalised
from dragoman.phrases.units import cut


def learnt(texts: Sequence[str]) -> Spelling:
    learner = SpellingLearner()
    for text in texts:
        learner.add(text, cut(text, frozenset(), 1))
    return learner.spelling()


def written(spelling: Spelling, text: str) -> str:
    """The words of a text, put together again as was learnt."""
    units = cut(text, frozenset(), 1)
    line = ""
    for number, unit in enumerate(units):
        line += spelling.gap(units[number - 1].key, unit.key) if number else ""
        line += spelling.surface(unit.key)
    return line


ENGLISH = ['He (the old man) said: "no", didn\'t he?', "It is Tom's 2nd (red) apple, no?", "The man is old."]


def test_punctuation_finds_its_side() -> None:
    spelling = learnt(ENGLISH)
    assert written(spelling, "the man ( old ) said : no , the apple ?") == "the man (old) said: no, the apple?"


def test_chinese_is_written_without_spaces() -> None:
    spelling = learnt(["我喜欢苹果。", "你好，李明！", "苹果在这里。"])
    assert written(spelling, "我 喜 欢 苹 果 ， 你 好 。 苹 果 ！") == "我喜欢苹果，你好。苹果！"


def test_unseen_words_are_spaced_as_their_script_is() -> None:
    spelling = learnt(["a b."])
    assert spelling.gap("new", "words") == " "
    assert spelling.gap("新", "词") == ""
    assert spelling.gap("b", ".") == ""


def test_a_part_that_always_clings_to_a_sign_does_not_cling_to_words() -> None:
    spelling = learnt(["he didn ' t come", "she didn' t go", "we didn' t stay"])
    assert spelling.gap("didn", "'") == ""
    assert spelling.gap("didn", "come") == " "


def test_usual_forms_ignore_the_start_of_lines() -> None:
    spelling = learnt(["Der Hund schläft.", "Ein Hund bellt.", "Der Bauer sieht, dass der Hund bellt.", "Leise!"])
    assert [spelling.surface(key) for key in ["hund", "der", "schläft", "leise", "unseen"]] == [
        "Hund",
        "der",
        "schläft",
        "leise",
        "unseen",
    ]


def test_capitals_are_a_habit_of_the_corpus() -> None:
    assert learnt(["Ja.", "Nein.", "open"]).capitals
    assert not learnt(["ja", "nein", "Open"]).capitals
    assert not learnt(["你好", "再见"]).capitals


def test_a_learner_that_saw_nothing_is_no_error() -> None:
    learner = SpellingLearner()
    learner.add("", [])
    assert learner.spelling() == Spelling(surfaces={}, spaces={}, capitals=False)


def test_capitalised() -> None:
    assert [capitalised(text) for text in ["über", "", "好", "ß"]] == ["Über", "", "好", "SS"]
