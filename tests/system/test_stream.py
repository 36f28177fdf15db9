"""Do as many lines come out as go in, in order, whatever the lines are?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.contracts import Ability, Flag, Hypothesis, Request, SearchOptions, Translation, UserError
from dragoman.corpus.lines import Line
from dragoman.system import stream
from dragoman.system.stream import check_options, kinds_with, translate_lines


@dataclass(frozen=True)
class Upper:
    """Answers in capitals and remembers how it was asked."""

    abilities: frozenset[Ability] = frozenset()
    calls: list[list[Request]] = field(default_factory=list)
    kind: str = "upper"
    source_language: str = "en"
    target_language: str = "en"

    def translate(
        self, requests: Sequence[str | Request], options: SearchOptions = SearchOptions()
    ) -> list[Translation]:
        asked = [request for request in requests if isinstance(request, Request)]
        assert len(asked) == len(requests)
        self.calls.append(asked)
        flags = (Flag.COPY,)
        return [
            Translation(r.text, (), (Hypothesis(r.prefix + r.text.upper(), flags=flags if r.text == "x" else ()),))
            for r in asked
        ]


def lines_of(*texts: str) -> list[Line]:
    return [Line(text, number) for number, text in enumerate(texts, start=1)]


@given(st.lists(st.sampled_from(["", " ", "\t\u2028", "a", "b c", "x"]), max_size=30), st.integers(1, 7))
def test_every_line_has_its_place(texts: list[str], window: int) -> None:
    results = list(translate_lines(Upper(), lines_of(*texts), window=window))
    assert [result.line.number for result in results] == list(range(1, len(texts) + 1))
    assert [result.text for result in results] == [text.upper() if text.strip() else text for text in texts]
    assert [result.flags for result in results] == [(Flag.COPY,) if text == "x" else () for text in texts]


def test_blank_lines_and_faults_never_reach_the_model() -> None:
    system = Upper()
    lines = [Line("a", 1), Line("", 2), Line(" ", 3), Line("", 4, "not UTF-8"), Line("b", 5)]
    results = list(translate_lines(system, lines, window=10))
    assert [[request.text for request in call] for call in system.calls] == [["a", "b"]]
    assert [result.text for result in results] == ["A", "", " ", "", "B"]
    assert [result.translation is None for result in results] == [False, True, True, True, False]
    assert results[3].line.fault == "not UTF-8"


def test_nothing_in_nothing_out() -> None:
    system = Upper()
    assert list(translate_lines(system, [], window=3)) == []
    assert system.calls == []


def test_windows_bound_what_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    system = Upper()
    list(translate_lines(system, lines_of("a", "b", "c", "d", "e"), window=2))
    assert [len(call) for call in system.calls] == [2, 2, 1]
    monkeypatch.setattr(stream, "WINDOW_CHARACTERS", 5)
    long = Upper()
    list(translate_lines(long, lines_of("aaaa", "bbbb", "c", "dddddd", "e"), window=100))
    assert [len(call) for call in long.calls] == [2, 2, 1]


def test_at_a_terminal_each_line_is_answered_before_the_next_is_read() -> None:
    seen: list[str] = []

    def typed() -> Iterator[Line]:
        for line in lines_of("first", "second"):
            seen.append(f"read {line.text}")
            yield line

    for result in translate_lines(Upper(), typed(), window=1):
        seen.append(result.text)
    assert seen == ["read first", "FIRST", "read second", "SECOND"]


def test_endless_input_is_answered_as_it_comes() -> None:
    def endless() -> Iterator[Line]:
        number = 0
        while True:
            number += 1
            yield Line("a", number)

    results = translate_lines(Upper(), endless(), window=4)
    assert [next(results).line.number for _ in range(10)] == list(range(1, 11))


def test_lines_before_a_broken_one_are_translated_first() -> None:
    def broken() -> Iterator[Line]:
        yield from lines_of("a", "b", "c")
        raise UserError("in.txt:4: not UTF-8 (byte 0xff at position 0)")

    results = translate_lines(Upper(), broken(), window=2)
    assert [next(results).text for _ in range(3)] == ["A", "B", "C"]
    with pytest.raises(UserError, match="not UTF-8"):
        next(results)


def test_a_prefix_goes_with_every_request() -> None:
    system = Upper(abilities=frozenset({Ability.PREFIX}))
    assert [r.text for r in translate_lines(system, lines_of("a", "", "b"), window=9, prefix="> ")] == [
        "> A",
        "",
        "> B",
    ]


def test_what_the_kind_lacks_is_refused_before_a_line_is_read() -> None:
    def unread() -> Iterator[Line]:
        raise AssertionError("a line was read")
        yield

    with pytest.raises(UserError) as refused:
        next(translate_lines(Upper(), unread(), SearchOptions(n_best=3), window=1))
    assert (
        str(refused.value)
        == "kind 'upper' cannot search with a beam (n_best); kinds that can: transformer, rnn, rnn-fixed"
    )
    with pytest.raises(UserError, match=r"cannot begin with a given text \(prefix\); kinds that can: transformer"):
        next(translate_lines(Upper(), unread(), window=1, prefix="x"))


def test_kinds_are_found_by_what_they_can() -> None:
    assert "transformer" in kinds_with(Ability.SAMPLE)
    assert "dictionary" in kinds_with(Ability.LINKS)
    assert "dictionary" not in kinds_with(Ability.BEAM)
    check_options(Upper(abilities=frozenset({Ability.BEAM})), SearchOptions(beam=2, n_best=2))
