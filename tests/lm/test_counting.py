"""Is everything counted once, whatever fits into memory?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from dragoman.lm.counting import Windows, counting, windows_of
from dragoman.lm.trie import trie_of
from dragoman.lm.units import END, START


def sentences(count: int, seed: int, words: int = 12) -> list[list[int]]:
    random = np.random.default_rng(seed)
    return [(3 + random.integers(0, words, random.integers(0, 8))).tolist() for _ in range(count)]


def rows_of(windows: Windows) -> list[tuple[tuple[int, ...], int]]:
    return [(tuple(row), count) for row, count in zip(windows.rows_NW.tolist(), windows.counts_N.tolist(), strict=True)]


def defined(lines: list[list[int]], order: int) -> list[tuple[tuple[int, ...], int]]:
    """Sorted windows of numbers + 1, filled up by 0."""
    counts: Counter[tuple[int, ...]] = Counter()
    for line in lines:
        words = [START + 1, *(word + 1 for word in line), END + 1, *[0] * (order - 1)]
        counts.update(tuple(words[at : at + order]) for at in range(len(line) + 2))
    return sorted(counts.items())


@pytest.mark.parametrize("order", [1, 2, 5])
@pytest.mark.parametrize("words", [12, 70_000])
def test_windows_are_sorted_and_counted(order: int, words: int) -> None:
    lines = sentences(60, 1, words)
    ids_N = np.array([word for line in lines for word in (START, *line, END)], np.int32)
    assert rows_of(windows_of(ids_N, order)) == defined(lines, order)


@pytest.mark.parametrize("at_once", [1, 40, 100, 10_000])
def test_blocks_change_nothing(tmp_path: Path, at_once: int) -> None:
    lines = sentences(50, 2)
    with counting(3, tmp_path / "runs", 2, at_once) as counter:
        for line in lines:
            counter.add(line)
        assert rows_of(counter.finished()) == defined(lines, 3)
        assert (tmp_path / "runs").exists() == (at_once < 1000)
        assert len(list(tmp_path.rglob("run-*"))) in (0, 2)
    assert not (tmp_path / "runs").exists()
    assert (counter.sentences, counter.total) == (50, sum(map(len, lines)) + 100)


def test_the_trie_has_every_ngram_its_count_and_its_end() -> None:
    lines = sentences(40, 3)
    ids_N = np.array([word for line in lines for word in (START, *line, END)], np.int32)
    trie, counts_X = trie_of(windows_of(ids_N, 4), 15, 2)
    counts: Counter[tuple[int, ...]] = Counter()
    for line in lines:
        words = (START, *line, END)
        counts.update(words[at : at + size] for size in range(1, 5) for at in range(len(words) - size + 1))
    grams: dict[tuple[int, ...], int] = {(): 0}
    found: list[tuple[int, ...]] = [()]
    for order in range(1, 5):
        for node in range(*trie.nodes(order)):
            parent = int(np.searchsorted(trie.begins_Y, node, side="right")) - 1
            grams[(*found[parent], int(trie.words_X[node]))] = node
            found.append((*found[parent], int(trie.words_X[node])))
    assert {gram: int(counts_X[node]) for gram, node in grams.items() if counts_X[node]} == counts
    assert all(trie.links_X[node] == grams[gram[1:]] for gram, node in grams.items() if gram)
    assert [found[node] for node in range(*trie.begun(2))] == sorted(
        gram for gram in grams if len(gram) == 2 and gram[0] == START
    )
