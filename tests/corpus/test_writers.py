"""What is written is read back; what a format cannot hold becomes a space and is counted."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from collections.abc import Iterable
from gettext import GNUTranslations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.contracts import SentencePair, UserError
from dragoman.corpus.compression import SUFFIXES
from dragoman.corpus.formats import open_bitext
from dragoman.corpus.layouts import LAYOUTS
from dragoman.corpus.lines import writing
from dragoman.corpus.records import is_blank, on_one_line
from dragoman.corpus.writers import write_bitext

NOT_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\U000ffffe\U000fffff\U0010fffe\U0010ffff]")
# Signs that mean something to one of the formats come often.
SIGNS = st.sampled_from(" |,;\"'\\<>&{}%~#\u2028\u0085\u3000\u00a0\x0b\x0c\x1c\x7fäé你\U0001f600")
TEXTS = st.text(
    SIGNS | st.characters(codec="utf-8", exclude_characters="\n\r\0\t\ufeff"), min_size=1, max_size=20
).filter(lambda text: not is_blank(text) and "|||" not in text)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS).map(lambda sides: SentencePair(*sides)), min_size=1, max_size=6)
PACKED = st.sampled_from(["", *SUFFIXES])
CATALOGUES, MARKUP = [".po", ".mo"], [".tmx", ".xlf", ".xliff"]


def sides_of(pairs: Iterable[SentencePair]) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for pair in pairs]


def on_lines(pairs: Iterable[SentencePair]) -> list[tuple[str, str]]:
    """What comes back from a format in which white space runs are one space."""
    return [(on_one_line(pair.source), on_one_line(pair.target)) for pair in pairs]


@pytest.mark.parametrize("files", [["x.en", "x.zh"], ["x.tsv"], ["x.csv"], ["x.jsonl"], ["x.ndjson"], ["x.pharaoh"]])
@settings(max_examples=20)
@given(pairs=PAIRS, packed=PACKED)
def test_text_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, files: list[str], pairs: list[SentencePair], packed: str
) -> None:
    folder = tmp_path_factory.mktemp("written")
    names = [str(folder / f"{file}{packed}") for file in files]
    report = write_bitext(pairs, names, "en", "zh")
    assert (report.pairs, report.replaced) == (len(pairs), {})
    assert sides_of(open_bitext(names, "en", "zh")) == sides_of(pairs)


@pytest.mark.parametrize("suffix", [*MARKUP, *CATALOGUES])
@settings(max_examples=20)
@given(pairs=PAIRS, packed=PACKED)
def test_text_comes_back_but_for_spaces(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, pairs: list[SentencePair], packed: str
) -> None:
    name = str(tmp_path_factory.mktemp("written") / f"x{suffix}{packed}")
    report = write_bitext(pairs, [name], "en-GB", "zh-Hant")
    assert report.pairs + report.left_out == len(pairs)
    fitting = [SentencePair(NOT_XML.sub(" ", pair.source), NOT_XML.sub(" ", pair.target)) for pair in pairs]
    expected = [sides for sides in on_lines(fitting) if not any(map(is_blank, sides))]
    assert report.left_out == 0 or len(expected) <= report.pairs
    if not expected:
        return
    read = sides_of(open_bitext([name], "en-GB", "zh-Hant"))
    assert sorted(read) == sorted(expected)
    if suffix != ".mo":
        assert read == expected
    assert bool(report.replaced) == (fitting != pairs)


@pytest.mark.parametrize("suffix", [*LAYOUTS, ".mo"])
@pytest.mark.parametrize("packed", ["", ".gz", ".xz", ".bz2", ".zst"])
def test_equal_pairs_make_equal_files_whose_languages_are_told(tmp_path: Path, suffix: str, packed: str) -> None:
    pairs = [SentencePair("一", 'One, "1"'), SentencePair("二", "Two"), SentencePair("一", "A")]
    names = [str(tmp_path / f"{name}{suffix}{packed}") for name in "ab"]
    for name in names:
        write_bitext(pairs, [name], "zh", "en")
    assert Path(names[0]).read_bytes() == Path(names[1]).read_bytes()
    told = () if suffix in (".tsv", ".pharaoh") else ("zh", "en")
    bitext = open_bitext(names[:1], *(() if told else ("zh", "en")))
    assert (bitext.source_language, bitext.target_language) == ("zh", "en")
    assert sorted(sides_of(bitext)) == sorted(sides_of(pairs))
    turned = open_bitext(names[:1], "en", "zh")
    assert sorted(sides_of(turned)) == sorted(
        (target, source) if told else (source, target) for source, target in sides_of(pairs)
    )


def test_odd_white_space_stays_inside_its_line(tmp_path: Path) -> None:
    pairs = [SentencePair("a\u2028b\u0085c", "\x0bd\x0ce\x1cf")]
    for suffix in (".tsv", ".csv", ".jsonl", ".pharaoh"):
        path = str(tmp_path / f"x{suffix}")
        assert write_bitext(pairs, [path], "en", "zh").replaced == {}
        assert sides_of(open_bitext([path], "en", "zh")) == sides_of(pairs)
    for suffix in (*MARKUP, *CATALOGUES):
        path = str(tmp_path / f"x{suffix}")
        assert write_bitext(pairs, [path], "en", "zh").replaced == {"control character": 3}
        assert sides_of(open_bitext([path], "en", "zh")) == [("a\u2028b\u0085c", "d e f")]


def test_a_folder_goes_with_the_file_for_which_it_was_made(tmp_path: Path) -> None:
    def stopped(name: str) -> None:
        with writing(tmp_path / "a" / name / "x.tsv") as out:
            out.write("half")
            raise KeyboardInterrupt

    (tmp_path / "a" / "c").mkdir(parents=True)
    for name in ("b", "c"):
        with pytest.raises(KeyboardInterrupt):
            stopped(name)
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "c"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
def test_a_full_disk_is_told_of_the_file_that_it_holds(tmp_path: Path, packed: str) -> None:
    names = [str(tmp_path / f"x.{language}{packed}") for language in ("en", "zh")]
    pairs = [SentencePair(f"{number} {number**9}", "x") for number in range(20_000)]
    for full in names:
        Path(full).symlink_to("/dev/full")
        with pytest.raises(UserError, match=f"^{re.escape(full)}: cannot be written: no space left on device"):
            write_bitext(pairs, names, "en", "zh")
        Path(full).unlink()
        assert list(tmp_path.iterdir()) == []


def test_what_does_not_fit_becomes_a_space(tmp_path: Path) -> None:
    pairs = [SentencePair("a\tb\t", "c\r\nd\ne"), SentencePair("f\0\ud800g", "h")]
    report = write_bitext(pairs, [tmp_path / "x.tsv"], "en", "zh")
    assert (tmp_path / "x.tsv").read_text() == "a b \tc d e\nf  g\th\n"
    assert report.replaced == {"tab": 2, "line end": 2, "control character": 2}
    assert report.summary().endswith("2 pairs written to " + str(tmp_path / "x.tsv") + "; made spaces: "
                                     "2 tabs, 2 line ends, 2 control characters")  # fmt: skip
    write_bitext(pairs, [tmp_path / "x.en", tmp_path / "x.zh"], "en", "zh")
    assert (tmp_path / "x.en").read_text() == "a\tb\t\nf  g\n"


def test_tmx_is_well_formed(tmp_path: Path) -> None:
    write_bitext([SentencePair("<b> & {0} ]]>", 'x "y"')], [tmp_path / "x.tmx.gz"], "en", "zh")
    content = gzip.decompress((tmp_path / "x.tmx.gz").read_bytes()).decode()
    assert content.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n<header ')
    assert 'srclang="en"' in content
    assert "<seg>&lt;b&gt; &amp; {0} ]]&gt;</seg>" in content
    bitext = open_bitext([str(tmp_path / "x.tmx.gz")])
    assert [(pair.source, pair.target) for pair in bitext] == [("<b> & {0} ]]>", 'x "y"')]
    assert (bitext.source_language, bitext.target_language) == ("en", "zh")


def test_each_format_in_full(tmp_path: Path) -> None:
    pairs = [SentencePair('say "a",\\b', "<你> & 好"), SentencePair("c d", " e;")]
    written: dict[str, str] = {}
    for suffix in LAYOUTS:
        write_bitext(pairs, [tmp_path / f"x{suffix}"], "en", "zh")
        written[suffix] = (tmp_path / f"x{suffix}").read_bytes().decode()
    assert written[".csv"] == 'en,zh\n"say ""a"",\\b",<你> & 好\nc d," e;"\n'
    assert written[".jsonl"] == '{"en": "say \\"a\\",\\\\b", "zh": "<你> & 好"}\n{"en": "c d", "zh": " e;"}\n'
    assert written[".ndjson"] == written[".jsonl"]
    assert written[".pharaoh"] == 'say "a",\\b ||| <你> & 好\nc d |||  e;\n'
    assert written[".po"].endswith(
        '"Language: zh\\n"\n"MIME-Version: 1.0\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
        '"Content-Transfer-Encoding: 8bit\\n"\n"X-Source-Language: en\\n"\n\n'
        'msgid "say \\"a\\",\\\\b"\nmsgstr "<你> & 好"\n\nmsgid "c d"\nmsgstr " e;"\n'
    )
    root = ElementTree.fromstring(written[".xlf"])
    unit = root[0][0][1]
    assert (root[0].get("source-language"), root[0].get("target-language"), unit.get("id")) == ("en", "zh", "2")
    assert [element.text for element in root[0][0][0]] == [pairs[0].source, pairs[0].target]
    root = ElementTree.fromstring(written[".xliff"])
    unit = root[0][1]
    assert (root.get("srcLang"), root.get("trgLang"), unit.get("id")) == ("en", "zh", "2")
    assert unit[0].get("state") == "translated"
    assert [element.text for element in root[0][0][0]] == [pairs[0].source, pairs[0].target]


def test_bars_and_line_ends_that_do_not_fit(tmp_path: Path) -> None:
    pairs = [SentencePair("a|||b||||", "c\nd"), SentencePair("||", "|")]
    assert write_bitext(pairs, [tmp_path / "x.pharaoh"], "en", "zh").replaced == {"line end": 1, "triple bar": 2}
    assert (tmp_path / "x.pharaoh").read_text() == "a b | ||| c d\n|| ||| |\n"
    for suffix in (".csv", ".jsonl", ".tmx", ".xlf"):
        assert write_bitext(pairs, [tmp_path / f"x{suffix}"], "en", "zh").replaced == {}
        assert sides_of(open_bitext([str(tmp_path / f"x{suffix}")], "en", "zh"))[0] == ("a|||b||||", "c d")
    for suffix in CATALOGUES:
        assert write_bitext(pairs, [tmp_path / f"x{suffix}"], "en", "zh").replaced == {"line end": 1}


REPEATED = [
    *(SentencePair("Open", "Öffnen"), SentencePair("Close", "Schließen"), SentencePair("Open", "Offen")),
    *(SentencePair("Open", "Offen"), SentencePair("a\tb", "100 % von %d"), SentencePair("\\n", '"\\"')),
]


def test_a_message_that_comes_again_has_a_context(tmp_path: Path) -> None:
    write_bitext(REPEATED, [tmp_path / "x.po"], "en", "de")
    written = (tmp_path / "x.po").read_text(encoding="utf-8")
    assert 'msgctxt "3"\nmsgid "Open"\nmsgstr "Offen"\n\nmsgctxt "4"\nmsgid "Open"\n' in written
    assert written.count("msgctxt") == 2
    for suffix in CATALOGUES:
        write_bitext(REPEATED, [tmp_path / f"x{suffix}"], "en", "de")
        assert sorted(sides_of(open_bitext([str(tmp_path / f"x{suffix}")]))) == sorted(on_lines(REPEATED))


@pytest.mark.skipif(shutil.which("msgfmt") is None, reason="gettext is not installed")
def test_catalogues_are_clean_to_gettext(tmp_path: Path) -> None:
    write_bitext(REPEATED, [tmp_path / "x.po"], "en", "de")
    compiled = tmp_path / "theirs.mo"
    run = subprocess.run(["msgfmt", "--check", "-o", compiled, tmp_path / "x.po"], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    write_bitext(REPEATED, [tmp_path / "x.mo"], "en", "de")
    ours, theirs = (read_translations(path) for path in (tmp_path / "x.mo", compiled))
    assert ours == theirs


def read_translations(path: Path) -> dict[object, str]:
    """What Python's gettext finds in a compiled catalogue."""
    with path.open("rb") as file:
        catalogue: dict[object, str] = vars(GNUTranslations(file))["_catalog"]
    return catalogue


def test_compiled_catalogues_serve_programs(tmp_path: Path) -> None:
    write_bitext(REPEATED, [tmp_path / "x.mo"], "en", "de")
    with (tmp_path / "x.mo").open("rb") as file:
        translations = GNUTranslations(file)
    assert (translations.gettext("Open"), translations.pgettext("3", "Open")) == ("Öffnen", "Offen")
    assert translations.info()["language"] == "de"


@pytest.mark.parametrize(
    "files", [[], ["x.txt"], ["x.en", "x.en"], ["x.en", "x.tsv"], ["x.en", "x.zh", "y"], ["x.sdlxliff"]]
)
def test_other_names_are_refused(tmp_path: Path, files: list[str]) -> None:
    with pytest.raises(UserError, match="pairs are written to"):
        write_bitext([SentencePair("a", "b")], [tmp_path / file for file in files], "en", "zh")
    assert list(tmp_path.iterdir()) == []


def test_text_files_called_after_the_other_language_are_refused(tmp_path: Path) -> None:
    files = [tmp_path / "x.de", tmp_path / "x.en"]
    with pytest.raises(UserError, match=r"x\.de: given as the source, which is en, but its name says de"):
        write_bitext([], files, "en", "de")
    assert list(tmp_path.iterdir()) == []


def test_an_error_under_way_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "in.tsv").write_bytes(b"a\tb\nc\t\xff\n")

    def pairs() -> list[SentencePair]:
        raise UserError("half way")

    with pytest.raises(UserError, match="half way"):
        write_bitext((pair for pair in pairs()), [tmp_path / "x.en", tmp_path / "x.zh"], "en", "zh")
    assert [path.name for path in tmp_path.iterdir()] == ["in.tsv"]


def test_standard_output_is_tsv(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    report = write_bitext([SentencePair("ä", "b")], ["-"], "en", "zh")
    assert capfdbinary.readouterr().out == "ä\tb\n".encode()
    assert report.summary() == "1 pair written to <stdout>"
