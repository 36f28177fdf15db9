"""Which lines make up a text in one language?

All of them, blank ones too, in the order of the files: which of them mean something is for who reads them. A model
of sentences leaves blank lines out, one of running text, code or tunes needs them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

from dragoman.contracts import Origin, UserError
from dragoman.corpus.languages import language_of_suffix
from dragoman.corpus.lines import Line, OnBadLine, read_lines
from dragoman.corpus.records import EXAMPLES_A_REASON, is_blank, place_line
from dragoman.corpus.sources import suffix_container
from dragoman.corpus.streams import STANDARD_INPUT, InputFile, file_at, repeat_of, repeatable
from dragoman.wording import counted

UNDETERMINED = "und"
HELD_OUT_SHARE = 20  # the last line in 20 of each file ...
FEWEST_TO_CUT = 40  # ... that has so many; of smaller files every 20th as a whole


@dataclass(frozen=True)
class Stretch:
    """Lines `first` to `last` (excluded, from 0) of a file, those that are no text not counted."""

    file: InputFile
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first


@dataclass(frozen=True)
class ListText:
    """Files of lines in memory."""

    files: Sequence[Sequence[str]]
    language: str = UNDETERMINED

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(map(len, self.files))

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint_of(self.language, self.lengths, iter(self))

    def origin(self, number: int) -> Origin:
        file, line = place_of(self.lengths, number)
        return Origin(f"text {file + 1}", line + 1)

    def __len__(self) -> int:
        return sum(self.lengths)

    def __iter__(self) -> Iterator[str]:
        return (line for file in self.files for line in file)


@dataclass(frozen=True)
class FileText:
    """Lines of files, read anew each time; made by `open_text`, which has read them once.

    set_aside: how many lines were left out, by reason; examples: where the first few of each reason stand. blank: how
    many of the lines are.
    """

    stretches: tuple[Stretch, ...]
    language: str
    on_bad_line: OnBadLine
    fingerprint: str
    blank: int
    set_aside: Mapping[str, int] = field(default_factory=dict)
    examples: Mapping[str, Sequence[Origin]] = field(default_factory=dict)

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(map(len, self.stretches))

    def origin(self, number: int) -> Origin:
        place, line = place_of(self.lengths, number)
        stretch = self.stretches[place]
        lines = read_lines(stretch.file.path, self.on_bad_line, name=stretch.file.name)
        numbers = (line.number for line in lines if not line.fault)
        return Origin(stretch.file.name, next(islice(numbers, stretch.first + line, None)))

    def __len__(self) -> int:
        return sum(self.lengths)

    def __iter__(self) -> Iterator[str]:
        for stretch in self.stretches:
            seen = 0
            for text in _texts(stretch, self.on_bad_line):
                seen += 1
                yield text
            if seen != len(stretch):
                raise UserError(
                    f"{stretch.file.name}: changed while in use: {len(stretch):,} lines before, {seen:,} now"
                )

    def summary(self) -> str:
        """One line, such as "3,617 lines in 1 file, 422 of them blank; set aside: 2 not UTF-8"."""
        told = f"{counted(len(self), 'line')} in {counted(len(self.stretches), 'file')}, {self.blank:,} of them blank"
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.set_aside.items())
        return f"{told}; set aside: {reasons}" if reasons else told

    def details(self) -> list[str]:
        """One line for each reason with its first lines, such as "not UTF-8: a.txt:3, a.txt:8 and 5 more"."""
        return [place_line(reason, count, self.examples.get(reason, ())) for reason, count in self.set_aside.items()]


def open_text(names: Sequence[str], language: str | None = None, *, on_bad_line: OnBadLine = "stop") -> FileText:
    """Text files (compressed ones, `-` and `name*3` too) and folders of them, as one text.

    The language is that of the names where they tell one (train.en), else undetermined. A folder stands for all files
    in it, in the order of their names, hidden ones and those that hold pairs left out. UserError for a file that holds
    pairs, and where there is nothing but blank lines.
    """
    if names.count(STANDARD_INPUT) > 1:
        raise UserError("standard input (-) can be read only once")
    files = [file for name in names for file in _files(name)]
    told = [suffix for file in files if (suffix := language_of_suffix(file.name))]
    text = _read(files, language or (told[0] if told else UNDETERMINED), on_bad_line)
    if len(text) == text.blank:
        raise UserError(f"{' '.join(names)}: no line with text in it")
    return text


def held_out(text: FileText) -> tuple[FileText, FileText] | None:
    """The text without the last twentieth of each file, and that; None where all files are too small for it.

    Cut at a blank line where one is near, so that what stands together stays so. Nothing is shuffled: running text
    would be torn.
    """
    kept, out, small = list[Stretch](), list[Stretch](), 0
    for stretch in text.stretches:
        cut = stretch.last
        if len(stretch) >= FEWEST_TO_CUT:
            cut = _cut(stretch, text.on_bad_line)
        elif (small := small + 1) % HELD_OUT_SHARE == 0:
            cut = stretch.first
        kept += [Stretch(stretch.file, stretch.first, cut)] if cut > stretch.first else []
        out += [Stretch(stretch.file, cut, stretch.last)] if cut < stretch.last else []
    parts = [_known(tuple(part), text.language, text.on_bad_line) for part in (kept, out)]
    if any(len(part) == part.blank for part in parts):
        return None
    return parts[0], parts[1]


def place_of(lengths: Sequence[int], number: int) -> tuple[int, int]:
    """The file, and the line in it, of line `number` of all; all count from 0."""
    for file, length in enumerate(lengths):
        if number < length:
            return file, number
        number -= length
    raise IndexError(number)


def fingerprint_of(language: str, lengths: Sequence[int], lines: Iterator[str]) -> str:
    """The fingerprint of lines in one language, the same for every kind of text."""
    digest = hashlib.blake2b(f"{language}\0".encode(), digest_size=16)
    for length in lengths:
        for line in islice(lines, length):
            digest.update(f"{line}\n".encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()


def _files(name: str) -> list[InputFile]:
    path, copies = repeat_of(name)
    if copies < 1:
        raise UserError(f"{name}: a repeat is 1 or more")
    file = repeatable(path)
    root = Path(file.path)
    if not root.is_dir():
        if suffix_container(file.name):
            raise UserError(f"{file.name}: holds pairs; a text in one language is plain lines")
        return [file] * copies
    paths = (each for each in sorted(root.rglob("*")) if each.is_file())
    shown = (each for each in paths if not any(part.startswith(".") for part in each.relative_to(root).parts))
    found = [file_at(each) for each in shown if not suffix_container(each.name)]
    if not found:
        raise UserError(f"{name}: no text file in this folder")
    return found * copies


def _read(files: Sequence[InputFile], language: str, on_bad_line: OnBadLine) -> FileText:
    """Once through all files: how long they are, and what is in them."""
    set_aside, examples, stretches = Counter[str](), dict[str, list[Origin]](), list[Stretch]()
    for file in files:
        length = 0
        for line in read_lines(file.path, on_bad_line, name=file.name):
            if line.fault:
                set_aside[line.fault] += 1
                places = examples.setdefault(line.fault, [])
                if len(places) < EXAMPLES_A_REASON and (place := Origin(file.name, line.number)) not in places:
                    places.append(place)
            else:
                length += 1
        stretches += [Stretch(file, 0, length)] if length else []
    return replace(_known(tuple(stretches), language, on_bad_line), set_aside=set_aside, examples=examples)


def _known(stretches: tuple[Stretch, ...], language: str, on_bad_line: OnBadLine) -> FileText:
    """A text of these stretches, which are read for it."""
    blank = 0

    def watched() -> Iterator[str]:
        nonlocal blank
        for stretch in stretches:
            for text in _texts(stretch, on_bad_line):
                blank += is_blank(text)
                yield text

    fingerprint = fingerprint_of(language, [len(stretch) for stretch in stretches], watched())
    return FileText(stretches, language, on_bad_line, fingerprint, blank)


def _texts(stretch: Stretch, on_bad_line: OnBadLine) -> Iterator[str]:
    lines: Iterator[Line] = read_lines(stretch.file.path, on_bad_line, name=stretch.file.name)
    return islice((line.text for line in lines if not line.fault), stretch.first, stretch.last)


def _cut(stretch: Stretch, on_bad_line: OnBadLine) -> int:
    """Where the last twentieth begins, or behind the last blank line before that, if this is no further than another
    twentieth."""
    share = len(stretch) // HELD_OUT_SHARE
    cut = best = stretch.last - share
    for place, text in enumerate(_texts(stretch, on_bad_line), start=stretch.first):
        if place >= cut:
            break
        if is_blank(text) and place + 1 >= cut - share:
            best = place + 1
    return best
