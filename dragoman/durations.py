"""How long? "90s", "20m" or "1h30m" to seconds and back, for recipes and the command line."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator

_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_PARTS = re.compile(r"(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?")


def parse_duration(value: object) -> float:
    """Seconds: a number is taken as seconds; text as "2d", "1h30m", "20m", "90s" or "0.5h".

    >>> parse_duration("1h30m")
    5400.0

    ValueError for anything else: a text without a unit, negative, not finite, an unknown unit, units out of order.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("not a duration like 90s, 20m or 1h30m")
    seconds = _seconds_of_text(value) if isinstance(value, str) else float(value)
    if not math.isfinite(seconds) or seconds < 0:
        raise ValueError("a duration is finite and not negative")
    return seconds


def format_duration(seconds: float) -> str:
    """The shortest text in whole units that `parse_duration` reads back exactly.

    >>> format_duration(5400)
    '1h30m'
    """
    if seconds != int(seconds):
        return f"{Decimal(repr(seconds)):f}s"  # never with an exponent
    rest, parts = int(seconds), []
    for unit, size in _UNITS.items():
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def _seconds_of_text(text: str) -> float:
    text = text.strip().lower()
    if re.fullmatch(r"\d+(\.\d+)?", text) and float(text):
        raise ValueError(f"{text} what? {text}s, {text}m or {text}h")
    if re.fullmatch(r"0+(\.0+)?", text):
        return 0.0
    found = _PARTS.fullmatch(text)
    if not text or found is None:
        raise ValueError(f"{text!r} is not a duration like 90s, 20m or 1h30m")
    return sum(float(count or 0) * size for count, size in zip(found.groups(), _UNITS.values(), strict=True))


Duration = Annotated[float, BeforeValidator(parse_duration)]
"""A recipe's field in seconds that also reads "20m"; written to TOML as such text."""
