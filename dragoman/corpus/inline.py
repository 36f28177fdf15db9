"""What of the tags inside a sentence is text?

In TMX and XLIFF some elements hold a code of the original format (`<bpt i="1">&lt;b&gt;</bpt>`), others only stand
for one (`<x id="1"/>`); marks and comments are neither.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.sax.saxutils import quoteattr

from dragoman.corpus.reading import InlineTags
from dragoman.corpus.records import mark_controls

_WITH_CODE = frozenset({"bpt", "ept", "it", "ph", "ut"})
_ROUND_TEXT = frozenset({"g", "pc"})
_ALONE = frozenset({"x", "bx", "ex", "sc", "ec"})
_IDENTITIES = ("id", "startRef", "i", "x")
_BREAK_NAMES = ("type", "ctype", "subType")
_BREAKS = frozenset({"lb", "pb", "xlf:lb", "xlf:pb"})
_BREAK_CODE = re.compile(r"\s*(<br\b|\\n\s*$)", re.IGNORECASE)


class SegmentText:
    """The text of one segment, gathered from its XML events; a line break is a space, whether tags are kept or not."""

    def __init__(self, inline_tags: InlineTags) -> None:
        self._keep = inline_tags == "keep"
        self._parts: list[str] = []
        self._depth = 0
        self._code: list[str] = []
        self._stand_in = ""

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element inside the segment begins."""
        if tag in _WITH_CODE:
            self._depth += 1
            if _is_break(attributes):
                self._parts.append(" ")
            elif self._keep and self._depth == 1:
                self._stand_in = f"{_opening(tag, attributes)}/>"
        elif tag == "cp":
            self.characters(_code_point(attributes.get("hex", "")))
        elif self._depth or tag not in _ROUND_TEXT | _ALONE:
            return
        elif _is_break(attributes):
            self._parts.append(" ")
        elif self._keep:
            self._parts.append(_opening(tag, attributes) + (">" if tag in _ROUND_TEXT else "/>"))

    def characters(self, text: str) -> None:
        """Text of the segment, or of the code that is open."""
        (self._code if self._depth else self._parts).append(text)

    def end(self, tag: str) -> None:
        """An element inside the segment ends."""
        if tag in _WITH_CODE:
            self._depth -= 1
            if not self._depth:
                self._close_code("".join(self._code))
        elif self._keep and tag in _ROUND_TEXT and not self._depth:
            self._parts.append(f"</{tag}>")

    def _close_code(self, code: str) -> None:
        if _BREAK_CODE.match(code):
            self._parts.append(" ")
        elif self._stand_in:
            self._parts.append(code or self._stand_in)
        self._code, self._stand_in = [], ""


def _is_break(attributes: Mapping[str, str]) -> bool:
    return any(attributes.get(name) in _BREAKS for name in _BREAK_NAMES)


def _opening(tag: str, attributes: Mapping[str, str]) -> str:
    name = next((name for name in _IDENTITIES if name in attributes), None)
    return f"<{tag} {name}={quoteattr(attributes[name])}" if name else f"<{tag}"


def _code_point(code: str) -> str:
    """The character that XML may not hold itself (XLIFF 2: `<cp hex="000C"/>`); what no text may hold is marked."""
    try:
        character = chr(int(code, 16))
        character.encode()
    except (ValueError, OverflowError):
        return mark_controls("\0")
    return character if character != "\0" else mark_controls(character)
