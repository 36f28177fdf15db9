"""Do convert and split read and write what they are given, and refuse what they must?"""

from __future__ import annotations

import gzip
import lzma
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest

from tests.cli.conftest import Command


def write(name: str, content: str | bytes) -> str:
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    return name


def read(name: str) -> str:
    return Path(name).read_bytes().decode()


FORMATS = ["b.tsv", "b.csv", "b.jsonl", "b.ndjson", "b.pharaoh", "b.tmx", "b.xlf", "b.xliff", "b.po", "b.mo"]


def test_two_files_become_every_format_and_come_back(dragoman: Command) -> None:
    write("a.en", 'Tea & <b>milk</b>\nTwo  spaces, "quoted"\n')
    write("a.zh", "茶和<b>牛奶</b>\n两个  空格，“引号”\n")
    for out, suffix in zip(FORMATS, cycle((".gz", ".xz", ".bz2", ".zst")), strict=False):
        for packed in ("", suffix):
            assert dragoman("corpus", "convert", "a.en", "a.zh", "--out", out + packed).code == 0
            given = ["--source", "en", "--target", "zh"] if out in ("b.tsv", "b.pharaoh") else []
            run = dragoman("corpus", "convert", out + packed, *given, "--out", "c.en", "c.zh.xz")
            assert (run.code, "read: en-zh, 2 of 2 pairs kept" in run.err) == (0, True)
            spaced = out in ("b.tsv", "b.csv", "b.jsonl", "b.ndjson", "b.pharaoh")
            wanted = [read(name) if spaced else read(name).replace("  ", " ") for name in ("a.en", "a.zh")]
            assert [read("c.en"), lzma.decompress(Path("c.zh.xz").read_bytes()).decode()] == wanted
    assert gzip.decompress(Path("b.tsv.gz").read_bytes()).decode() == read("b.tsv")


def test_a_split_far_from_what_was_asked_for_is_told(dragoman: Command) -> None:
    write("x.tsv", "".join(f"You have {number} letters\tDu hast {number} Briefe\n" for number in range(2_000)))
    write("y.tsv", "".join(f"{'ab' * (number % 40)}c{'d' * (number // 40)}\tSatz\n" for number in range(2_000)))
    for name, far in (("x.tsv", True), ("y.tsv", False)):
        run = dragoman("corpus", "split", name, "--source", "en", "--target", "de", "--out", "parts", "--dev", "100")
        assert ("not about 100: pairs whose sources differ in digits" in run.err) == far, run


def test_columns_and_keys_can_be_named(dragoman: Command) -> None:
    languages = ("--source", "en", "--target", "zh")
    write("x.csv", 'key;"English, final";Chinese\n1;Hello;你好\n')
    write("x.jsonl", '{"English, final": "Bye", "Chinese": "再见"}\n')
    named = ("--columns", '"English, final",Chinese')
    assert dragoman("corpus", "convert", "x.csv", "x.jsonl", *languages, *named, "--out", "y.tsv").code == 0
    assert read("y.tsv") == "Hello\t你好\nBye\t再见\n"
    run = dragoman("corpus", "convert", "x.csv", *languages, "--out", "y.tsv")
    assert "x.csv:1: no column for en among key, English, final, Chinese; name two of them" in run.error_line
    run = dragoman("corpus", "convert", "y.tsv", *languages, *named, "--out", "z.tsv")
    assert "y.tsv: no columns to choose English, final and Chinese from" in run.error_line
    for wrong in ("English", "a,b,c", "a,", ""):
        run = dragoman("corpus", "split", "x.csv", *languages, "--columns", wrong, "--out", "z")
        assert f"--columns {wrong}: two names with a comma between" in run.error_line
    run = dragoman("corpus", "split", "x.csv", *languages, "--columns", "key,key", "--out", "z")
    assert run.error_line == "--columns key,key: source and target are the same column; name two"


def test_other_commands_say_how_to_convert(dragoman: Command) -> None:
    write("x.csv", "English,German\nHello,Hallo\n")
    run = dragoman("train", "dictionary", "--train", "x.csv", "--source", "en", "--target", "de", "--out", "m")
    assert "dragoman corpus convert --columns SOURCE_NAME,TARGET_NAME" in run.error_line


def test_inline_tags_are_stripped_or_kept(dragoman: Command) -> None:
    write(
        "x.xlf",
        '<xliff><file source-language="en" target-language="de"><trans-unit><source>Press <x id="1"/>now</source>'
        '<target><g id="2">Jetzt</g></target></trans-unit></file></xliff>',
    )
    for mode, text in (
        ((), "Press now\tJetzt\n"),
        (("--inline-tags", "keep"), 'Press <x id="1"/>now\t<g id="2">Jetzt</g>\n'),
    ):
        assert dragoman("corpus", "convert", "x.xlf", *mode, "--out", "y.tsv").code == 0
        assert read("y.tsv") == text
    assert dragoman("corpus", "convert", "y.tsv", "--source", "en", "--target", "de", "--out", "y.xliff").code == 0
    assert dragoman("corpus", "convert", "y.xliff", "--out", "z.tsv").code == 0
    assert read("z.tsv") == read("y.tsv")


def test_tsv_from_a_pipe_to_a_pipe(fed: Callable[..., object]) -> None:
    run = fed(b"one\teins\ntwo\tzwei\n", "corpus", "convert", "-", "--source", "en", "--target", "de", "--out", "-")
    assert run.stdout == b"one\teins\ntwo\tzwei\n"  # type: ignore[attr-defined]
    assert run.returncode == 0  # type: ignore[attr-defined]


def test_bad_records_are_counted_and_named(dragoman: Command) -> None:
    write("x.tsv", 'one\teins\na\tb\tc\nalone\nquote "\tZitat "\n')
    run = dragoman("corpus", "convert", "x.tsv", "--source", "en", "--target", "de", "--out", "y.tsv")
    assert run.code == 0
    assert read("y.tsv") == 'one\teins\nquote "\tZitat "\n'
    assert "fields=3: x.tsv:2" in run.err
    assert "fields=1: x.tsv:3" in run.err
    assert "2 of 4 pairs kept" in run.err


@pytest.mark.parametrize(
    "command", ["convert --out y.tsv", "merge --out y.tsv", "dedupe --out y.tsv", "shuffle --out y.tsv",
                "sample --count 2 --out y.tsv", "split --out y"]
)  # fmt: skip
def test_quiet_commands_say_what_is_wrong_and_nothing_else(dragoman: Command, command: str) -> None:
    name, *options = command.split()
    for content, told in (("one\teins\ntwo\tzwei\nthree\tdrei\nfour\tvier\n", False), ("one\teins\nalone\n" * 3, True)):
        write("x.tsv", content)
        run = dragoman("corpus", name, "x.tsv", "--source", "en", "--target", "de", *options, "--quiet")
        assert ("fields=1" in run.err, run.err == "") == (told, not told)


REFUSED = [
    ({"a.en": "x\ny\nz\n", "a.de": "x\ny\n"}, ["a.en", "a.de"], ["3", "2"]),
    ({"a.en": b"x\nna\xefve\n", "a.de": "x\ny\n"}, ["a.en", "a.de"], ["a.en:2", "0xef"]),
    ({"a.en": b"x\0y\n", "a.de": "x\n"}, ["a.en", "a.de"], ["a.en:1", "NUL"]),
    ({"a.en": "x\n", "a.de": "x\n"}, ["a.en"], ["a.en"]),
    ({"a.en": "", "a.de": ""}, ["a.en", "a.de"], ["0 of 0"]),
    ({"a.en": "x" * 9000 + "\n", "a.de": "y\n"}, ["a.en", "a.de"], ["0 of 1 pairs kept: 1 too long"]),
    ({"a.tmx": "<tmx><body><tu><tuv xml:lang='en'><seg>x</seg></tuv>"}, ["a.tmx"], ["a.tmx", "1"]),
    ({}, ["gone.tmx"], ["gone.tmx"]),
]


@pytest.mark.parametrize(("files", "given", "named"), REFUSED, ids=[" ".join(named) for _, _, named in REFUSED])
def test_bad_files_are_refused_and_nothing_is_written(
    dragoman: Command, files: dict[str, str | bytes], given: list[str], named: list[str]
) -> None:
    for name, content in files.items():
        write(name, content)
    run = dragoman("corpus", "convert", *given, "--source", "en", "--target", "de", "--out", "out.tsv")
    assert all(word in run.error_line for word in named), run.err
    assert {path.name for path in Path().iterdir()} == set(files)


def test_the_wrong_order_is_told_with_the_right_one(dragoman: Command) -> None:
    write("t.en", "x\n")
    write("t.zh", "y\n")
    run = dragoman("corpus", "convert", "t.en", "t.zh", "--source", "zh", "--target", "en", "--out", "x.tsv")
    assert "t.zh t.en" in run.error_line


def test_skip_sets_bad_lines_aside(dragoman: Command) -> None:
    write("a.en", b"one\nna\xefve\nthree\n")
    write("a.de", "eins\nzwei\ndrei\n")
    run = dragoman("corpus", "convert", "a.en", "a.de", "--on-bad-line", "skip", "--out", "x.tsv")
    assert run.code == 0
    assert read("x.tsv") == "one\teins\nthree\tdrei\n"
    assert "1 not UTF-8" in run.err


@pytest.mark.parametrize("share", ["nan", "inf", "-0.1", "1e400"])
@pytest.mark.parametrize("part", ["dev", "test"])
def test_a_share_that_is_none_is_refused(dragoman: Command, part: str, share: str) -> None:
    write("x.tsv", "one\teins\ntwo\tzwei\n")
    run = dragoman("corpus", "split", "x.tsv", "--source", "en", "--target", "de", f"--{part}", share, "--out", "y")
    assert f"{part} is a share below 1 or a number of pairs" in run.error_line
    assert not Path("y").exists()


def test_split_is_the_same_every_time_and_leaks_nothing(dragoman: Command, pair_files: tuple[Path, Path]) -> None:
    for out in ("one", "two"):
        run = dragoman("corpus", "split", *pair_files, "--dev", "0.1", "--test", "40", "--out", out)
        assert run.code == 0
    names = sorted(path.name for path in Path("one").iterdir())
    assert names == ["dev.en", "dev.zh", "test.en", "test.zh", "train.en", "train.zh"]
    assert all(read(f"one/{name}") == read(f"two/{name}") for name in names)
    for language in ("en", "zh"):
        parts = {part: set(read(f"one/{part}.{language}").splitlines()) for part in ("train", "dev", "test")}
        assert not parts["train"] & (parts["dev"] | parts["test"])
    assert 20 < len(read("one/test.en").splitlines()) < 60


def test_split_never_writes_over_what_it_reads(dragoman: Command, pair_files: tuple[Path, Path]) -> None:
    Path("q").mkdir()
    for path, name in zip(pair_files, ("train.en", "train.zh"), strict=True):
        Path("q", name).write_bytes(path.read_bytes())
    before = read("q/train.en")
    for given in (["q/train.en", "q/train.zh"], ["q"]):
        run = dragoman("corpus", "split", *given, "--source", "en", "--target", "zh", "--out", "q")
        assert (run.code, "q/train.en: is" in run.err, "would be lost" in run.err) == (2, True, True)
    assert read("q/train.en") == before
    assert sorted(path.name for path in Path("q").iterdir()) == ["train.en", "train.zh"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_standard_output_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("a b\tc d\n", encoding="utf-8")
    command = [sys.executable, "-m", "dragoman", "corpus", "convert", str(tmp_path / "x.tsv"), "--source", "en"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*command, "--target", "de", "--out", "-"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr.decode().splitlines()[-1].endswith("no space left on device")
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux")
def test_a_name_that_is_not_utf_8_is_shown_by_its_bytes(dragoman: Command) -> None:
    Path("bad").mkdir()
    Path(os.fsdecode(b"bad/caf\xe9.tsv")).write_text("a b\tc d\nonly one\n", encoding="utf-8")
    dragoman("corpus", "clean", "bad", "--source", "en", "--target", "de", "--out", "x.tsv", "--report", "r")
    assert "caf\\xe9.tsv:2" in read("r/rejected.tsv")
