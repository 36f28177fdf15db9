"""Samples and orders: pairs stay together, every pair once, the same seed the same order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.cleaning.duplicates import Seen
from dragoman.cleaning.ordering import different, sampled, shuffled
from dragoman.contracts import Origin, SentencePair, UserError
from dragoman.corpus.bitext import ListBitext


def bitext(count: int) -> ListBitext:
    return ListBitext([SentencePair(f"s{n}", f"t{n}\u2028", Origin("x", n)) for n in range(count)], "en", "de")


@given(st.integers(1, 40), st.integers(0, 5), st.integers(1, 50))
def test_shuffled_is_every_pair_once(count: int, seed: int, at_once: int) -> None:
    pairs = bitext(count)
    found = list(shuffled(pairs, seed, at_once))
    assert sorted(found, key=lambda pair: pair.origin.line) == list(pairs)
    assert found == list(shuffled(pairs, seed))


def test_another_seed_is_another_order() -> None:
    pairs = bitext(50)
    assert list(shuffled(pairs, 1)) != list(pairs)
    assert list(shuffled(pairs, 1)) != list(shuffled(pairs, 2))


@given(st.integers(1, 40), st.data())
def test_a_sample_is_so_many_pairs_in_their_order(count: int, data: st.DataObject) -> None:
    wanted = data.draw(st.integers(0, count))
    lines = [pair.origin.line for pair in sampled(bitext(count), wanted)]
    assert len(lines) == wanted
    assert lines == sorted(set(lines))


def test_every_pair_has_its_chance() -> None:
    drawn = {pair.origin.line for seed in range(60) for pair in sampled(bitext(10), 2, seed)}
    assert drawn == set(range(10))


def test_more_than_there_are() -> None:
    with pytest.raises(UserError, match="there are 3 pairs, fewer than 4"):
        sampled(bitext(3), 4)


def test_different_pairs() -> None:
    pairs = [SentencePair("a", "b"), SentencePair("A!", "b"), SentencePair("a", "c")]
    assert list(different(pairs, Seen())) == [pairs[0], pairs[2]]
    assert list(different(pairs, Seen("sources"))) == [pairs[0]]
