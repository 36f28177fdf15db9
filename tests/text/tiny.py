"""A bitext in memory, and a few hundred pairs made by a rule, for the tests of this room."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dragoman.contracts import SentencePair


@dataclass(frozen=True)
class TinyBitext:
    pairs: Sequence[tuple[str, str]]
    source_language: str = "en"
    target_language: str = "zh"

    @property
    def fingerprint(self) -> str:
        return hashlib.blake2b(repr((self.pairs, self.source_language)).encode(), digest_size=8).hexdigest()

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[SentencePair]:
        return (SentencePair(source, target) for source, target in self.pairs)


def made_pairs(count: int, seed: int = 1) -> list[tuple[str, str]]:
    """English and Chinese sentences of the same meaning, from a grammar of a few words."""
    draw = random.Random(seed)
    people = [("The teacher", "老师"), ("My friend", "我的朋友"), ("A small child", "一个小孩"), ("Nobody", "没有人")]
    verbs = [("reads", "读"), ("forgets", "忘记"), ("carries", "带着"), ("is looking for", "在找")]
    things = [("the old book", "那本旧书"), ("two red apples", "两个红苹果"), ("a letter", "一封信"), ("water", "水")]
    times = [("today", "今天"), ("in the evening", "晚上"), ("every day", "每天"), ("now", "现在")]
    pairs = []
    for _ in range(count):
        person, verb, thing, time = (draw.choice(group) for group in (people, verbs, things, times))
        english = f"{person[0]} {verb[0]} {thing[0]} {time[0]}."
        pairs.append((english, f"{person[1]}{time[1]}{verb[1]}{thing[1]}。"))
    return pairs
