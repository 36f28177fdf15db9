"""Does the word-for-word translator learn, translate, link and keep what it should?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.contracts import (
    Flag,
    Interrupted,
    Progress,
    Request,
    Sampling,
    SearchOptions,
    SentencePair,
    UserError,
    Work,
)
from dragoman.corpus.bitext import ListBitext
from dragoman.evaluation.metrics import corpus_scores
from dragoman.phrases.dictionary import DROP_UNFITTED, DROPS, DictionaryTranslator
from dragoman.phrases.linking import Entry
from dragoman.phrases.recipes import DICTIONARY, Dictionary
from dragoman.phrases.spelling import Spelling
from tests.generated import generated_bitext


def trained(source: str, target: str, folder: Path, recipe: Dictionary = DICTIONARY) -> DictionaryTranslator:
    return recipe.train(
        generated_bitext(600, source, target, seed=1), generated_bitext(60, source, target, seed=2), Work(folder)
    )


@pytest.fixture(scope="module")
def german(tmp_path_factory: pytest.TempPathFactory) -> DictionaryTranslator:
    return trained("en", "de", tmp_path_factory.mktemp("work"))


@pytest.fixture(scope="module")
def chinese(tmp_path_factory: pytest.TempPathFactory) -> DictionaryTranslator:
    return trained("zh", "en", tmp_path_factory.mktemp("work"))


@pytest.fixture
def hand_made() -> DictionaryTranslator:
    entries = [
        Entry("the", "das", 0.05, 1),
        Entry("house", "haus", 1.0, 4),
        Entry("电脑", "computer", 1.0, 4),
        Entry(".", ".", 1.0, 4),
    ]
    return DictionaryTranslator(
        source_language="en",
        target_language="de",
        entries={entry.source: entry for entry in entries},
        compounds=frozenset({"电脑", "图书馆"}),
        longest=4,
        spelling=Spelling(surfaces={"haus": "Haus"}, spaces={".": (0.0, 1.0)}, capitals=True),
        drop=0.1,
    )


def test_the_dictionary_is_learnt(german: DictionaryTranslator) -> None:
    pairs = [("teacher", "lehrer"), ("apple", "apfel"), ("found", "fand"), ("seven", "sieben"), ("bicycle", "fahrrad")]
    assert [german.entries[source].target for source, _ in pairs] == [target for _, target in pairs]
    (translation,) = german.translate(["The quiet teacher bought seven red apples."])
    assert translation.text == "Der stille Lehrer kaufte sieben rote Äpfel."


def test_chinese_words_are_found_without_spaces(chinese: DictionaryTranslator) -> None:
    assert "苹果" in chinese.compounds
    assert chinese.entries["苹果"].target in ("apple", "apples")
    assert "apple" in chinese.translate(["老师丢了苹果"])[0].text


def test_it_beats_copying_by_far(german: DictionaryTranslator) -> None:
    test = list(generated_bitext(100, "en", "de", seed=3))
    references = [[pair.target for pair in test]]
    found = corpus_scores([t.text for t in german.translate([pair.source for pair in test])], references, "de")
    copied = corpus_scores([pair.source for pair in test], references, "de")
    assert found.chrf.value > 70 > 2 * copied.chrf.value


def test_unknown_words_and_numbers_are_copied_with_their_spaces(hand_made: DictionaryTranslator) -> None:
    best = hand_made.translate(["House 1,000.50 Foo-bar  (x) ."])[0].hypotheses[0]
    assert best.text == "Haus 1,000.50 Foo-bar (x)."
    assert best.flags == (Flag.UNTRANSLATED,)
    assert hand_made.translate(["House 7."])[0].hypotheses[0].flags == ()


def test_words_below_the_drop_are_left_out_unless_nothing_else_is_there(hand_made: DictionaryTranslator) -> None:
    assert hand_made.translate(["the house"])[0].text == "Haus"
    assert hand_made.translate(["the", "The"])[0].text == "das"
    assert hand_made.translate(["The"])[0].text == "Das"


def test_capitals_follow_the_source_or_the_habit_of_the_target(hand_made: DictionaryTranslator) -> None:
    assert [t.text for t in hand_made.translate(["电脑", "7 电脑", "Computer"])] == [
        "Computer",
        "7 computer",
        "Computer",
    ]


def test_unknown_compounds_fall_back_on_their_signs(hand_made: DictionaryTranslator) -> None:
    translation = hand_made.translate(["图书馆 电脑"])[0]
    assert translation.text == "图书馆computer"
    assert translation.hypotheses[0].links == ((0, 0), (1, 1), (2, 2), (3, 3), (4, 3))


def test_links_lead_from_source_words_to_output_words(german: DictionaryTranslator) -> None:
    text = "The nurse found 12 books!"
    translation = german.translate([text])[0]
    best = translation.hypotheses[0]
    assert best.links is not None
    words = {text[slice(*translation.source_words[i])]: best.text[slice(*best.words[j])] for i, j in best.links}
    assert words["nurse"] == "Schwester"
    assert words["12"] == "12"
    assert words["!"] == "!"


def test_blank_in_blank_out(hand_made: DictionaryTranslator) -> None:
    assert [t.text for t in hand_made.translate(["", " \t", "\u2028"])] == ["", "", ""]


@settings(max_examples=200)
@given(text=st.text(max_size=60))
def test_any_text_has_a_translation_of_one_line(text: str) -> None:
    translator = DictionaryTranslator("en", "de", {}, frozenset({"中国"}), 4, Spelling({}, {}, True), 0.1)
    best = translator.translate([text])[0].hypotheses[0]
    assert "".join(best.text.split()) == "".join(text.split())
    assert not set(best.text) & {"\n", "\r"}


@settings(max_examples=50)
@given(
    parts=st.lists(
        st.sampled_from(["The", "apple", "12", "don't", "\u200b", "图书", "👩\u200d👧", "'", "ﬁ", "\u0301", " "]),
        max_size=8,
    )
)
def test_spans_and_links_stay_inside(german: DictionaryTranslator, parts: list[str]) -> None:
    translation = german.translate(["".join(parts)])[0]
    best = translation.hypotheses[0]
    for text, spans in [(translation.source, translation.source_words), (best.text, best.words)]:
        assert all(0 <= start < end <= len(text) for start, end in spans)
    assert best.links is not None
    for source, target in best.links:
        assert source < len(translation.source_words)
        assert target < len(best.words)


def test_what_is_saved_is_loaded(german: DictionaryTranslator, chinese: DictionaryTranslator, tmp_path: Path) -> None:
    for translator in (german, chinese):
        folder = tmp_path / translator.source_language
        folder.mkdir()
        translator.save(folder)
        assert DictionaryTranslator.load(folder) == translator
        assert {path.name for path in folder.iterdir()} == {"dictionary.tsv", "words.json"}


def test_odd_words_survive_saving(tmp_path: Path) -> None:
    pairs = [SentencePair("\x1c \x85 \u2028x \x0b", "\x1d \x85 \u2029y \x0c"), SentencePair("x", "y")]
    translator = DICTIONARY.train(ListBitext(pairs, "en", "de"), None, Work(tmp_path))
    translator.save(tmp_path)
    assert DictionaryTranslator.load(tmp_path) == translator


def test_learning_is_repeatable(german: DictionaryTranslator, tmp_path: Path) -> None:
    assert trained("en", "de", tmp_path) == german


def test_drop_is_fitted_on_dev(tmp_path: Path) -> None:
    seen: list[Progress] = []
    train, dev = generated_bitext(300, "en", "zh"), generated_bitext(50, "en", "zh", seed=2)
    translator = DICTIONARY.train(train, dev, Work(tmp_path, report=seen.append))
    looks = [progress for progress in seen if progress.phase == "dev"]
    assert [look.values["drop"] for look in looks[:-1]] == list(DROPS)
    best = max(looks[:-1], key=lambda look: look.values["chrf"])
    assert translator.drop == best.values["drop"] == looks[-1].values["drop"]
    assert looks[-1].note.startswith(f"chosen: drop {translator.drop:g}, bleu ")
    assert DICTIONARY.train(train, None, Work(tmp_path)).drop == DROP_UNFITTED
    assert Dictionary(drop=0.3).train(train, dev, Work(tmp_path)).drop == 0.3


@pytest.mark.parametrize(
    ("options", "ability"),
    [
        (SearchOptions(n_best=2), "beam (n_best)"),
        (SearchOptions(beam=5), "beam (beam)"),
        (SearchOptions(alpha=0.5), "beam (alpha)"),
        (SearchOptions(max_ratio=3), "beam (max_ratio)"),
        (SearchOptions(sampling=Sampling()), "sample (sampling)"),
        (SearchOptions(attention=True), "attention (attention)"),
    ],
)
def test_options_that_need_a_search_are_refused(
    hand_made: DictionaryTranslator, options: SearchOptions, ability: str
) -> None:
    with pytest.raises(UserError) as refused:
        hand_made.translate(["house"], options)
    assert ability in str(refused.value)
    assert str(refused.value).startswith("kind 'dictionary' cannot")


@pytest.mark.parametrize("request_", [Request("house", prefix="Das"), Request("house", terms=(("house", "Heim"),))])
def test_prefixes_and_terms_are_refused(hand_made: DictionaryTranslator, request_: Request) -> None:
    with pytest.raises(UserError, match=r"cannot (begin with|keep to)"):
        hand_made.translate([request_])


def test_harmless_options_are_taken(hand_made: DictionaryTranslator) -> None:
    assert hand_made.translate([Request("house")], SearchOptions(n_best=1, batch_tokens=7))[0].text == "Haus"


def test_stopping_is_honoured(tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        DICTIONARY.train(generated_bitext(20), None, Work(tmp_path, stop=lambda: True))


def test_there_is_nothing_to_go_on_from(hand_made: DictionaryTranslator, tmp_path: Path) -> None:
    for work in (Work(tmp_path, start=hand_made), Work(tmp_path, finish=True)):
        with pytest.raises(UserError, match="learnt in one go"):
            DICTIONARY.train(generated_bitext(20), None, work)


@pytest.mark.parametrize("fields", [{"longest": 0}, {"min_links": 0}, {"drop": 1.5}, {"drop": "most"}, {"wide": 1}])
def test_wrong_fields_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(fields))):
        Dictionary(**fields)  # type: ignore[arg-type]


def test_a_bitext_is_only_walked(tmp_path: Path) -> None:
    """Nothing assumes that it fits into memory: it is never made a list by `len` and index."""

    class Stream(ListBitext):
        def __iter__(self) -> Iterator[SentencePair]:
            yield from self.pairs

    pairs = generated_bitext(50)
    stream = Stream(pairs.pairs, "en", "zh")
    assert DICTIONARY.train(stream, None, Work(tmp_path)) == DICTIONARY.train(pairs, None, Work(tmp_path))
