"""How are pairs written, so that every reader gets them back?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dragoman.contracts import SentencePair, UserError
from dragoman.corpus.files import writing_bytes
from dragoman.corpus.layouts import CATALOGUE_RULES, LAYOUTS, PLAIN_RULES, Rule, Sides, mo_bytes
from dragoman.corpus.lines import writing
from dragoman.corpus.records import is_blank
from dragoman.corpus.sources import suffix_container
from dragoman.corpus.streams import STANDARD_INPUT
from dragoman.wording import counted


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
    """Write pairs: see `write_sides`."""
    return write_sides(((pair.source, pair.target) for pair in pairs), files, source, target)


def write_sides(pairs: Iterable[Sides], files: Sequence[str | Path], source: str, target: str) -> WriteReport:
    """Write sources and targets to two plain text files, or to one file in a format of LAYOUTS or MO (`-` is TSV on
    standard output).

    What the format cannot hold becomes a space and is counted. A name may end in the suffix of a compression too. The
    files take their names when all is written. Raises UserError when the names say no format.
    """
    names = [str(file) for file in files]
    match [_format(name) for name in names]:
        case ["", ""] if names[0] != names[1]:
            sides = _FittingSides(pairs, PLAIN_RULES)
            with writing(names[0]) as sources, writing(names[1]) as targets:
                for one, other in sides:
                    sources.write(one + "\n")
                    targets.write(other + "\n")
        case [".mo"]:
            sides = _FittingSides(pairs, CATALOGUE_RULES)
            with writing_bytes(names[0]) as raw:
                raw.writelines(mo_bytes(sides, source, target))
        case [suffix] if suffix in LAYOUTS:
            layout = LAYOUTS[suffix]
            sides = _FittingSides(pairs, layout.rules)
            with writing(names[0]) as out:
                out.writelines(layout.texts(sides, source, target))
        case _:
            formats = ", ".join(LAYOUTS)
            raise UserError(
                f"{' '.join(names) or 'no file'}: pairs are written to one {formats} or .mo, or to two text files"
            )
    return WriteReport(
        sides.count, tuple("<stdout>" if name == "-" else name for name in names), sides.replaced, sides.left_out
    )


def _format(name: str) -> str:
    return ".tsv" if name == STANDARD_INPUT else suffix_container(name)


class _FittingSides:
    """Source and target of every pair with a space for whatever the format cannot hold; counts both while walked."""

    def __init__(self, pairs: Iterable[Sides], rules: Sequence[Rule]) -> None:
        self._pairs, self._rules = pairs, rules
        self._printable = any(rule.printable for rule in rules)
        self.count = self.left_out = 0
        self.replaced: dict[str, int] = {}

    def __iter__(self) -> Iterator[Sides]:
        for source, target in self._pairs:
            if self._printable or not source.isprintable() or not target.isprintable():  # most are
                source, target = (_fitting(side, self._rules, self.replaced) for side in (source, target))
                if is_blank(source) or is_blank(target):
                    self.left_out += 1
                    continue
            self.count += 1
            yield source, target


def _fitting(text: str, rules: Sequence[Rule], replaced: dict[str, int]) -> str:
    for what, pattern, _ in rules:
        text, count = pattern.subn(" ", text)
        if count:
            replaced[what] = replaced.get(what, 0) + count
    return text
