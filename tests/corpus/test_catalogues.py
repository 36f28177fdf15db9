"""PO and MO: contexts, plurals, what is not finished, charsets, damage."""

from __future__ import annotations

import gzip
from pathlib import Path

import polib
import pytest

from dragoman.contracts import Record, UserError
from dragoman.corpus.catalogues import catalogue_languages, read_catalogue
from dragoman.corpus.formats import open_bitext
from dragoman.corpus.lines import OnBadLine
from dragoman.corpus.reading import Reading
from dragoman.corpus.streams import file_at
from tests.corpus.small import file_of

HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Language: de\\n"\n\n'
PLURALS_FUZZY = (
    HEADER
    + """msgctxt "menu"
msgid "Open"
msgstr "Öffnen"

msgctxt "state"
msgid "Open"
msgstr "Offen"

#, fuzzy
msgid "Save as"
msgstr "Sichern"

#, python-format
msgid "%(count)d file"
msgid_plural "%(count)d files"
msgstr[0] ""
msgstr[1] ""

msgid ""
"A long text "
"in two parts with \\"quotes\\" and\\na line break."
msgstr ""

#~ msgid "Obsolete"
#~ msgstr "Veraltet"
"""
)


def read(folder: Path, content: str | bytes, on_bad_line: OnBadLine = "stop", *languages: str) -> list[Record]:
    source, target = languages or ("en", "de")
    return list(read_catalogue(file_of(folder, "x.po", content), Reading(source, target, on_bad_line)))


def told(records: list[Record]) -> list[tuple[str, str, str]]:
    return [(record.source, record.target, record.fault) for record in records]


def test_finished_messages_only(tmp_path: Path) -> None:
    (tmp_path / "x.po").write_text(PLURALS_FUZZY)
    bitext = open_bitext([str(tmp_path / "x.po")])
    assert (bitext.source_language, bitext.target_language) == ("en", "de")
    assert [(pair.source, pair.target) for pair in bitext] == [("Open", "Öffnen"), ("Open", "Offen")]
    assert bitext.set_aside == {"untranslated": 3, "fuzzy": 1, "obsolete": 1}
    assert [pair.origin.line for pair in bitext] == [6, 10]


def test_texts_are_on_one_line(tmp_path: Path) -> None:
    records = read(tmp_path, PLURALS_FUZZY)
    assert records[-2].source == 'A long text in two parts with "quotes" and a line break.'
    content = HEADER + 'msgid "a\u2028b \\t c\u00a0"\nmsgstr "d\u0085e\x0c\\\\n"\n'
    assert told(read(tmp_path, content)) == [("a\u2028b c\u00a0", "d\u0085e\x0c\\n", "")]


def test_plural_forms(tmp_path: Path) -> None:
    forms = ["%d plik", "%d pliki", "%d plików"]
    strings = "".join(f'msgstr[{number}] "{form}"\n' for number, form in enumerate(forms))
    polish = HEADER.replace("de", "pl") + 'msgid "%d file"\nmsgid_plural "%d files"\n' + strings
    assert told(read(tmp_path, polish, "stop", "en", "pl")) == [
        ("%d file", "%d plik", ""),
        ("%d files", "%d plików", ""),
    ]
    chinese = polish.split("msgstr[1]")[0].replace("Language: pl", "Language: zh_CN")
    assert [record.target for record in read(tmp_path, chinese, "stop", "en", "zh")] == ["%d plik"] * 2
    half = polish.replace('%d plik"', '"')
    assert [record.fault for record in read(tmp_path, half, "stop", "en", "pl")] == ["untranslated", ""]


def test_languages(tmp_path: Path) -> None:
    content = HEADER + 'msgid "yes"\nmsgstr "ja"\n'
    assert told(read(tmp_path, content, "stop", "de", "en")) == [("ja", "yes", "")]
    assert told(read(tmp_path, content, "stop", "en", "de-AT")) == [("yes", "ja", "")]
    assert [record.fault for record in read(tmp_path, content, "stop", "en", "fr")] == ["language=de"]
    traditional = content.replace("Language: de", "Language: zh_TW")
    assert [record.fault for record in read(tmp_path, traditional, "stop", "en", "zh")] == ["language=zh_TW"]
    heard: list[str] = []
    (tmp_path / "x.po").write_text(content)
    assert [
        record.source for record in read_catalogue(file_at(tmp_path / "x.po"), Reading("fr", "de"), heard.append)
    ] == ["yes"]
    assert heard == [f"{tmp_path}/x.po: its messages are taken for fr; the header has no X-Source-Language"]
    stated = content.replace('"Language', '"X-Source-Language: en\\n"\n"Language')
    assert [record.fault for record in read(tmp_path, stated, "stop", "fr", "de")] == ["language=en"]
    assert told(read(tmp_path, stated, "stop", "en", "de")) == [("yes", "ja", "")]
    unknown = content.replace('"Language: de\\n"\n', "")
    assert told(read(tmp_path, unknown, "stop", "en", "fr")) == [("yes", "ja", "")]
    assert told(read(tmp_path, unknown, "stop", "de", "en")) == [("ja", "yes", "")]
    with pytest.raises(UserError, match="say --source and --target"):
        open_bitext([str(tmp_path / "x.po")])
    folder = tmp_path / "zh_CN" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "x.po").write_text(unknown)
    assert catalogue_languages(file_at(folder / "x.po")) == ("en", "zh")


def test_zope_defaults_are_the_text(tmp_path: Path) -> None:
    entries = """
#. Shown above the form.
#. Default: "Save the \\"form\\""
#: somewhere
msgid "label_save"
msgstr "Sichern"

#. Default: "One "
#. "<b>two</b>"
msgid "front-text"
msgstr "Eins zwei"

#. Default: "10"
msgid "How many rows"
msgstr "Wie viele Zeilen"
"""
    sources = ['Save the "form"', "One <b>two</b>", "How many rows"]
    assert [record.source for record in read(tmp_path, HEADER + entries)] == sources


def test_charsets(tmp_path: Path) -> None:
    content = HEADER.replace("UTF-8", "ISO-8859-1") + 'msgid "oil"\nmsgstr "Öl"\n'
    assert told(read(tmp_path, content.encode("latin-1"))) == [("oil", "Öl", "")]
    assert told(read(tmp_path, gzip.compress(b"\xef\xbb\xbf" + PLURALS_FUZZY.encode())))[0] == ("Open", "Öffnen", "")
    windows = PLURALS_FUZZY.replace("\n", "\r\n")
    assert told(read(tmp_path, windows)) == told(read(tmp_path, PLURALS_FUZZY))
    with pytest.raises(UserError, match=r"^x\.po: unknown charset 'klingon'"):
        read(tmp_path, HEADER.replace("UTF-8", "klingon"))
    with pytest.raises(UserError, match=r"^x\.po:7: not gb18030 \(byte 0xff\)$"):
        read(tmp_path, HEADER.replace("UTF-8", "gb18030").encode() + b'msgid "oil"\nmsgstr "\xff\xff"\n')


def test_damage_is_named_or_skipped(tmp_path: Path) -> None:
    for bad, fault in ((b"\xff", "not UTF-8"), (b"\0", "NUL")):
        content = HEADER.encode() + b'msgid "a"\nmsgstr "b%s"\n\nmsgid "c"\nmsgstr "d"\n' % bad
        with pytest.raises(UserError, match=rf"^x\.po:7: {fault} \(byte .* at position 9\)$"):
            read(tmp_path, content)
        assert [record.fault for record in read(tmp_path, content, "skip")] == [fault, ""]
    cut = HEADER + 'msgid "a"\nmsgstr "b"\n\nmsgid "c"\nmsgstr "cut of'
    with pytest.raises(UserError, match=r"^x\.po:10: not in PO format: a string without its closing quote$"):
        read(tmp_path, cut)
    assert [record.fault for record in read(tmp_path, cut, "skip")] == ["", "truncated"]
    with pytest.raises(UserError, match=r"^x\.po:2: not in PO format$"):
        read(tmp_path, 'msgid "a"\nrubbish\n', "skip")
    with pytest.raises(UserError, match=r"^x\.po:1: not in PO format: unescaped double quote found$"):
        read(tmp_path, 'msgid "a" "b"\nmsgstr "c"\n')


def test_mo(tmp_path: Path) -> None:
    catalogue = polib.pofile(PLURALS_FUZZY)
    entry = polib.POEntry(msgid="%d file", msgid_plural="%d files", msgstr_plural={0: "%d Datei", 1: "%d Dateien"})
    catalogue.append(entry)
    path = tmp_path / "x.mo"
    catalogue.save_as_mofile(str(path))
    pairs = {("Open", "Öffnen"), ("Open", "Offen"), ("%d file", "%d Datei"), ("%d files", "%d Dateien")}
    bitext = open_bitext([str(path)])
    assert {(pair.source, pair.target) for pair in bitext} == pairs
    assert (bitext.source_language, bitext.target_language) == ("en", "de")
    (tmp_path / "x.mo.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert open_bitext([str(tmp_path / "x.mo.gz")]).fingerprint == bitext.fingerprint
    for size in (0, 3, 20, 200):
        path.write_bytes(path.read_bytes()[:size])
        with pytest.raises(UserError, match=r"x\.mo: not in MO format, or cut short$"):
            list(read_catalogue(file_at(path), Reading("en", "de")))


def test_an_mo_that_was_cut_anywhere_is_refused(tmp_path: Path) -> None:
    catalogue = polib.POFile()
    catalogue.metadata = {"Content-Type": "text/plain; charset=UTF-8"}
    for number in range(3):
        catalogue.append(polib.POEntry(msgid=f"word {number}", msgstr=f"Wort {number}"))
    whole = catalogue.to_binary()
    (tmp_path / "x.mo").write_bytes(whole)
    assert len(list(read_catalogue(file_at(tmp_path / "x.mo"), Reading("en", "de")))) == 3
    for length in range(1, len(whole)):
        (tmp_path / "x.mo").write_bytes(whole[:length])
        with pytest.raises(UserError, match="not in MO format, or cut short"):
            list(read_catalogue(file_at(tmp_path / "x.mo"), Reading("en", "de")))
