"""Cleaning: the first reason counts, pairs keep their order, samples are drawn from all."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.cleaning import cleaner as cleaning
from dragoman.cleaning.beyond import NothingToWrite
from dragoman.cleaning.cleaner import CLEANING, Cleaner, CleaningRecipe, FilterOptions, Rejected, crew_for
from dragoman.cleaning.duplicates import Repeated, duplicate_key, held_out_keys, keys_of, keys_of_pairs
from dragoman.cleaning.filters import AtMost, Chunk, Scores
from dragoman.cleaning.normalising import Normalisations
from dragoman.contracts import Origin, Record, SentencePair
from dragoman.corpus import rows as gathering
from dragoman.corpus.bitext import ListBitext
from dragoman.corpus.records import record_of
from dragoman.corpus.writers import rules_of


def records(*pairs: tuple[str, str]) -> list[Record]:
    return [record_of(one, other, Origin("x.tsv", line)) for line, (one, other) in enumerate(pairs, 1)]


def reasons(cleaner: Cleaner, *pairs: tuple[str, str]) -> list[str]:
    return [one.reason if isinstance(one, Rejected) else "" for one in cleaner.judged(records(*pairs))]


def test_each_kind_of_fault_has_its_reason() -> None:
    long = "word " * 300
    found = reasons(
        Cleaner(CLEANING, ("en", "de")),
        ("A dog runs.", "Ein Hund rennt."),
        ("", "leer"),
        (long, long + "Wort"),
        ("This is a rather long sentence, it goes on and on and on.", "Kurz."),
        ("hello there", "привет всем"),
        ("one two three four", "One two three four"),
        ("\0 control", "Kontrolle"),
        ("a dog  RUNS", "ein Hund rennt!"),
        ("A dog runs.", "Ein Hund läuft."),
        ("born in 1984", "geboren 1985"),
        ("see https://example.org", "siehe dort"),
        ("yes " * 9, "ja"),
        ("!!! ???", "!!! ???"),
    )
    assert found == [
        "",
        "blank source",
        "too long",
        "length ratio",
        "wrong script",
        "identical sides",
        "odd signs",
        "duplicate",
        "",
        "other numbers",
        "other links",
        "repeats itself",
        "punctuation and digits",
    ]


def test_what_is_kept_is_uniform_and_what_is_rejected_is_as_it_was() -> None:
    cleaner = Cleaner(CLEANING, ("en", "de"))
    kept, rejected = cleaner.judged(records(("a  b", "schÃ¶n"), ("A b", "Schön!")))
    assert kept == SentencePair("a b", "schön", Origin("x.tsv", 1))
    assert rejected == Rejected(Record("A b", "Schön!", Origin("x.tsv", 2)), "duplicate")
    assert cleaner.report.changed == {"spaces": 1, "mojibake": 1}
    assert cleaner.report.summary() == "1 of 2 pairs kept: 1 duplicate"


def test_a_side_that_is_blank_after_normalising_is_blank() -> None:
    assert reasons(Cleaner(CLEANING, ("en", "de")), ("\u200b", "x")) == ["blank source"]


@pytest.mark.parametrize(
    ("repeated", "wanted"),
    [
        ("none", ["", "", "", ""]),
        ("pairs", ["", "", "", "duplicate"]),
        ("sources", ["", "repeated source", "", "duplicate"]),
        ("targets", ["", "", "repeated target", "duplicate"]),
        ("sides", ["", "repeated source", "repeated target", "duplicate"]),
    ],
)
def test_repeated_sides_are_dropped_on_request(repeated: Repeated, wanted: list[str]) -> None:
    cleaner = Cleaner(CleaningRecipe(repeated=repeated), ("en", "de"))
    assert reasons(cleaner, ("one", "eins"), ("one", "ein"), ("a", "eins"), ("ONE", "eins.")) == wanted
    if repeated in ("none", "pairs"):  # the same pair again has no other partner
        assert cleaner.report.again == {"source": 1, "target": 1}


def test_test_sentences_are_kept_out() -> None:
    held_out = held_out_keys([ListBitext([SentencePair("The 3 dogs.", "Die 3 Hunde.")], "en", "de")])
    cleaner = Cleaner(CLEANING, ("en", "de"), held_out)
    assert reasons(cleaner, ("the 5 dogs", "die 5 hunde"), ("all dogs", "Die 4 Hunde"), ("a dog", "ein Hund")) == [
        "in a test set",
        "in a test set",
        "",
    ]


def test_what_the_format_cannot_hold_is_not_kept() -> None:
    recipe = CleaningRecipe(filters=FilterOptions(punctuation_share=None))
    pairs = (("|||", "a ||| b"), ("a", "|||"), ("a\tb", "c"))
    for format, wanted in ((".pharaoh", ["nothing to write"] * 2 + [""]), (".tsv", [""] * 3)):
        more = [NothingToWrite(0, rules_of([f"x{format}"]))]
        assert reasons(Cleaner(recipe, ("en", "de"), more=more), *pairs) == wanted


def test_thresholds_can_be_switched_off() -> None:
    names = list(FilterOptions.__dataclass_fields__)
    off = {name: None for name in names if name not in ("ratio_slack", "mojibake")}
    recipe = CleaningRecipe(
        filters=FilterOptions(**off, mojibake=False),  # type: ignore[arg-type]
        normalise=Normalisations(mojibake=False, spaces=False),
    )
    assert recipe.filters.filters() == []
    assert reasons(Cleaner(recipe, ("en", "de")), ("a\0", "привет " * 999), ("5", "5")) == ["", ""]


class Vowels(AtMost):
    """A filter from elsewhere."""

    name = "vowels"

    def score(self, chunk: Chunk) -> Scores:
        return chunk.where(chunk.sides[0].lengths_N > 0, lambda source, _: sum(sign in "aeiou" for sign in source))


def test_filters_from_elsewhere_come_last() -> None:
    cleaner = Cleaner(CLEANING, ("en", "de"), more=[Vowels(2)])
    found = list(cleaner.judged(records(("banana bread", "Brot"), ("plum", "Pflaume"))))
    assert isinstance(found[0], Rejected)
    assert (found[0].reason, found[0].score) == ("vowels", 5.0)
    assert isinstance(found[1], SentencePair)


@given(st.lists(st.tuples(st.text(max_size=12), st.text(max_size=12)), max_size=20))
def test_nothing_is_lost(pairs: list[tuple[str, str]]) -> None:
    cleaner = Cleaner(CLEANING, ("en", "zh"))
    given_records = records(*pairs)
    judged = list(cleaner.judged(given_records))
    places = [one.record.origin.line if isinstance(one, Rejected) else one.origin.line for one in judged]
    assert places == [record.origin.line for record in given_records]
    assert cleaner.report.total == len(pairs)
    assert Counter(one.reason for one in judged if isinstance(one, Rejected)) == cleaner.report.rejected


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [(f"sentence {number % 7} here", f"Satz {number % 7} hier") for number in range(30)]
    whole = reasons(Cleaner(CLEANING, ("en", "de")), *pairs)
    monkeypatch.setattr(gathering, "AT_ONCE", 4)
    assert reasons(Cleaner(CLEANING, ("en", "de")), *pairs) == whole


def test_samples_are_drawn_from_all_of_a_reason() -> None:
    pairs = [(f"number {number}", f"Zahl {number + 1000}") for number in range(1000, 2000)]
    cleaner = Cleaner(CLEANING, ("en", "de"))
    assert set(reasons(cleaner, *pairs)) == {"other numbers"}
    lines = [one.record.origin.line for one in cleaner.report.samples["other numbers"]]
    assert len(set(lines)) == cleaning.SAMPLES
    assert max(lines) > 200
    again = Cleaner(CLEANING, ("en", "de"))
    reasons(again, *pairs)
    assert again.report.samples == cleaner.report.samples


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Save the file…", "save  the FILE", True),
        ("ＡＢＣ", "abc", True),
        ("Straße", "STRASSE", True),
        ("他说：好！", "他说 好", True),
        ("1 file", "2 files", False),
        ("?!", "!?", False),
        ("e\u0301", "é", True),
        ("हिन्दी", "हिन्दि", False),
        ("C++ code", "C# code", False),
        ("-5 °C", "5 °C", False),
        ("x < 2", "x > 2", False),
        ("an e-mail", "an E mail", True),
        ("𝓐 ™", "A tm", True),
        ("打开文件。", "打开 文件", True),
        ("用 numpy 写", "用numpy写", True),
        ("ไฟล์ ใหม่", "ไฟล์ใหม่", True),
        ("a b", "ab", False),
    ],
)
def test_duplicate_keys(one: str, other: str, same: bool) -> None:
    assert (duplicate_key(one) == duplicate_key(other)) == same


@given(st.text())
def test_duplicate_keys_are_their_own_keys(text: str) -> None:
    key = duplicate_key(text)
    assert duplicate_key(key) == key


SIGNS = st.sampled_from("文a用AbßไＡ  .,-5٣…ＡéΣσς!?\n\u0301中。한ー𝓐\ufdfa") | st.characters()


@given(st.lists(st.text(SIGNS, max_size=8), max_size=12))
def test_hashes_are_equal_where_keys_are(texts: list[str]) -> None:
    texts = [text.replace("\n", " ") for text in texts]
    keys, hashes = [duplicate_key(text) for text in texts], keys_of(texts).tolist()
    assert len(hashes) == len(texts)
    for one, own in zip(keys, hashes, strict=True):
        assert [one == other for other in keys] == [own == other for other in hashes]
    assert hashes == [int(keys_of([text])[0]) for text in texts]


def test_a_text_of_several_lines_has_a_key_too() -> None:
    assert keys_of(["a b", "a\nb", "A, b!"]).tolist() == [int(keys_of(["a b"])[0])] * 3


def test_the_sides_of_a_pair_have_their_places() -> None:
    one, other = keys_of(["one"]), keys_of(["eins"])
    assert keys_of_pairs(one, other)[0] != keys_of_pairs(other, one)[0]


def test_several_processes_say_what_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "AT_ONCE", 7)
    pairs = [(f"Sentence  {number % 70} here", f"Satz {number % 70 + number % 3} “hier”") for number in range(200)]
    languages = ("en", "de")
    recipe = CleaningRecipe(normalise=Normalisations(quotes="language"))
    alone = Cleaner(recipe, languages, frozenset({1}))
    with crew_for(recipe, languages, frozenset({1}), size=0, workers=2) as crew:
        together = Cleaner(recipe, languages, frozenset({1}), crew=crew)
        assert list(together.judged(records(*pairs))) == list(alone.judged(records(*pairs)))
        assert together.report == alone.report
        assert together.report.changed["quotes"] == 200
    assert not any(worker.process.is_alive() for worker in crew)


def test_processes_are_started_for_large_files_alone() -> None:
    with crew_for(CLEANING, ("en", "de"), frozenset(), size=cleaning.LARGE - 1) as crew:
        assert crew == []
