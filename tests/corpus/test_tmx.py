"""TMX: languages, inline tags, damage, entities, flat memory."""

from __future__ import annotations

import gzip
import itertools
import resource
import tracemalloc
from pathlib import Path

import pytest

from dragoman.contracts import Record, UserError
from dragoman.corpus import streams
from dragoman.corpus.formats import open_bitext
from dragoman.corpus.lines import OnBadLine
from dragoman.corpus.reading import Reading
from dragoman.corpus.streams import file_at
from dragoman.corpus.tmx import read_tmx, tmx_languages
from tests.corpus.small import file_of, told

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4"><header srclang="en"/><body>\n'
FOOT = "</body></tmx>\n"


def unit(*variants: tuple[str, str]) -> str:
    inside = "".join(f'<tuv xml:lang="{code}"><seg>{text}</seg></tuv>' for code, text in variants)
    return f"<tu>{inside}</tu>\n"


def read(
    folder: Path, content: str | bytes, source: str = "en", target: str = "de", on_bad_line: OnBadLine = "stop"
) -> list[Record]:
    return list(read_tmx(file_of(folder, "m.tmx", content), Reading(source, target, on_bad_line)))


VARIANTS = (
    HEAD
    + unit(("en-GB", "Colour"), ("de-DE", "Farbe"))
    + unit(("en-GB", "Colour"), ("fr-FR", "Couleur"))
    + unit(("en", "Save"), ("zh-Hans", "保存"), ("zh-Hant", "儲存"))
    + unit(("en", "Open"), ("zh_CN", "打开"))
    + '<tu><tuv xml:lang="EN"><seg>Close</seg></tuv><tuv lang="ZH-cn"><seg>关闭</seg></tuv></tu>\n'
    + unit(("en", "Print"), ("de", "Drucken"), ("de", "Ausdrucken"))
    + FOOT
)


def test_language_variants(tmp_path: Path) -> None:
    (tmp_path / "v.tmx").write_text(VARIANTS)
    german = open_bitext([str(tmp_path / "v.tmx")], "en", "de")
    assert [(pair.source, pair.target) for pair in german] == [("Colour", "Farbe"), ("Print", "Drucken")]
    assert german.summary() == "2 of 6 pairs kept: 4 missing de"
    assert german.details()[0].startswith(f"missing de: {tmp_path}/v.tmx:4, ")
    assert german.warnings == (f"{tmp_path}/v.tmx:8: 2 variants in de, the first one is taken",)
    chinese = open_bitext([str(tmp_path / "v.tmx")], "en", "zh")
    assert [pair.target for pair in chinese] == ["保存", "打开", "关闭"]
    assert chinese.set_aside == {"missing zh": 3}
    traditional = open_bitext([str(tmp_path / "v.tmx")], "en", "zh-Hant")
    assert [(pair.source, pair.target) for pair in traditional] == [("Save", "儲存")]
    turned = open_bitext([str(tmp_path / "v.tmx")], "zh", "en")
    assert [pair.source for pair in turned] == ["保存", "打开", "关闭"]


def test_the_closest_variant_is_taken(tmp_path: Path) -> None:
    content = HEAD + unit(("en", "Color"), ("en-GB", "Colour"), ("de", "Farbe")) + FOOT
    assert [record.source for record in read(tmp_path, content, "en-GB")] == ["Colour"]
    assert [record.source for record in read(tmp_path, content, "en")] == ["Color"]
    assert told(read(tmp_path, content, "en", "en-GB")) == [("Color", "Colour", 3, "")]
    only = HEAD + unit(("en-GB", "Colour"), ("de", "Farbe")) + FOOT
    assert read(tmp_path, only, "en", "en-GB")[0].fault == "missing en-GB"


def test_languages_are_found(tmp_path: Path) -> None:
    (tmp_path / "v.tmx").write_text(VARIANTS)
    assert tmx_languages(file_at(tmp_path / "v.tmx")) == {"en": 6, "de": 3, "fr": 1, "zh": 3, "zh-Hant": 1}


def test_a_segment_is_one_line(tmp_path: Path) -> None:
    content = HEAD + unit(("en", "first\n\tsecond"), ("de", " erste&#13;&#10;zweite\u00a0! ")) + FOOT
    assert told(read(tmp_path, content)) == [("first second", "erste zweite\u00a0!", 3, "")]


@pytest.mark.parametrize(
    ("segment", "text"),
    [
        ('Click <bpt i="1">&lt;b&gt;</bpt>OK<ept i="1">&lt;/b&gt;</ept>.', "Click OK."),
        ("Open <ph>%s</ph> now", "Open now"),
        ("a <hi>marked</hi> word", "a marked word"),
        ('see<ut>x <sub>footnote</sub></ut> <it pos="begin">y</it>there', "see there"),
        ("one<ph>&lt;br/&gt;</ph>two", "one two"),
        ('one<ph type="lb"/>two', "one two"),
        ("<!-- note -->a<?pi x?> &lt;b&gt; &amp;amp; <![CDATA[<c>]]>", "a <b> &amp; <c>"),
        ("U+2028 \u2028 and U+0085 \u0085 stay", "U+2028 \u2028 and U+0085 \u0085 stay"),
    ],
)
def test_inline_tags_are_stripped(tmp_path: Path, segment: str, text: str) -> None:
    assert [record.source for record in read(tmp_path, HEAD + unit(("en", segment), ("de", "x")) + FOOT)] == [text]


def test_namespace_and_doctype(tmp_path: Path) -> None:
    content = (
        '<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'
        '<t:tmx xmlns:t="http://www.lisa.org/tmx14" version="1.4"><t:body><t:tu><t:tuv xml:lang="en"><t:seg>a</t:seg>'
        '</t:tuv><t:tuv xml:lang="de"><t:seg>b</t:seg></t:tuv></t:tu></t:body></t:tmx>'
    )
    assert told(read(tmp_path, content)) == [("a", "b", 3, "")]


def test_an_unknown_entity_is_a_bad_record(tmp_path: Path) -> None:
    content = HEAD.replace("<tmx", '<!DOCTYPE tmx SYSTEM "tmx14.dtd"><tmx') + unit(("en", "a&nbsp;b"), ("de", "c"))
    assert [record.fault for record in read(tmp_path, content + unit(("en", "d"), ("de", "e")) + FOOT)] == [
        "entity",
        "",
    ]
    with pytest.raises(UserError, match=r"^m.tmx:3: broken XML at column 30: undefined entity$"):
        read(tmp_path, HEAD + unit(("en", "a&nbsp;b"), ("de", "c")) + FOOT)


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "gb18030", "latin-1"]
)
def test_encodings(tmp_path: Path, encoding: str) -> None:
    word = "Öl" if encoding == "latin-1" else "油"
    content = (HEAD + unit(("en", "oil"), ("de", word)) + FOOT).replace("UTF-8", encoding.removesuffix("-sig"))
    assert told(read(tmp_path, content.encode(encoding))) == [("oil", word, 3, "")]
    assert told(read(tmp_path, gzip.compress(content.encode(encoding)))) == [("oil", word, 3, "")]


@pytest.mark.parametrize("mode", ["stop", "skip"])
def test_entity_bomb_is_refused_at_once(tmp_path: Path, mode: OnBadLine) -> None:
    names = "abcdefghijklmnop"
    bomb = "".join(f'<!ENTITY {name} "{f"&{inner};" * 10}">' for inner, name in itertools.pairwise(names))
    content = (
        f'<?xml version="1.0"?>\n<!DOCTYPE tmx [<!ENTITY a "aaaaaaaaaa">{bomb}]>\n'
        f'<tmx version="1.4"><header srclang="en"/><body>{unit(("en", "&p;"), ("de", "x"))}</body></tmx>'
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UserError, match=r"^m\.tmx:2: refused: it declares the entity 'a'$"):
        read(tmp_path, content, on_bad_line=mode)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


@pytest.mark.parametrize("declaration", ['<!ENTITY x SYSTEM "{}">', '<!ENTITY % x SYSTEM "{}"> %x;'])
def test_external_entity_is_refused(tmp_path: Path, declaration: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    content = (
        f'<?xml version="1.0"?>\n<!DOCTYPE tmx [{declaration.format(secret.as_uri())}]>\n'
        f"<tmx><body>{unit(('en', '&x;'), ('de', 'y'))}</body></tmx>"
    )
    with pytest.raises(UserError, match=r"^m\.tmx:2: refused"):
        read(tmp_path, content)


TRUNCATED = HEAD + unit(("en", "One"), ("de", "Eins")) + '<tu><tuv xml:lang="en"><seg>Two</se'


def test_truncated(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^m\.tmx:4: broken XML at column 32: "):
        read(tmp_path, TRUNCATED)
    assert told(read(tmp_path, TRUNCATED, on_bad_line="skip")) == [("One", "Eins", 3, ""), ("", "", 4, "broken XML")]


def test_cut_inside_a_character(tmp_path: Path) -> None:
    content = (HEAD + unit(("en", "One"), ("de", "Ä"))).encode()
    with pytest.raises(UserError, match=r"^m\.tmx:3: not UTF-8 .*: cut short inside a character\)$"):
        read(tmp_path, content[: content.rindex("Ä".encode()) + 1])


def test_what_follows_broken_xml_is_counted(tmp_path: Path) -> None:
    good = unit(("en", "One"), ("de", "Eins"))
    content = HEAD + good * 3 + good.replace("</seg>", "</x>") + good * 5 + FOOT
    faults = [record.fault for record in read(tmp_path, content, on_bad_line="skip")]
    assert faults == [""] * 3 + ["broken XML"] * 6
    assert [record.origin.line for record in read(tmp_path, content, on_bad_line="skip")] == list(range(3, 12))


def test_bad_bytes_are_named_or_skipped(tmp_path: Path) -> None:
    good = unit(("en", "One"), ("de", "Eins")).encode()
    cases = [(b"\xff", "not UTF-8", "not UTF-8"), (b"\0", "NUL", "NUL"), (b"\7", "broken XML", "control character")]
    for bad, message, fault in cases:
        content = HEAD.encode() + good + good.replace(b"Eins", b"Ei" + bad) + good + FOOT.encode()
        with pytest.raises(UserError, match=rf"^m\.tmx:4: {message}"):
            read(tmp_path, content)
        assert [record.fault for record in read(tmp_path, content, on_bad_line="skip")] == ["", fault, ""]
    with pytest.raises(UserError, match=r"^m\.tmx:3: not gb18030$"):
        read(tmp_path, HEAD.replace("UTF-8", "gb18030").encode() + b"\xff\xff")


def test_truncated_gzip(tmp_path: Path) -> None:
    units = [unit(("en", f"One {number * 7919 % 1009}"), ("de", f"Eins {number * 104729}")) for number in range(3000)]
    packed = gzip.compress((HEAD + "".join(units) + FOOT).encode())[:-3000]
    with pytest.raises(UserError, match=r"^m\.tmx:\d+: gzip data ends early$"):
        read(tmp_path, packed)
    records = read(tmp_path, packed, on_bad_line="skip")
    assert 0 < len(records) < 3000
    assert {record.fault for record in records[:-1]} == {""}
    assert records[-1].fault in ("", "broken XML")


def test_blank_sides_and_other_roots(tmp_path: Path) -> None:
    content = HEAD + unit(("en", " "), ("de", "x")) + unit(("en", "x"), ("de", "\u3000")) + "<tu></tu>" + FOOT
    assert [record.fault for record in read(tmp_path, content)] == ["blank source", "blank target", "missing en"]
    with pytest.raises(UserError, match=r"^m\.tmx:1: not a TMX file: its root element is <html>$"):
        read(tmp_path, "<html><body/></html>")


def test_memory_is_flat_and_lines_stay_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "CHUNK", 1 << 14)
    path = tmp_path / "large.tmx.gz"
    lines = unit(("en", "word\n" * 20), ("de", "Wort\n" * 20))
    count, height = 3_000, lines.count("\n")
    with gzip.open(path, "wt", compresslevel=1) as out:
        out.write(HEAD + lines * count + FOOT)
    tracemalloc.start()
    last = 0
    for number, record in enumerate(read_tmx(file_at(path), Reading("en", "de"))):
        last = record.origin.line
        assert last == 3 + number * height
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert last == 3 + (count - 1) * height > 65_536
    assert peak < 250_000 < len(lines) * count


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "1: broken XML at column 1: the file is empty"),
        ("<tmx><body>\n<tu><tuv", "2: broken XML at column 5: the file ends early"),
        ("<tmx><body>\n<tu></tuv>", "2: broken XML at column 7: mismatched tag"),
    ],
)
def test_broken_xml_says_how(tmp_path: Path, content: str, why: str) -> None:
    (tmp_path / "m.tmx").write_text(content, encoding="utf-8")
    with pytest.raises(UserError) as error:
        read(tmp_path, content)
    assert str(error.value) == f"m.tmx:{why}"
