from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from dragoman.contracts import PieceTable, Sampling
from dragoman.search.beam import beam_search
from dragoman.search.constraints import (
    NEEDED,
    READY,
    REFUSED,
    START,
    STATES,
    OutputRules,
    forced_pieces,
    utf8_automaton,
)
from dragoman.search.sample import sample_search
from tests.search.toy import END, PADDING, START_ID, UNKNOWN, ToyScorer, batch, piece_table

NOT_OURS = {0x00, 0x0A, 0x0D, 0xFFFD}


def text_of(table: PieceTable, pieces: tuple[int, ...]) -> str:
    """Strict decoding: raises where a character is not whole."""
    first = table.byte_ids[0] if table.byte_ids else len(table)
    parts = [bytes([piece - first]) if piece >= first else table.pieces[piece].encode() for piece in pieces]
    return b"".join(parts).decode("utf-8", errors="strict").replace("▁", " ")


@pytest.mark.parametrize(
    ("length", "codes"),
    [
        (1, range(0x80)),
        (2, range(0x80, 0x800)),
        (3, [*range(0x800, 0xD800), *range(0xE000, 0x10000)]),
        (4, range(0x10000, 0x110000)),
    ],
)
def test_every_character_and_nothing_else(length: int, codes: range | list[int]) -> None:
    """Python's codec is the truth: each scalar value is accepted, and the automaton's number of accepted
    byte strings of this length is theirs, so no other is."""
    automaton = utf8_automaton()
    ours = [code for code in codes if code not in NOT_OURS]
    encoded = np.frombuffer("".join(map(chr, ours)).encode("utf-8"), dtype=np.uint8).reshape(len(ours), length)
    state = np.full(len(ours), READY, dtype=np.int64)
    for place in range(length):
        state = automaton[state, encoded[:, place]].astype(np.int64)
        assert (state != REFUSED).all()
        assert ((state == READY) == (place == length - 1)).all()
    ways = np.zeros(STATES, dtype=np.int64)
    ways[READY] = 1
    for place in range(length):
        following = np.zeros(STATES, dtype=np.int64)
        for before in range(STATES):
            for after in automaton[before][automaton[before] != REFUSED]:
                following[after] += ways[before]
        if place < length - 1:
            following[READY] = 0  # a shorter character
        ways = following
    assert ways[READY] == len(ours)


def test_needed_is_the_shortest_way_out() -> None:
    automaton = utf8_automaton()
    for state in range(STATES):
        distance, waiting = {state: 0}, deque([state])
        while waiting:
            before = waiting.popleft()
            for after in set(automaton[before].tolist()) - {REFUSED} - set(distance):
                distance[after] = distance[before] + 1
                waiting.append(after)
        assert NEEDED[state] == distance[READY]


@pytest.mark.parametrize("cap", [2, 3, 4, 5, 6, 9])
def test_bytes_come_out_as_whole_characters_at_any_limit(cap: int) -> None:
    table = piece_table("▁", "a", "字", byte_pieces=True)
    rules = OutputRules(table)
    for seed in range(4):
        scorer = ToyScorer(table, seed, sharpness=2.0, never=())
        sources_BS = batch([4], [5, 6], [7])
        found = beam_search(scorer, sources_BS, beam=6, max_lengths_B=[cap] * 3, rules=rules)
        found += sample_search(
            scorer,
            sources_BS,
            count=40,
            sampling=Sampling(temperature=1.5),
            max_lengths_B=[cap] * 3,
            keys_B=[0, 1, 2],
            rules=rules,
        )
        for candidates in found:
            assert candidates
            for candidate in candidates:
                text = text_of(table, candidate.pieces)
                assert text.strip()
                assert not {*text} & {chr(code) for code in NOT_OURS}
                assert len(candidate.pieces) < cap
                assert not {PADDING, UNKNOWN, START_ID, END} & {*candidate.pieces}


def test_a_character_is_not_begun_without_room() -> None:
    table = piece_table("a", byte_pieces=True)
    rules = OutputRules(table)
    lead = {1: table.byte_ids[0x41], 2: table.byte_ids[0xC3], 3: table.byte_ids[0xE4], 4: table.byte_ids[0xF0]}
    for room in range(1, 8):
        for length, piece in lead.items():
            assert (rules.penalties_V(READY, room)[piece] == 0) == (length + 1 <= room)
        assert rules.penalties_V(READY, room)[END] == 0
        assert rules.penalties_V(START, room)[END] == -np.inf
    middle = rules.after(READY, [table.byte_ids[0xE4]])
    assert rules.penalties_V(middle, 9)[END] == -np.inf
    assert rules.penalties_V(middle, 9)[4] == -np.inf


def test_what_no_search_may_say() -> None:
    table = PieceTable(
        ("<pad>", "<unk>", "<s>", "</s>", "[KEEP]", "a", "▁", "two\nlines", "\r", "x\0", "�", "\u2028"),
        0,
        1,
        2,
        3,
        reserved=(4,),
    )
    rules = OutputRules(table)
    assert np.flatnonzero(rules.penalties_V(READY, 9) == 0).tolist() == [3, 5, 6, 11]
    assert np.flatnonzero(rules.penalties_V(START, 9) == 0).tolist() == [5, 6, 11]
    assert np.flatnonzero(rules.penalties_V(START, 2) == 0).tolist() == [5]  # the last chance to say something
    assert rules.after(START, [6, 6]) == START
    assert rules.after(START, [6, 5, 6]) == READY
    assert rules.after(START, [1]) == READY


def test_white_space_is_blank_as_a_piece_but_not_when_spelt_by_bytes() -> None:
    """What the text of the module owns up to; a translator then flags the output as empty."""
    table = piece_table("\u3000", " ", byte_pieces=True)
    rules = OutputRules(table)
    assert rules.after(START, [table.pieces.index("\u3000"), table.pieces.index(" "), table.byte_ids[0x20]]) == START
    assert rules.after(START, [table.byte_ids[byte] for byte in "\u3000".encode()]) == READY


def test_a_prefix_that_stops_within_a_character_is_completed() -> None:
    table = piece_table("a", byte_pieces=True)
    scorer = ToyScorer(table, seed=3, never=())
    prefix = [table.byte_ids[0xF0], table.byte_ids[0x9F]]
    found = beam_search(scorer, batch([4]), beam=3, max_lengths_B=[2], prefixes=[prefix], rules=OutputRules(table))
    for candidate in found[0]:
        assert list(candidate.pieces[:2]) == prefix
        assert len(text_of(table, candidate.pieces)) == 1


def test_forced_pieces_raise_the_limit_only_where_needed() -> None:
    rules = OutputRules(piece_table("a", "▁"))
    forced_BT, caps_B = forced_pieces([[4, 4, 4], [5], []], [2, 2, 6], rules, END)
    assert caps_B.tolist() == [4, 3, 6]
    assert forced_BT.tolist() == [[4, 4, 4, END, -1, -1], [5, -1, END, -1, -1, -1], [-1, -1, -1, -1, -1, END]]
