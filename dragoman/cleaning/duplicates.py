"""Which pairs were there before, and which stand in a test set?

Of what was seen only 64-bit hashes are kept, three for a pair.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from dragoman.contracts import Bitext, Record, SentencePair
from dragoman.corpus.splitting import key_hash

Repeated = Literal["pairs", "sources", "targets", "sides"]


class _Plain(dict[int, int | None]):
    """Letters, marks, digits and symbols stay, punctuation becomes a space; found when a character is first met."""

    def __missing__(self, code: int) -> int | None:
        kept = unicodedata.category(chr(code))[0] in "LMNS" or chr(code) in "#%&{}@*"
        self[code] = code if kept else ord(" ")
        return self[code]


_PLAIN = _Plain()
_MINUS = re.compile(r"(?<![^\W_])-(?=\d)")


def duplicate_key(text: str) -> str:
    """What two texts have in common that say the same: NFKC, case folded, no punctuation, single spaces.

    A text without letters and digits is its own key. Digits stay: "1 file" and "2 files" are two sentences.

    >>> duplicate_key("Save  the file…") == duplicate_key("save the FILE!"), duplicate_key("?!")
    (True, '?!')
    """
    folded = text.lower()
    if not text.isascii():
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    if "-" in folded:
        folded = _MINUS.sub("\u2212", folded)
    return " ".join(folded.translate(_PLAIN).split()) or "".join(text.split())


@dataclass
class Seen:
    """What went by so far, and how often a side came again with another partner.

    drop: "pairs" rejects a pair of which both sides were there together; "sources", "targets" and "sides" (one or
    the other) also one of which that side was there with another partner. held_out: hashes of test sentences.
    """

    drop: Repeated = "pairs"
    held_out: frozenset[int] = frozenset()
    pairs: set[int] = field(default_factory=set)
    sources: set[int] = field(default_factory=set)
    targets: set[int] = field(default_factory=set)
    again: Counter[str] = field(default_factory=Counter)

    def reason(self, record: Record | SentencePair) -> str:
        """Why a pair is rejected, or nothing; a pair that is kept has been seen from now on."""
        if self.held_out and not self.held_out.isdisjoint((key_hash(record.source), key_hash(record.target))):
            return "in a test set"
        source, target = duplicate_key(record.source), duplicate_key(record.target)
        pair = hash((source, target))
        if pair in self.pairs:
            return "duplicate"
        one, other = hash(source), hash(target)
        old_source, old_target = one in self.sources, other in self.targets
        if old_source and self.drop in ("sources", "sides"):
            return "repeated source"
        if old_target and self.drop in ("targets", "sides"):
            return "repeated target"
        self.again["source"] += old_source
        self.again["target"] += old_target
        self.pairs.add(pair)
        self.sources.add(one)
        self.targets.add(other)
        return ""


def held_out_keys(test_sets: Iterable[Bitext]) -> frozenset[int]:
    """Hashes of both sides of test pairs, alike but for case, digits and punctuation (see splitting.split_key)."""
    return frozenset(key_hash(side) for pairs in test_sets for pair in pairs for side in (pair.source, pair.target))
