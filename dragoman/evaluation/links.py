"""How good are links between words, beside those that people drew?

With A the links, S the sure ones of the gold and P the possible ones, S among them (Och & Ney 2003): precision = |A &
P| / |A|, recall = |A & S| / |S|, AER = 1 - (|A & S| + |A & P|) / (|A| + |S|): 0 is perfect. Sums run over all lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from dragoman.contracts import Link

Links = frozenset[Link]
_GOLD = re.compile(r"([0-9]{1,9})([-?])([0-9]{1,9})")


@dataclass(frozen=True)
class Gold:
    """The links of one line: sure ones, and all that are possible."""

    sure: Links
    possible: Links


def read_gold(line: str) -> Gold:
    """`i-j` is sure, `i?j` only possible; both count from 0. ValueError, which names it, for what is neither.

    >>> read_gold("0-0 1?2").possible == {(0, 0), (1, 2)}
    True
    """
    sure, possible = set(), set()
    for item in line.split():
        found = _GOLD.fullmatch(item)
        if found is None:
            raise ValueError(f"{item[:20]!r} is no link such as 0-2 (sure) or 0?2 (possible)")
        link = int(found[1]), int(found[3])
        possible.add(link)
        if found[2] == "-":
            sure.add(link)
    return Gold(frozenset(sure), frozenset(possible))


@dataclass(frozen=True)
class LinkFigures:
    """links: |A|; sure: |S|; sure_found: |A & S|; possible_found: |A & P|; over so many lines."""

    links: int
    sure: int
    sure_found: int
    possible_found: int
    lines: int

    @property
    def precision(self) -> float:
        return self.possible_found / self.links if self.links else 1.0

    @property
    def recall(self) -> float:
        return self.sure_found / self.sure if self.sure else 1.0

    @property
    def error_rate(self) -> float:
        """AER."""
        both = self.links + self.sure
        return 1 - (self.sure_found + self.possible_found) / both if both else 0.0

    def to_json(self) -> dict[str, float]:
        """Plain numbers by name, shares from 0 to 1."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "aer": self.error_rate,
            "links": self.links,
            "sure": self.sure,
            "lines": self.lines,
        }


def link_figures(found: Iterable[Iterable[Link]], gold: Iterable[Gold]) -> LinkFigures:
    """Compare line by line; both have as many.

    >>> figures = link_figures([[(0, 0), (1, 1)]], [read_gold("0-0 1?1 2-2")])
    >>> figures.precision, figures.recall, round(figures.error_rate, 3)
    (1.0, 0.5, 0.25)
    """
    links = sure = sure_found = possible_found = lines = 0
    for some, true in zip(found, gold, strict=True):
        drawn = frozenset(some)
        links += len(drawn)
        sure += len(true.sure)
        sure_found += len(drawn & true.sure)
        possible_found += len(drawn & true.possible)
        lines += 1
    return LinkFigures(links, sure, sure_found, possible_found, lines)
