"""How is it written which words of two texts belong together?

As Pharaoh did: a line for each pair of texts, `0-0 1-2 1-3`, source word and target word, counted from 0; or with the
probability of each, `0-0:0.98 1-2:0.75`.
"""

from __future__ import annotations

from collections.abc import Iterable

from dragoman.contracts import Link


def written_links(links: Iterable[Link]) -> str:
    """The line of some links, sorted.

    >>> written_links([(1, 2), (0, 0)])
    '0-0 1-2'
    """
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


def read_links(line: str) -> tuple[Link, ...]:
    """The links of a line, sorted, each once, without probabilities. ValueError, which names it, for what is none.

    >>> read_links("1-2 0-0:0.9")
    ((0, 0), (1, 2))
    """
    links = set()
    for link in line.split():
        places, colon, share = link.partition(":")
        source, hyphen, target = places.partition("-")
        if colon and not _is_share(share):
            raise ValueError(f"{link[:20]!r} has no probability")
        if not (hyphen and _is_number(source) and _is_number(target)):
            raise ValueError(f"{link[:20]!r} is no link such as 0-2")
        links.add((int(source), int(target)))
    return tuple(sorted(links))


def _is_share(text: str) -> bool:
    try:
        return 0 <= float(text) <= 1  # NaN is not
    except ValueError:
        return False


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10
