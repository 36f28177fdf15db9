"""When is a record a usable pair?

Helpers that the readers share: blank sides, text on one line, and marks for damaged places.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Sequence

from dragoman.contracts import Origin, Record

Warn = Callable[[str], None]
EXAMPLES_A_REASON = 3  # records that are named

_LINE_SPACE = re.compile(r"[ \t\r\n]+")
# Noncharacters stand for damaged places while a catalogue or TMX is read under "skip": no text holds them.
_NOT_UTF8, _NUL, _CUT, _CONTROL = "\U0010fffe", "\U0010ffff", "\U000ffffe", "\U000fffff"
_MARKS = {_NOT_UTF8: "not UTF-8", _NUL: "NUL", _CUT: "truncated", _CONTROL: "control character"}
_ANY_MARK = re.compile(f"[{''.join(_MARKS)}]")
_CONTROLS = {code: _CONTROL for code in range(32) if code not in (0, 9, 10, 13)} | {0: _NUL}

MARK_BAD_BYTES = "dragoman.mark"
codecs.register_error(MARK_BAD_BYTES, lambda error: (_NOT_UTF8, error.end))  # type: ignore[attr-defined]


def unheard(warning: str) -> None:
    """The `warn` of a reader whose warnings nobody wants."""


def is_blank(text: str) -> bool:
    """Whether a text has nothing but white space."""
    return not text or text.isspace()


def on_one_line(text: str) -> str:
    """Line ends, tabs and runs of spaces become one space; none at either end (U+00A0 and the like stay)."""
    if text.isprintable() and "  " not in text:  # most are
        return text.strip(" ")
    return _LINE_SPACE.sub(" ", text).strip(" ")


def unbroken(text: str) -> str:
    """A text of several lines on one line; any other as it is."""
    return on_one_line(text) if "\n" in text or "\r" in text else text


def place_line(reason: str, count: int, places: Sequence[Origin]) -> str:
    """The line that names where the first records or lines stand that were set aside for a reason.

    >>> place_line("fields=1", 7, [Origin("x.tsv", 3), Origin("x.tsv", 8)])
    'fields=1: x.tsv:3, x.tsv:8 and 5 more'
    """
    more = f" and {count - len(places):,} more" if count > len(places) else ""
    return f"{reason}: {', '.join(map(str, places))}{more}"


def record_of(source: str, target: str, origin: Origin, fault: str = "") -> Record:
    """A record with the reason why it is no pair, if it is none."""
    return Record(source, target, origin, fault or blank_fault(source, target))


def blank_fault(source: str, target: str) -> str:
    """Which side is blank, or nothing."""
    if is_blank(source):
        return "blank pair" if is_blank(target) else "blank source"
    return "blank target" if is_blank(target) else ""


def mark_controls(text: str) -> str:
    """Control characters that neither XML nor a catalogue may hold, replaced by marks."""
    return text.translate(_CONTROLS)


def mark_cut(line: str) -> str:
    """A string that the end of the file cut off, closed and marked."""
    return f'{line}{_CUT}"'


def damage_in(text: str) -> str:
    """The reason that a mark in the text stands for, or nothing."""
    found = _ANY_MARK.search(text)
    return _MARKS[found.group()] if found else ""
