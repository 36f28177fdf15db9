"""Which pairs stand side by side: in two fields of a line, or in two files line by line?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import zip_longest

from dragoman.contracts import Origin, Record, UserError
from dragoman.corpus.lines import OnBadLine, read_texts
from dragoman.corpus.reading import Reading
from dragoman.corpus.records import Warn, record_of, unheard
from dragoman.corpus.streams import InputFile

_BARS = re.compile(r" ?\|\|\| ?")


def read_tsv(file: InputFile, reading: Reading, warn: Warn = unheard) -> Iterator[Record]:
    """Source TAB target, one record a line; a quote sign is plain text. Faults: "fields=3", ..."""
    return _divided(file, reading, lambda text: text.split("\t"))


def read_pharaoh(file: InputFile, reading: Reading, warn: Warn = unheard) -> Iterator[Record]:
    """Source ||| target, one record a line; one space on either side of the bars is theirs. Faults: as in a TSV."""
    return _divided(file, reading, _BARS.split)


def _divided(file: InputFile, reading: Reading, divide: Callable[[str], list[str]]) -> Iterator[Record]:
    for number, (text, fault) in enumerate(read_texts(file.path, reading.on_bad_line, name=file.name), 1):
        origin = Origin(file.name, number)
        fields = divide(text)
        if fault:
            yield Record("", "", origin, fault)
        elif len(fields) != 2:
            yield Record(text, "", origin, f"fields={len(fields)}")
        else:
            yield record_of(fields[0], fields[1], origin)


def read_side_by_side(source: InputFile, target: InputFile, on_bad_line: OnBadLine = "stop") -> Iterator[Record]:
    """Line n of one file is the translation of line n of the other; origins name the source file.

    Unequal line counts raise UserError naming both, once the shorter file has ended; under "skip"
    lines without a partner are records only where compressed data of the other file ends early.
    """
    sources = read_texts(source.path, on_bad_line, name=source.name)
    targets = read_texts(target.path, on_bad_line, name=target.name)
    pairs = zip_longest(sources, targets)
    faults = ("", "")
    for number, (one, other) in enumerate(pairs, 1):
        if one is None or other is None:
            faulty = faults[0 if one is None else 1]
            rest = 1 + sum(1 for _ in pairs)
            if faulty != "truncated":
                raise _unequal(source, target, number - 1, rest, longer_is_source=other is None)
            for lost in range(number, number + rest):
                yield Record("", "", Origin(source.name, lost), "truncated")
            return
        faults = one[1], other[1]
        yield record_of(one[0], other[0], Origin(source.name, number), one[1] or other[1])


def _unequal(source: InputFile, target: InputFile, shorter: int, rest: int, longer_is_source: bool) -> UserError:
    counts = (shorter + rest, shorter) if longer_is_source else (shorter, shorter + rest)
    return UserError(f"unequal line counts: {source.name} has {counts[0]:,}, {target.name} has {counts[1]:,}")
