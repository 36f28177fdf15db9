"""Do counts read as people write them?"""

from __future__ import annotations

from dragoman.wording import counted


def test_one_is_not_plural() -> None:
    assert [counted(number, "pair") for number in (0, 1, 25_007)] == ["0 pairs", "1 pair", "25,007 pairs"]
