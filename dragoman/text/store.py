"""Where do the ids of a corpus lie that may not fit into memory?

A folder of flat files, opened by memory mapping: `source.ids`, `target.ids` (int32, one sentence
behind the other), `source.offsets`, `target.offsets` (int64, where each begins, one more than
pairs) and `store.json` (counts). Where the pairs have links, `links.ids` and `links.offsets` hold those
of their pieces. It is written aside and renamed when whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import BinaryIO, TypeVar

import numpy as np
import numpy.typing as npt

from dragoman.contracts import Bitext, Progress, SentencePair, UserError, quiet
from dragoman.text.normalise import one_line
from dragoman.text.pipeline import Pipeline
from dragoman.text.places import piece_links, shared
from dragoman.text.words import word_spans
from dragoman.wording import summary_of

Ids = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]
CHUNK = 8192  # pairs, or lines, that are encoded at once
CARD = "store.json"
Store = TypeVar("Store")


@dataclass(frozen=True)
class _Side:
    """Sentence i of one language is `ids[offsets[i]:offsets[i + 1]]`."""

    ids: Ids
    offsets: Offsets

    def sentence(self, index: int) -> Ids:
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    @cached_property
    def lengths(self) -> Ids:
        return np.diff(self.offsets).astype(np.int32)


@dataclass(frozen=True)
class _Joined:
    """The sentences of one side, and behind them those of another."""

    first: _Side | _Joined
    second: _Side | _Joined

    def sentence(self, index: int) -> Ids:
        beyond = index - len(self.first.lengths)
        return self.first.sentence(index) if beyond < 0 else self.second.sentence(beyond)

    @cached_property
    def lengths(self) -> Ids:
        return np.concatenate((self.first.lengths, self.second.lengths))


@dataclass(frozen=True)
class PairStore:
    """Ids of sentence pairs, without start and end pieces, in the order of the bitext.

    set_aside: why pairs are not in it, and how many: "too long" (in pieces), "empty". links: source piece and target
    piece in turn; None where the pairs were given without links.
    """

    sides: tuple[_Side | _Joined, _Side | _Joined]
    set_aside: Counter[str]
    links: _Side | _Joined | None = None

    def __len__(self) -> int:
        return len(self.sides[0].lengths)

    def source(self, index: int) -> Ids:
        """Source ids of pair `index`, a view into the file."""
        return self.sides[0].sentence(index)

    def target(self, index: int) -> Ids:
        """Target ids of pair `index`, a view into the file."""
        return self.sides[1].sentence(index)

    def piece_links(self, index: int) -> Ids:
        """(source piece, target piece) of pair `index`, N x 2; none where there are no links."""
        links = np.zeros(0, dtype=np.int32) if self.links is None else self.links.sentence(index)
        return links.reshape(-1, 2)

    @property
    def source_lengths(self) -> Ids:
        """Source pieces of every pair."""
        return self.sides[0].lengths

    @property
    def target_lengths(self) -> Ids:
        """Target pieces of every pair."""
        return self.sides[1].lengths

    @property
    def usual_source_length(self) -> int:
        """The source pieces that 999 of 1,000 pairs stay within: one outlier is no training."""
        return int(np.quantile(self.source_lengths, 0.999, method="higher"))

    @property
    def usual_length_ratio(self) -> float:
        """The r for which 999 of 1,000 pairs have no more than r * source pieces + 10 target pieces, end included."""
        beyond_N = np.maximum(self.target_lengths.astype(np.int64) + 1 - 10, 0)
        return float(np.quantile(beyond_N / self.source_lengths, 0.999, method="higher"))

    def followed_by(self, other: PairStore) -> PairStore:
        """These pairs and behind them those of the other store, which keep their order; nothing is copied."""
        source, target = (_Joined(*sides) for sides in zip(self.sides, other.sides, strict=True))
        linked = self.links is not None or other.links is not None
        links = _Joined(self.links or _none(len(self)), other.links or _none(len(other))) if linked else None
        return PairStore((source, target), self.set_aside + other.set_aside, links)

    def summary(self) -> str:
        """One line for people: "11 of 12 pairs kept: 1 too long"."""
        return summary_of(len(self), self.set_aside)


def _none(pairs: int) -> _Side:
    return _Side(np.zeros(0, dtype=np.int32), np.zeros(pairs + 1, dtype=np.int64))


def build_store(
    bitext: Bitext,
    pipeline: Pipeline,
    folder: Path,
    max_pieces: int,
    report: Callable[[Progress], None] = quiet,
    *,
    threads: int = 1,
    tag: int | None = None,
) -> PairStore:
    """The ids of the bitext, in a folder under `folder` that is named by content and reopened if there.

    tag: a reserved piece that begins each source, such as `pieces.BACK_TRANSLATED`; it counts like any other.
    Pairs with a side of more than `max_pieces` pieces are set aside. Memory does not grow with the
    corpus. Raises UserError when no pair is left.
    """
    front = [] if tag is None else [tag]
    key = " ".join(map(str, [bitext.fingerprint, pipeline.fingerprint, max_pieces, *front]))
    return found_or_made(
        folder, key, _open, lambda aside: _write(aside, bitext, pipeline, max_pieces, report, threads, front)
    )


def found_or_made(folder: Path, key: str, read: Callable[[Path], Store | None], write: Callable[[Path], None]) -> Store:
    """What `read` finds in the folder of that key; where it finds none, `write` fills it aside, and it is renamed."""
    place = folder / f"ids-{hashlib.blake2b(key.encode(), digest_size=8).hexdigest()}"
    store = read(place)
    if store is None:
        aside = folder / f".{place.name}.part"
        for left_over in (aside, place):
            shutil.rmtree(left_over, ignore_errors=True)
        aside.mkdir(parents=True)
        write(aside)
        os.replace(aside, place)
        store = read(place)
    assert store is not None, f"{place} cannot be read back"
    return store


def _open(place: Path) -> PairStore | None:
    """The store in the folder; None where there is none or its files are not whole."""
    try:
        card = json.loads((place / CARD).read_bytes())
        pairs, set_aside = int(card["pairs"]), Counter({str(k): int(v) for k, v in card["set_aside"].items()})
        sides = []
        for name in ("source", "target", *(["links"] if card.get("linked") else [])):
            offsets = np.memmap(place / f"{name}.offsets", dtype=np.int64, mode="r")
            ids = np.memmap(place / f"{name}.ids", dtype=np.int32, mode="r") if offsets[-1] else _none(pairs).ids
            if len(offsets) != pairs + 1 or offsets[-1] != len(ids):
                return None
            sides.append(_Side(np.asarray(ids), np.asarray(offsets)))
    except (OSError, KeyError, ValueError, TypeError, AttributeError):
        return None
    return PairStore((sides[0], sides[1]), set_aside, sides[2] if len(sides) > 2 else None)


@dataclass
class _Writer:
    """Appends sentences, or their links, to two files."""

    ids: BinaryIO
    offsets: BinaryIO
    end: int = 0

    @classmethod
    def begin(cls, files: ExitStack, folder: Path, name: str, empty: int = 0) -> _Writer:
        """New files of that name, with so many empty sentences in them."""
        ids, offsets = (files.enter_context((folder / f"{name}.{part}").open("wb")) for part in ("ids", "offsets"))
        offsets.write(np.zeros(1 + empty, dtype=np.int64).tobytes())
        return cls(ids, offsets)

    def append(self, sentences: Sequence[Sequence[int]]) -> None:
        flat = np.fromiter((index for ids in sentences for index in ids), dtype=np.int32)
        ends = self.end + np.cumsum([len(ids) for ids in sentences], dtype=np.int64)
        self.ids.write(flat.tobytes())
        self.offsets.write(ends.tobytes())
        self.end += len(flat)


def _write(
    folder: Path,
    bitext: Bitext,
    pipeline: Pipeline,
    max_pieces: int,
    report: Callable[[Progress], None],
    threads: int,
    front: list[int],
) -> None:
    set_aside: Counter[str] = Counter()
    pairs = seen = 0
    with ExitStack() as files:
        writers = [_Writer.begin(files, folder, name) for name in ("source", "target")]
        for chunk in _chunks(bitext):
            if len(writers) == 2 and any(pair.links is not None for pair in chunk):
                writers.append(_Writer.begin(files, folder, "links", empty=pairs))
            encoded = pipeline.source.encode([one_line(pair.source) for pair in chunk], threads)
            sources = [front + ids if ids else ids for ids in encoded]
            targets = pipeline.target.encode([one_line(pair.target) for pair in chunk], threads)
            kept: list[tuple[Sequence[int], ...]] = []
            for pair, source, target in zip(chunk, sources, targets, strict=True):
                fault = _fault(len(source), len(target), max_pieces)
                if fault:
                    set_aside[fault] += 1
                else:
                    kept.append((source, target, _flat_links(pair, pipeline, source, target, len(front))))
            for place, writer in enumerate(writers):
                writer.append([sentences[place] for sentences in kept])
            pairs += len(kept)
            seen += len(chunk)
            report(Progress("encoding", seen, len(bitext)))
    if not pairs:
        shutil.rmtree(folder)
        raise UserError(summary_of(0, set_aside) if set_aside else "0 pairs to train on")
    card = {"pairs": pairs, "set_aside": dict(set_aside), "linked": len(writers) > 2}
    (folder / CARD).write_text(json.dumps(card) + "\n", encoding="utf-8")


def _flat_links(pair: SentencePair, pipeline: Pipeline, source: list[int], target: list[int], before: int) -> list[int]:
    """Source piece and target piece in turn, for the words that are linked; so many pieces stand before the source."""
    if not pair.links:
        return []
    texts = one_line(pair.source), one_line(pair.target)
    spans = pipeline.source.spans_in(texts[0], source[before:]), pipeline.target.spans_in(texts[1], target)
    sides = (shared(word_spans(text), places) for text, places in zip(texts, spans, strict=True))
    return [piece for s, t in piece_links(pair.links, *sides) for piece in (before + s, t)]


def _fault(source: int, target: int, max_pieces: int) -> str:
    if not source or not target:
        return "empty"
    return "too long" if max(source, target) > max_pieces else ""


def _chunks(bitext: Bitext) -> Iterator[list[SentencePair]]:
    walk = iter(bitext)
    while chunk := list(islice(walk, CHUNK)):
        yield chunk
