"""Do both sides of a pair hold the same numbers, and the same links?"""

from __future__ import annotations

import html
from collections import Counter

import regex

LONGEST_NUMBER = 100  # digits; what is longer is none
_NUMBER = regex.compile(
    r"(?P<whole>\p{Nd}{1,3}(?:[.,'’\u00a0\u202f ]\p{Nd}{3})+(?!\p{Nd})|\p{Nd}+)(?:[.,](?P<rest>\p{Nd}+))?"
)
_NO_SEPARATORS = dict.fromkeys(map(ord, ".,'’\u00a0\u202f "))
_SPOKEN = regex.compile(r"\p{Nd} ?[%‰°€$£¥₩₽₹]|[€$£¥₩₽₹§№] ?\p{Nd}")
_MULTIPLIED = regex.compile(
    r"\p{Nd}\s*(?:[百千万萬亿億兆]|(?:hundred|thousand|mil|bil|tril|tausend|mrd|mio|mln|млн|тыс|млрд))", regex.I
)
_HOST = r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
_LINK = regex.compile(
    rf"(?:(?:https?|ftp)://|www\.)(?P<host>{_HOST})[A-Za-z0-9\-._~:/?#@!$&'*+,;=%]*"
    rf"|(?<![\w.+-])[\w.+-]{{1,64}}@(?P<host>{_HOST})",
    regex.ASCII,
)
_BARE_HOST = regex.compile(rf"(?<![\w.@-]){_HOST}", regex.ASCII)
_NO_TEXT = regex.compile(r"<[^<>]*>|%\(\w+\)\w|%[\d$.]*\w|\$?\{[^{}]*\}|&#?\w{1,10};")
_NO_TEXT_SIGNS = "<%{&"  # one of them is in each
_LATIN_WORD = regex.compile(r"[\p{Latin}\p{M}\p{Nd}_]+(?:[.'’-][\p{Latin}\p{M}\p{Nd}_]+)*")


def numbers(text: str) -> Counter[int]:
    """The whole numbers of a text, and what stands behind a decimal sign as another one.

    >>> numbers("1,000.5 or 007")
    Counter({1000: 1, 5: 1, 7: 1})
    """
    found: Counter[int] = Counter()
    for match in _NUMBER.finditer(_unescaped(text)):
        for digits in (match["whole"].translate(_NO_SEPARATORS), match["rest"] or ""):
            if 0 < len(digits) < LONGEST_NUMBER and digits.isdecimal():  # regex may know digits that Python does not
                found[int(digits)] += 1
    return found


def _digits(text: str) -> str:
    """All digits of a text, in their order."""
    return "".join(str(int(sign)) for sign in _unescaped(text) if sign.isdecimal())


def _unescaped(text: str) -> str:
    return html.unescape(text) if "&#" in text else text


def same_numbers(source: str, target: str) -> float:
    """2 |A ∩ B| / (|A| + |B|), or 1 where one side has no number without a partner: see `filters.Numbers`."""
    if _MULTIPLIED.search(source) or _MULTIPLIED.search(target):
        return 1.0
    one, other = numbers(source), numbers(target)
    shared = one & other
    lonely, others = (one - shared).elements(), list((other - shared).elements())
    alone, same = 0, shared.total()
    for number in lonely:
        partner = next((each for each in others if _may_be(number, each)), None)
        if partner is None:
            alone += 1
        else:
            others.remove(partner)
            same += 1
    if not (alone and others) or _digits(source) == _digits(target):  # 58,149 and 58, 149
        return 1.0
    return 2 * same / (2 * same + alone + len(others))


def _may_be(one: int, other: int) -> bool:
    """Two ways to write one hour, or one year."""
    low, high = sorted((one, other))
    return (high <= 24 and high - low == 12) or (1000 <= high <= 2100 and low < 100 and high % 100 == low)


def is_spoken(text: str) -> bool:
    """Whether a number in the text has a sign beside it that is read as a word: 50%, $ 7, § 3."""
    return _SPOKEN.search(text) is not None


def hosts(text: str) -> Counter[str]:
    """Where the links of a text lead: the last two parts of a host, for the first ones often name a language.

    >>> hosts("see https://de.example.org/a.html, or ask me@Example.org.")
    Counter({'example.org': 2})
    """
    return Counter(_place(link["host"]) for link in _LINK.finditer(text))


def _place(host: str) -> str:
    return ".".join(host.lower().removeprefix("www.").split(".")[-2:])


def same_links(source: str, target: str) -> float:
    """The share of links and mail addresses that both sides have, by their hosts; 1 where there are none. A host that
    the other side only names ("see example.org") is there too."""
    one, other = hosts(source), hosts(target)
    total = one.total() + other.total()
    if not total:
        return 1.0
    shared = one & other
    named = _named(one - shared, target) + _named(other - shared, source)
    return (2 * shared.total() + named) / total


def _named(wanted: Counter[str], text: str) -> int:
    """How many of the hosts stand in the text outside of its links."""
    if not wanted:
        return 0
    return (wanted & Counter(map(_place, _BARE_HOST.findall(without_links(text))))).total()


def has_link(source: str, target: str) -> bool:
    """Whether it is worth looking for links."""
    return _may_link(source) or _may_link(target)


def _may_link(text: str) -> bool:
    return "://" in text or "www." in text or "@" in text


def without_links(text: str) -> str:
    """A space for each link."""
    return _LINK.sub(" ", text) if _may_link(text) else text


def text_alone(text: str) -> str:
    """A space for each link, tag and placeholder, which are the same in all languages."""
    text = without_links(text)
    return _NO_TEXT.sub(" ", text) if any(sign in text for sign in _NO_TEXT_SIGNS) else text


def without_shared(source: str, target: str) -> tuple[str, str]:
    """Both texts with a space for each word in Latin letters that the other one has too.

    >>> without_shared("Tom likes NumPy", "Tom喜欢NumPy。")
    ('  likes  ', ' 喜欢 。')
    """
    one, other = ({word.casefold() for word in _LATIN_WORD.findall(text)} for text in (source, target))
    shared = one & other

    def alone(text: str) -> str:
        return _LATIN_WORD.sub(lambda word: " " if word[0].casefold() in shared else word[0], text)

    return (alone(source), alone(target)) if shared else (source, target)
