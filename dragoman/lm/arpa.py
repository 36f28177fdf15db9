"""How do n-gram models come from other programs and go to them? (ARPA, the format that all of them read.)

Base 10 is the format's own: inside of it logarithms are divided by ln 10, nowhere else. -99 is log 0, and so is -inf; a
back-off is finite, as in KenLM.
"""

from __future__ import annotations

import math
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import NoReturn

import numpy as np

from dragoman.contracts import Progress, UserError, quiet
from dragoman.corpus.compression import Damaged
from dragoman.corpus.files import writing_bytes
from dragoman.corpus.streams import read_chunks
from dragoman.lm import trie_kernels
from dragoman.lm.counting import Integers
from dragoman.lm.model import NgramModel
from dragoman.lm.ngrams import Doubles, Ngrams, settled
from dragoman.lm.recipes import Units
from dragoman.lm.smoothing import Floats
from dragoman.lm.trie import MOST_NODES, bounds_of, linked
from dragoman.lm.units import CAPITAL_UNKNOWN, END, RESERVED, START, UNKNOWN, Vocabulary
from dragoman.wording import counted

AT_ONCE = 100_000  # lines
NOTHING = -99.0
MISSING_UNKNOWN = -100.0  # what KenLM gives <unk> where a file has none
_COUNT = re.compile(rb"ngram\s+(\d+)\s*=\s*(\d+)")


def write_arpa(model: NgramModel, path: str | Path) -> None:
    """The model as a file, compressed where its name says so; written aside and renamed."""
    ngrams, words = model.ngrams, np.array(model.vocabulary.words, dtype=object)
    with writing_bytes(path) as out:
        counts = "".join(f"ngram {order}={count}\n" for order, count in enumerate(ngrams.counts, start=1))
        out.write(f"\\data\\\n{counts}".encode())
        for order in range(1, ngrams.order + 1):
            out.write(f"\n\\{order}-grams:\n".encode())
            for words_NW, log_probs_N, backoffs_N in ngrams.listed(order):
                texts = map(" ".join, words[words_NW])
                rows = [map(_shown, _common(log_probs_N)), texts]
                if order < ngrams.order:
                    rows.append(map(_shown, _common(backoffs_N)))
                lines = map("\t".join, zip(*rows, strict=True))
                out.write("\n".join([*lines, ""]).encode("utf-8", "surrogatepass"))
        out.write(b"\n\\end\\\n")


def _common(logs: Floats) -> list[float]:
    """In base 10."""
    common_N = logs.astype(np.float64) / math.log(10)
    found: list[float] = np.where(np.isinf(common_N), NOTHING, common_N).tolist()
    return found


def _shown(value: float) -> str:
    return f"{value:.8g}" if value else "0"


def read_arpa(
    path: str | Path, language: str = "und", units: Units = "words", report: Callable[[Progress], None] = quiet
) -> NgramModel:
    """The model in a file. UserError with file and line for what is none. report: is told what stands for <unk>, where
    that is not as usual."""
    reader = Reader(str(path))
    counts = reader.header()
    vocabulary, log_probs, backoffs = _words(reader, counts, units, report)
    index = {word.encode("utf-8", "surrogatepass"): number for number, word in enumerate(vocabulary.words)}
    bounds = bounds_of(np.array([len(vocabulary), *counts[1:]], np.int64))
    words_X, begins_Y = np.arange(-1, len(vocabulary), dtype=np.int32), np.array([1, bounds[2]], np.int32)
    words_X[0] = 0
    for order in range(2, len(counts) + 1):
        rows = _rows(reader, order, counts, index)
        words_X, begins_Y, sorted_N = _added(reader, rows, order, words_X, begins_Y, bounds)
        log_probs.append(rows.log_probs_N[sorted_N])
        backoffs.append(rows.backoffs_N[sorted_N])
    reader.end()
    trie = linked(words_X, begins_Y, bounds, 1)
    root = np.zeros(1, np.float32)
    inner = np.concatenate([root, *backoffs[: len(counts) - 1]]) if len(counts) > 1 else root
    ngrams: Ngrams = settled(trie, np.concatenate([root, *log_probs]), inner)
    return NgramModel(language, vocabulary, ngrams, {"read from": Path(path).name})


@dataclass(frozen=True)
class Rows:
    """The n-grams of a section as they stand there, natural logarithms. first_line: of the first of them."""

    words_NW: Integers
    log_probs_N: Floats
    backoffs_N: Floats
    first_line: int


@dataclass
class Reader:
    """Lines of a file, without those that are blank between sections."""

    name: str
    number: int = 0
    _lines: Iterator[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self._lines = self._read()

    def fault(self, why: str, line: int = 0) -> NoReturn:
        """UserError that names file and line."""
        raise UserError(f"{self.name}:{line or max(self.number, 1)}: {why}")

    def _read(self) -> Iterator[bytes]:
        rest, read = b"", 0
        try:
            for chunk in read_chunks(self.name):
                if b"\0" in chunk:
                    self.fault("a NUL byte: this is no text", read + chunk[: chunk.index(b"\0")].count(b"\n") + 1)
                *lines, rest = (rest + chunk).split(b"\n")
                read += len(lines)
                yield from lines
        except Damaged as damage:
            self.fault(str(damage), self.number + 1)
        if rest:
            yield rest

    def take(self, most: int) -> list[bytes]:
        """The next lines, as many as there are."""
        found = list(islice(self._lines, most))
        self.number += len(found)
        return found

    def next_said(self, wanted: str) -> bytes:
        """The next line that is not blank."""
        while lines := self.take(1):
            if line := lines[0].strip():
                return line
        self.fault(f"the file ends where {wanted} should stand")

    def header(self) -> list[int]:
        """How many n-grams of each order the file says it has; the first section's title is read."""
        line = self.next_said("\\data\\").removeprefix(BOM_UTF8)
        looked_at = 1
        while line != b"\\data\\":
            looked_at += 1
            if looked_at > 100:
                self.fault(r"no \data\ among the first lines: this is no ARPA file")
            line = self.next_said("\\data\\")
        counts = list[int]()
        while (line := self.next_said(r"\1-grams:")) != b"\\1-grams:":
            told = _COUNT.fullmatch(line)
            if not told or int(told[1]) != len(counts) + 1:
                self.fault(f"{_text(line)!r} where 'ngram {len(counts) + 1}=COUNT' should stand")
            counts.append(int(told[2]))
            if sum(counts) > MOST_NODES:
                self.fault(f"{sum(counts):,} n-grams: more than {MOST_NODES:,}")
        if not counts or not counts[0]:
            self.fault("a model of no words")
        return counts

    def end(self) -> None:
        """The last line that says something, and that it is."""
        if (line := self.next_said("\\end\\")) != b"\\end\\":
            self.fault(rf"{_text(line)!r} where \end\ should stand")
        while lines := self.take(AT_ONCE):  # compressed data are whole where their end is
            for number, line in enumerate(lines, start=self.number - len(lines) + 1):
                if line.strip():
                    self.fault(f"{_text(line)!r} behind \\end\\", number)


def _text(line: bytes) -> str:
    return line[:60].decode("utf-8", "backslashreplace")


def _section(
    reader: Reader, order: int, counts: Sequence[int]
) -> Iterator[tuple[int, list[list[bytes]], Doubles, Doubles]]:
    """Line number, fields, log-probabilities and back-offs (natural logs) of the rows of a section, many at once."""
    left, widths = counts[order - 1], {order + 1, order + 2}
    while left:
        first = reader.number + 1
        rows = [line.split() for line in reader.take(min(left, AT_ONCE))]
        try:
            if not rows or not widths.issuperset(map(len, rows)):
                raise ValueError
            log_probs_N = np.array([float(row[0]) for row in rows])
            backoffs_N = np.array([float(row[-1]) if len(row) > order + 1 else 0.0 for row in rows])
            if not (log_probs_N <= 0).all() or not np.isfinite(backoffs_N).all():
                raise ValueError
        except ValueError:
            _blame(reader, first, rows, order, left)
        left -= len(rows)
        yield first, rows, _natural(log_probs_N), _natural(backoffs_N)


def _natural(logs_N: Doubles) -> Doubles:
    return np.where(logs_N == NOTHING, -np.inf, logs_N * math.log(10))


def _blame(reader: Reader, first: int, rows: list[list[bytes]], order: int, left: int) -> NoReturn:
    """Say which of the rows is wrong."""
    for line, row in enumerate(rows, start=first):
        if not row or row[0].startswith(b"\\"):
            reader.fault(f"the section of {order}-grams has {counted(left - (line - first), 'line')} too few", line)
        if not order + 1 <= len(row) <= order + 2:
            reader.fault(f"{len(row)} fields; a {order}-gram has {order + 1} or {order + 2}", line)
        numbers = row[0], row[-1] if len(row) > order + 1 else b"0"
        for number in numbers:
            try:
                if math.isnan(float(number)):
                    raise ValueError
            except ValueError:
                reader.fault(f"{_text(number)!r} is no number", line)
        if float(numbers[0]) > 0:
            reader.fault(f"log-probability {_text(numbers[0])} is above 0", line)
        if math.isinf(float(numbers[1])):
            reader.fault(f"back-off {_text(numbers[1])}: only a log-probability may be infinite, and only -inf", line)
    reader.fault(f"the file ends {left:,} lines before the {order}-grams do")


def _words(
    reader: Reader, counts: Sequence[int], units: Units, report: Callable[[Progress], None]
) -> tuple[Vocabulary, list[Floats], list[Floats]]:
    """Units, the reserved ones first, with their log-probabilities and back-offs."""
    found: dict[bytes, tuple[float, float]] = {}
    unknown = RESERVED[UNKNOWN].encode()
    for first, rows, log_probs, backoffs in _section(reader, 1, counts):
        for line, row in enumerate(rows, start=first):
            word = row[1]
            if word == CAPITAL_UNKNOWN.encode():
                word = unknown
                _note(report, f"{reader.name}:{line}: <UNK> is taken as <unk>: log10 p is {_text(row[0])}")
            if word in found:
                reader.fault(f"{_text(word)} stands there twice", line)
            found[word] = float(log_probs[line - first]), float(backoffs[line - first])
    for name in (RESERVED[START], RESERVED[END]):
        if name.encode() not in found:
            reader.fault(f"the 1-grams have no {name}")
    if unknown not in found:
        found[unknown] = MISSING_UNKNOWN * math.log(10), 0.0
        _note(report, f"{reader.name}: has no <unk>: an unknown word gets log10 p = {MISSING_UNKNOWN:g}, as in KenLM")
    reserved = [word.encode() for word in RESERVED]
    found[reserved[START]] = 0.0, found[reserved[START]][1]
    ordered = [*reserved, *(word for word in found if word not in reserved)]
    try:
        names = tuple(word.decode("utf-8", "surrogatepass") for word in ordered)
    except UnicodeDecodeError:
        reader.fault("a word among the 1-grams is not UTF-8")
    log_probs_V, backoffs_V = (np.array([found[word][part] for word in ordered], np.float32) for part in (0, 1))
    return Vocabulary(units, names), [log_probs_V], [backoffs_V]


def _note(report: Callable[[Progress], None], line: str) -> None:
    report(Progress("reading", note=line))


def _rows(reader: Reader, order: int, counts: Sequence[int], index: dict[bytes, int]) -> Rows:
    """The n-grams of one order."""
    title = rf"\{order}-grams:"
    if (line := reader.next_said(title)) != title.encode():
        reader.fault(f"{_text(line)!r} where {title} should stand")
    words_NW = np.empty((counts[order - 1], order), np.int32)
    log_probs_N, backoffs_N = (np.empty(len(words_NW), np.float32) for _ in range(2))
    place, first_line = 0, reader.number + 1
    index = {**index, CAPITAL_UNKNOWN.encode(): UNKNOWN}
    for first, rows, log_probs, backoffs in _section(reader, order, counts):
        part = slice(place, place + len(rows))
        try:
            words = chain.from_iterable(row[1 : order + 1] for row in rows)
            words_NW[part] = np.fromiter(map(index.__getitem__, words), np.int32).reshape(-1, order)
        except KeyError as error:
            strange = error.args[0]
            at = next(number for number, row in enumerate(rows, start=first) if strange in row[1 : order + 1])
            reader.fault(f"{_text(strange)} is not among the 1-grams", at)
        log_probs_N[part], backoffs_N[part] = log_probs, backoffs
        place += len(rows)
    return Rows(words_NW, log_probs_N, backoffs_N, first_line)


def _added(
    reader: Reader, rows: Rows, order: int, words_X: Integers, begins_Y: Integers, bounds: tuple[int, ...]
) -> tuple[Integers, Integers, np.ndarray[tuple[int], np.dtype[np.intp]]]:
    """Words and begins with one more order, and how its rows are sorted."""
    parents_N = np.empty(len(rows.words_NW), np.int64)
    trie_kernels.find_rows(rows.words_NW, order - 1, words_X, begins_Y, parents_N)
    if len(parents_N) and parents_N.min() < 0:
        reader.fault(
            f"the first {order - 1} words of this {order}-gram are no {order - 1}-gram of this file",
            rows.first_line + int(parents_N.argmin()),
        )
    last_N = rows.words_NW[:, -1]
    sorted_N = np.lexsort((last_N, parents_N))
    keys_N = (parents_N[sorted_N] << 32) + last_N[sorted_N]
    twice = np.flatnonzero(keys_N[1:] == keys_N[:-1])
    if len(twice):
        reader.fault(f"this {order}-gram stands there twice", rows.first_line + int(sorted_N[twice[0] + 1]))
    nodes_N = np.arange(bounds[order - 1], bounds[order] + 1)
    begins_N = bounds[order] + np.searchsorted(parents_N[sorted_N], nodes_N)
    return (
        np.concatenate([words_X, last_N[sorted_N]]),
        np.concatenate([begins_Y[:-1], begins_N.astype(np.int32)]),
        sorted_N,
    )
