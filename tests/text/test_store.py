"""Ids on disk: equal to what was encoded, reopened, rebuilt when damaged."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from dragoman.contracts import Progress, SentencePair, UserError
from dragoman.text import store as text_store
from dragoman.text.options import TextOptions
from dragoman.text.pieces import BACK_TRANSLATED, TAG_IDS
from dragoman.text.pipeline import fit_pipeline
from dragoman.text.store import build_store
from tests.text.tiny import TinyBitext, made_pairs

BITEXT = TinyBitext(made_pairs(200))
PIPELINE = fit_pipeline(BITEXT, TextOptions(pieces=500))


def test_ids_are_those_of_the_pipeline(tmp_path: Path) -> None:
    store = build_store(BITEXT, PIPELINE, tmp_path, 256)
    assert len(store) == 200
    assert store.set_aside == {}
    for index, pair in enumerate(BITEXT):
        source, target = store.source(index), store.target(index)
        assert source.tolist() == PIPELINE.source.encode([pair.source])[0]
        assert target.tolist() == PIPELINE.target.encode([pair.target])[0]
        assert store.source_lengths[index] == len(source)
        assert store.target_lengths[index] == len(target)
    assert store.source(0).dtype == store.source_lengths.dtype == np.int32
    assert store.summary() == "200 of 200 pairs kept"


def test_a_tag_begins_each_source_and_nothing_else(tmp_path: Path) -> None:
    plain = build_store(BITEXT, PIPELINE, tmp_path, 256)
    tagged = build_store(BITEXT, PIPELINE, tmp_path, 256, tag=BACK_TRANSLATED)
    assert BACK_TRANSLATED in PIPELINE.source.pieces.reserved
    for index in range(len(plain)):
        assert tagged.source(index).tolist() == [BACK_TRANSLATED, *plain.source(index).tolist()]
        assert tagged.target(index).tolist() == plain.target(index).tolist()
    assert (tagged.source_lengths == plain.source_lengths + 1).all()
    assert len(build_store(BITEXT, PIPELINE, tmp_path, 256)) == 200
    empty = TinyBitext([("", "x"), ("The teacher reads.", "老师读。")])
    assert build_store(empty, PIPELINE, tmp_path, 256, tag=BACK_TRANSLATED).set_aside == {"empty": 1}


def test_no_text_is_cut_into_a_tag() -> None:
    for name in ("<tag_0>", "▁<tag_0>", " <tag_0> a"):
        assert not {*TAG_IDS} & {*PIPELINE.source.encode([name])[0]}


def test_a_store_followed_by_another_is_both_in_turn(tmp_path: Path) -> None:
    first = build_store(TinyBitext([("A letter", "一封信"), ("x" * 300, "y")]), PIPELINE, tmp_path, 40)
    second = build_store(BITEXT, PIPELINE, tmp_path, 40, tag=BACK_TRANSLATED)
    third = build_store(TinyBitext([("Nobody", "没有人")]), PIPELINE, tmp_path, 40)
    both = first.followed_by(second).followed_by(third)
    parts = [(store, index) for store in (first, second, third) for index in range(len(store))]
    assert len(both) == len(parts) == 202
    for index, (store, place) in enumerate(parts):
        assert both.source(index).tolist() == store.source(place).tolist()
        assert both.target(index).tolist() == store.target(place).tolist()
        assert both.source_lengths[index] == store.source_lengths[place]
        assert both.target_lengths[index] == store.target_lengths[place]
    assert both.set_aside == {"too long": 1}


def test_long_and_empty_pairs_are_set_aside(tmp_path: Path) -> None:
    pairs = [("The teacher reads.", "老师读。"), ("x" * 300, "y"), ("a", ""), ("b", "z" * 300), ("A letter", "一封信")]
    store = build_store(TinyBitext(pairs), PIPELINE, tmp_path, 40)
    assert len(store) == 2
    assert store.set_aside == {"too long": 2, "empty": 1}
    assert store.summary() == "2 of 5 pairs kept: 2 too long, 1 empty"
    assert PIPELINE.target.decode(store.target(1).tolist()) == "一封信"
    assert build_store(TinyBitext(pairs), PIPELINE, tmp_path, 40).set_aside == store.set_aside


def test_exactly_as_long_as_allowed_is_kept(tmp_path: Path) -> None:
    pair = ("The teacher reads.", "老师读。")
    longest = max(len(PIPELINE.source.encode([text])[0]) for text in pair)
    assert len(build_store(TinyBitext([pair]), PIPELINE, tmp_path, longest)) == 1
    with pytest.raises(UserError, match=r"^0 of 1 pairs kept: 1 too long$"):
        build_store(TinyBitext([pair]), PIPELINE, tmp_path, longest - 1)


def test_the_usual_length_ratio_is_one_that_nearly_all_pairs_keep_to(tmp_path: Path) -> None:
    store = build_store(TinyBitext([*made_pairs(30), ("A letter", "老师读。" * 20)]), PIPELINE, tmp_path, 400)
    ratio = store.usual_length_ratio
    assert (store.target_lengths + 1 <= ratio * store.source_lengths + 10 + 1e-6).all()
    assert ratio == pytest.approx(((store.target_lengths + 1 - 10) / store.source_lengths).max())
    assert build_store(TinyBitext([("A letter", "一封信")]), PIPELINE, tmp_path, 40).usual_length_ratio == 0


def test_nothing_left_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^0 of 12 pairs kept: 12 too long$"):
        build_store(TinyBitext([("x" * 99, "y")] * 12), PIPELINE, tmp_path, 10)
    assert list(tmp_path.iterdir()) == []


def test_a_store_is_reopened_by_content(tmp_path: Path) -> None:
    seen: list[Progress] = []
    build_store(BITEXT, PIPELINE, tmp_path, 256, seen.append)
    assert [(progress.step, progress.total) for progress in seen] == [(200, 200)]
    build_store(BITEXT, PIPELINE, tmp_path, 256, seen.append)
    assert len(seen) == 1
    build_store(BITEXT, PIPELINE, tmp_path, 255, seen.append)
    assert len(seen) == 2
    build_store(TinyBitext(BITEXT.pairs[:-1]), PIPELINE, tmp_path, 256, seen.append)
    assert len(seen) == 3
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("name", ["source.ids", "target.offsets", "store.json"])
def test_a_damaged_store_is_built_again(name: str, tmp_path: Path) -> None:
    build_store(BITEXT, PIPELINE, tmp_path, 256)
    (folder,) = tmp_path.iterdir()
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: len(content) // 2 // 8 * 8])
    (tmp_path / f".{folder.name}.part").mkdir()
    again = build_store(BITEXT, PIPELINE, tmp_path, 256)
    assert (folder / name).read_bytes() == content
    assert len(again) == 200
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


def test_an_interrupted_build_leaves_no_store(tmp_path: Path) -> None:
    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_store(BITEXT, PIPELINE, tmp_path, 256, interrupt)
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == []
    assert len(build_store(BITEXT, PIPELINE, tmp_path, 256)) == 200


def test_line_ends_inside_a_text_do_not_reach_the_ids(tmp_path: Path) -> None:
    store = build_store(TinyBitext([("a\nb", "c\r\nd")]), PIPELINE, tmp_path, 256)
    assert PIPELINE.source.decode(store.source(0).tolist()) == "a b"
    assert PIPELINE.target.decode(store.target(0).tolist()) == "c d"


@dataclass(frozen=True)
class Endless:
    """The same few pairs many times over, made while they are read."""

    count: int
    source_language: str = "en"
    target_language: str = "zh"

    @property
    def fingerprint(self) -> str:
        return str(self.count)

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[SentencePair]:
        return (SentencePair(*BITEXT.pairs[index % 200]) for index in range(self.count))


def test_memory_does_not_grow_with_the_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_store, "CHUNK", 100)

    def peak(count: int) -> int:
        tracemalloc.start()
        build_store(Endless(count), PIPELINE, tmp_path, 256)
        result = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return result

    peak(100)
    assert peak(2000) < 1.2 * peak(400)


def test_the_usual_length_is_what_nearly_all_stay_within(tmp_path: Path) -> None:
    words = TextOptions(units="words", pieces=400)
    pairs = [("a b c", "x")] * 1999 + [("a " * 30 + "a", "x")]
    for kept, expected in ((pairs, 3), (pairs[-2:], 31)):
        pipeline = fit_pipeline(TinyBitext(kept), words)
        assert build_store(TinyBitext(kept), pipeline, tmp_path, 256).usual_source_length == expected
