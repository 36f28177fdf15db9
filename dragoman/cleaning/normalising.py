"""How is text made uniform without changing what it says?

Each step is wanted or not; what it changed is counted. A step is a function from text to text for one language.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked_dataclass

from dragoman.contracts import Record, UserError
from dragoman.corpus.languages import parse_language

Step = Callable[[str], str]
Quotes = Literal["as they are", "straight", "language"]

SAMPLES = 5
# Two signs that are the first two bytes of one sign in UTF-8, read as if they were Windows-1252 or Latin-1.
_MOJIBAKE = re.compile("[\u00c2-\u00f4][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]")
_SPACES = re.compile("[ \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")
# A zero-width space tells words apart where a script has no spaces.
_INVISIBLE = re.compile("(?<![\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])\u200b|[\u2060\ufeff]")
_UNEVEN = re.compile("  |[\t\u00a0\u1680\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]")
_FIXED = re.compile("((?<=«)[\u00a0\u202f]|[\u00a0\u202f](?=[:;!?%»]))")
_QUOTE = re.compile('["“”„‟«»「」『』〝〞〟＂]')
_FRENCH_SPACE = re.compile("(?<=«)[ \u00a0\u202f]+|[ \u00a0\u202f]+(?=»)")
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


@checked_dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Normalisations:
    """What is made uniform before pairs are judged."""

    mojibake: bool = Field(default=True, description="put right what was decoded as Windows-1252: schÃ¶n")
    spaces: bool = Field(default=True, description="one plain space for each run of any, none at the ends")
    quotes: Quotes = Field(default="as they are", description="double quotes, where they come in pairs")
    simplified: bool = Field(
        default=False, description="traditional Chinese becomes simplified, in a side that is zh (needs opencc)"
    )

    def steps(self, language: str) -> dict[str, Step]:
        """The steps that are wanted for a side, by name, in their order. UserError where one needs what is missing."""
        steps: dict[str, Step] = {}
        if self.mojibake:
            steps["mojibake"] = repaired
        if self.spaces:
            steps["spaces"] = french_spaces if parse_language(language).language == "fr" else evenly_spaced
        if self.quotes != "as they are":
            pair = ('"', '"') if self.quotes == "straight" else quotes_of(language)
            steps["quotes"] = lambda text: quoted(text, *pair)
        parsed = parse_language(language)
        if self.simplified and parsed.language == "zh":
            if parsed.script != "Hans":
                raise UserError(f"normalise.simplified makes simplified Chinese, and the side is {language}: say zh")
            steps["simplified"] = simplifier()
        return steps


@dataclass
class Normaliser:
    """Applies the steps of both sides and remembers how many sides each one changed, with the first few."""

    source: dict[str, Step]
    target: dict[str, Step]
    changed: Counter[str] = field(default_factory=Counter)
    samples: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def __call__(self, record: Record) -> Record:
        source, target = self._side(record.source, self.source), self._side(record.target, self.target)
        if source is record.source and target is record.target:
            return record
        return replace(record, source=source, target=target)

    def _side(self, text: str, steps: dict[str, Step]) -> str:
        for name, step in steps.items():
            after = step(text)
            if after != text:
                self.changed[name] += 1
                samples = self.samples.setdefault(name, [])
                if len(samples) < SAMPLES:
                    samples.append((text, after))
                text = after
        return text


def repaired(text: str) -> str:
    """What UTF-8 was taken for another encoding, read as UTF-8 again.

    >>> repaired("schÃ¶n"), repaired("ÄÖÜ")
    ('schön', 'ÄÖÜ')
    """
    if text.isascii() or not _MOJIBAKE.search(text):
        return text
    from ftfy import fix_encoding

    return fix_encoding(text)


def is_mojibake(text: str) -> bool:
    """Whether a text looks like one that cannot be put right any more."""
    if text.isascii() or not _MOJIBAKE.search(text):
        return False
    from ftfy.badness import is_bad

    return bool(is_bad(text))


def evenly_spaced(text: str) -> str:
    """One plain space for each run of spaces of any kind; none at the ends, none that nobody sees.

    >>> evenly_spaced(" a\\u00a0 b\\u200b")
    'a b'
    """
    return _SPACES.sub(" ", _INVISIBLE.sub("", text)).strip(" ") if _UNEVEN.search(text) else text.strip(" ")


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
    """Double quotes of any kind, in turn opening and closing; a text with an odd number of them stays as it is.

    >>> quoted('„Ja“, said "he"', "“", "”")
    '“Ja”, said “he”'
    """
    places = _QUOTE.findall(text)
    if not places or len(places) % 2:
        return text
    turns = iter((opening, closing) * (len(places) // 2))
    return _QUOTE.sub(lambda _: next(turns), _FRENCH_SPACE.sub("", text))


def simplifier() -> Step:
    """Traditional to simplified Chinese, sign by sign and word by word, by opencc."""
    try:
        import opencc
    except ImportError as error:
        raise UserError('normalise.simplified needs opencc: pip install "dragoman[chinese]"') from error
    converter: Any = opencc.OpenCC("t2s")

    def simplify(text: str) -> str:
        simplified: str = converter.convert(text)
        return simplified

    return simplify
