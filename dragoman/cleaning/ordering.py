"""Which pairs of many, and in which order? The two sides of a pair never part."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

import numpy as np

from dragoman.cleaning.duplicates import Seen, keys_of, keys_of_pairs
from dragoman.contracts import Bitext, Origin, SentencePair, UserError
from dragoman.corpus.files import writing_aside
from dragoman.wording import counted

AT_ONCE = 200_000  # pairs that are in memory together
MOST_FILES = 200  # open at once
KEYED = 5_000  # pairs whose keys are made together


def sampled(bitext: Bitext, count: int, seed: int = 1) -> Iterator[SentencePair]:
    """So many pairs, each with the same chance, in their order. UserError where there are fewer."""
    if count > len(bitext):
        raise UserError(f"there are {counted(len(bitext), 'pair')}, fewer than {count:,}")
    chosen = np.random.default_rng(seed).choice(len(bitext), count, replace=False)
    wanted = np.zeros(len(bitext), dtype=bool)
    wanted[chosen] = True
    return (pair for pair, take in zip(bitext, wanted, strict=True) if take)


def shuffled(bitext: Bitext, seed: int = 1, at_once: int = AT_ONCE) -> Iterator[SentencePair]:
    """All pairs in random order, every order with the same chance.

    Each pair draws a number, and the pairs are sorted by it: on disk into files of about at_once pairs by its first
    digits, then one file after another in memory.
    """
    numbers_N = np.random.default_rng(seed).random(len(bitext))
    files = min(MOST_FILES, -(-len(bitext) // at_once))
    if files <= 1:
        yield from _sorted(zip(map(float, numbers_N), bitext, strict=True))
        return
    with tempfile.TemporaryDirectory(prefix="dragoman-") as folder:
        paths = [Path(folder) / f"{place}.jsonl" for place in range(files)]
        with ExitStack() as stack:
            outs = [stack.enter_context(writing_aside(path)) for path in paths]
            for number, pair in zip(map(float, numbers_N), bitext, strict=True):
                row = [number, pair.source, pair.target, pair.origin.file, pair.origin.line]
                outs[int(number * files)].write(f"{json.dumps(row)}\n".encode())
        for path in paths:
            yield from _sorted(_rows(path))


def _rows(path: Path) -> Iterator[tuple[float, SentencePair]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            number, source, target, file, place = json.loads(line)
            yield number, SentencePair(source, target, Origin(file, place))


def _sorted(numbered: Iterable[tuple[float, SentencePair]]) -> Iterator[SentencePair]:
    return (pair for _, pair in sorted(numbered, key=lambda item: item[0]))


def different(pairs: Iterable[SentencePair], seen: Seen) -> Iterator[SentencePair]:
    """The pairs that did not come before, in the sense of `seen`."""
    walk = iter(pairs)
    while some := list(islice(walk, KEYED)):
        sources, targets = keys_of([pair.source for pair in some]), keys_of([pair.target for pair in some])
        repeated = seen.repeated(keys_of_pairs(sources, targets))
        yield from (pair for place, pair in enumerate(some) if place not in repeated)
