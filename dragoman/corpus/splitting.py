"""Which pairs are for training, which for development, which for the test?

A hash of the normalised source decides, so a sentence is in the same part in every corpus and run.
Only 64-bit hashes are kept in memory.
"""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dragoman.contracts import Bitext, SentencePair, UserError
from dragoman.corpus.bitext import PairDigest
from dragoman.corpus.lines import writing
from dragoman.corpus.writers import as_line
from dragoman.wording import counted

_TRAIN, _DEV, _TEST, _LEFT_OUT = range(4)
_PART_NAMES = ("train", "dev", "test")
_HASHES = 2**64
_FALLBACK_TRIES = 100
_FAR, _DEVIATIONS = 0.5, 5  # a part is far from its size by more than half of it, and more than chance makes likely

Hashes = NDArray[np.uint64]
Parts = NDArray[np.uint8]


class _KeyTable(dict[int, int | None]):
    """What becomes of a character, found when it is first met: punctuation goes, digits are 0."""

    def __missing__(self, code: int) -> int | None:
        category = unicodedata.category(chr(code))
        self[code] = None if category.startswith("P") else ord("0") if category == "Nd" else code
        return self[code]


_KEY_TABLE = _KeyTable()


def split_key(text: str) -> str:
    """The text as the split sees it: NFKC, case folded, digits 0, no punctuation, single spaces.

    A text of punctuation alone keeps it.

    >>> split_key("Wait:  1 or 27 HOURS?"), split_key("?!")
    ('wait 0 or 00 hours', '?!')
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.translate(_KEY_TABLE).split()) or "".join(folded.split())


def key_hash(text: str) -> int:
    """The first 64 bits of blake2b of the key."""
    digest = hashlib.blake2b(split_key(text).encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "big")


@dataclass(frozen=True)
class Shares:
    """Shares of all different sources that go to dev and to test."""

    dev: float
    test: float


@dataclass(frozen=True)
class SplitReport:
    """Pairs in each part, and how many left train since a side of theirs stands in dev or test."""

    train: int
    dev: int
    test: int
    left_out: int
    shares: Shares
    files: tuple[Path, ...]

    def summary(self) -> str:
        """One line with all counts."""
        return (
            f"{counted(self.train, 'pair')} for train, {self.dev:,} for dev, {self.test:,} for test "
            f"(shares {self.shares.dev:.4g} and {self.shares.test:.4g} by hash of the source); "
            f"{self.left_out:,} left out of train: their source or target stands in dev or test"
        )

    def warning(self) -> str:
        """One line where dev or test are far from what was asked for, or nothing."""
        total = self.train + self.dev + self.test + self.left_out
        told = [
            f"{count:,} for {name}, not about {wanted:,.0f}"
            for name, count, wanted in (
                ("dev", self.dev, self.shares.dev * total),
                ("test", self.test, self.shares.test * total),
            )
            if abs(count - wanted) > max(wanted * _FAR, _DEVIATIONS * math.sqrt(max(wanted, 1)))
        ]
        why = "pairs whose sources differ in digits, case and punctuation alone stay together, and many do"
        return f"{' and '.join(told)}: {why}" if told else ""


@dataclass(frozen=True)
class PartBitext:
    """The pairs of one part of a bitext, in its order."""

    whole: Bitext
    parts: Parts
    part: int
    count: int
    fingerprint: str

    @property
    def source_language(self) -> str:
        return self.whole.source_language

    @property
    def target_language(self) -> str:
        return self.whole.target_language

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[SentencePair]:
        for pair, part in zip(self.whole, self.parts, strict=True):
            if part == self.part:
                yield pair


class HeldOut(NamedTuple):
    """Train and dev views, and how many pairs are in neither: a side of theirs stands in dev."""

    train: PartBitext
    dev: PartBitext
    left_out: int


def split_bitext(
    bitext: Bitext, out_folder: str | Path, dev: float | None = None, test: float | None = None
) -> SplitReport:
    """Write train, dev and test as text files (train.en, train.zh, ...) without leaks between them.

    dev, test: a share below 1, or about how many pairs; None: 0.02, but up to 0.05 for 500 pairs. Pairs of
    train whose normalised source or target stands in dev or test are left out. Raises UserError when a part
    would be empty, and when a part of another split would stay in the folder.
    """
    languages = bitext.source_language, bitext.target_language
    if languages[0] == languages[1]:
        raise UserError(f"source and target are both {languages[0]}: their files would have the same names")
    if Path(out_folder).is_file():
        raise UserError(f"{out_folder}: is a file; --out names a folder for the parts")
    shares = Shares(_share(dev, len(bitext), "dev"), _share(test, len(bitext), "test"))
    if shares.dev + shares.test >= 1:
        told = [f"{name} ({size:g})" for name, size in (("dev", dev), ("test", test)) if size is not None]
        leave = "leave" if len(told) > 1 else "leaves"
        raise UserError(f"{' and '.join(told)} {leave} nothing of {counted(len(bitext), 'pair')} for train")
    parts = _assign(bitext, shares)
    wanted = [code for code, share in ((_TRAIN, 1), (_DEV, shares.dev), (_TEST, shares.test)) if share]
    names = {code: [_part_file(out_folder, code, language) for language in languages] for code in wanted}
    for code in {_DEV, _TEST} - set(wanted):
        for stale in (_part_file(out_folder, code, language) for language in languages):
            if stale.exists():
                raise UserError(f"{stale}: is left of another split, and its pairs are in train now; remove it first")
    with ExitStack() as stack:
        outs = {code: [stack.enter_context(writing(path)) for path in names[code]] for code in wanted}
        for pair, code in zip(bitext, parts, strict=True):
            if code in outs:
                outs[code][0].write(as_line(pair.source))
                outs[code][1].write(as_line(pair.target))
        for out in chain.from_iterable(outs.values()):
            out.flush()  # none gets its name where another has no room
    counts = np.bincount(parts, minlength=4).tolist()
    files = tuple(path for code in wanted for path in names[code])
    return SplitReport(counts[_TRAIN], counts[_DEV], counts[_TEST], counts[_LEFT_OUT], shares, files)


def part_files(folder: str | Path, languages: tuple[str, str]) -> list[Path]:
    """The files that a split into that folder may write."""
    return [_part_file(folder, code, language) for code in range(len(_PART_NAMES)) for language in languages]


def _part_file(folder: str | Path, code: int, language: str) -> Path:
    return Path(folder) / f"{_PART_NAMES[code]}.{language}"


def hold_out(bitext: Bitext, about: int) -> HeldOut:
    """Train and dev views of a bitext, about so many pairs in dev, split as `split_bitext` does.

    At least one pair is in each, at most half of the sources in dev. Dev is taken from the other end of
    the hashes than in `split_bitext`, whose train part has none left at its own end.
    """
    share = min(max(about, 1) / max(len(bitext), 1), 0.5)
    parts = _assign(bitext, Shares(dev=share, test=0.0), highest=True)
    digests = {code: PairDigest(bitext.source_language, bitext.target_language) for code in (_TRAIN, _DEV)}
    for pair, code in zip(bitext, parts, strict=True):
        if code in digests:
            digests[code].add(
                pair.source, pair.target, pair.links if code == _TRAIN else None
            )  # nothing reads those of dev
    train, dev = (
        PartBitext(bitext, parts, code, int(np.count_nonzero(parts == code)), digests[code].hexdigest())
        for code in (_TRAIN, _DEV)
    )
    return HeldOut(train, dev, int(np.count_nonzero(parts == _LEFT_OUT)))


def _share(value: float | None, count: int, name: str) -> float:
    if value is None:
        return max(0.02, min(0.05, 500 / count))
    if not 0 <= value < math.inf:  # NaN is neither
        raise UserError(f"{name} is a share below 1 or a number of pairs, not {value:g}")
    return value / count if value >= 1 else value


def _assign(bitext: Bitext, shares: Shares, *, highest: bool = False) -> Parts:
    """The part of every pair; no wanted part is empty. highest: hold out the highest hashes, not the lowest."""
    hashes = np.fromiter(
        (key_hash(side) for pair in bitext for side in (pair.source, pair.target)), dtype=np.uint64
    ).reshape(-1, 2)
    if highest:
        hashes = ~hashes
    sources_N, targets_N = hashes[:, 0], hashes[:, 1]
    wanted = [_TRAIN] + [_DEV] * (shares.dev > 0) + [_TEST] * (shares.test > 0)
    for parts_N in chain([_by_thresholds(sources_N, shares)], _by_ranks(sources_N, wanted)):
        _leave_out_leaks(parts_N, sources_N, targets_N)
        if np.isin(wanted, parts_N).all():
            return parts_N
    names = ", ".join(_PART_NAMES[code] for code in wanted)
    raise UserError(f"{counted(len(bitext), 'pair')}: too few, or too much alike, to be split into {names}")


def _by_thresholds(sources_N: Hashes, shares: Shares) -> Parts:
    test = min(int(shares.test * _HASHES), _HASHES - 1)
    dev = min(int((shares.test + shares.dev) * _HASHES), _HASHES - 1)
    parts_N = np.full(len(sources_N), _TRAIN, dtype=np.uint8)
    parts_N[sources_N < np.uint64(dev)] = _DEV
    parts_N[sources_N < np.uint64(test)] = _TEST
    return parts_N


def _by_ranks(sources_N: Hashes, wanted: list[int]) -> Iterator[Parts]:
    """For tiny corpora: one source each for dev and test, the lowest hashes first."""
    lowest = np.unique(sources_N)
    held_out = wanted[1:]
    for start in range(min(len(lowest) - len(held_out) + 1, _FALLBACK_TRIES)):
        parts_N = np.full(len(sources_N), _TRAIN, dtype=np.uint8)
        for code, value in zip(held_out, lowest[start : start + len(held_out)], strict=True):
            parts_N[sources_N == value] = code
        yield parts_N


def _leave_out_leaks(parts_N: Parts, sources_N: Hashes, targets_N: Hashes) -> None:
    held_out_N = parts_N != _TRAIN
    seen_N = np.isin(sources_N, sources_N[held_out_N]) | np.isin(targets_N, targets_N[held_out_N])
    parts_N[seen_N & ~held_out_N] = _LEFT_OUT
