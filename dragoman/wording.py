"""How are counts and odd signs written, in lines that people read?"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping

# Controls, ends of lines and paragraphs, marks that turn the direction of a line, halves of pairs.
_CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_OUTER_SPACE = re.compile("^ +| +$|(?<= ) +")


def counted(count: int, noun: str) -> str:
    """ "1 pair", "2 pairs", "25,007 pairs": regular nouns only."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def summary_of(count: int, set_aside: Mapping[str, int], things: str = "pairs") -> str:
    """The line that tells what was kept from what was not, the commonest reason first.

    >>> summary_of(11, {"too long": 1})
    '11 of 12 pairs kept: 1 too long'
    """
    total = count + sum(set_aside.values())
    reasons = sorted(set_aside.items(), key=lambda item: (-item[1], item[0]))
    told = ", ".join(f"{number:,} {reason}" for reason, number in reasons)
    return f"{count:,} of {total:,} {things} kept{': ' if told else ''}{told}"


def escaped(text: str) -> str:
    """The text on one line that no terminal obeys: controls as escapes, such as \\x1b."""
    return text if text.isprintable() else _CONTROL.sub(lambda sign: _escape(sign[0]), text)


def visible(text: str) -> str:
    """The text with an escape for whatever nobody sees, a plain space apart.

    >>> visible("two\\u00a0words\\u200b")
    'two\\\\xa0words\\\\u200b'
    """
    return text if text.isprintable() else "".join(sign if sign.isprintable() else _escape(sign) for sign in text)


def with_visible_spaces(text: str) -> str:
    """The same, with a sign for spaces at the ends and for each that follows another one.

    >>> with_visible_spaces("a  b ")
    'a ␣b␣'
    """
    return _OUTER_SPACE.sub(lambda spaces: "␣" * len(spaces[0]), visible(text))


def finite(value: object) -> object:
    """The same with null for numbers that JSON has not (infinite ones, NaN), in tables and lists too."""
    if isinstance(value, dict):
        return {name: finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def json_text(value: object) -> str:
    """JSON for a program, in which a terminal finds nothing to obey, and which has no numbers that JSON lacks."""
    return _safe_json(value, 2)


def json_line(value: object) -> str:
    """The same on one line."""
    return _safe_json(value, None)


def _safe_json(value: object, indent: int | None) -> str:
    return _CONTROL.sub(
        lambda sign: sign[0] if sign[0] == "\n" else f"\\u{ord(sign[0]):04x}",
        json.dumps(finite(value), ensure_ascii=False, allow_nan=False, indent=indent),
    )


def _escape(sign: str) -> str:
    return sign.encode("unicode_escape").decode()
