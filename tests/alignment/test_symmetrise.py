"""Do two directions become one as the papers say, by hand-made examples?"""

from __future__ import annotations

import pytest

from dragoman.alignment.symmetrise import Symmetry, symmetrise
from dragoman.contracts import Link

#   forward: 0-0 1-1 2-1 3-4      reverse: 0-0 1-1 1-2 4-5
FORWARD, REVERSE = [(0, 0), (1, 1), (2, 1), (3, 4)], [(0, 0), (1, 1), (1, 2), (4, 5)]


@pytest.mark.parametrize(
    ("how", "links"),
    [
        ("forward", FORWARD),
        ("reverse", REVERSE),
        ("intersection", [(0, 0), (1, 1)]),
        ("union", [(0, 0), (1, 1), (1, 2), (2, 1), (3, 4), (4, 5)]),
        # 1-2 and 2-1 are beside 1-1, and one word of each is not linked yet; 3-4 is beside nothing
        ("grow-diag", [(0, 0), (1, 1), (1, 2), (2, 1)]),
        ("grow-diag-final", [(0, 0), (1, 1), (1, 2), (2, 1), (3, 4), (4, 5)]),
        ("grow-diag-final-and", [(0, 0), (1, 1), (1, 2), (2, 1), (3, 4), (4, 5)]),
    ],
)
def test_by_hand(how: Symmetry, links: list[Link]) -> None:
    assert list(symmetrise(FORWARD, REVERSE, how)) == links


def test_final_takes_half_free_words_and_final_and_does_not() -> None:
    forward, reverse = [(0, 0), (0, 3)], [(0, 0), (2, 3)]
    assert list(symmetrise(forward, reverse, "grow-diag")) == [(0, 0)]
    assert list(symmetrise(forward, reverse, "grow-diag-final")) == [(0, 0), (0, 3), (2, 3)]
    assert list(symmetrise(forward, reverse, "grow-diag-final-and")) == [(0, 0), (2, 3)]


def test_nothing_of_nothing() -> None:
    assert symmetrise([], [], "grow-diag-final-and") == ()
