"""Which pairs were there before, and which stand in a test set?

Of what was seen only 64-bit hashes are kept, three for a pair.
"""

from __future__ import annotations

import hashlib
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dragoman.cleaning.signs import are_unspaced, points_of
from dragoman.contracts import Bitext
from dragoman.corpus.splitting import key_hash

Repeated = Literal["none", "pairs", "sources", "targets", "sides"]
Keys = NDArray[np.uint64]

_MINUS = re.compile(r"(?<![^\W_])-(?=\d)")
_LINE_END = ord("\n")
_NEW = np.uint64(1)  # the value of a sign that nobody met yet
_BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse
_INVERSE = pow(_BASE, -1, 1 << 64)
_BEGINS = np.uint64(0xBF58476D1CE4E5B9)


# --- keys ---------------------------------------------------------------------------------------


def duplicate_key(text: str) -> str:
    """What two texts have in common that say the same: NFKC, case folded, no punctuation, single spaces, and none where
    a script has no spaces between words.

    A text without letters and digits is its own key. Digits stay: "1 file" and "2 files" are two sentences.

    >>> duplicate_key("Save  the file…") == duplicate_key("save the FILE!")
    True
    >>> duplicate_key("?!"), duplicate_key("打开 文件。")
    ('?!', '打开文件')
    """
    folded = _folded(text)
    words = "".join(sign if _stays(sign) else " " for sign in folded).split()
    key = ""
    for word in words:
        key += f" {word}" if key and not (_is_unspaced(key[-1]) or _is_unspaced(word[0])) else word
    return key or "".join(text.split())


def _is_unspaced(sign: str) -> bool:
    return bool(are_unspaced(np.array([ord(sign)], dtype=np.uint32))[0])


def _folded(text: str) -> str:
    if text.isascii():
        folded = text.lower()
    else:
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _MINUS.sub("\u2212", folded) if "-" in folded else folded


def _stays(sign: str) -> bool:
    """Letters, marks, digits and symbols; punctuation and spaces tell words apart."""
    return unicodedata.category(sign)[0] in "LMNS" or sign in "#%&{}@*"


def keys_of(texts: Sequence[str]) -> Keys:
    """A 64-bit hash of each text's `duplicate_key`: equal keys, equal hashes, in every process.

    sum_j R[sign_j] p^j modulo 2^64 over the signs of the key, R being random (Karp & Rabin 1987); a sign that begins a
    word has another R. All texts are summed up in one go, and p^-place takes each back from where it begins.
    """
    if not texts:
        return np.zeros(0, dtype=np.uint64)
    joined = _folded("\n".join(texts))
    points_M = points_of(joined)
    ends_N = np.flatnonzero(points_M == _LINE_END)
    if len(ends_N) != len(texts) - 1:  # a text of several lines
        return np.concatenate([keys_of([" ".join(text.splitlines())]) for text in texts])
    values_M = _values_of(points_M)
    places_W = np.flatnonzero(values_M != 0)
    values_W = values_M.take(places_W)
    begins_W = np.ones(len(places_W), dtype=bool)
    np.greater(places_W[1:] - places_W[:-1], 1, out=begins_W[1:])
    firsts_N = np.concatenate([[0], np.searchsorted(places_W, ends_N)])
    filled_N = np.flatnonzero(np.diff(firsts_N, append=len(places_W)))
    if not joined.isascii():
        unspaced_W = are_unspaced(points_M.take(places_W))
        glued_W = unspaced_W.copy()
        glued_W[1:] |= unspaced_W[:-1]
        glued_W[firsts_N[filled_N]] = unspaced_W[firsts_N[filled_N]]
        begins_W &= ~glued_W
    values_W ^= begins_W * _BEGINS
    size = 1 << len(places_W).bit_length()
    values_W *= _powers(_BASE, size)[: len(places_W)]
    keys_N = np.zeros(len(texts), dtype=np.uint64)
    if len(filled_N):
        firsts_N = firsts_N[filled_N]
        keys_N[filled_N] = np.add.reduceat(values_W, firsts_N) * _powers(_INVERSE, size)[firsts_N]
    for row in sorted({*range(len(texts))}.difference(filled_N.tolist())):
        keys_N[row] = _key_of_itself(texts[row])
    return keys_N


@cache
def _powers(base: int, count: int) -> Keys:
    """base^0, base^1, ... modulo 2^64."""
    factors = np.full(count + 1, base, dtype=np.uint64)
    factors[0] = 1
    return np.cumprod(factors, dtype=np.uint64)


def _key_of_itself(text: str) -> int:
    """The hash of a text that has no letters and digits."""
    own = "".join(text.split()).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(own, digest_size=8).digest(), "big")


def _values_of(points_M: NDArray[np.int64]) -> Keys:
    """R of each sign that is part of a key, 0 of the others; looked up when they are first met."""
    table = _value_table()
    values_M = table.take(points_M)
    new = np.unique(points_M[values_M == _NEW])
    if len(new):
        table[new] = [_random_of_signs()[point] if _stays(chr(point)) else 0 for point in new.tolist()]
        values_M = table.take(points_M)
    return values_M


@cache
def _value_table() -> Keys:
    return np.full(sys.maxunicode + 1, _NEW)


@cache
def _random_of_signs() -> Keys:
    """R: a number above _NEW for each code point, the same in every process."""
    return np.random.default_rng(1).integers(_NEW + 1, 1 << 64, size=sys.maxunicode + 1, dtype=np.uint64)


# --- what went by -------------------------------------------------------------------------------


PairKeys = tuple[Keys, Keys, Keys]
"""Of pairs, of their sources and of their targets, N each."""


def keys_of_pairs(source_keys_N: Keys, target_keys_N: Keys) -> PairKeys:
    """The keys of pairs by those of their sides."""
    return source_keys_N * _BEGINS + target_keys_N, source_keys_N, target_keys_N


class Seen:
    """What was kept so far.

    drop: "pairs" rejects a pair of which both sides were there together; "sources", "targets" and "sides" (one or
    the other) also one of which that side was there with another partner; "none" rejects nothing.
    """

    def __init__(self, drop: Repeated = "pairs") -> None:
        self.drop = drop
        self.pairs, self.sources, self.targets = set[int](), set[int](), set[int]()
        self.kept: list[PairKeys] = []

    def repeated(self, keys: PairKeys) -> dict[int, str]:
        """Which pairs, by their place, are rejected, and why; the others have been seen from now on."""
        reasons: dict[int, str] = {}
        by_sides = self.drop not in ("none", "pairs")
        for place, pair in enumerate(keys[0].tolist() if self.drop != "none" else ()):
            if pair in self.pairs:
                reasons[place] = "duplicate"
            elif by_sides and (why := self._side(int(keys[1][place]), int(keys[2][place]))):
                reasons[place] = why
            else:
                self.pairs.add(pair)
        kept = [np.delete(keys_N, list(reasons)) for keys_N in keys]
        self.kept.append((kept[0], kept[1], kept[2]))
        return reasons

    def _side(self, source: int, target: int) -> str:
        """Why a side of this pair is one too many, or nothing."""
        if source in self.sources and self.drop != "targets":
            return "repeated source"
        if target in self.targets and self.drop != "sources":
            return "repeated target"
        self.sources.add(source)
        self.targets.add(target)
        return ""

    def again(self) -> dict[str, int]:
        """How many of the kept pairs, the same pair again apart, have a source, and a target, that came before with
        another partner."""
        pairs, sources, targets = (self._different(place) for place in range(3))
        return {"source": pairs - sources, "target": pairs - targets}

    def _different(self, place: int) -> int:
        all_N = np.sort(np.concatenate([np.zeros(0, dtype=np.uint64), *(keys[place] for keys in self.kept)]))
        return min(len(all_N), 1) + int(np.count_nonzero(all_N[1:] != all_N[:-1]))


def held_out_keys(test_sets: Iterable[Bitext]) -> frozenset[int]:
    """Hashes of both sides of test pairs, alike but for case, digits and punctuation (see splitting.split_key)."""
    return frozenset(key_hash(side) for pairs in test_sets for pair in pairs for side in (pair.source, pair.target))
