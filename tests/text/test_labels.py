"""What stands for pieces in a picture reads like the text."""

from __future__ import annotations

import pytest

from dragoman.text.pieces import BYTE_IDS, BYTE_PIECES, END, FIRST_FREE, labels, piece_table

LEARNT = FIRST_FREE + 256
NAMES = ["<pad>", "<unk>", "<s>", "</s>", *(f"<r{number}>" for number in range(FIRST_FREE - 4)), *BYTE_PIECES, "▁a"]
TABLE = piece_table(NAMES, with_bytes=True)


def spelt(text: str) -> list[int]:
    return [BYTE_IDS[byte] for byte in text.encode()]


@pytest.mark.parametrize(
    ("ids", "shown"),
    [
        ([], []),
        ([LEARNT, END], ["▁a", "</s>"]),
        (spelt("你"), ["你", "·", "·"]),
        ([LEARNT, *spelt("é!"), LEARNT], ["▁a", "é", "·", "!", "▁a"]),
        (spelt("👧👧"), ["👧", "·", "·", "·"] * 2),
        (spelt("你")[:2], ["<0xE4>", "<0xBD>"]),
        ([*spelt("你")[:2], LEARNT, *spelt("é")], ["<0xE4>", "<0xBD>", "▁a", "é", "·"]),
        ([BYTE_IDS[0x80], *spelt("é")], ["<0x80>", "é", "·"]),
    ],
)
def test_bytes_are_read_together(ids: list[int], shown: list[str]) -> None:
    assert labels(TABLE, ids) == shown


def test_a_table_without_bytes() -> None:
    table = piece_table([*(f"p{n}" for n in range(60))], with_bytes=False)
    assert labels(table, [59, 3]) == ["p59", "p3"]
