"""What of the tags inside a sentence is text?

In TMX and XLIFF some elements hold a code of the original format (`<bpt i="1">&lt;b&gt;</bpt>`), others only stand
for one (`<x id="1"/>`); marks and comments are neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

import regex

from dragoman.corpus.reading import InlineTags
from dragoman.corpus.records import mark_controls

_WITH_CODE = frozenset({"bpt", "ept", "it", "ph", "ut"})
_ROUND_TEXT = frozenset({"g", "pc"})
_ALONE = frozenset({"x", "bx", "ex", "sc", "ec"})
_INSTEAD = frozenset({"ph", "x"})  # stand for a thing, not for the beginning or end of something
_IDENTITIES = ("id", "startRef", "i", "x")
_BREAK_NAMES = ("type", "ctype", "subType")
_BREAKS = frozenset({"lb", "pb", "xlf:lb", "xlf:pb"})
_BREAK_CODE = regex.compile(r"\s*(<br\b|\\n\s*$)", regex.IGNORECASE)
_FORMAT_CODE = regex.compile(
    r"\s*</?(?:a|abbr|b|big|cf|code|em|font|i|mark|s|small|span|strike|strong|style|sub|sup|tt|u)\b", regex.IGNORECASE
)
# Letters and digits that would be one word side by side.
_OF_A_WORD = regex.compile(
    r"[[\p{L}\p{M}\p{Nd}]--[\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]]",
    regex.VERSION1,
)


@dataclass
class _Code:
    """An element that holds a code and is open. stand_in: what is kept of it where it holds nothing."""

    tag: str
    stand_in: str
    is_break: bool
    parts: list[str] = field(default_factory=list)


class SegmentText:
    """The text of one segment, gathered from its XML events.

    Kept tags are text as they are. Of those that are stripped a line break leaves a space, and so does one that stands
    for something (a picture, a variable) between two words that would else be one.
    """

    def __init__(self, inline_tags: InlineTags) -> None:
        self._keep = inline_tags == "keep"
        self._stretches: list[list[str]] = [[]]  # something stood between each two of them
        self._codes: list[_Code] = []  # the innermost last

    @property
    def text(self) -> str:
        whole = ""
        for stretch in map("".join, self._stretches):
            apart = _OF_A_WORD.match(whole[-1:]) and _OF_A_WORD.match(stretch[:1])
            whole += f" {stretch}" if apart else stretch
        return whole

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element inside the segment begins."""
        if tag in _WITH_CODE:
            self._codes.append(_Code(tag, f"{_opening(tag, attributes)}/>", _is_break(attributes)))
        elif tag == "cp":
            self.characters(_code_point(attributes.get("hex", "")))
        elif tag not in _ROUND_TEXT | _ALONE:
            return
        elif self._keep:
            self._add(_opening(tag, attributes) + (">" if tag in _ROUND_TEXT else "/>"))
        elif not self._codes:
            self._strip(tag, _is_break(attributes))

    def characters(self, text: str) -> None:
        """Text of the segment, or of the code that is open."""
        self._add(text)

    def end(self, tag: str) -> None:
        """An element inside the segment ends."""
        if tag in _WITH_CODE:
            code = self._codes.pop()
            text = "".join(code.parts)
            if self._keep:
                self._add(text or code.stand_in)
            elif not self._codes:
                self._strip(code.tag, code.is_break or bool(_BREAK_CODE.match(text)), text)
        elif self._keep and tag in _ROUND_TEXT:
            self._add(f"</{tag}>")

    def _add(self, text: str) -> None:
        (self._codes[-1].parts if self._codes else self._stretches[-1]).append(text)

    def _strip(self, tag: str, is_break: bool, code: str = "") -> None:
        """What an element leaves that is not kept."""
        if is_break:
            self._add(" ")
        elif tag in _INSTEAD and not _FORMAT_CODE.match(code):
            self._stretches.append([])


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
