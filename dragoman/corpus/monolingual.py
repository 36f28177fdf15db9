"""Which lines of text in one language may be learnt from, beside a bitext?

Not those that stand there already: the same sentence, in the eyes of the split (`splitting.split_key`), as a
target of train or dev, or twice in the text. Only 64-bit hashes are kept in memory.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from dragoman.contracts import Bitext, UserError
from dragoman.corpus.bitext import LONGEST_SIDE, PairDigest
from dragoman.corpus.languages import language_of_suffix, same_language
from dragoman.corpus.lines import Line, OnBadLine, read_lines
from dragoman.corpus.records import is_blank
from dragoman.corpus.sources import suffix_container
from dragoman.corpus.splitting import key_hash
from dragoman.corpus.streams import STANDARD_INPUT, InputFile, repeatable, require_files
from dragoman.wording import counted, summary_of

AT_ONCE = 100_000  # lines that are in memory together

Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class Monolingual:
    """Lines of text, read anew each time; made by `open_monolingual`, which has read them before.

    order_N: their places among all lines of the files, sorted by hash. They are walked in this order, so that
    any beginning of it is a fair sample, whatever order the files have. set_aside: how many lines were left
    out, by reason. fingerprint: of the language and the lines that are kept.
    """

    files: tuple[InputFile, ...]
    language: str
    on_bad_line: OnBadLine
    order_N: NDArray[np.int64] = field(repr=False)
    fingerprint: str
    set_aside: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.order_N)

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), AT_ONCE):
            places_N = self.order_N[first : first + AT_ONCE]
            yield from _lines_at(self.files, self.on_bad_line, places_N)

    def summary(self) -> str:
        """One line, such as "9,412 of 10,000 lines kept: 550 repeated, 38 blank"."""
        return summary_of(len(self), self.set_aside, "lines")


def check_text_files(names: Sequence[str], source_language: str, target_language: str) -> None:
    """UserError for the first that cannot be text in the target language, a sentence a line."""
    require_files(names)
    if names.count(STANDARD_INPUT) > 1:
        raise UserError("standard input (-) can be read only once")
    for name in names:
        if suffix_container(name):
            raise UserError(f"{name}: holds pairs; --monolingual reads plain text, a sentence a line")
        told = language_of_suffix(name)
        if told and same_language(told, source_language) and not same_language(told, target_language):
            raise UserError(f"{name}: its name says {told}; --monolingual is text in the target language")


def open_monolingual(
    names: Sequence[str], train: Bitext, dev: Bitext | None = None, *, on_bad_line: OnBadLine = "stop"
) -> Monolingual:
    """Read text files (compressed ones too, and `-`) in the target language of the bitext, a sentence a line.

    Left out and counted are blank lines, those of more than LONGEST_SIDE characters, those that stand as a target
    in train or dev, and repeated ones; under "skip" also lines that are no text. UserError where no line is left.
    """
    check_text_files(names, train.source_language, train.target_language)
    files = tuple(repeatable(name) for name in names)
    hashes_N, usable_N, set_aside = _hashed(files, on_bad_line)
    for reason, known in (("in dev", dev), ("in the training pairs", train)):
        leaked_N = usable_N & np.isin(hashes_N, _target_hashes(known))
        set_aside[reason] = int(leaked_N.sum())
        usable_N &= ~leaked_N
    places_N = np.flatnonzero(usable_N)
    _, first_N = np.unique(hashes_N[places_N], return_index=True)  # sorted by hash
    set_aside["repeated"] = len(places_N) - len(first_N)
    order_N = places_N[first_N]
    set_aside += Counter()  # drops the reasons that no line has
    if not len(order_N):
        told = summary_of(0, set_aside, "lines") if set_aside else "0 of 0 lines kept: there are none"
        raise UserError(f"{' '.join(file.name for file in files)}: {told}")
    fingerprint = _fingerprint(files, on_bad_line, np.sort(order_N), train.target_language)
    return Monolingual(files, train.target_language, on_bad_line, order_N, fingerprint, set_aside)


def _hashed(files: Sequence[InputFile], on_bad_line: OnBadLine) -> tuple[Hashes, NDArray[np.bool_], Counter[str]]:
    """The hash of every line, which of them are sentences of a usual length, and why the others are not."""
    hashes, usable, set_aside = array("Q"), bytearray(), Counter[str]()
    for line in _lines(files, on_bad_line):
        fault = line.fault or ("blank" if is_blank(line.text) else "too long" if len(line.text) > LONGEST_SIDE else "")
        hashes.append(0 if fault else key_hash(line.text))
        usable.append(not fault)
        if fault:
            set_aside[fault] += 1
    return np.array(hashes, dtype=np.uint64), np.array(usable, dtype=bool), set_aside


def _lines(files: Sequence[InputFile], on_bad_line: OnBadLine) -> Iterator[Line]:
    for file in files:
        yield from read_lines(file.path, on_bad_line, name=file.name)


def _lines_at(files: Sequence[InputFile], on_bad_line: OnBadLine, places_N: NDArray[np.int64]) -> Iterator[str]:
    """The lines at these places, in this order; a place counts the lines of all files from 0."""
    wanted = set(places_N.tolist())
    texts = {place: line.text for place, line in enumerate(_lines(files, on_bad_line)) if place in wanted}
    if len(texts) != len(wanted):
        names = " ".join(file.name for file in files)
        raise UserError(f"{names}: changed while in use: {counted(len(wanted) - len(texts), 'line')} gone")
    return (texts[place] for place in places_N.tolist())


def _target_hashes(bitext: Bitext | None) -> Hashes:
    return np.fromiter((key_hash(pair.target) for pair in bitext or ()), dtype=np.uint64)


def _fingerprint(files: Sequence[InputFile], on_bad_line: OnBadLine, places_N: NDArray[np.int64], language: str) -> str:
    """Of the kept lines, in the order of the files."""
    digest = PairDigest("", language)
    kept_N = np.zeros(int(places_N[-1]) + 1, dtype=bool)
    kept_N[places_N] = True
    for place, line in enumerate(islice(_lines(files, on_bad_line), len(kept_N))):
        if kept_N[place]:
            digest.add("", line.text)
    return digest.hexdigest()
