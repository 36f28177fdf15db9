"""What do all vocabularies have in common?

Every vocabulary begins with the same ids: padding 0, unknown 1, start 2, end 3, then 42 pieces
reserved for later releases (32 protected items, 2 cases, 8 tags). Subwords go on with the 256
bytes; what was learnt comes last. A space is written as U+2581 inside a piece, so U+2581 itself,
where a text has it, is spelt by two other signs on the way in and restored on the way out.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import regex

from dragoman.contracts import PieceTable

PADDING: Final = 0
UNKNOWN: Final = 1
START: Final = 2
END: Final = 3
SPECIAL: Final = ("<pad>", "<unk>", "<s>", "</s>")
RESERVED: Final = (
    *(f"<protected_{index:02}>" for index in range(32)),
    "<case_upper>",
    "<case_title>",
    *(f"<tag_{index}>" for index in range(8)),
)
RESERVED_IDS: Final = tuple(range(len(SPECIAL), len(SPECIAL) + len(RESERVED)))
TAG_IDS: Final = RESERVED_IDS[-8:]
BACK_TRANSLATED: Final = TAG_IDS[0]  # begins a source that a model wrote; no text is ever cut into it
LINE_END: Final = TAG_IDS[1]  # of running text; no line is ever cut into it
FIRST_FREE: Final = len(SPECIAL) + len(RESERVED)
BYTE_IDS: Final = tuple(range(FIRST_FREE, FIRST_FREE + 256))
BYTE_PIECES: Final = tuple(f"<0x{byte:02X}>" for byte in range(256))

SPACE: Final = "\u2581"
_ESCAPE: Final = "\U0010fffd"  # the last private-use sign
_ESCAPED: Final = {_ESCAPE + "0": _ESCAPE, _ESCAPE + "1": SPACE}
ESCAPED_PATTERN: Final = f"{_ESCAPE}[01]"
_ESCAPED_SIGN = regex.compile(ESCAPED_PATTERN)


def escape(text: str) -> str:
    """The text without U+2581, so that this sign can stand for a space; `unescape` undoes it."""
    if _ESCAPE in text:
        text = text.replace(_ESCAPE, _ESCAPE + "0")
    return text.replace(SPACE, _ESCAPE + "1")


def unescape(text: str) -> str:
    """`unescape(escape(text)) == text`; an escape sign that stands alone is left as it is."""
    if _ESCAPE not in text:
        return text
    return _ESCAPED_SIGN.sub(lambda match: _ESCAPED[match[0]], text)


def piece_table(pieces: Sequence[str], with_bytes: bool) -> PieceTable:
    """The table of a whole list of pieces that begins with the ids above."""
    return PieceTable(
        pieces=tuple(pieces),
        padding=PADDING,
        unknown=UNKNOWN,
        start=START,
        end=END,
        reserved=RESERVED_IDS,
        byte_ids=BYTE_IDS if with_bytes else (),
    )


def labels(table: PieceTable, ids: Sequence[int]) -> list[str]:
    """What stands for each piece in a picture: bytes are read together, the first of a character being that character
    and the others a middle dot; bytes that spell none keep their names."""
    names, first = [unescape(table.pieces[index]) for index in ids], table.byte_ids[0] if table.byte_ids else 0
    known = set(table.byte_ids)
    place = 0
    while place < len(ids):
        spelling = b""
        for length, index in enumerate(ids[place : place + 4], start=1):
            if index not in known:
                break
            spelling += bytes([index - first])
            with suppress(UnicodeDecodeError):
                names[place : place + length] = [spelling.decode(), *["·"] * (length - 1)]
                place += length - 1
                break
        place += 1
    return names
