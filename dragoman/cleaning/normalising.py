"""How is text made uniform without changing what it says?

Each step is wanted or not; what it changed is counted. A step knows, of many texts at once, which it may change at all.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked_dataclass

from dragoman.cleaning.signs import Signs
from dragoman.contracts import UserError
from dragoman.corpus.languages import parse_language

Quotes = Literal["as they are", "straight", "language"]

SAMPLES = 5
# Two signs that are the first two bytes of one sign in UTF-8, read as if they were Windows-1252 or Latin-1.
_CONTINUED = "".join(map(chr, range(0x80, 0xC0))) + "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
_MOJIBAKE = re.compile(f"[\u00c2-\u00f4][{_CONTINUED}]")
# A last letter with an accent before a closing quote or a dash: no two signs of a broken one.
_ACCENT_IN_QUOTES = re.compile(
    f"(?<=[A-Za-z\u2018\u201c])[\u00df-\u00f6\u00f8-\u00ff][\u2019\u201d\u2013\u2014\u2026](?![{_CONTINUED}])"
)
# What is left of a broken letter where others were put right: its first sign beside a letter that is not Latin, behind
# a small letter, or before its second sign.
_FIRST, _OTHERS = "[\u00c2-\u00f4]", r"[\p{L}--\p{Latin}]"
_HALF_REPAIRED = regex.compile(
    rf"{_FIRST}(?:[{_CONTINUED}--\p{{L}}]|(?={_OTHERS}))|(?<={_OTHERS}){_FIRST}|(?<=[a-z])[\u00c2-\u00de]",
    regex.VERSION1,
)
_AMONG_OTHERS = regex.compile(
    rf"(?<={_OTHERS}){_FIRST}(?:[{_CONTINUED}--[\p{{L}}·»’”–—…]]|[{_CONTINUED}]{{1,2}}(?={_OTHERS}|{_FIRST}))",
    regex.VERSION1,
)
_LINE_ENDS = "\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85\u2028\u2029"
_SPACES = re.compile(f"[ \t{_LINE_ENDS}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")
# A zero-width space tells words apart where a script has no spaces.
_INVISIBLE = re.compile("(?<![\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])\u200b|[\u00ad\u2060\ufeff]")
_ODD_SPACES = (
    f"\t{_LINE_ENDS}\u00a0\u00ad\u1680" + "".join(map(chr, range(0x2000, 0x200C))) + "\u202f\u205f\u2060\u3000\ufeff"
)
_UNEVEN = re.compile(f"  |[{_ODD_SPACES}]")
_FIXED = re.compile("((?<=«)[\u00a0\u202f]|[\u00a0\u202f](?=[:;!?%»]))")
_QUOTE = re.compile('([ \u00a0\u202f]*)(["“”„‟«»「」『』〝〞〟＂])([ \u00a0\u202f]*)')
_CODE = re.compile(r"""(<[^<>]*>|=\s?"[^"]*")""")
_INCHES = re.compile(r'(?<![\w"])[\d./]*\d"(?= |$)')
_ENGLISH, _GERMAN, _ANGULAR, _CORNERS = ("“", "”"), ("„", "“"), ("«", "»"), ("「", "」")
_QUOTES_OF = {
    language: quotes
    for languages, quotes in (
        ("de bg cs da et hr is lt lv mk ka sk sl sq sr hsb", _GERMAN),
        ("hu pl ro", ("„", "”")),
        ("fi sv bs", ("”", "”")),
        ("be es el fa hy it nb nn no ru uk az kk ky ca gl eu ar", _ANGULAR),
        ("fr", ("«\u00a0", "\u00a0»")),
        ("ja", _CORNERS),
    )
    for language in languages.split()
}


class Step(NamedTuple):
    """change: a text of one language made uniform; may_change: the texts for which that is worth a try."""

    change: Callable[[str], str]
    may_change: Callable[[Signs], NDArray[np.bool_]]


@checked_dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Normalisations:
    """What is made uniform before pairs are judged."""

    mojibake: bool = Field(default=True, description="put right what was decoded as Windows-1252: schÃ¶n")
    spaces: bool = Field(
        default=True, description="one plain space for each run of any, or of line ends; none at the ends"
    )
    composed: bool = Field(default=False, description="a letter and its accents become one sign (Unicode NFC)")
    quotes: Quotes = Field(default="as they are", description="double quotes, where they come in pairs")
    simplified: bool = Field(
        default=False, description="traditional Chinese becomes simplified, in a side that is zh (needs opencc)"
    )

    def steps(self, language: str) -> dict[str, Step]:
        """The steps that are wanted for a side, by name, in their order. UserError where one needs what is missing."""
        steps: dict[str, Step] = {}
        parsed = parse_language(language)
        if self.mojibake:
            steps["mojibake"] = Step(repaired, looks_like_mojibake)
        if self.spaces:
            evenly = french_spaces if parsed.language == "fr" else evenly_spaced
            # In a text that is broken a space may be half of a letter, by which the filter knows it.
            steps["spaces"] = Step(lambda text: text if is_mojibake(text) else evenly(text), has_odd_spaces)
        if self.composed:
            steps["composed"] = Step(lambda text: unicodedata.normalize("NFC", text), is_not_ascii)
        if self.quotes != "as they are":
            pair = ('"', '"') if self.quotes == "straight" else quotes_of(language)
            steps["quotes"] = Step(lambda text: quoted(text, *pair), any_text)
        if self.simplified and parsed.language == "zh":
            if parsed.script != "Hans":
                raise UserError(f"normalise.simplified makes simplified Chinese, and the side is {language}: say zh")
            steps["simplified"] = Step(simplifier(), any_text)
        return steps


@dataclass
class Changes:
    """How many sides each step changed, and the first few of them before and after."""

    counts: Counter[str] = field(default_factory=Counter)
    samples: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def note(self, step: str, before: str, after: str) -> None:
        self.counts[step] += 1
        samples = self.samples.setdefault(step, [])
        if len(samples) < SAMPLES:
            samples.append((before, after))

    def add(self, others: Changes) -> None:
        """Those of later texts."""
        self.counts += others.counts
        for step, pairs in others.samples.items():
            samples = self.samples.setdefault(step, [])
            samples += pairs[: SAMPLES - len(samples)]


def made_uniform(texts: Sequence[str], steps: Mapping[str, Step], changes: Changes) -> Signs:
    """The texts after all steps; `changes` hears what was changed."""
    signs = Signs(texts)
    for name, (change, may_change) in steps.items():
        before = signs.texts
        made = {row: change(before[row]) for row in np.flatnonzero(may_change(signs)).tolist()}
        made = {row: after for row, after in made.items() if after != before[row]}
        for row, after in made.items():
            changes.note(name, before[row], after)
        if made:
            signs = Signs([made.get(row, text) for row, text in enumerate(before)])
    return signs


def any_text(signs: Signs) -> NDArray[np.bool_]:
    """True for all of them."""
    return np.ones(len(signs.texts), dtype=bool)


def is_not_ascii(signs: Signs) -> NDArray[np.bool_]:
    """Whether a text has a sign beyond ASCII."""
    return signs.rows_with(np.flatnonzero(signs.points_M > 127))


def repaired(text: str) -> str:
    """What UTF-8 was taken for another encoding, read as UTF-8 again; as it is where only parts can be read so.

    >>> repaired("schÃ¶n"), repaired("ÄÖÜ"), repaired("ä½\xa0å¥½å¯")
    ('schön', 'ÄÖÜ', 'ä½\xa0å¥½å¯')
    """
    if text.isascii() or not _MOJIBAKE.search(text):
        return text
    from ftfy import fix_encoding

    fixed = fix_encoding(text)
    halves = fixed != text and _HALF_REPAIRED.search(_ACCENT_IN_QUOTES.sub("", fixed))
    return text if halves else fixed


def looks_like_mojibake(signs: Signs) -> NDArray[np.bool_]:
    """Whether two signs of a text stand side by side as in _MOJIBAKE."""
    if signs.joined.isascii():
        return np.zeros(len(signs.texts), dtype=bool)
    leads = np.flatnonzero((signs.points_M[:-1] >= 0xC2) & (signs.points_M[:-1] <= 0xF4))
    return signs.rows_with(leads[_among(_CONTINUED)[signs.points_M[leads + 1]]])


def is_mojibake(text: str) -> bool:
    """Whether a text looks like one that cannot be put right any more, or that somebody put right in part."""
    if text.isascii() or not _MOJIBAKE.search(without := _ACCENT_IN_QUOTES.sub("", text)):
        return False
    from ftfy.badness import is_bad

    return bool(is_bad(text)) or _AMONG_OTHERS.search(without) is not None


def evenly_spaced(text: str) -> str:
    """One plain space for each run of spaces and line ends of any kind; none at the ends, nothing that nobody sees.

    >>> evenly_spaced(" a\\u00a0 b\\u200b")
    'a b'
    """
    return evenly_spaced_inside(text).strip(" ")


def has_odd_spaces(signs: Signs) -> NDArray[np.bool_]:
    """Whether a text has anything but single plain spaces inside."""
    points_K = signs.points_M[signs.others_K]
    plain = signs.others_K[points_K == ord(" ")]
    odd_N = signs.rows_with(signs.others_K[_among(_ODD_SPACES)[points_K]])
    odd_N |= signs.rows_with(plain[1:][np.diff(plain) == 1])
    filled_N = np.flatnonzero(signs.lengths_N)
    firsts, lasts = (signs.ends_N - signs.lengths_N)[filled_N], signs.ends_N[filled_N] - 1
    odd_N[filled_N] |= (signs.points_M[firsts] == ord(" ")) | (signs.points_M[lasts] == ord(" "))
    return odd_N


@cache
def _among(signs: str) -> NDArray[np.bool_]:
    """Whether a code point is one of these."""
    table = np.zeros(sys.maxunicode + 1, dtype=bool)
    table[[ord(sign) for sign in signs]] = True
    return table


def french_spaces(text: str) -> str:
    """The same, but for the narrow and fixed spaces that French writes before : ; ! ? % and inside its quotes."""
    return "".join(part if part in "\u00a0\u202f" else evenly_spaced_inside(part) for part in _FIXED.split(text)).strip(
        " "
    )


def evenly_spaced_inside(text: str) -> str:
    """As evenly_spaced, with a space at each end that had one."""
    return _SPACES.sub(" ", _INVISIBLE.sub("", text)) if _UNEVEN.search(text) else text


def quotes_of(language: str) -> tuple[str, str]:
    """The double quotes that a language opens and closes with."""
    parsed = parse_language(language)
    if (parsed.language, parsed.script) == ("zh", "Hant"):
        return _CORNERS
    return _QUOTES_OF.get(parsed.language, _ENGLISH)


def quoted(text: str, opening: str, closing: str) -> str:
    """Double quotes of any kind, in turn opening and closing, but for those of tags and of values (x="1"); a text with
    an odd number of them, or with inches (5"), stays as it is.

    >>> quoted('„Ja“, said <b id="1">"he"</b>', "“", "”")
    '“Ja”, said <b id="1">“he”</b>'
    """
    parts = _CODE.split(text)  # every other one is code
    places = sum(len(_QUOTE.findall(part)) for part in parts[::2])
    if not places or places % 2 or _INCHES.search(text):
        return text
    turns = iter((True, False) * (places // 2))

    def turned(found: re.Match[str]) -> str:
        """Spaces inside « so » are the quotes' own, those around »so« are not."""
        before, sign, after = found.groups()
        if next(turns):
            return f"{before}{opening}{'' if sign == '«' else after}"
        return f"{'' if sign == '»' else before}{closing}{after}"

    parts[::2] = [_QUOTE.sub(turned, part) for part in parts[::2]]
    return "".join(parts)


def simplifier() -> Callable[[str], str]:
    """Traditional to simplified Chinese, sign by sign and word by word, by opencc."""
    try:
        import opencc
    except ImportError as error:
        raise UserError("normalise.simplified needs opencc: pip install opencc") from error
    simplify: Callable[[str], str] = opencc.OpenCC("t2s").convert
    return simplify
