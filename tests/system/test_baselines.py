"""Do the built-in baselines do what their names say?"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.contracts import Flag, Request, SearchOptions, SentencePair, UserError
from dragoman.corpus.bitext import ListBitext
from dragoman.corpus.splitting import split_key
from dragoman.system.baselines import CopyTranslator, MemoryTranslator, grams_of, resolve_system

PAIRS = [
    ("Open the file", "打开文件"),
    ("Save the file", "保存文件"),
    ("Close the window", "关闭窗口"),
    ("Close the window", "关闭窗户"),
    ("Close the window", "关闭窗户"),
    ("打开", "open"),
    ("?", "？"),
]


def memory_of(pairs: list[tuple[str, str]]) -> MemoryTranslator:
    return MemoryTranslator(ListBitext([SentencePair(*pair) for pair in pairs], "en", "zh"))


@pytest.fixture(scope="module")
def memory() -> MemoryTranslator:
    return memory_of(PAIRS)


def test_copy_gives_the_source() -> None:
    copy = CopyTranslator("en", "zh")
    translations = copy.translate(["a  b", "", Request("c")])
    assert [translation.text for translation in translations] == ["a  b", "", "c"]
    assert translations[0].hypotheses[0].words == ((0, 1), (3, 4))
    assert (copy.source_language, copy.target_language) == ("en", "zh")


def test_the_same_source_gives_its_usual_target(memory: MemoryTranslator) -> None:
    best = memory.translate(["Close the window"])[0].hypotheses[0]
    assert (best.text, best.score, best.flags) == ("关闭窗户", 1.0, ())


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("open the files", "打开文件"),
        ("Please save the file!", "保存文件"),
        ("Windows", "关闭窗户"),
        ("打开吧", "open"),
    ],
)
def test_else_the_closest_source_answers(memory: MemoryTranslator, text: str, target: str) -> None:
    best = memory.translate([text])[0].hypotheses[0]
    assert best.text == target
    assert 0 < best.score < 1


def test_similarity_is_the_dice_coefficient_of_trigrams() -> None:
    best = memory_of([("abc", "x")]).translate(["abd"])[0].hypotheses[0]
    assert grams_of("abc") == {"  a", " ab", "abc", "bc ", "c  "}
    assert best.score == pytest.approx(2 * 2 / (5 + 5))


def test_case_digits_and_punctuation_do_not_matter() -> None:
    best = memory_of([("Version 3.1:", "x"), ("Versions", "y")]).translate(["VERSION 9.7"])[0].hypotheses[0]
    assert (best.text, best.score) == ("x", 1.0)


def test_what_is_like_nothing_is_copied_with_a_flag(memory: MemoryTranslator) -> None:
    best = memory.translate(["¿ñ…"])[0].hypotheses[0]
    assert (best.text, best.score, best.flags) == ("¿ñ…", 0.0, (Flag.COPY,))


def test_blank_in_blank_out(memory: MemoryTranslator) -> None:
    assert [t.text for t in memory.translate(["", " "])] == ["", " "]


@settings(max_examples=60)
@given(
    sources=st.lists(st.text("abc ", min_size=1, max_size=6), min_size=1, max_size=8),
    query=st.text("abcd ", max_size=6).filter(str.strip),
)
def test_the_index_finds_what_a_scan_finds(sources: list[str], query: str) -> None:
    memory = memory_of([(source, f"t{number}") for number, source in enumerate(sources)])
    number, similarity = memory.closest(query)
    distinct = list(dict.fromkeys(sources))
    dice = [
        2 * len(grams_of(source) & grams_of(query)) / (len(grams_of(source)) + len(grams_of(query)))
        for source in distinct
    ]
    if query in distinct:
        assert (distinct[number], similarity) == (query, 1.0)
    else:
        assert similarity == pytest.approx(max(dice))
        assert number == dice.index(max(dice))


def test_short_and_odd_texts_have_trigrams() -> None:
    for text in ["a", "。", "好", "1"]:
        assert len(grams_of(text)) == len(split_key(text)) + 2


def test_options_that_need_a_search_are_refused(memory: MemoryTranslator) -> None:
    for system in (memory, CopyTranslator()):
        with pytest.raises(UserError, match=f"kind '{system.kind}' cannot search with a beam"):
            system.translate(["a"], SearchOptions(n_best=2))


def test_systems_are_known_by_name(tmp_path: Path) -> None:
    (tmp_path / "train.en").write_text("good morning\nthank you\n", encoding="utf-8")
    (tmp_path / "train.zh").write_text("早上好\n谢谢\n", encoding="utf-8")
    (tmp_path / "memory.tsv").write_text("good morning\t早上好\n", encoding="utf-8")
    copy = resolve_system("copy", "en", "zh")
    assert (copy.kind, copy.source_language, copy.target_language) == ("copy", "en", "zh")
    memory = resolve_system(f"memory:{tmp_path}/train.en,{tmp_path}/train.zh")
    assert (memory.source_language, memory.target_language) == ("en", "zh")
    assert memory.translate(["Thank you!"])[0].text == "谢谢"
    assert resolve_system(f"memory:{tmp_path}/memory.tsv", "en", "zh").translate(["good"])[0].text == "早上好"


@pytest.mark.parametrize(
    ("name", "message"),
    [("memory:", "write memory:FILE"), ("memory:none.tsv", "none.tsv"), ("no-such-folder", "no such folder")],
)
def test_a_name_without_a_system_is_refused_in_one_line(name: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as refused:
        resolve_system(name, "en", "zh")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["copy", "memory:none.tsv"])
def test_a_baseline_runs_on_the_cpu_only(name: str) -> None:
    with pytest.raises(UserError, match=f"{name}: runs on the cpu only, not on 'cuda:1'"):
        resolve_system(name, "en", "zh", "cuda:1")
