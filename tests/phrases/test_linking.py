"""Are words linked to those that they keep company with, by hand-made figures?"""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.phrases import linking, numbered
from dragoman.phrases.linking import Entry, Partners, find_partners, learn_entries, likelihood_ratio, link, merged
from dragoman.phrases.numbered import NumberedPairs, number_pairs

Lines = Sequence[tuple[str, str]]

HOUSES: Lines = [
    ("the house", "das haus"),
    ("the book", "das buch"),
    ("a book", "ein buch"),
    ("a small house", "ein kleines haus"),
]


def learnt(lines: Lines, folder: Path, min_links: int = 1) -> list[Entry]:
    with pairs_of(lines, folder) as pairs:
        return learn_entries(pairs, min_links)


def pairs_of(lines: Lines, folder: Path) -> AbstractContextManager[NumberedPairs]:
    return number_pairs(((source.split(), target.split()) for source, target in lines), folder)


def test_a_small_bitext_is_understood(tmp_path: Path) -> None:
    entries = learnt(HOUSES, tmp_path)
    assert {entry.source: entry.target for entry in entries} == {
        "the": "das",
        "house": "haus",
        "book": "buch",
        "a": "ein",
        "small": "kleines",
    }
    assert [entry.source for entry in entries] == ["the", "house", "book", "a", "small"]
    assert {entry.share for entry in entries} == {1.0}
    assert [entry.links for entry in entries] == [2, 2, 2, 2, 1]


def test_rare_links_are_left_out(tmp_path: Path) -> None:
    entries = learnt(HOUSES, tmp_path, 2)
    assert [entry.source for entry in entries] == ["the", "house", "book", "a"]


def test_words_of_every_pair_are_linked_too(tmp_path: Path) -> None:
    """A full stop that ends every line has no log-likelihood ratio to show."""
    lines = [(f"{source} .", f"{target} 。") for source, target in HOUSES]
    entries = {entry.source: entry.target for entry in learnt(lines, tmp_path)}
    assert entries["."] == "。"
    assert entries["the"] == "das"


def test_nothing_to_link_is_no_entries(tmp_path: Path) -> None:
    assert learnt([("", "ein haus"), ("the house", "")], tmp_path) == []
    assert learnt([], tmp_path) == []


def test_share_counts_every_occurrence(tmp_path: Path) -> None:
    """'very' stands twice in a pair whose target has only one word for it."""
    lines = [("very very good", "sehr gut"), ("good", "gut"), ("very bad", "sehr schlecht"), ("bad", "schlecht")]
    very = next(entry for entry in learnt(lines, tmp_path) if entry.source == "very")
    assert (very.target, very.links, very.share) == ("sehr", 2, 0.6667)


def test_likelihood_ratio_is_dunnings() -> None:
    """G^2 of the 2 x 2 table [[110, 2442], [111, 29114]] is 270.72 (Dunning 1993, table 2, 'the swiss')."""
    both, source, target = (np.array([value]) for value in (110, 110 + 2442, 110 + 111))
    total = 110 + 2442 + 111 + 29114
    assert likelihood_ratio(both, source, target, total)[0] == pytest.approx(270.72, abs=0.01)


def test_independent_words_have_no_ratio() -> None:
    assert likelihood_ratio(np.array([5]), np.array([10]), np.array([50]), 100)[0] == 0
    assert likelihood_ratio(np.array([100]), np.array([100]), np.array([100]), 100)[0] == 0


def test_pairs_below_chance_are_no_partners(tmp_path: Path) -> None:
    with pairs_of([("a", "x"), ("a", "x"), ("a b", "y"), ("b", "y")], tmp_path) as pairs:
        partners, occurrences = find_partners(pairs)
    names = {(pairs.source_words[code // 2], pairs.target_words[code % 2]) for code in partners.codes_P.tolist()}
    assert names == {("a", "x"), ("b", "y")}
    assert occurrences.tolist() == [3, 2]


def test_no_word_is_linked_twice_and_the_strongest_goes_first() -> None:
    partners = Partners(
        codes_P=np.array([0, 1, 2, 3]),  # 0-0, 0-1, 1-0, 1-1 of two by two words
        rank_P=np.array([1, 2, 3, 4]),
        targets=2,
    )
    links = link(np.array([0, 1]), np.array([0, 1]), partners)
    assert [(i, j) for i, j, _ in links] == [(0, 0), (1, 1)]
    better = Partners(partners.codes_P, rank_P=np.array([2, 1, 3, 4]), targets=2)
    assert [(i, j) for i, j, _ in link(np.array([0, 1]), np.array([0, 1]), better)] == [(0, 1), (1, 0)]


def test_repeated_words_are_linked_in_order() -> None:
    partners = Partners(codes_P=np.array([0]), rank_P=np.array([1]), targets=1)
    assert [(i, j) for i, j, _ in link(np.array([0, 0]), np.array([0, 0]), partners)] == [(0, 0), (1, 1)]


@settings(max_examples=50)
@given(st.lists(st.lists(st.integers(0, 40), max_size=30), max_size=6))
def test_merging_counts_like_a_counter(chunks: list[list[int]]) -> None:
    codes, counts = np.zeros(0, np.int64), np.zeros(0, np.int32)
    for chunk in chunks:
        codes, counts = merged(codes, counts, [np.array(chunk, dtype=np.int64)])
    expected = {code: sum(chunk.count(code) for chunk in chunks) for chunk in chunks for code in chunk}
    assert dict(zip(codes.tolist(), counts.tolist(), strict=True)) == expected
    assert codes.tolist() == sorted(codes.tolist())


def test_counting_in_small_chunks_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [(" ".join(words), " ".join(words).upper()) for words in permutations("abcd", 3)]
    at_once = learnt(lines, tmp_path)
    monkeypatch.setattr(linking, "CHUNK", 5)
    monkeypatch.setattr(linking, "RATED_AT_ONCE", 2)
    monkeypatch.setattr(numbered, "PAIRS_AT_ONCE", 3)
    monkeypatch.setattr(numbered, "WORDS_AT_ONCE", 7)
    assert learnt(lines, tmp_path) == at_once


def test_too_many_partners_forget_those_seen_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linking, "MOST_PARTNERS", 2)
    codes, counts = merged(np.array([1, 5]), np.array([1, 3], dtype=np.int32), [np.array([7, 7, 9])])
    assert (codes.tolist(), counts.tolist()) == ([5, 7], [3, 2])


@settings(max_examples=30)
@given(
    lines=st.lists(
        st.tuples(st.lists(st.sampled_from("abcde"), max_size=5), st.lists(st.sampled_from("vwxyz"), max_size=5)),
        max_size=12,
    ),
    chunk=st.integers(1, 20),
)
def test_numbered_pairs_give_back_the_words(
    tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[list[str], list[str]]], chunk: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbered, "PAIRS_AT_ONCE", chunk)
        patch.setattr(numbered, "WORDS_AT_ONCE", chunk)
        with number_pairs(lines, tmp_path_factory.getbasetemp()) as pairs:
            for _ in range(2):
                back = [
                    ([pairs.source_words[i] for i in source], [pairs.target_words[j] for j in target])
                    for source, target in pairs
                ]
                assert back == lines
            assert len(pairs) == len(lines)


def test_a_pair_costs_eight_bytes_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbered, "WORDS_AT_ONCE", 1000)
    count, line = 100_000, (["a", "b"], ["x"])
    tracemalloc.start()
    try:
        with number_pairs((line for _ in range(count)), tmp_path) as pairs:
            _, peak = tracemalloc.get_traced_memory()
            assert len(pairs) == count
    finally:
        tracemalloc.stop()
    assert peak < 8 * count * 1.5 + 100_000  # an array grows by an eighth at a time; a list of pairs would take 64 each
