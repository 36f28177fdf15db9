"""How are pairs written, so that every reader gets them back?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO
from xml.sax.saxutils import escape, quoteattr

from dragoman.contracts import SentencePair, UserError
from dragoman.corpus.lines import writing
from dragoman.corpus.sources import suffix_container
from dragoman.corpus.streams import STANDARD_INPUT
from dragoman.wording import counted

_LINE_END = re.compile(r"\r\n|[\r\n]")
_TAB = re.compile(r"\t")
_NOT_TEXT = re.compile("[\0\ud800-\udfff]")
_NOT_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

_Rule = tuple[str, re.Pattern[str]]
_ANY_FILE: tuple[_Rule, ...] = (("line end", _LINE_END), ("control character", _NOT_TEXT))
_TSV_FILE: tuple[_Rule, ...] = (*_ANY_FILE, ("tab", _TAB))
_TMX_FILE: tuple[_Rule, ...] = (("control character", _NOT_XML),)

_TMX_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4">
<header creationtool="dragoman" creationtoolversion="1" segtype="sentence" o-tmf="dragoman" adminlang="en" \
srclang={source} datatype="plaintext"/>
<body>
"""
_TMX_UNIT = """<tu><tuv xml:lang={source}><seg>{0}</seg></tuv><tuv xml:lang={target}><seg>{1}</seg></tuv></tu>
"""
_TMX_FOOT = "</body>\n</tmx>\n"


@dataclass(frozen=True)
class WriteReport:
    """How many pairs were written, and how many signs became a space, by what they were."""

    pairs: int
    files: tuple[str, ...]
    replaced: dict[str, int] = field(default_factory=dict)

    def summary(self) -> str:
        """One line, such as "2 pairs written to x.tsv; made spaces: 1 tab"."""
        made = ", ".join(counted(count, what) for what, count in self.replaced.items())
        written = f"{counted(self.pairs, 'pair')} written to {' and '.join(self.files)}"
        return f"{written}; made spaces: {made}" if made else written


def as_line(text: str) -> str:
    """The text as a line of a plain text file, what it cannot hold replaced by spaces."""
    return _fitting(text, _ANY_FILE, {}) + "\n"


def write_bitext(pairs: Iterable[SentencePair], files: Sequence[str | Path], source: str, target: str) -> WriteReport:
    """Write pairs to two plain text files, or to one .tsv or .tmx (.gz too; `-` is TSV on standard output).

    What the format cannot hold becomes a space and is counted. The files take their names when all
    is written. Raises UserError when the names say no format.
    """
    names = [str(file) for file in files]
    replaced: dict[str, int] = {}
    with ExitStack() as stack:
        match [_format(name) for name in names]:
            case ["", ""] if names[0] != names[1]:
                outs = [stack.enter_context(writing(name)) for name in names]
                count = _write_plain(pairs, outs[0], outs[1], replaced)
            case [".tsv"]:
                count = _write_tsv(pairs, stack.enter_context(writing(names[0])), replaced)
            case [".tmx"]:
                count = _write_tmx(pairs, stack.enter_context(writing(names[0])), source, target, replaced)
            case _:
                raise UserError(
                    f"{' '.join(names) or 'no file'}: pairs are written to one .tsv or .tmx or to two text files"
                )
    return WriteReport(count, tuple("<stdout>" if name == "-" else name for name in names), replaced)


def _format(name: str) -> str:
    return ".tsv" if name == STANDARD_INPUT else suffix_container(name)


def _write_plain(pairs: Iterable[SentencePair], source: TextIO, target: TextIO, replaced: dict[str, int]) -> int:
    count = 0
    for pair in pairs:
        count += 1
        source.write(_fitting(pair.source, _ANY_FILE, replaced) + "\n")
        target.write(_fitting(pair.target, _ANY_FILE, replaced) + "\n")
    return count


def _write_tsv(pairs: Iterable[SentencePair], out: TextIO, replaced: dict[str, int]) -> int:
    count = 0
    for pair in pairs:
        count += 1
        sides = _fitting(pair.source, _TSV_FILE, replaced), _fitting(pair.target, _TSV_FILE, replaced)
        out.write("\t".join(sides) + "\n")
    return count


def _write_tmx(pairs: Iterable[SentencePair], out: TextIO, source: str, target: str, replaced: dict[str, int]) -> int:
    languages = {"source": quoteattr(source), "target": quoteattr(target)}
    out.write(_TMX_HEAD.format(**languages))
    count = 0
    for pair in pairs:
        count += 1
        sides = [escape(_fitting(side, _TMX_FILE, replaced)) for side in (pair.source, pair.target)]
        out.write(_TMX_UNIT.format(*sides, **languages))
    out.write(_TMX_FOOT)
    return count


def _fitting(text: str, rules: Sequence[_Rule], replaced: dict[str, int]) -> str:
    """The text with a space for whatever the format cannot hold."""
    for what, pattern in rules:
        text, count = pattern.subn(" ", text)
        if count:
            replaced[what] = replaced.get(what, 0) + count
    return text
