"""inspect, clean and their sisters: what they write, what they say, and what they refuse."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.stopping import stop_signals
from tests.cli.conftest import Command

PAIRS = (
    "A dog runs.\tEin Hund rennt.\n"
    "a DOG runs\tein Hund rennt!\n"
    "привет всем тут\tHallo allerseits.\n"
    "only one field\n"
    "in 1984\tim Jahr 1985\n"
    "two  spaces\tzwei  Leerzeichen\n"
    "A cat sleeps.\tEine Katze schläft.\n"
)
LANGUAGES = ("--source", "en", "--target", "de")


@pytest.fixture
def pairs(dragoman: Command) -> str:
    Path("x.tsv").write_text(PAIRS, encoding="utf-8")
    return "x.tsv"


def test_clean_keeps_sets_aside_and_tells(dragoman: Command, pairs: str) -> None:
    run = dragoman("corpus", "clean", pairs, *LANGUAGES, "--out", "kept.en", "kept.de")
    assert run.code == 0
    assert Path("kept.en").read_text(encoding="utf-8") == "A dog runs.\ntwo spaces\nA cat sleeps.\n"
    assert Path("kept.de").read_text(encoding="utf-8") == "Ein Hund rennt.\nzwei Leerzeichen\nEine Katze schläft.\n"
    rows = [line.split("\t") for line in Path("kept.en.rejected.tsv").read_text(encoding="utf-8").splitlines()]
    assert [row[:3] for row in rows] == [
        ["reason", "score", "origin"],
        ["duplicate", "", "x.tsv:2"],
        ["wrong script", "0", "x.tsv:3"],
        ["fields=1", "", "x.tsv:4"],
        ["other numbers", "0", "x.tsv:5"],
    ]
    assert rows[1][3:] == ["a DOG runs", "ein Hund rennt!"]
    assert "made uniform: spaces, 2 sides" in run.out
    assert "3 pairs written to kept.en and kept.de" in run.err


def test_a_report_has_counts_samples_and_a_picture(dragoman: Command, pairs: str) -> None:
    run = dragoman("corpus", "clean", pairs, *LANGUAGES, "--out", "kept.tmx", "--report", "report", "--json")
    told = json.loads(run.out)
    assert told["kept"] == 3
    assert told["rejected"] == {"duplicate": 1, "fields=1": 1, "other numbers": 1, "wrong script": 1}
    assert told == json.loads(Path("report/report.json").read_text(encoding="utf-8"))
    assert told["samples"]["other numbers"][0]["origin"] == "x.tsv:5"
    page = Path("report/report.md").read_text(encoding="utf-8")
    assert "| 0 | x.tsv:5 | in 1984 | im Jahr 1985 |" in page
    assert "- filters.longest = 250" in page
    assert told["recipe"]["filters"]["longest"] == 250
    assert sorted(path.name for path in Path("report").iterdir()) == [
        "picture.png",
        "rejected.tsv",
        "report.json",
        "report.md",
    ]


def test_thresholds_from_a_file_and_from_the_command_line(dragoman: Command, pairs: str) -> None:
    Path("my.toml").write_text(dragoman("recipes", "cleaning", "--set", "number_share=none").out, encoding="utf-8")
    run = dragoman("corpus", "clean", pairs, *LANGUAGES, "--out", "y.tsv", "--recipe", "my.toml", "--json")
    assert "other numbers" not in json.loads(run.out)["rejected"]
    asked = ("--recipe", "my.toml", "--set", "filters.shortest=3", "--set", "repeated=sources")
    run = dragoman("corpus", "clean", pairs, *LANGUAGES, "--out", "y.tsv", *asked, "--json")
    assert json.loads(run.out)["rejected"]["too short"] == 3


def test_test_sentences_are_left_out(dragoman: Command, pairs: str) -> None:
    Path("test.tsv").write_text("a cat sleeps\tdie Katze schläft\n", encoding="utf-8")
    run = dragoman("corpus", "clean", pairs, *LANGUAGES, "--test", "test.tsv", "--out", "y.tsv")
    assert run.code == 0
    assert "Katze" not in Path("y.tsv").read_text(encoding="utf-8")
    assert "in a test set" in run.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--out", "x.tsv"], "x.tsv: is read as well"),
        (["--out", "y.tsv", "--set", "longst=3"], "no 'longst' in this recipe; did you mean 'longest'?"),
        (["--out", "y.tsv", "--set", "script_share=2"], "script_share"),
        (["--out", "y.tsv", "--recipe", "other.toml"], "other.toml:1: kind = 'dictionary', where 'cleaning' is wanted"),
        (["--out", "y.tsv", "--recipe", "gone.toml"], "gone.toml: no such file"),
        (["--out", "y.tsv", "--set", "shortest=50"], "0 of 7 pairs kept"),
        (["--out", "y.docx"], "y.docx"),
        (["--out", "-", "--json"], "would both go to standard output"),
        (["--out", "mine.toml", "y.de", "--recipe", "mine.toml"], "mine.toml: is read as well"),
        (["--out", "rep/rejected.tsv", "--report", "rep"], "would be written twice"),
    ],
)
def test_refused(dragoman: Command, pairs: str, arguments: list[str], told: str) -> None:
    Path("other.toml").write_text('kind = "dictionary"\n', encoding="utf-8")
    Path("mine.toml").write_text('kind = "cleaning"\n', encoding="utf-8")
    run = dragoman("corpus", "clean", pairs, *LANGUAGES, *arguments)
    assert told in run.error_line
    assert not Path("y.tsv").exists()
    assert Path("x.tsv").read_text(encoding="utf-8") == PAIRS


def test_clean_to_a_pipe_writes_pairs_and_nothing_beside_it(fed: Callable[..., object]) -> None:
    run: Any = fed(PAIRS.encode(), "corpus", "clean", "-", *LANGUAGES, "--out", "-")
    assert run.returncode == 0
    assert run.stdout.decode().splitlines() == [
        "A dog runs.\tEin Hund rennt.",
        "two spaces\tzwei Leerzeichen",
        "A cat sleeps.\tEine Katze schläft.",
    ]
    assert b"duplicate" in run.stderr
    assert b"the others are written nowhere: give --report FOLDER" in run.stderr


def take_terminal() -> None:
    """Make standard error the terminal whose Ctrl-C and end this process hears, also where tests run under nohup."""
    import fcntl
    import termios

    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    fcntl.ioctl(2, termios.TIOCSCTTY, 0)


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no such terminals")
@pytest.mark.parametrize("how", ["Ctrl-C", "a closed terminal"])
def test_an_interrupted_cleaning_leaves_nothing(tmp_path: Path, how: str) -> None:
    (tmp_path / "many.tsv").write_text(PAIRS * 100_000, encoding="utf-8")
    command = [sys.executable, "-m", "dragoman", "corpus", "clean", "many.tsv", *LANGUAGES, "--out", "x.tsv"]
    ours, theirs = os.openpty()
    running = subprocess.Popen(
        [*command, "--report", "report"],
        stderr=theirs,
        cwd=tmp_path,
        start_new_session=True,
        preexec_fn=take_terminal,
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".x.tsv*")) and time.monotonic() < deadline:
        time.sleep(0.05)  # until it writes aside
    if how == "Ctrl-C":
        os.write(ours, b"\x03")
    os.close(theirs)
    said = b"" if how == "Ctrl-C" else None
    while said is not None:
        try:
            said += os.read(ours, 1024)
        except OSError:  # the other end is closed
            break
    os.close(ours)
    assert running.wait(timeout=20) == 130
    assert said is None or said.endswith(b"interrupted\r\n")
    assert [path.name for path in tmp_path.iterdir()] == ["many.tsv"]


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no SIGHUP")
@pytest.mark.parametrize(("how", "stops"), [(signal.SIG_IGN, False), (signal.SIG_DFL, True)])
def test_nobody_who_asked_for_it_is_stopped_by_a_closed_terminal(how: signal.Handlers, stops: bool) -> None:
    before = signal.signal(signal.SIGHUP, how)  # nohup has it ignored
    try:
        assert (signal.SIGHUP in stop_signals()) == stops
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("full", ["kept.en", "kept.de", "rep/rejected.tsv"])
def test_a_full_disk_is_told_with_the_file(dragoman: Command, full: str) -> None:
    Path("x.tsv").write_text(PAIRS * 500, encoding="utf-8")
    Path("rep").mkdir()
    Path(full).symlink_to("/dev/full")
    asked = ("--out", "kept.en", "kept.de", "--report", "rep", "--set", "repeated=none")
    run = dragoman("corpus", "clean", "x.tsv", *LANGUAGES, *asked)
    assert run.error_line == f"{full}: cannot be written: no space left on device"
    left = {path.as_posix() for path in Path().rglob("*")}
    assert left == {"x.tsv", "rep", full}


def test_controls_are_escaped_and_invisible_changes_are_shown(dragoman: Command) -> None:
    rows = [
        {"en": "bell \x1b[31mred", "de": "Glocke\x7f rot"},
        {"en": "nothing \0 here", "de": "hier nichts"},
        {"en": "two  words\u00a0and | three", "de": "zwei Wörter\u2028und drei"},
    ]
    Path("x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert dragoman("corpus", "clean", "x.jsonl", *LANGUAGES, "--out", "y.tsv", "--report", "rep").code == 0
    assert Path("y.tsv").read_text(encoding="utf-8") == "two words and | three\tzwei Wörter und drei\n"
    rejected = Path("rep/rejected.tsv").read_text(encoding="utf-8").splitlines()
    assert rejected[1:] == [
        "odd signs\t2\tx.jsonl:1\tbell \\x1b[31mred\tGlocke\\x7f rot",
        "NUL\t\tx.jsonl:2\tnothing \\x00 here\thier nichts",
    ]
    page = Path("rep/report.md").read_text(encoding="utf-8")
    assert "- `two ␣words\\xa0and | three` → `two words and | three`" in page
    assert "- `zwei Wörter\\u2028und drei` → `zwei Wörter und drei`" in page
    assert "| 2 | x.jsonl:1 | bell \\x1b[31mred | Glocke\\x7f rot |" in page
    for name in ("report.md", "report.json", "rejected.tsv"):
        assert not set("\0\x1b\x7f\u2028") & set(Path("rep", name).read_text(encoding="utf-8"))


def test_rejected_texts_can_be_had_back(dragoman: Command) -> None:
    texts = ["tab\tbefore  two spaces 1", "C:\\temp\\new 3", "nothing \0 and \u2028 here 5"]
    rows = [{"en": text, "de": f"nur {number} 七 \\"} for text, number in zip(texts, (2, 4, 6), strict=True)]
    Path("x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    dragoman("corpus", "clean", "x.jsonl", *LANGUAGES, "--out", "y.tsv", "--report", "rep")
    lines = [line.split("\t") for line in Path("rep/rejected.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    back = [[cell.encode("latin-1", "backslashreplace").decode("unicode_escape") for cell in line] for line in lines]
    assert [cells[3:] for cells in back] == [[row["en"], row["de"]] for row in rows]


@pytest.mark.parametrize("out", [["in/kept.tsv"], ["in/sub/kept.en", "in/sub/kept.de"]])
def test_nothing_is_written_into_a_folder_that_is_read(dragoman: Command, pairs: str, out: list[str]) -> None:
    Path("in").mkdir()
    Path(pairs).rename("in/x.tsv")
    run = dragoman("corpus", "clean", "in", *LANGUAGES, "--out", *out)
    assert (
        run.error_line
        == f"{out[0]}: is in the folder in, which is read, and would be one of its files; write elsewhere"
    )
    assert [path.name for path in Path("in").iterdir()] == ["x.tsv"]
    assert dragoman("corpus", "clean", ".", *LANGUAGES, "--out", "-").code == 0


def test_what_the_format_cannot_hold_is_set_aside(dragoman: Command) -> None:
    Path("x.tsv").write_text("a dog\tein Hund\n|||\t|||\n", encoding="utf-8")
    asked = ("--out", "y.pharaoh", "--set", "punctuation_share=none", "--json")
    told = json.loads(dragoman("corpus", "clean", "x.tsv", *LANGUAGES, *asked).out)
    assert (told["kept"], told["rejected"]) == (1, {"nothing to write": 1})
    assert Path("y.pharaoh").read_text(encoding="utf-8") == "a dog ||| ein Hund\n"
    assert "nothing to write\t2\tx.tsv:2" in Path("y.pharaoh.rejected.tsv").read_text(encoding="utf-8")


def test_reasons_are_written_where_nothing_is_kept(dragoman: Command, pairs: str) -> None:
    run = dragoman("corpus", "clean", pairs, *LANGUAGES, "--out", "y.tsv", "--report", "rep", "--set", "shortest=50")
    assert "0 of 7 pairs kept" in run.error_line
    assert not Path("y.tsv").exists()
    assert len(Path("rep/rejected.tsv").read_text(encoding="utf-8").splitlines()) == 8
    assert Path("rep/report.md").exists()


def test_no_original_is_lost(dragoman: Command, pairs: str) -> None:
    assert "x.tsv: a picture is written as .png" in dragoman("corpus", "inspect", pairs, "--picture", pairs).error_line
    for command in (
        ("corpus", "merge", f"{pairs}*2", "--out", pairs),
        ("corpus", "clean", f"{pairs}*2", "--out", pairs),
    ):
        assert "is read as well" in dragoman(*command, *LANGUAGES).error_line
    assert Path(pairs).read_text(encoding="utf-8") == PAIRS


@pytest.mark.parametrize("command", [("corpus", "inspect"), ("doctor",), ("corpus", "clean", "--out", "y.tsv")])
def test_an_empty_file_is_no_corpus(dragoman: Command, command: tuple[str, ...]) -> None:
    Path("empty.tsv").write_text("", encoding="utf-8")
    assert "there are no records" in dragoman(*command[:2], "empty.tsv", *command[2:], *LANGUAGES).error_line


def test_what_was_set_aside_is_no_bitext(dragoman: Command, pairs: str) -> None:
    Path("all").mkdir()
    assert dragoman("corpus", "clean", pairs, *LANGUAGES, "--out", "all/a.tsv").code == 0
    told = json.loads(dragoman("corpus", "inspect", "all", *LANGUAGES, "--json").out)
    assert list(told["files"]) == ["all/a.tsv"]


def test_controls_do_not_reach_the_terminal(dragoman: Command) -> None:
    Path("x.tsv").write_text("bell \x1b[31mred\tGlocke rot\n", encoding="utf-8")
    run = dragoman("corpus", "inspect", "x.tsv", *LANGUAGES)
    assert "\x1b" not in run.out
    assert "\\x1b[31mred" in run.out


def test_inspect_tells_a_page_and_draws(dragoman: Command, pairs: str) -> None:
    run = dragoman("corpus", "inspect", pairs, *LANGUAGES, "--picture", "picture.png")
    assert run.code == 0
    assert "7 records in 1 file" in run.out
    assert "cleaning: 3 of 7 pairs kept" in run.out
    assert "wrong script 0: x.tsv:3: привет всем тут | Hallo allerseits." in run.out
    assert Path("picture.png").read_bytes().startswith(b"\x89PNG")


def test_inspect_as_json(dragoman: Command, pairs: str) -> None:
    told = json.loads(dragoman("corpus", "inspect", pairs, *LANGUAGES, "--json").out)
    assert told["records"] == 7
    assert told["source"]["language"] == "en"
    assert told["cleaning_would_keep"] == 3
    assert {row["origin"] for row in told["suspicious"]} == {"x.tsv:2", "x.tsv:3", "x.tsv:4", "x.tsv:5"}


def test_merge_and_dedupe(dragoman: Command, pairs: str) -> None:
    Path("b.en").write_text("A cat sleeps.\n", encoding="utf-8")
    Path("b.de").write_text("Eine Katze schläft.\n", encoding="utf-8")
    assert dragoman("corpus", "merge", "b.en", "b.de", pairs, *LANGUAGES, "--out", "m.tsv").code == 0
    merged = Path("m.tsv").read_text(encoding="utf-8").splitlines()
    assert len(merged) == 7
    assert merged[0] == "A cat sleeps.\tEine Katze schläft."
    run = dragoman("corpus", "dedupe", "m.tsv", *LANGUAGES, "--out", "d.tsv")
    assert "5 pairs written to d.tsv; 2 of 7 left out" in run.err
    assert len(Path("d.tsv").read_text(encoding="utf-8").splitlines()) == 5


def test_sample_and_shuffle_keep_pairs_together(dragoman: Command) -> None:
    rows = [f"source {number}\tZiel {number}\n" for number in range(50)]
    Path("x.tsv").write_text("".join(rows), encoding="utf-8")
    assert dragoman("corpus", "shuffle", "x.tsv", *LANGUAGES, "--out", "s.tsv").code == 0
    shuffled = Path("s.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
    assert sorted(shuffled) == sorted(rows)
    assert shuffled != rows
    assert dragoman("corpus", "sample", "x.tsv", *LANGUAGES, "--count", "5", "--out", "n.tsv").code == 0
    drawn = Path("n.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
    assert [row for row in rows if row in set(drawn)] == drawn
    assert len(drawn) == 5
    again = dragoman("corpus", "sample", "x.tsv", *LANGUAGES, "--count", "51", "--out", "n.tsv")
    assert again.error_line == "there are 50 pairs, fewer than 51"


def test_doctor_examines_a_corpus(dragoman: Command, pairs: str) -> None:
    run = dragoman("doctor", pairs, *LANGUAGES)
    assert run.code == 0
    assert "warning: 3 usable pairs" in run.out
    assert "duplicate: 1 (14 %) of records" in run.out
    assert "-> " in run.out
    told = json.loads(dragoman("doctor", pairs, *LANGUAGES, "--json").out)
    assert told["findings"][0]["level"] == "warning"


def test_doctor_of_pairs_of_other_languages(dragoman: Command) -> None:
    german = "Der schnelle braune Fuchs springt über den faulen Hund am Ufer des Flusses"
    Path("x.tsv").write_text("".join(f"{german} {n}\t{german} {n}!\n" for n in range(30)), encoding="utf-8")
    told = json.loads(dragoman("doctor", "x.tsv", "--source", "de", "--target", "en", "--json").out)["findings"]
    (found,) = (one for one in told if "30 drawn en texts look like en" in one["what"])
    assert found["level"] == "warning"
    assert "--set language=0.1" in found["advice"]
    told = json.loads(dragoman("doctor", "x.tsv", "--source", "de", "--target", "yap", "--json").out)["findings"]
    assert {"level": "note", "what": "the guess of languages does not know yap", "advice": ""} in told


def test_doctor_of_nothing_usable(dragoman: Command) -> None:
    Path("x.tsv").write_text("a\t\n\tb\n", encoding="utf-8")
    run = dragoman("doctor", "x.tsv", *LANGUAGES)
    assert "warning: 0 usable pairs" in run.out
    assert "translation memory" not in run.out


def test_names_of_outputs_are_looked_at_before_anything_is_read(dragoman: Command) -> None:
    run = dragoman("corpus", "convert", "gone.tsv", *LANGUAGES, "--out", "x.docx")
    assert run.error_line.startswith("x.docx: pairs are written to")


def test_nothing_at_all_leaves_no_reasons(dragoman: Command) -> None:
    Path("x.tsv").touch()
    run = dragoman("corpus", "clean", "x.tsv", *LANGUAGES, "--out", "y.tsv")
    assert run.error_line == "0 of 0 pairs kept: there are no records"


def test_doctor_refuses_what_does_not_belong_together(dragoman: Command, pairs: str) -> None:
    assert "--text" in dragoman("doctor", pairs, *LANGUAGES, "--text", pairs).error_line
