"""Filters: what each scores, and what its threshold makes of the score."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dragoman.cleaning import filters
from dragoman.cleaning.beyond import OtherLanguage
from dragoman.cleaning.filters import Chunk, Filter
from dragoman.cleaning.judging import first_reasons
from dragoman.cleaning.signs import Signs


def chunk(*pairs: tuple[str, str], languages: tuple[str, str] = ("en", "de")) -> Chunk:
    return Chunk((Signs([one for one, _ in pairs]), Signs([other for _, other in pairs])), languages)


def score(one: Filter, source: str, target: str, *languages: str) -> float:
    return float(
        one.score(chunk((source, target), languages=(languages[0], languages[1]) if languages else ("en", "de")))[0]
    )


@pytest.mark.parametrize(
    ("one", "source", "target", "languages", "wanted"),
    [
        (filters.TooLong(3), "a b c d", "a", ("en", "de"), 4),
        (filters.TooLong(3), "a", "一二三四五六", ("en", "zh"), 4),
        (filters.TooShort(1), "a b", "a", ("en", "de"), 1),
        (filters.LengthRatio(3), "a b c", "a", ("en", "de"), 3),
        (filters.LengthRatio(3, 3), "a b c", "a", ("en", "de"), 1.5),
        (filters.LengthRatio(3), "我们是老师", "we are all teachers", ("zh", "en"), 4 / (5 / 1.5)),
        (filters.LengthRatio(3), "ใช้ numpy", "use numpy", ("th", "en"), 2 / (1 + 3 / 4.5)),
        (filters.LongWord(5), "short", "a longer-word", ("en", "de"), 11),
        (filters.LongWord(5), "see https://example.org/a/very/long/path here", "a", ("en", "de"), 4),
        (filters.LongWord(5), "/usr/share/doc/x", "a", ("en", "de"), 5),
        (filters.LongWord(5), "a", "有abc、def_g，hij。", ("en", "zh"), 5),
        (filters.LongWord(5), "{first}{second}{third} on", "a", ("en", "de"), 2),
        (filters.WrongScript(0.5), "hello there", "привет всем", ("en", "de"), 0),
        (filters.WrongScript(0.5), "hello there", "привет всем", ("en", "ru"), 1),
        (filters.WrongScript(0.5), "use numpy", "使用numpy", ("en", "zh"), 6 / 11),
        (filters.WrongScript(0.5), "Ann Lee and Bo", "Ann Lee和Bo", ("en", "zh"), 1),
        (filters.WrongScript(0.5), "x or datetime.date.", "x 或 datetime.date。", ("en", "zh"), 1),
        (filters.WrongScript(0.5), "Ann is here", "Ann was here too", ("en", "zh"), 0),
        (filters.WrongScript(0.5), "5 %", "5 %", ("ru", "zh"), 1),
        (filters.WrongScript(0.5), "%(count)s <b>{name}</b>", "%(count)s：<b>{name}</b>", ("en", "zh"), 1),
        (filters.WrongScript(0.5), "Open %(file_name)s", "打开 %(file_name)s", ("en", "zh"), 1),
        (filters.WrongScript(0.5), "GitHub", "GitHub", ("en", "zh"), 1),
        (filters.WrongScript(0.5), "this is a text", "this is a text", ("en", "zh"), 0),
        (filters.WrongScript(0.5), "save it on the disk", "save it on disk", ("en", "zh"), 0),
        (filters.WrongScript(0.5), "the GitHub Desktop", "GitHub Desktop", ("en", "zh"), 1),
        (filters.WrongScript(0.5), "Прывітанне", "hello there", ("xyz", "en"), 1),
        (filters.FewLetters(0.5), "ab", "a1..", ("en", "de"), 0.75),
        (filters.FewLetters(0.5), "Go!", "走！！！", ("en", "zh"), 0.5),
        (filters.FewLetters(0.5), "%1 and %2", "%1 和 %2", ("en", "zh"), 0),
        (filters.FewLetters(0.5), "Please sit down now", "<br/>", ("en", "de"), 1),
        (filters.FewLetters(0.5), "Please sit down now", "&nbsp;", ("en", "zh"), 1),
        (filters.FewLetters(0.5), "{0}", "<b>%s</b>", ("en", "de"), 0),
        (filters.FewLetters(0.5), "50%", "50 Prozent", ("en", "de"), 0),
        (filters.FewLetters(0.5), "百分之五十", "50 %", ("zh", "en"), 0),
        (filters.FewLetters(0.5), "§ 3", "paragraph 3", ("de", "en"), 0),
        (filters.FewLetters(0.5), "50%", "40 Prozent", ("en", "de"), 1),
        (filters.FewLetters(0.5), "50%", "we say much more here", ("en", "de"), 1),
        (filters.FewLetters(0.5), "12 - 7", "twelve", ("en", "de"), 1),
        (filters.OddSigns(0), "a\0b", "\ufffd", ("en", "de"), 2),
        (filters.OddSigns(0), "a\u200db 👩‍👩‍👧", "x", ("en", "de"), 0),
        (filters.Mojibake(0), "schÃ¶n", "schön", ("en", "de"), 1),
        (filters.Identical(2), "The same Words", "the SAME words!", ("en", "de"), 3),
        (filters.Identical(2), "one", "two", ("en", "de"), 0),
        (filters.Repeats(4), "no no no no no", "a", ("en", "de"), 5),
        (filters.Repeats(4), "no no no no", "a", ("en", "de"), 1),
        (filters.Repeats(4), "no no no no no no no", "a", ("en", "de"), 7),
        (filters.Repeats(4), "a b", "哈哈哈哈哈哈很好", ("en", "zh"), 6),
        (filters.Repeats(4), "ho ho hi ho ho hi ho ho hi ho ho hi ho ho hi", "a", ("en", "de"), 5),
        (filters.Repeats(4), "a", "好好好好好", ("en", "zh"), 5),
        (filters.Repeats(4), "a", "很好很好很好很好很好", ("en", "zh"), 5),
        (filters.Repeats(4), "a", "很好很好很好很好", ("en", "zh"), 1),
        (filters.Repeats(4), "from 0 to 99999999 . . . . . . .", "......", ("en", "zh"), 1),
    ],
)
def test_scores(one: Filter, source: str, target: str, languages: tuple[str, str], wanted: float) -> None:
    assert score(one, source, target, *languages) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("source", "target", "wanted"),
    [
        ("no numbers", "keine Zahlen", 1),
        ("1,000.5", "1.000,5", 1),
        ("10,000", "10\u00a0000", 1),
        ("100,000 people", "100 000 personnes", 1),
        ("in 1984", "1984年", 1),
        ("３ files", "3 Dateien", 1),
        ("007", "7", 1),
        ("58,149 people", "58, 149 Menschen", 1),
        ("58,049 people", "58, 049 Menschen", 1),
        ("58,149 people", "58 und 150", 0),
        ("it&#8217;s 5", "5 heures", 1),
        ("two dogs", "2 Hunde", 1),
        ("thirty years, 5 days", "30 Jahre, 5 Tage", 1),
        ("a thousand", "1000", 1),
        ("5 p.m.", "17 Uhr", 1),
        ("1:30", "13.30", 1),
        ("the 1960s", "60年代", 1),
        ("40,000", "4万", 1),
        ("2 million", "200万", 1),
        ("I am 30", "我三十岁", 1),
        ("in 1984", "damals", 1),
        ("12 files", "13 Dateien", 0),
        ("in 1984", "im Jahr 1985", 0),
        ("from 10 to 20", "von 10 bis 21", 0.5),
        ("¾ ² Ⅳ", "x", 1),
        ("\U00010d40 and 5", "\U00010d41 und 6", 0),
    ],
)
def test_numbers(source: str, target: str, wanted: float) -> None:
    assert score(filters.Numbers(0.5), source, target, "en", "zh") == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("source", "target", "wanted"),
    [
        ("see https://www.example.org/en/", "siehe https://example.org/de/index.html.", 1),
        ("see example", "siehe example", 1),
        ("mail me@example.org", "schreib", 0),
        ("见 https://a.org/x。", "see (https://a.org/x)", 1),
        ("https://a.org https://b.org", "https://a.org", 2 / 3),
        ("https://en.wikipedia.org/wiki/X", "见https://zh.wikipedia.org/wiki/X。", 1),
        ("go to www.EXAMPLE.com", "www.example.com에서", 1),
        ("https://example.org", "http://example.org…", 1),
        ("Visit http://example.org now.", "Besuche Example.org jetzt.", 1),
        ("example.org", "访问 http://www.example.org。", 1),
        ("https://a.org https://b.org", "https://a.org und c.org", 2 / 3),
        ("see http://t.co", "siehe Microsoft.com", 0),
        ("see http://a.org", "siehe mega.organic", 0),
        ("http://a.org/1 http://a.org/2", "siehe a.org", 1 / 2),
    ],
)
def test_links(source: str, target: str, wanted: float) -> None:
    assert score(filters.Links(0.5), source, target) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("source", "target", "languages", "likely"),
    [
        ("The dog runs over the green field", "Der Hund läuft über das grüne Feld", ("en", "de"), True),
        ("The dog runs over the green field", "Le chien court sur le champ vert", ("en", "de"), False),
        ("Der Hund läuft über das grüne Feld", "The dog runs over the green field", ("en", "de"), False),
        ("The dog runs over the green field", "这只狗在绿色的田野上跑", ("en", "zh-Hant"), True),
        ("Run, dog!", "Cours, chien !", ("en", "de"), True),
        ("The dog runs over the green field", "Le chien court sur le champ vert", ("en", "xyz"), True),
    ],
)
def test_languages(source: str, target: str, languages: tuple[str, str], likely: bool) -> None:
    assert (score(OtherLanguage(0.5), source, target, *languages) >= 0.5) == likely


def test_the_first_filter_that_rejects_is_the_reason() -> None:
    pairs = chunk(("fine", "gut"), ("a b c d", "a"), ("a\0", "b b b b b b"))
    asked: list[Filter] = [filters.OddSigns(0), filters.TooLong(3)]
    assert first_reasons(pairs, asked) == {1: ("too long", 4.0), 2: ("odd signs", 1.0)}


def test_a_line_of_one_long_word_is_no_trap() -> None:
    """A pattern that tried every beginning of a mail address would be busy for hours: the timeout is the test."""
    pair = chunk(("a" * 400_000, "b" * 400_000))
    assert first_reasons(pair, EVERY) == {0: ("long word", 400_000.0)}


def test_few_words_may_have_any_ratio_with_slack() -> None:
    pairs = chunk(("OK", "Das ist in Ordnung"), ("word " * 40, "Wort"))
    one = filters.LengthRatio(3, 3)
    assert one.accept(one.score(pairs)).tolist() == [True, False]


EVERY: list[Filter] = [
    filters.TooLong(250),
    filters.TooShort(1),
    filters.LengthRatio(3, 3),
    filters.LongWord(20),
    filters.WrongScript(0.15),
    filters.FewLetters(0.7),
    filters.OddSigns(0),
    filters.Mojibake(0),
    filters.Identical(2),
    filters.Numbers(0.5),
    filters.Links(0.5),
    filters.Repeats(2),
]


@settings(max_examples=50)
@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=30)), max_size=6), st.sampled_from(["de", "zh", "ja"]))
def test_a_pair_is_judged_alike_alone_and_among_others(pairs: list[tuple[str, str]], language: str) -> None:
    together = first_reasons(chunk(*pairs, languages=("en", language)), EVERY)
    alone = [first_reasons(chunk(pair, languages=("en", language)), EVERY) for pair in pairs]
    assert together == {place: reasons[0] for place, reasons in enumerate(alone) if reasons}
    assert all(value is None or value == value for _, value in together.values())


@given(st.lists(st.sampled_from("ab好很"), max_size=24))
def test_repeats_agree_with_a_plain_search(letters: list[str]) -> None:
    """Words, and letters without spaces: one definition, two ways to look."""
    often = 3

    def plain(units: list[str]) -> bool:
        return any(
            units[start : start + size] * often == units[start : start + size * often]
            for size in range(1, filters.LONGEST_RUN + 1)
            for start in range(len(units) - size * often + 1)
        )

    one = filters.Repeats(often - 1)
    assert (score(one, " ".join(letters), "x") >= often) == plain(letters)
    han = ["很" if letter == "a" else "好" if letter == "b" else letter for letter in letters]
    assert (score(one, "x", "".join(han), "en", "zh") >= often) == plain(han)


@given(st.lists(st.text(st.sampled_from("ab  \u00a0我"), min_size=1, max_size=24), min_size=1, max_size=4))
@example(["b a  a a"])
@example(["b", "a a  a"])
def test_repeated_words_are_those_that_a_look_at_each_run_finds(texts: list[str]) -> None:
    def repeats(words: list[str], size: int, first: int) -> bool:
        run = words[first : first + size]
        return len(words) >= first + 3 * size and words[first : first + 3 * size] == run * 3

    found = filters.Repeats(2).score(Chunk((Signs(texts), Signs(texts)), ("en", "de"))) > 1
    for text, repeated in zip(texts, found.tolist(), strict=True):
        if "我" not in text:  # of which each letter is a unit
            words = text.split()
            places = itertools.product(range(1, filters.LONGEST_RUN + 1), range(len(words)))
            assert repeated == any(repeats(words, *place) for place in places)
