"""XLIFF 1.x and 2.x: segments, states, languages, damage, flat memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from dragoman.contracts import Record, UserError
from dragoman.corpus import streams
from dragoman.corpus.formats import open_bitext
from dragoman.corpus.lines import OnBadLine
from dragoman.corpus.reading import InlineTags, Reading
from dragoman.corpus.streams import file_at
from dragoman.corpus.xliff import read_xliff, xliff_languages
from tests.corpus.small import file_of, told

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'


def one(inside: str, attributes: str = 'source-language="en" target-language="de"') -> str:
    """XLIFF 1.2; what is inside begins in line 3."""
    return (
        f'{DECLARATION}<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file {attributes}><body>\n'
        f"{inside}</body></file></xliff>\n"
    )


def two(inside: str, languages: str = 'srcLang="en" trgLang="de"') -> str:
    """XLIFF 2.0; what is inside begins in line 3."""
    return (
        f'{DECLARATION}<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" {languages}><file id="f">\n'
        f"{inside}</file></xliff>\n"
    )


def unit(source: str, target: str, attributes: str = "", state: str = "") -> str:
    return f"<trans-unit {attributes}><source>{source}</source><target{state}>{target}</target></trans-unit>\n"


def segment(source: str, target: str | None, attributes: str = "") -> str:
    translated = "" if target is None else f"<target>{target}</target>"
    return f"<segment {attributes}><source>{source}</source>{translated}</segment>\n"


def read(
    folder: Path,
    content: str | bytes,
    source: str = "en",
    target: str = "de",
    on_bad_line: OnBadLine = "stop",
    inline_tags: InlineTags = "strip",
) -> list[Record]:
    return list(read_xliff(file_of(folder, "x.xlf", content), Reading(source, target, on_bad_line, None, inline_tags)))


def faults(records: list[Record]) -> list[str]:
    return [record.fault for record in records]


def test_units_of_version_1(tmp_path: Path) -> None:
    candidates = "<alt-trans><source>Off</source><target>Aus</target></alt-trans><note>Menu</note>"
    content = one(
        unit("Open\n file", "Datei  öffnen") + unit("On", "An").replace("</trans-unit>", f"{candidates}</trans-unit>")
    )
    assert told(read(tmp_path, content)) == [("Open file", "Datei öffnen", 3, ""), ("On", "An", 5, "")]


def test_units_of_version_2(tmp_path: Path) -> None:
    content = two(
        '<unit id="1"><m:matches xmlns:m="urn:m"><m:match><source>x</source><target>y</target></m:match></m:matches>\n'
        + segment("One.", "Eins.", 'state="translated"')
        + "<ignorable><source> </source><target> </target></ignorable>\n"
        + segment("Two.", "Zwei.")
        + "</unit>"
    )
    assert told(read(tmp_path, content)) == [("One.", "Eins.", 4, ""), ("Two.", "Zwei.", 6, "")]


def test_segments_of_both_sides_are_pairs(tmp_path: Path) -> None:
    def cut(*texts: tuple[str, str]) -> str:
        return " ".join(f'<mrk mtype="seg" mid="{mid}">{text}</mrk>\n' for mid, text in texts)

    def cut_unit(source: str, target: str) -> str:
        return (
            f"<trans-unit><source>One. Two.</source><seg-source>{source}</seg-source><target>{target}</target>"
            "</trans-unit>\n"
        )

    source = cut(("1", 'O<mrk mtype="x-note">ne</mrk>.'), ("2", "Two."))
    content = one(
        cut_unit(f"<g id='9'>{source}</g>", cut(("2", "Zwei."), ("1", "Eins.")))
        + cut_unit(source, cut(("1", "Eins."), ("2", " ")))
        + cut_unit(source, cut(("1", "Eins und zwei.")))
        + cut_unit(source, cut(("3", "Eins und zwei.")))
        + cut_unit(source, "Eins und zwei.")
    )
    assert told(read(tmp_path, content)) == [
        ("One.", "Eins.", 3, ""),
        ("Two.", "Zwei.", 4, ""),
        ("One.", "Eins.", 8, ""),
        ("Two.", "", 9, "untranslated"),
        ("One. Two.", "Eins und zwei.", 13, "segments=1 of 2"),
        ("One. Two.", "Eins und zwei.", 17, ""),
        ("One. Two.", "Eins und zwei.", 21, ""),
    ]


def test_what_is_not_finished_is_a_fault(tmp_path: Path) -> None:
    unfinished = ["new", "needs-translation", "needs-adaptation", "needs-l10n", "needs-review-translation"]
    finished = ["translated", "signed-off", "final", "x-own"]
    content = one("".join(unit("a", "b", "", f' state="{state}"') for state in [*unfinished, *finished]))
    assert faults(read(tmp_path, content)) == [*(f"state={state}" for state in unfinished), *[""] * len(finished)]
    rest = one(
        unit("a", " ")
        + "<trans-unit><source>a</source></trans-unit>"
        + "<trans-unit><source>a</source><target/></trans-unit>"
        + unit("a", "", "", ' state="new"')
        + unit(" ", "b")
        + unit("a", "b", 'approved="no"')
    )
    assert faults(read(tmp_path, rest)) == ["untranslated"] * 4 + ["blank source", ""]
    second = two(
        '<unit id="1">'
        + segment("a", None)
        + segment("a", "b", 'state="initial"')
        + segment("a", None, 'state="initial"')
        + "".join(segment("a", "b", f'state="{state}"') for state in ("translated", "reviewed", "final"))
        + "</unit>"
    )
    assert faults(read(tmp_path, second)) == ["untranslated", "state=initial", "untranslated", "", "", ""]


def test_what_is_not_to_be_translated_is_a_fault(tmp_path: Path) -> None:
    plain, no, yes = (unit("a", "b", attribute) for attribute in ("", 'translate="no"', 'translate="yes"'))
    content = one(f'{no}<group translate="no">{plain}{yes}</group>{plain}')
    assert faults(read(tmp_path, content)) == ["translate=no", "translate=no", "", ""]
    second = two(f'<unit id="1" translate="no">{segment("a", "b")}</unit><unit id="2">{segment("a", "b")}</unit>')
    assert faults(read(tmp_path, second)) == ["translate=no", ""]


def test_languages(tmp_path: Path) -> None:
    content = one(unit("yes", "ja"), 'source-language="en-US" target-language="de_DE"')
    assert told(read(tmp_path, content))[0][:2] == ("yes", "ja")
    assert told(read(tmp_path, content, "de", "en"))[0][:2] == ("ja", "yes")
    assert faults(read(tmp_path, content, "en", "fr")) == ["language=de_DE"]
    assert faults(read(tmp_path, content, "fr", "de")) == ["language=en-US"]
    assert faults(read(tmp_path, content, "en-GB", "de")) == ["language=en-US"]
    assert xliff_languages(file_at(tmp_path / "x.xlf")) == {"en": 1, "de": 1}
    unsaid = one(unit("yes", "ja"), 'source-language="en"')
    assert told(read(tmp_path, unsaid, "fr", "en"))[0][:2] == ("ja", "yes")
    assert faults(read(tmp_path, unsaid, "fr", "de")) == ["language=en"]
    with pytest.raises(UserError, match="holds en: say --source and --target"):
        open_bitext([str(tmp_path / "x.xlf")])
    said_by_target = one(unit("yes", "ja", "", ' xml:lang="de"'), 'source-language="en"')
    assert faults(read(tmp_path, said_by_target, "en", "fr")) == ["language=de"]
    second = two(f"<unit>{segment('yes', '是')}</unit>", 'srcLang="en" trgLang="zh-CN"')
    assert told(read(tmp_path, second, "zh", "en"))[0][:2] == ("是", "yes")
    assert faults(read(tmp_path, second, "zh-Hant", "en")) == ["language=zh-CN"]
    bitext = open_bitext([str(tmp_path / "x.xlf")])
    assert (bitext.source_language, bitext.target_language) == ("en", "zh")


def test_every_file_element_has_its_languages(tmp_path: Path) -> None:
    files = "".join(
        f'<file source-language="en" target-language="{code}"><body>{unit("a", "b")}</body></file>\n'
        for code in ("de", "fr")
    )
    content = f'{DECLARATION}<xliff version="1.2">{files}</xliff>'
    assert faults(read(tmp_path, content)) == ["", "language=fr"]
    assert xliff_languages(file_at(tmp_path / "x.xlf")) == {"en": 2, "de": 1, "fr": 1}


@pytest.mark.parametrize("suffix", [".xlf", ".xliff", ".sdlxliff", ".mqxliff"])
def test_every_suffix_is_read(tmp_path: Path, suffix: str) -> None:
    content = one(
        '<x:own xmlns:x="urn:x"><x:source>no</x:source></x:own>'
        + unit("a", "b", 'id="7"').replace(
            "</trans-unit>", '<x:defs xmlns:x="urn:x"><x:target>c</x:target></x:defs></trans-unit>'
        )
    )
    (tmp_path / f"a{suffix}").write_text(content, encoding="utf-8")
    assert [(pair.source, pair.target) for pair in open_bitext([str(tmp_path / f"a{suffix}")])] == [("a", "b")]


def test_namespaces_with_prefixes(tmp_path: Path) -> None:
    content = (
        f'{DECLARATION}<l:xliff xmlns:l="urn:x"><l:file source-language="en" target-language="de"><l:body>'
        "<l:trans-unit><l:source>a</l:source><l:target>b</l:target></l:trans-unit></l:body></l:file></l:xliff>"
    )
    assert told(read(tmp_path, content)) == [("a", "b", 2, "")]


TRUNCATED = one(unit("One", "Eins") + "<trans-unit><source>Two</source><targ").partition("</body>")[0]


def test_truncated(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^x\.xlf:4: broken XML at column \d+: the file ends early$"):
        read(tmp_path, TRUNCATED)
    assert told(read(tmp_path, TRUNCATED, on_bad_line="skip")) == [("One", "Eins", 3, ""), ("", "", 4, "broken XML")]


def test_what_follows_broken_xml_is_counted(tmp_path: Path) -> None:
    good = f"<unit>{segment('One', 'Eins')}</unit>"
    content = two(good * 3 + good.replace("</target>", "</x>") + good * 5)
    with pytest.raises(UserError, match=r"^x\.xlf:6: broken XML at column \d+: mismatched tag$"):
        read(tmp_path, content)
    assert faults(read(tmp_path, content, on_bad_line="skip")) == [""] * 3 + ["broken XML"] * 6


def test_bad_bytes_are_named_or_skipped(tmp_path: Path) -> None:
    cases = [(b"\xff", "not UTF-8", "not UTF-8"), (b"\0", "NUL", "NUL"), (b"\7", "broken XML", "control character")]
    for bad, message, fault in cases:
        content = (
            one(unit("One", "Eins") * 3).encode().replace(b"Eins", b"Ei" + bad, 2).replace(b"Ei" + bad, b"Eins", 1)
        )
        with pytest.raises(UserError, match=rf"^x\.xlf:4: {message}"):
            read(tmp_path, content)
        assert faults(read(tmp_path, content, on_bad_line="skip")) == ["", fault, ""]


@pytest.mark.parametrize("mode", ["stop", "skip"])
def test_entities_are_refused(tmp_path: Path, mode: OnBadLine) -> None:
    for declaration in ('<!ENTITY x "y">', '<!ENTITY x SYSTEM "file:///dev/null">', '<!ENTITY % x SYSTEM "y"> %x;'):
        content = one(unit("&x;", "b")).replace("?>\n", f"?>\n<!DOCTYPE xliff [{declaration}]>", 1)
        with pytest.raises(UserError, match=r"^x\.xlf:2: refused: it declares the entity 'x'$"):
            read(tmp_path, content, on_bad_line=mode)


def test_other_roots_and_empty_files(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^x\.xlf:1: not an XLIFF file: its root element is <tmx>$"):
        read(tmp_path, "<tmx><body/></tmx>")
    with pytest.raises(UserError, match=r"^x\.xlf:1: broken XML at column 1: the file is empty$"):
        read(tmp_path, "")
    assert read(tmp_path, one("")) == []


def test_memory_is_flat_and_lines_stay_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "CHUNK", 1 << 14)
    lines, count = unit("word\n" * 20, "Wort\n" * 20), 3_000
    path = tmp_path / "large.xlf"
    path.write_text(one(f"<internal-file>{'x' * 500_000}</internal-file>" + lines * count), encoding="utf-8")
    tracemalloc.start()
    last = 0
    for number, record in enumerate(read_xliff(file_at(path), Reading("en", "de"))):
        last = record.origin.line
        assert last == 3 + number * lines.count("\n")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert last == 3 + (count - 1) * lines.count("\n")
    assert peak < 250_000 < len(lines) * count
