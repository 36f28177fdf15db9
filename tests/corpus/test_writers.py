"""What is written is read back; what a format cannot hold becomes a space and is counted."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.contracts import SentencePair, UserError
from dragoman.corpus.formats import open_bitext
from dragoman.corpus.reading import Reading
from dragoman.corpus.records import is_blank, on_one_line
from dragoman.corpus.streams import file_at
from dragoman.corpus.tmx import read_tmx
from dragoman.corpus.writers import write_bitext

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0\t\ufeff"), min_size=1, max_size=20).filter(
    lambda text: not is_blank(text)
)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS).map(lambda sides: SentencePair(*sides)), min_size=1, max_size=6)
FORMATS = [["x.en", "x.zh"], ["x.en.gz", "x.zh.gz"], ["x.tsv"], ["x.tsv.gz"]]


@pytest.mark.parametrize("files", FORMATS)
@settings(max_examples=25, deadline=None)
@given(pairs=PAIRS)
def test_text_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, files: list[str], pairs: list[SentencePair]
) -> None:
    folder = tmp_path_factory.mktemp("written")
    report = write_bitext(pairs, [folder / file for file in files], "en", "zh")
    assert (report.pairs, report.replaced) == (len(pairs), {})
    read = open_bitext([str(folder / file) for file in files], "en", "zh")
    assert [(pair.source, pair.target) for pair in read] == [(pair.source, pair.target) for pair in pairs]


@pytest.mark.parametrize("file", ["x.tmx", "x.tmx.gz"])
@settings(max_examples=25, deadline=None)
@given(pairs=PAIRS)
def test_tmx_comes_back_but_for_spaces(
    tmp_path_factory: pytest.TempPathFactory, file: str, pairs: list[SentencePair]
) -> None:
    path = tmp_path_factory.mktemp("written") / file
    report = write_bitext(pairs, [path], "en-GB", "zh-Hant")
    read = [
        side
        for record in read_tmx(file_at(path), Reading("en-GB", "zh-Hant"))
        for side in (record.source, record.target)
    ]
    assert len(read) == 2 * len(pairs)
    if not report.replaced:
        assert read == [on_one_line(side) for pair in pairs for side in (pair.source, pair.target)]


def test_odd_white_space_stays_inside_its_line(tmp_path: Path) -> None:
    pairs = [SentencePair("a\u2028b\u0085c", "\x0bd\x0ce\x1cf")]
    for files in (["x.en", "x.zh"], ["x.tsv"]):
        paths = [str(tmp_path / file) for file in files]
        assert write_bitext(pairs, paths, "en", "zh").replaced == {}
        assert [(pair.source, pair.target) for pair in open_bitext(paths, "en", "zh")] == [
            (pairs[0].source, pairs[0].target)
        ]
    report = write_bitext(pairs, [tmp_path / "x.tmx"], "en", "zh")
    assert report.replaced == {"control character": 3}
    assert [record.source for record in read_tmx(file_at(tmp_path / "x.tmx"), Reading("en", "zh"))] == [
        "a\u2028b\u0085c"
    ]


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


@pytest.mark.parametrize("files", [[], ["x.txt"], ["x.en", "x.en"], ["x.en", "x.tsv"], ["x.en", "x.zh", "y"], ["x.po"]])
def test_other_names_are_refused(tmp_path: Path, files: list[str]) -> None:
    with pytest.raises(UserError, match="pairs are written to"):
        write_bitext([SentencePair("a", "b")], [tmp_path / file for file in files], "en", "zh")
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
