"""Which pairs stand side by side: in two fields of a line, or in two files line by line?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from dragoman.contracts import UserError
from dragoman.corpus.lines import OnBadLine, read_blocks
from dragoman.corpus.reading import Reading
from dragoman.corpus.records import Warn, unheard
from dragoman.corpus.rows import Rows, rows_beside
from dragoman.corpus.streams import InputFile

_BARS = re.compile(r" ?\|\|\| ?")


def read_tsv(file: InputFile, reading: Reading, warn: Warn = unheard) -> Iterator[Rows]:
    """Source TAB target, one record a line; a quote sign is plain text. Faults: "fields=3", ..."""
    return _divided(file, reading, lambda text: text.split("\t"))


def read_pharaoh(file: InputFile, reading: Reading, warn: Warn = unheard) -> Iterator[Rows]:
    """Source ||| target, one record a line; one space on either side of the bars is theirs. Faults: as in a TSV."""
    return _divided(file, reading, _BARS.split)


def _divided(file: InputFile, reading: Reading, divide: Callable[[str], list[str]]) -> Iterator[Rows]:
    number = 1
    for texts, faults in read_blocks(file.path, reading.on_bad_line, name=file.name):
        wrong = {line - number: fault for line, fault in faults.items()}
        divided = [divide(text) for text in texts]
        for row, fields in enumerate(divided):
            if len(fields) != 2:
                divided[row] = ["" if row in wrong else texts[row], ""]
                wrong.setdefault(row, f"fields={len(fields)}")
        lines = range(number, number + len(texts))
        yield rows_beside([one for one, _ in divided], [other for _, other in divided], file.name, lines, wrong)
        number += len(texts)


def read_side_by_side(source: InputFile, target: InputFile, on_bad_line: OnBadLine = "stop") -> Iterator[Rows]:
    """Line n of one file is the translation of line n of the other; origins name the source file.

    Unequal line counts raise UserError naming both, once the shorter file has ended; under "skip"
    lines without a partner are records only where compressed data of the other file ends early.
    """
    sides = [_Side(read_blocks(file.path, on_bad_line, name=file.name)) for file in (source, target)]
    number = 1
    while sides[0].filled() & sides[1].filled():  # both are asked
        count = min(len(side.texts) for side in sides)
        (sources, wrong), (targets, others) = (side.take(count) for side in sides)
        faults = {line - number: fault for line, fault in {**others, **wrong}.items()}
        yield rows_beside(sources, targets, source.name, range(number, number + count), faults)
        number += count
    rest = sum(side.rest() for side in sides)
    if not rest:
        return
    shorter = next(side for side in sides if not side.texts)
    if shorter.last != "truncated":
        raise _unequal(source, target, number - 1, rest, longer_is_source=shorter is sides[1])
    nothing = [""] * rest
    yield Rows(nothing, nothing, source.name, range(number, number + rest), dict.fromkeys(range(rest), "truncated"))


class _Side:
    """The lines of one file that have no partner yet. began: how many there were; last: the fault of the last one."""

    def __init__(self, blocks: Iterator[tuple[list[str], dict[int, str]]]) -> None:
        self.blocks, self.began, self.last = blocks, 0, ""
        self.texts, self.faults = list[str](), dict[int, str]()

    def filled(self) -> bool:
        """Whether there are lines to take; more are read where there are none."""
        if not self.texts:
            self.texts, self.faults = next(self.blocks, ([], {}))
            self.began += len(self.texts)
            if self.texts:
                self.last = self.faults.get(self.began, "")
        return bool(self.texts)

    def take(self, count: int) -> tuple[list[str], dict[int, str]]:
        """The first so many lines, and the faults among them, by their numbers in the file."""
        taken, self.texts = self.texts[:count], self.texts[count:]
        first = self.began - len(self.texts)
        faults = {line: self.faults.pop(line) for line in list(self.faults) if line <= first}
        return taken, faults

    def rest(self) -> int:
        """How many lines are left, up to the end of the file."""
        left = len(self.texts)
        for texts, _ in self.blocks:
            left += len(texts)
        return left


def _unequal(source: InputFile, target: InputFile, shorter: int, rest: int, longer_is_source: bool) -> UserError:
    counts = (shorter + rest, shorter) if longer_is_source else (shorter, shorter + rest)
    return UserError(f"unequal line counts: {source.name} has {counts[0]:,}, {target.name} has {counts[1]:,}")
