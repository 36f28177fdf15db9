"""How are pairs written, so that every reader gets them back?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

import numpy as np

from dragoman.contracts import SentencePair, UserError
from dragoman.corpus.files import writing_bytes
from dragoman.corpus.layouts import CATALOGUE_RULES, LAYOUTS, PLAIN_RULES, Rule, Sides, mo_bytes
from dragoman.corpus.lines import writing
from dragoman.corpus.records import is_blank
from dragoman.corpus.sources import check_order, suffix_container
from dragoman.corpus.streams import STANDARD_INPUT
from dragoman.wording import counted

AT_ONCE = 1_000
_FIRST_FIT, _FIRST_HALF = ord(" "), 0xD800  # all that stands before this half of a pair, from a space on, fits anywhere
Columns = tuple[Sequence[str], Sequence[str]]
"""Sources, and as many targets."""


@dataclass(frozen=True)
class WriteReport:
    """How many pairs were written, how many signs became a space, by what they were, and how many pairs were left out
    because nothing else is in one of their sides."""

    pairs: int
    files: tuple[str, ...]
    replaced: dict[str, int] = field(default_factory=dict)
    left_out: int = 0

    def summary(self) -> str:
        """One line, such as "2 pairs written to x.tsv; made spaces: 1 tab"."""
        made = ", ".join(counted(count, what) for what, count in self.replaced.items())
        written = f"{counted(self.pairs, 'pair')} written to {' and '.join(self.files)}"
        lost = f"; left out: {counted(self.left_out, 'pair')} of which a side has nothing else" if self.left_out else ""
        return f"{written}; made spaces: {made}{lost}" if made else written


def as_line(text: str) -> str:
    """The text as a line of a plain text file, what it cannot hold replaced by spaces."""
    return _fitting(text, PLAIN_RULES, {}) + "\n"


def write_bitext(pairs: Iterable[SentencePair], files: Sequence[str | Path], source: str, target: str) -> WriteReport:
    """Write pairs: see `write_columns`."""
    return write_columns(_columns_of(iter(pairs)), files, source, target)


def write_columns(columns: Iterable[Columns], files: Sequence[str | Path], source: str, target: str) -> WriteReport:
    """Write sources and targets to two plain text files, or to one file in a format of LAYOUTS or MO (`-` is TSV on
    standard output).

    What the format cannot hold becomes a space and is counted. A name may end in the suffix of a compression too. The
    files take their names when all is written. Raises UserError when the names say no format, or text files are
    called after each other's language.
    """
    names = [str(file) for file in files]
    fitting = _Fitting(columns, rules_of(names))
    if len(names) == 2:
        check_order((names[0], names[1]), source, target)
        with writing(names[0]) as sources, writing(names[1]) as targets:
            for some, others in fitting.columns():
                sources.write("\n".join([*some, ""]))
                targets.write("\n".join([*others, ""]))
            sources.flush()  # neither gets its name where the other has no room
    elif _format(names[0]) == ".mo":
        with writing_bytes(names[0]) as raw:
            raw.writelines(mo_bytes(fitting.sides(), source, target))
    else:
        with writing(names[0]) as out:
            out.writelines(LAYOUTS[_format(names[0])].texts(fitting.sides(), source, target))
    return WriteReport(
        fitting.count, tuple("<stdout>" if name == "-" else name for name in names), fitting.replaced, fitting.left_out
    )


def rules_of(files: Sequence[str | Path]) -> tuple[Rule, ...]:
    """What the format of these files cannot hold. Raises UserError when the names say no format."""
    names = [str(file) for file in files]
    match [_format(name) for name in names]:
        case ["", ""] if names[0] != names[1]:
            return PLAIN_RULES
        case [".mo"]:
            return CATALOGUE_RULES
        case [suffix] if suffix in LAYOUTS:
            return LAYOUTS[suffix].rules
    formats = ", ".join(LAYOUTS)
    raise UserError(f"{' '.join(names) or 'no file'}: pairs are written to one {formats} or .mo, or to two text files")


def leaves_nothing(text: str, rules: Sequence[Rule]) -> bool:
    """Whether all that is in a text is what a format with these rules cannot hold."""
    return is_blank(_fitting(text, rules, {}))


def _format(name: str) -> str:
    return ".tsv" if name == STANDARD_INPUT else suffix_container(name)


def _columns_of(pairs: Iterator[SentencePair]) -> Iterator[Columns]:
    while some := list(islice(pairs, AT_ONCE)):
        yield [pair.source for pair in some], [pair.target for pair in some]


class _Fitting:
    """Sources and targets with a space for whatever the format cannot hold; counts while they are walked."""

    def __init__(self, columns: Iterable[Columns], rules: Sequence[Rule]) -> None:
        self._columns, self._rules = columns, rules
        self.count = self.left_out = 0
        self.replaced: dict[str, int] = {}

    def columns(self) -> Iterator[Columns]:
        for columns in self._columns:
            if any(_may_not_fit(texts, self._rules) for texts in columns):
                made = [pair for pair in map(self._made_fit, *columns) if pair is not None]
                columns = [one for one, _ in made], [other for _, other in made]
            self.count += len(columns[0])
            yield columns

    def sides(self) -> Iterator[Sides]:
        return chain.from_iterable(zip(*columns, strict=True) for columns in self.columns())

    def _made_fit(self, source: str, target: str) -> Sides | None:
        """Both sides, None where a side has nothing else."""
        made = _fitting(source, self._rules, self.replaced), _fitting(target, self._rules, self.replaced)
        if made != (source, target) and any(map(is_blank, made)):
            self.left_out += 1
            return None
        return made


def _may_not_fit(texts: Sequence[str], rules: Sequence[Rule]) -> bool:
    """Whether there may be anything in the texts that a format with these rules cannot hold: soon said of most."""
    return any(rule.printable for rule in rules) or not _fits_anywhere("".join(texts))


def _fits_anywhere(text: str) -> bool:
    """Whether no format has a rule against a sign of the text; str.isprintable() knows, but takes its time."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return not text or bool(points.min() >= _FIRST_FIT and points.max() < _FIRST_HALF) or text.isprintable()


def _fitting(text: str, rules: Sequence[Rule], replaced: dict[str, int]) -> str:
    for what, pattern, _ in rules:
        text, count = pattern.subn(" ", text)
        if count:
            replaced[what] = replaced.get(what, 0) + count
    return text
