"""Which files a command's arguments stand for, and in which languages."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import polib
import pytest
import zstandard

from dragoman.contracts import SentencePair, UserError
from dragoman.corpus.compression import SUFFIXES as COMPRESSED
from dragoman.corpus.formats import BY_LINES, SUFFIXES, open_bitext
from dragoman.corpus.layouts import LAYOUTS
from dragoman.corpus.sources import CONTAINERS, bitext_files
from dragoman.corpus.writers import write_bitext

TMX = (
    '<tmx version="1.4"><header/><body><tu><tuv xml:lang="en-US"><seg>a</seg></tuv>'
    '<tuv xml:lang="zh-CN"><seg>b</seg></tuv></tu></body></tmx>'
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_container_has_a_reader() -> None:
    assert {*BY_LINES, *SUFFIXES} == set(CONTAINERS)


def make(**contents: str) -> None:
    for name, content in contents.items():
        path = Path(name.replace("__", "/").replace("_", "."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def stdin(monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))


def refusal(names: list[str], *languages: str) -> str:
    with pytest.raises(UserError) as caught:
        open_bitext(names, *languages)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_plain_files_pair_up_round_containers(folder: Path) -> None:
    make(a_en="a\n", a_zh="A\n", m_tmx=TMX, b_en="b\n", b_zh="B\n", t_tsv="t\tT\n")
    found = bitext_files(["a.en", "m.tmx", "a.zh", "t.tsv", "b.en", "b.zh"])
    assert [one.name for one in found] == ["m.tmx", "a.en a.zh", "t.tsv", "b.en b.zh"]
    bitext = open_bitext(["a.en", "m.tmx", "a.zh", "t.tsv", "b.en", "b.zh"])
    assert (bitext.source_language, bitext.target_language) == ("en", "zh")
    assert [pair.source for pair in bitext] == ["a", "a", "t", "b"]


def test_an_odd_one_is_refused_by_name(folder: Path) -> None:
    make(a_en="a\n", a_zh="A\n", b_en="b\n")
    assert refusal(["a.en", "a.zh", "b.en"]).startswith("b.en: a plain text file without its partner")
    assert refusal(["a.en", "none.zh"]) == "none.zh: no such file or folder"
    assert refusal([]) == "no files to read pairs from"


def test_the_wrong_order_is_refused_with_the_right_one(folder: Path) -> None:
    make(train_en="a\n", train_zh="A\n", a_txt="a\n")
    message = refusal(["train.en", "train.zh"], "zh", "en")
    assert message.startswith("train.en: given as the source, which is zh, but its name says en")
    assert message.endswith("the right order is train.zh train.en")
    assert refusal(["train.en", "train.zh"], "zh") == message
    assert "train.en: given as the target, which is zh" in refusal(["a.txt", "train.en"], "en", "zh")
    assert len(open_bitext(["train.en", "a.txt"], "en", "zh")) == 1
    assert open_bitext(["train.zh", "train.en"], "zh-CN").target_language == "en"
    assert len(open_bitext(["train.en", "train.zh"], "fr", "de")) == 1


def test_repeats(folder: Path) -> None:
    make(a_en="a\n\n", a_zh="A\n\n", t_tsv="t\tT\n", **{"odd*2_tsv": "o\tO\n"})
    bitext = open_bitext(["a.en*2", "a.zh*2", "t.tsv*3", "odd*2.tsv"])
    assert [pair.source for pair in bitext] == ["a", "a", "t", "t", "t", "o"]
    assert bitext.set_aside == {"blank pair": 2}
    assert refusal(["a.en*2", "a.zh"]) == "a.en is repeated 2 times and a.zh 1 times"
    assert refusal(["t.tsv*0"], "en", "zh") == "t.tsv*0: a repeat is 1 or more"


def test_folders(folder: Path) -> None:
    make(
        d__b_en="b\n",
        d__b_zh="B\n",
        d__b_de="x\n",
        d__b_en_txt="left out\n",
        d__sub__m_tmx=TMX,
        d__sub__lone_en="l\n",
        d__README_md="notes",
        d__sub__c_po='msgid "po"\nmsgstr "PO"\n',
        d__sub__c_mo="the same, compiled",
        **{"d__.hidden__t_tsv": "h\tH\n", "d__sub__mine.rejected_tsv": "r\tR\n"},
    )
    bitext = open_bitext(["d*2"], "en", "zh")
    assert [str(pair.origin) for pair in bitext][:3] == ["d/b.en:1", "d/b.en:1", "d/sub/c.po:1"]
    assert [pair.target for pair in bitext] == ["B", "B", "PO", "PO", "b", "b"]
    assert bitext.warnings == (
        "d/b.en.txt: left out, b.en stands for it",
        "d/sub/c.mo: left out, c.po beside it is taken for its source",
        "d/sub/mine.rejected.tsv: left out, pairs that were rejected are called so",
        "d/sub/lone.en: left out, there is no partner in zh",
    )
    assert "holds plain text files (b.de, b.en, b.zh): say --source and --target" in refusal(["d"])
    make(e__m_tmx=TMX)
    assert open_bitext(["e"]).target_language == "zh"
    make(f__x_txt="x")
    assert refusal(["f"], "en", "zh") == "f: no bitext in this folder for en and zh"


def test_every_container_is_found_in_a_folder_compressed_or_not(folder: Path) -> None:
    (folder / "d").mkdir()
    pairs = [SentencePair("a", "b")]
    for number, suffix in enumerate([*LAYOUTS, ".mo"]):
        write_bitext(pairs, [f"d/{number}{suffix}{('', *COMPRESSED)[number % 5]}"], "en", "zh")
    for suffix in (".sdlxliff", ".mqxliff.gz"):
        Path(f"d/x{suffix}").write_text(XLIFF)
    bitext = open_bitext(["d"], "en", "zh")
    assert len({pair.origin.file for pair in bitext}) == len(bitext) == len(CONTAINERS)
    assert bitext.warnings == ()


def test_a_compiled_catalogue_beside_its_source_is_left_out_compressed_or_not(folder: Path) -> None:
    catalogue = 'msgid "po"\nmsgstr "PO"\n'
    make(d__c_po=catalogue)
    for name in ("c.mo.gz", "c.mo.zst", "lone.mo.xz"):
        Path("d", name).write_bytes(b"would be compiled")
    (folder / "d" / "train.en.xz").write_bytes(lzma.compress(b"a\n"))
    (folder / "d" / "train.zh.txt.bz2").write_bytes(bz2.compress(b"A\n"))
    names = [one.name for one in bitext_files(["d"], "en", "zh")]
    assert names == ["d/c.po", "d/lone.mo.xz", "d/train.en.xz d/train.zh.txt.bz2"]


def test_of_two_regions_the_closest_code_is_taken_and_the_other_named(folder: Path) -> None:
    files = {"d__t_en-GB": "colour\n", "d__t_en-US": "color\n", "d__t_de": "Farbe\n"}
    make(**files)
    british = open_bitext(["d"], "en", "de")
    assert [pair.source for pair in british] == ["colour"]
    assert british.warnings == ("d/t.en-US: left out, t.en-GB stands for en",)
    american = open_bitext(["d"], "de", "en-US")
    assert [(pair.target, american.warnings) for pair in american] == [("color", ())]
    make(d__t_en="hue\n")
    plain = open_bitext(["d"], "en", "de")
    assert [pair.source for pair in plain] == ["hue"]
    assert len(plain.warnings) == 2


def test_languages_are_asked_for(folder: Path) -> None:
    make(t_tsv="t\tT\n", a_en="a\n", a_zh="A\n", a_fr="F\n", x_src="x\n", x_tgt="y\n")
    assert refusal(["t.tsv"]) == "the languages are not known: say --source and --target"
    assert refusal(["x.src", "x.tgt"]) == "the languages are not known: say --source and --target"
    assert refusal(["a.en", "a.zh", "a.en", "a.fr"]).startswith("several language pairs (en-zh, en-fr)")
    assert refusal(["a.en", "a.zh"], "fr") == "the files are in en and zh, not in fr: say --source and --target"
    assert refusal(["t.tsv"], "no language", "zh").startswith("'no language' is not a language code")
    make(m_tmx=TMX)
    turned = open_bitext(["m.tmx"], "zh")
    assert (turned.source_language, turned.target_language) == ("zh", "en")
    assert [pair.source for pair in turned] == ["b"]


XLIFF = (
    '<?xml version="1.0"?><!-- a > b --><xliff version="1.2"><file source-language="en" target-language="zh"><body>'
    "<trans-unit><source>a</source><target>b</target></trans-unit></body></file></xliff>"
)
CONTENTS = [
    *(
        "a\tb\n",
        TMX,
        XLIFF,
        "\ufeff" + TMX,
        'msgid "a"\nmsgstr "b"\n',
        '# note\n\nmsgctxt "c"\nmsgid "a"\nmsgstr "b"\n',
    ),
    *(
        '{"en": "a", "zh": "b"}\n',
        '{"source": "a", "target": "b"}\n{',
        "a ||| b\n",
        "en,zh\na,b\n",
        "key;src;tgt\n1;a;b\n",
    ),
]


@pytest.mark.parametrize("content", CONTENTS)
def test_standard_input_is_a_container(monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    stdin(monkeypatch, content)
    bitext = open_bitext(["-"], "en", "zh")
    assert [(pair.source, pair.target) for pair in bitext] == [("a", "b")]
    assert next(iter(bitext)).origin.file == "<stdin>"


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress, zstandard.compress])
def test_standard_input_may_be_compressed(monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(XLIFF.encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    assert [pair.target for pair in open_bitext(["-"], "en", "zh")] == ["b"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed[:-1])))
    assert "ends early" in refusal(["-"], "en", "zh")


def test_standard_input_with_named_columns_is_csv_or_json(monkeypatch: pytest.MonkeyPatch) -> None:
    for content in ("x\ty\na\tb\n", '{"x": "a", "y": "b"}\n'):
        stdin(monkeypatch, content)
        assert [pair.target for pair in open_bitext(["-"], "en", "zh", columns=("x", "y"))] == ["b"]


def test_what_is_not_sure_is_tsv(monkeypatch: pytest.MonkeyPatch) -> None:
    for first in ("one, two", "{count} files\t文件", "{", "", "a |||b"):
        stdin(monkeypatch, f"{first}\na\tb\n")
        assert [pair.target for pair in open_bitext(["-"], "en", "zh")][-1] == "b"


def test_a_compiled_catalogue_comes_through_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    catalogue = polib.POFile()
    catalogue.metadata = {"Content-Type": "text/plain; charset=UTF-8", "Language": "zh"}
    catalogue.append(polib.POEntry(msgid="a", msgstr="b"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(catalogue.to_binary())))
    assert [pair.target for pair in open_bitext(["-"])] == ["b"]


def test_standard_input_is_a_partner(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(a_zh="A\nB\n")
    stdin(monkeypatch, "a\nb\n")
    assert [pair.source for pair in open_bitext(["-", "a.zh"], "en", "zh")] == ["a", "b"]
    stdin(monkeypatch, "a\n\0\n")
    assert refusal(["-", "a.zh"], "en", "zh") == "<stdin>:2: NUL (byte 0x00 at position 0)"
    assert refusal(["-", "-"], "en", "zh") == "standard input (-) can be read only once"


def test_pipes_may_be_walked_again(folder: Path) -> None:
    make(a_zh="A\nB\n")
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_text("a\nb\n"))
    writer.start()
    bitext = open_bitext(["pipe", "a.zh"], "en", "zh")
    writer.join()
    assert [str(pair.origin) for pair in bitext] == [str(pair.origin) for pair in bitext] == ["pipe:1", "pipe:2"]
