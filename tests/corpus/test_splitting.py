"""The split: by a hash of the normalised source, without leaks, never an empty part."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.contracts import SentencePair, UserError
from dragoman.corpus.bitext import ListBitext, fingerprint_of
from dragoman.corpus.splitting import Shares, hold_out, key_hash, split_bitext, split_key


def bitext_of(count: int) -> ListBitext:
    """Every tenth target is one of three, so that parts would share targets."""
    targets = (f"Antwort {name(number)}" if number % 10 else f"Ja {'abc'[number % 3]}" for number in range(count))
    pairs = [SentencePair(f"Question {name(number)}?", target) for number, target in enumerate(targets)]
    return ListBitext(pairs, "en", "de")


def name(number: int) -> str:
    """Letters, since digits are all alike to the split."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def part_of(source: str, shares: Shares) -> str:
    """Test below the first threshold, dev below the second."""
    place = key_hash(source) / 2**64
    return "test" if place < shares.test else "dev" if place < shares.test + shares.dev else "train"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Wait:  1 or 27 HOURS?", "wait 0 or 00 hours"),
        ("Straße", "strasse"),
        ("ＡＢＣ１２", "abc00"),
        ("١٢ ²", "00 0"),
        ("foo-bar \t«baz»", "foobar baz"),
        ("他说：“你好！”", "他说你好"),
        ("e\u0301", "é"),
        ("1 + 1 = 2 €", "0 + 0 = 0 €"),
        ("?!", "?!"),
        ("… …", "......"),
        ("", ""),
        ("a\u00a0b\u3000c", "a b c"),
    ],
)
def test_keys(text: str, key: str) -> None:
    assert split_key(text) == key


@given(st.text())
def test_keys_ignore_case_width_and_punctuation(text: str) -> None:
    assert split_key(text) == split_key(f"  {text} ")
    if split_key(text + "a") != "a":
        assert split_key(text + "a") == split_key(text + "a, !")


def test_parts_are_the_same_everywhere() -> None:
    # Fixed for ever: another value here would move sentences between parts of corpora already split.
    assert key_hash("Hello, world!") == key_hash("HELLO  WORLD") == 0x878633AA32A3B150
    parts = Counter(part_of(f"Question {name(number)}", Shares(0.1, 0.2)) for number in range(5000))
    assert 400 < parts["dev"] < 600
    assert 850 < parts["test"] < 1150
    assert key_hash("1 file") == key_hash("2 FILE.")


def test_no_leaks(tmp_path: Path) -> None:
    bitext = bitext_of(3000)
    report = split_bitext(bitext, tmp_path, dev=0.05, test=100)
    sides = {path.name: path.read_text().splitlines() for path in report.files}
    assert list(sides) == ["train.en", "train.de", "dev.en", "dev.de", "test.en", "test.de"]
    assert [len(sides[f"{part}.en"]) for part in ("train", "dev", "test")] == [report.train, report.dev, report.test]
    assert report.train + report.dev + report.test + report.left_out == 3000
    assert report.shares == Shares(0.05, 100 / 3000)
    assert 100 < report.dev < 200
    assert 60 < report.test < 140
    for language in ("en", "de"):
        held_out = {split_key(text) for part in ("dev", "test") for text in sides[f"{part}.{language}"]}
        assert not held_out & {split_key(text) for text in sides[f"train.{language}"]}
    for pair in bitext.pairs:
        part = part_of(pair.source, report.shares)
        assert part == "train" or pair.source in sides[f"{part}.en"]
    # All pairs with one of the three common targets are held out or have left train.
    assert report.left_out == sum(
        part_of(pair.source, report.shares) == "train" for pair in bitext.pairs if pair.target.startswith("Ja")
    )
    assert report.summary().startswith(f"{report.train:,} pairs for train, {report.dev:,} for dev")


def test_pairs_of_one_source_stay_together(tmp_path: Path) -> None:
    pairs = [SentencePair(f"Q {name(number // 4)}{'.!?…'[number % 4]}", f"A {name(number)}") for number in range(800)]
    report = split_bitext(ListBitext(pairs, "en", "de"), tmp_path, dev=0.2, test=0)
    assert len(report.files) == 4
    assert not (tmp_path / "test.en").exists()
    assert report.dev % 4 == 0
    assert (report.train, report.left_out) == (800 - report.dev, 0)


def leaves_something(sides: list[tuple[str, str]], held: str) -> bool:
    """Whether holding out one source leaves a pair for train."""
    targets = {target for source, target in sides if source == held}
    return any(source != held and target not in targets for source, target in sides)


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("stuvwxyz")), min_size=1, max_size=12),
    st.integers(0, 20),
)
def test_held_out_pairs_of_tiny_corpora(sides: list[tuple[str, str]], about: int) -> None:
    bitext = ListBitext([SentencePair(*pair) for pair in sides], "en", "de")
    if not any(leaves_something(sides, held) for held, _ in sides):
        with pytest.raises(UserError, match="too few, or too much alike"):
            hold_out(bitext, about)
        return
    train, dev, left_out = hold_out(bitext, about)
    assert len(train) + len(dev) + left_out == len(bitext)
    assert len(train) == len(list(train)) > 0
    assert len(dev) == len(list(dev)) > 0
    assert not {pair.source for pair in train} & {pair.source for pair in dev}
    assert not {pair.target for pair in train} & {pair.target for pair in dev}
    for part in (train, dev):
        assert part.fingerprint == fingerprint_of(part, "en", "de")
        assert (part.source_language, part.target_language) == ("en", "de")


def test_hold_out_takes_about_so_many() -> None:
    train, dev, left_out = hold_out(bitext_of(3000), 200)
    assert left_out == 3000 - len(train) - len(dev) > 200  # every tenth pair has a common target
    assert 130 < len(dev) < 280
    assert len(train) > 2300


def test_what_split_left_for_training_can_be_held_out_from(tmp_path: Path) -> None:
    split_bitext(bitext_of(2000), tmp_path, dev=0.1, test=0.1)
    sides = [(tmp_path / f"train.{code}").read_text(encoding="utf-8").splitlines() for code in ("en", "de")]
    pairs = [SentencePair(source, target) for source, target in zip(*sides, strict=True)]
    train, dev, _ = hold_out(ListBitext(pairs, "en", "de"), 100)
    assert 60 < len(dev) < 200
    assert len(train) > 1000


def test_few_pairs_have_larger_shares_for_dev_and_test(tmp_path: Path) -> None:
    assert split_bitext(bitext_of(3000), tmp_path).shares == Shares(0.05, 0.05)
    assert split_bitext(bitext_of(20_000), tmp_path).shares == Shares(0.025, 0.025)
    assert split_bitext(bitext_of(40_000), tmp_path).shares == Shares(0.02, 0.02)


def test_no_part_of_another_split_stays_beside_this_one(tmp_path: Path) -> None:
    split_bitext(bitext_of(300), tmp_path, dev=0.1, test=0.1)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(UserError, match=r"test\.en: is left of another split, and its pairs are in train now"):
        split_bitext(bitext_of(300), tmp_path, dev=0.1, test=0)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    with pytest.raises(UserError, match=r"train\.en: is a file"):
        split_bitext(bitext_of(300), tmp_path / "train.en")


def test_impossible_splits_are_refused(tmp_path: Path) -> None:
    bitext = bitext_of(100)
    for dev, test, message in (
        (0.5, 0.6, "leave nothing of 100 pairs for train"),
        (60, 60, "leave nothing of 100 pairs for train"),
        (200, None, r"^dev \(200\) leaves nothing of 100 pairs for train"),
        (None, 0.99, r"^test \(0.99\) leaves nothing of 100 pairs for train"),
        (-1, 0.1, "dev is a share below 1 or a number of pairs"),
        (math.nan, 0.1, "dev is a share below 1 or a number of pairs, not nan"),
        (0.1, math.inf, "test is a share below 1 or a number of pairs, not inf"),
    ):
        with pytest.raises(UserError, match=message):
            split_bitext(bitext, tmp_path, dev, test)
    with pytest.raises(UserError, match="source and target are both en"):
        split_bitext(ListBitext(bitext.pairs, "en", "en"), tmp_path)
    with pytest.raises(UserError, match="2 pairs: too few, or too much alike, to be split into train, dev, test"):
        split_bitext(ListBitext(bitext.pairs[:2], "en", "de"), tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert split_bitext(ListBitext(bitext.pairs[:3], "en", "de"), tmp_path).dev == 1
