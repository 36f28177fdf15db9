"""Which pieces may be said next, whatever the model thinks of them?

Everything here is plain numpy. An output is a text that can be written to a line: no padding,
unknown, start or reserved piece, no line end, NUL or U+FFFD, every character whole, and at least
one piece before the end that is not blank. (White space beyond ASCII that is spelt by bytes, such as
U+00A0, is not seen to be blank: an output of that alone may end.) Byte pieces are followed by an
automaton over UTF-8 (Unicode 15, table 3-7), which knows at each state how many bytes are missing; a
character is not begun when the length limit leaves no room for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from dragoman.contracts import PieceTable

Array = np.ndarray[Any, Any]

READY, START, ONE, TWO, THREE, AFTER_E0, AFTER_ED, AFTER_F0, AFTER_F4, AFTER_EF, AFTER_EF_BF = range(11)
STATES = 11
NEEDED: tuple[int, ...] = (0, 1, 1, 2, 3, 2, 2, 3, 3, 2, 1)  # pieces that must come before the end may
ROOMS = 5  # a room of 5 pieces, the end among them, is enough for anything that may be begun
REFUSED = -1
UNWRITABLE = "\n\r\0\ufffd"

_LEAD = {0xE0: AFTER_E0, 0xED: AFTER_ED, 0xEF: AFTER_EF, 0xF0: AFTER_F0, 0xF4: AFTER_F4}
_CONTINUATION = {  # state: (first byte, last byte, next state)
    ONE: (0x80, 0xBF, READY),
    TWO: (0x80, 0xBF, ONE),
    THREE: (0x80, 0xBF, TWO),
    AFTER_E0: (0xA0, 0xBF, ONE),
    AFTER_ED: (0x80, 0x9F, ONE),
    AFTER_F0: (0x90, 0xBF, TWO),
    AFTER_F4: (0x80, 0x8F, TWO),
    AFTER_EF: (0x80, 0xBF, ONE),
    AFTER_EF_BF: (0x80, 0xBF, READY),
}


def _after_byte(state: int, byte: int) -> int:
    """The state after one more byte, or REFUSED."""
    if state in _CONTINUATION:
        first, last, following = _CONTINUATION[state]
        if not first <= byte <= last or (state == AFTER_EF_BF and byte == 0xBD):
            return REFUSED
        return AFTER_EF_BF if state == AFTER_EF and byte == 0xBF else following
    if byte < 0x80:
        return REFUSED if chr(byte) in UNWRITABLE else _after_text(state, chr(byte))
    if byte in _LEAD:
        return _LEAD[byte]
    if 0xC2 <= byte <= 0xDF:
        return ONE
    if 0xE1 <= byte <= 0xEF:
        return TWO
    return THREE if 0xF1 <= byte <= 0xF3 else REFUSED


def _after_text(state: int, text: str) -> int:
    """The state after a piece of text: a blank one leaves a blank output blank."""
    if state not in (READY, START) or any(sign in text for sign in UNWRITABLE):
        return REFUSED
    return START if state == START and not text.replace("▁", " ").strip() else READY


@cache
def utf8_automaton() -> Array:
    """next_QB: the state after each byte from each state, REFUSED where none; int8, 11 x 256.

    >>> int(utf8_automaton()[READY, 0xC3]) == ONE, int(utf8_automaton()[READY, 0xC0]) == REFUSED
    (True, True)
    """
    return np.array([[_after_byte(state, byte) for byte in range(256)] for state in range(STATES)], dtype=np.int8)


@dataclass(frozen=True)
class OutputRules:
    """What a search may put out from these pieces; a hypothesis is in one of 11 states, START at first.

    The tables are made when first asked for and kept.
    """

    pieces: PieceTable

    @cached_property
    def next_QV(self) -> Array:
        """The state after each piece from each state, REFUSED where the piece is forbidden; int8."""
        table = self.pieces
        text = np.array([[_after_text(state, piece) for piece in table.pieces] for state in (READY, START)], np.int8)
        next_QV = np.full((STATES, len(table)), REFUSED, dtype=np.int8)
        next_QV[[READY, START]] = text
        if table.byte_ids:
            next_QV[:, list(table.byte_ids)] = utf8_automaton()
        next_QV[:, [table.padding, table.unknown, table.start, *table.reserved]] = REFUSED
        next_QV[:, table.end] = REFUSED
        next_QV[READY, table.end] = READY
        return next_QV

    @cached_property
    def penalties_QRV(self) -> Array:
        """0 for a piece that is allowed, else -inf, by state and room; float32. Room r (index r - 1) is
        the number of pieces that may still be said, the end among them; the last row is for more, too."""
        room_R = np.arange(1, ROOMS + 1)
        needed_QV = np.array([*NEEDED, ROOMS])[self.next_QV]  # REFUSED picks the last one: needs more than there is
        allowed_QRV = needed_QV[:, None, :] <= room_R[None, :, None] - 2
        allowed_QRV[:, :, self.pieces.end] = (self.next_QV[:, self.pieces.end] != REFUSED)[:, None]
        return np.where(allowed_QRV, np.float32(0), np.float32(-np.inf)).astype(np.float32)

    def penalties_V(self, state: int, room: int) -> Array:
        """0 or -inf for each piece, as `penalties_QRV`, for any room of at least 1."""
        penalties: Array = self.penalties_QRV[state, min(room, ROOMS) - 1]
        return penalties

    def after(self, state: int, pieces: Sequence[int]) -> int:
        """The state after these pieces; a piece that is forbidden but was forced ends in READY."""
        for piece in pieces:
            state = max(int(self.next_QV[state, piece]), READY)
        return state

    def allow(self, pieces: Sequence[int], forced: int = 0) -> bool:
        """May a search put these pieces out and then end? The first `forced` ones were not its choice."""
        state = self.after(START, pieces[:forced])
        for piece in pieces[forced:]:
            state = int(self.next_QV[state, piece])
            if state == REFUSED:
                return False
        return bool(self.next_QV[state, self.pieces.end] != REFUSED)

    @cached_property
    def forbidden(self) -> tuple[int, ...]:
        """The pieces that may never be said, the end piece apart."""
        return tuple(np.flatnonzero((self.next_QV == REFUSED).all(axis=0)).tolist())


def forced_pieces(
    prefixes: Sequence[Sequence[int]] | None, max_lengths_B: Sequence[int], rules: OutputRules | None, end: int
) -> tuple[Array, Array]:
    """forced_BT: the piece that must be said at each time (the prefix, then nothing, the end piece at the
    limit), -1 where the choice is free; caps_B: the limits, raised where a prefix leaves no room.

    >>> forced, caps = forced_pieces([[7], []], [3, 2], None, end=1)
    >>> forced.tolist(), caps.tolist()
    ([[7, -1, 1], [-1, 1, -1]], [3, 2])
    """
    begun = list(prefixes) if prefixes is not None else [()] * len(max_lengths_B)
    needed = [NEEDED[rules.after(START, prefix)] if rules else 0 for prefix in begun]
    limits = zip(max_lengths_B, begun, needed, strict=True)
    caps_B = np.array([max(cap, len(prefix) + need + 1) for cap, prefix, need in limits], dtype=np.int64)
    forced_BT = np.full((len(caps_B), int(caps_B.max(initial=1))), -1, dtype=np.int64)
    for row, prefix in enumerate(begun):
        forced_BT[row, : len(prefix)] = prefix
        forced_BT[row, caps_B[row] - 1] = end
    return forced_BT, caps_B
