"""Tags inside a sentence: left out, with a space where words would else be glued, or kept as text."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.corpus.reading import InlineTags, Reading
from dragoman.corpus.streams import file_at
from dragoman.corpus.tmx import read_tmx
from dragoman.corpus.xliff import read_xliff

IN_TMX = [
    ('Click <bpt i="1">&lt;b&gt;</bpt>OK<ept i="1">&lt;/b&gt;</ept>.', "Click OK.", "Click <b>OK</b>."),
    ("Open <ph>%s</ph> now", "Open now", "Open %s now"),
    ('Open <ph x="1"/> now', "Open now", 'Open <ph x="1"/> now'),
    ('a<bpt i="2" x="3"/>b<ph/>c', "ab c", 'a<bpt i="2"/>b<ph/>c'),
    ("one<ph/>two <ph/>three<ph/>.", "one two three.", "one<ph/>two <ph/>three<ph/>."),
    ("one<ph/><ph>{0}</ph>2", "one 2", "one<ph/>{0}2"),
    ("H<ph>&lt;sub&gt;</ph>2<ph>&lt;/sub&gt;</ph>O", "H2O", "H<sub>2</sub>O"),
    ("打开<ph/>文件<ph/>abc", "打开文件abc", "打开<ph/>文件<ph/>abc"),
    ('<ph>&lt;img alt="<sub>a<ph x="1"/></sub>"/&gt;</ph>b', "b", '<img alt="a<ph x="1"/>"/>b'),
    ("a<ph>&lt;br/&gt;&lt;b&gt;</ph>b", "a b", "a<br/><b>b"),
    ('a <hi type="bold">marked</hi> word', "a marked word", "a marked word"),
    ('see<ut>x <sub>note<ph>y</ph></sub></ut> <it pos="begin">z</it>', "see", "seex notey z"),
    ("one<ph>&lt;br/&gt;</ph>two", "one two", "one<br/>two"),
    ("one<ph>\\n</ph>two", "one two", "one\\ntwo"),
    ('一<ph type="lb"/>二<ph type="lb">&lt;br&gt;</ph>三', "一 二 三", "一<ph/>二<br>三"),
]
IN_XLIFF = [
    ('Press <g id="1">OK</g><x id="2"/>.', "Press OK.", 'Press <g id="1">OK</g><x id="2"/>.'),
    ('a<bx id="1" rid="9"/>b<ex id="1"/>', "ab", 'a<bx id="1"/>b<ex id="1"/>'),
    ('a<bpt id="1">{\\b </bpt>b<ept id="1">}</ept>', "ab", "a{\\b b}"),
    ('a<ph id="1">%d</ph>b<ph id="2"/>', "a b", 'a%db<ph id="2"/>'),
    ('<pc id="1">a</pc><sc id="2"/>b<ec startRef="2"/>', "ab", '<pc id="1">a</pc><sc id="2"/>b<ec startRef="2"/>'),
    ('<mrk mtype="term" mid="3">term</mrk>s <mrk id="1" translate="no">mark</mrk>', "terms mark", "terms mark"),
    ('one<x id="1" ctype="lb"/>two<ph id="2" type="fmt" subType="xlf:lb"/>three', "one two three",
     'one<x id="1"/>two<ph id="2"/>three'),
    ('a<cp hex="000C"/>b<cp hex="1F600"/>', "a\x0cb\U0001f600", "a\x0cb\U0001f600"),
    ('<x id="&lt;&quot;"/>a', "a", "<x id='&lt;\"'/>a"),
    ('<ph id="1">a<sub>b<g id="2">c</g></sub></ph>d', "d", 'ab<g id="2">c</g>d'),
]  # fmt: skip
MODES: tuple[InlineTags, InlineTags] = ("strip", "keep")


@pytest.mark.parametrize(("segment", "stripped", "kept"), IN_TMX)
def test_tags_in_a_memory(tmp_path: Path, segment: str, stripped: str, kept: str) -> None:
    (tmp_path / "x.tmx").write_text(
        f'<tmx><body><tu><tuv xml:lang="en"><seg>{segment}</seg></tuv><tuv xml:lang="de"><seg>x</seg></tuv></tu></body>'
        "</tmx>"
    )
    sides = [
        record.source
        for mode in MODES
        for record in read_tmx(file_at(tmp_path / "x.tmx"), Reading("en", "de", inline_tags=mode))
    ]
    assert sides == [stripped, kept]


@pytest.mark.parametrize(("segment", "stripped", "kept"), IN_XLIFF)
def test_tags_in_a_file_for_translators(tmp_path: Path, segment: str, stripped: str, kept: str) -> None:
    (tmp_path / "x.xlf").write_text(
        f"<xliff><file source-language='de' target-language='en'><trans-unit><source>x</source><target>{segment}"
        "</target></trans-unit></file></xliff>"
    )
    sides = [
        record.target
        for mode in MODES
        for record in read_xliff(file_at(tmp_path / "x.xlf"), Reading("de", "en", inline_tags=mode))
    ]
    assert sides == [stripped, kept]


@pytest.mark.parametrize("code", ["0000", "D800", "110000", "x", ""])
def test_a_code_point_that_no_text_may_hold_is_a_fault(tmp_path: Path, code: str) -> None:
    (tmp_path / "x.xlf").write_text(
        f"<xliff><trans-unit><source>a<cp hex='{code}'/></source><target>b</target></trans-unit></xliff>"
    )
    records = read_xliff(file_at(tmp_path / "x.xlf"), Reading("en", "de"))
    assert [record.fault for record in records] == ["NUL"]
