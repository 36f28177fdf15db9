"""Does `dragoman align` write a line of links for each record, whatever stands there?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.cli import main
from dragoman.text.words import word_spans
from tests.cli.conftest import Run

Dragoman = Callable[..., Run]
PAIRS = [
    ("The house, here.", "Das Haus, hier."),
    ("The book.", "Das Buch."),
    ("A book, here.", "Ein Buch, hier."),
    ("A house.", "Ein Haus."),
]


@pytest.fixture
def plain(tmp_path: Path) -> list[str]:
    for name, texts in zip(("a.en", "a.de"), zip(*PAIRS, strict=True), strict=True):
        (tmp_path / name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return [str(tmp_path / "a.en"), str(tmp_path / "a.de")]


def test_links_count_the_words_of_raw_text(dragoman: Dragoman, plain: list[str]) -> None:
    run = dragoman("align", *plain)
    assert run.code == 0, run.err
    assert run.out.splitlines() == ["0-0 1-1 2-2 3-3 4-4", "0-0 1-1 2-2", "0-0 1-1 2-2 3-3 4-4", "0-0 1-1 2-2"]
    assert "by spans" in run.err
    for line, (source, target) in zip(run.out.splitlines(), PAIRS, strict=True):
        links = [tuple(map(int, link.split("-"))) for link in line.split()]
        assert all(i < len(word_spans(source)) and j < len(word_spans(target)) for i, j in links)


def test_words_between_spaces_probabilities_and_the_lexicon(
    dragoman: Dragoman, plain: list[str], tmp_path: Path
) -> None:
    run = dragoman("align", *plain, "--words", "spaces", "--probabilities", "--lexicon", str(tmp_path / "lexicon.tsv"))
    assert run.code == 0, run.err
    first = [link.split(":") for link in run.out.splitlines()[0].split()]
    assert [link for link, _ in first] == ["0-0", "1-1", "2-2"]
    assert all(0 < float(share) <= 1 for _, share in first)
    rows = [line.split("\t") for line in (tmp_path / "lexicon.tsv").read_text(encoding="utf-8").splitlines()]
    assert ["book.", "buch."] in [row[:2] for row in rows]
    assert all(0 <= float(share) <= 1 for row in rows for share in row[2:])


def test_blank_sides_give_blank_lines_and_a_warning(dragoman: Dragoman, tmp_path: Path) -> None:
    file = tmp_path / "blank_side.pharaoh"
    file.write_text("the house ||| das haus\n ||| nur ziel\nnur quelle ||| \n", encoding="utf-8")
    run = dragoman("align", str(file))
    assert run.code == 0
    assert run.out == "0-0 1-1\n\n\n"
    assert ":2" in run.err
    assert ":3" in run.err


@pytest.mark.parametrize("model", ["ibm1", "best"])
def test_a_trained_model_links_and_is_evaluated(
    dragoman: Dragoman, plain: list[str], tmp_path: Path, model: str
) -> None:
    out, gold, links = (str(tmp_path / name) for name in ("model", "gold", "links"))
    Path(gold).write_text("0-0 1-1 2?2\n0-0 1-1\n", encoding="utf-8")
    run = dragoman("train", f"aligner-{model}", "--train", *plain, "--out", out)
    assert run.code == 0, run.err
    assert "dragoman align apply" in run.out
    run = dragoman("align", "apply", out, *plain, "--out", links)
    assert run.code == 0, run.err
    assert len(Path(links).read_text(encoding="utf-8").splitlines()) == 4
    both = [
        dragoman("align", "evaluate", "--links", links, "--gold", gold, "--json"),
        dragoman("evaluate", out, "--test", *plain, "--gold", gold, "--json"),
    ]
    figures = [json.loads(run.out) for run in both]
    assert figures[0]["aer"] == figures[1]["aer"]
    assert figures[0]["lines"] == 2
    assert dragoman("translate", out, plain[0]).code == 2
    for content in ("\n \n", ""):  # nothing to link is no mistake
        for name in ("blank.en", "blank.de"):
            (tmp_path / name).write_text(content, encoding="utf-8")
        run = dragoman("align", "apply", out, str(tmp_path / "blank.en"), str(tmp_path / "blank.de"), "-q")
        assert (run.code, run.out) == (0, "\n" * content.count("\n")), run.err
    Path(gold).write_text("0-0 1-1\n0-0 9?1\n", encoding="utf-8")
    run = dragoman("evaluate", out, "--test", *plain, "--gold", gold)
    assert run.error_line.startswith(f"{gold}:2: 9-1 is beyond the words of ")


def test_what_people_drew_is_the_measure(dragoman: Dragoman, tmp_path: Path) -> None:
    (tmp_path / "links").write_text("0-0 1-1 3-3\n2-2\n", encoding="utf-8")
    (tmp_path / "gold").write_text("0-0 1?1 2-2\n\n", encoding="utf-8")
    run = dragoman("align", "evaluate", "--links", str(tmp_path / "links"), "--gold", str(tmp_path / "gold"), "--json")
    figures = json.loads(run.out)
    # |A| = 4, |S| = 2, |A & P| = 2, |A & S| = 1
    assert (figures["precision"], figures["recall"], figures["aer"]) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["align", "{plain}", "--model", "fastt"], "did you mean 'fast'"),
        (["align", "{plain}", "--set", "hmn=3"], "hmn"),
        (["align", "apply", "nowhere", "{plain}"], "nowhere"),
        (["align", "evaluate", "--links", "{bad}", "--gold", "{bad}"], "bad:1"),
        (["align", "evaluate", "--links", "{odd}", "--gold", "{gold}"], "odd:1: '0-0:nan' has no probability"),
        (["align", "{plain}", "--out", "{first}"], "a.en"),
    ],
)
def test_mistakes_are_one_line(
    dragoman: Dragoman, plain: list[str], tmp_path: Path, arguments: list[str], told: str
) -> None:
    (tmp_path / "bad").write_text("0:0 x\n", encoding="utf-8")
    (tmp_path / "odd").write_text("0-0:nan\n", encoding="utf-8")
    (tmp_path / "gold").write_text("0-0\n", encoding="utf-8")
    files = {f"{{{name}}}": [str(tmp_path / name)] for name in ("bad", "odd", "gold")}
    given = {"{plain}": plain, "{first}": plain[:1], **files}
    run = dragoman(*(word for argument in arguments for word in given.get(argument, [argument])))
    assert run.code == 2
    assert told in run.err.splitlines()[-1]
    assert "Traceback" not in run.err


@pytest.mark.parametrize("name", ["unicode_breaks", "blank_between", "bom_crlf_cr", "no_final_newline"])
def test_files_of_odd_lines_keep_their_count(dragoman: Dragoman, tmp_path: Path, name: str) -> None:
    content = {
        "unicode_breaks": "a\u2028b c\nd\x85e\nf\x0bg\x0ch\x1ci\n",
        "blank_between": "a b\n\n \t\nc d\n",
        "bom_crlf_cr": "\ufeffHello\r\nA\rB\r\n",
        "no_final_newline": "one two\nthree",
    }[name]
    files = []
    for side in ("s.en", "t.de"):
        (tmp_path / side).write_bytes(content.encode())
        files.append(str(tmp_path / side))
    run = dragoman("align", *files)
    assert run.code == 0, run.err
    assert run.out.count("\n") == {"unicode_breaks": 3, "blank_between": 4}.get(name, 2)


@pytest.fixture(scope="module")
def aligner(pair_files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "aligner"
    assert main(["train", "aligner-fast", "--train", *map(str, pair_files), "--out", str(folder), "-q"]) == 0
    return folder


def test_an_aligner_links_its_own_languages(dragoman: Dragoman, aligner: Path, pair_files: tuple[Path, Path]) -> None:
    Path("a.fr").write_text("la maison\n", encoding="utf-8")
    Path("a.zh").write_text("房子\n", encoding="utf-8")
    told = "a.fr: its name says fr, and .*aligner is for en-zh; if that is what it holds, say --source en --target zh"
    for command in (["align", "apply", aligner, "a.fr", "a.zh"], ["doctor", aligner, "--test", "a.fr", "a.zh"]):
        assert re.match(told, dragoman(*command).error_line)
    given = ("align", "apply", aligner, "a.fr", "a.zh", "--target", "zh")
    assert dragoman(*given, "--source", "en").code == 0
    assert dragoman(*given, "--source", "fr").error_line.endswith("links en-zh; --source fr is another language")


def test_no_output_takes_the_place_of_a_part_of_the_model(
    dragoman: Dragoman, aligner: Path, pair_files: tuple[Path, Path]
) -> None:
    for option in ("--out", "--lexicon"):
        run = dragoman("align", "apply", aligner, *pair_files, option, aligner / "words.json")
        assert "which is read, and would be lost" in run.error_line


def test_nothing_goes_on_from_an_aligner(dragoman: Dragoman, aligner: Path, plain: list[str]) -> None:
    run = dragoman("train", "aligner-fast", "--train", *plain, "--init-from", aligner, "--out", "new")
    assert run.error_line.endswith("aligner-fast counts anew each time, so it would be dropped")


def test_links_are_drawn_like_attention(
    dragoman: Dragoman, aligner: Path, transformer: Path, pair_files: tuple[Path, Path]
) -> None:
    source, target = (file.read_text(encoding="utf-8").splitlines()[0] for file in pair_files)
    run = dragoman("explain", aligner, source, "--reference", target)
    assert run.code == 0, run.err
    assert all(" - " in line or "without a link" in line for line in run.out.splitlines())
    assert dragoman("explain", aligner, source, "--reference", target, "--out", "x.json").code == 0
    table = json.loads(Path("x.json").read_text(encoding="utf-8"))
    assert len(table["forward"]) == len(table["target_words"]) == len(word_spans(target))
    both = ("explain", transformer, source, "--max-ratio", 0.3, "--aligner", aligner)
    assert dragoman(*both, "--out", "x.svg").code == 0
    titles = Path("x.svg").read_text(encoding="utf-8")
    assert "Attention" in titles
    assert "Links by aligner-fast" in titles
    for wrong in ([source], [source, "--reference", target, "--gates"], [source, "--reference", " "]):
        assert dragoman("explain", aligner, *wrong).code == 2


def test_pairs_that_hardly_link_are_cleaned_out(
    dragoman: Dragoman, aligner: Path, pair_files: tuple[Path, Path]
) -> None:
    sources, targets = (file.read_text(encoding="utf-8").splitlines()[:60] for file in pair_files)
    turned = [*targets[:50], *targets[51:], targets[50]]  # the last ten have another's translation
    Path("x.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in zip(sources, turned, strict=True)), encoding="utf-8")
    given = ("corpus", "clean", "x.tsv", "--target", "zh", "--set", "repeated=none", "--aligner", aligner)
    rejected = {}
    for workers in (1, 2):
        asked = ("--source", "en", "--set", "alignment=-2", "--workers", workers)
        run = dragoman(*given, *asked, "--out", "y.tsv")
        assert run.code == 0, run.err
        rows = Path("y.tsv.rejected.tsv").read_text(encoding="utf-8").splitlines()
        rejected[workers] = [row.split("\t")[2] for row in rows if row.startswith("poorly aligned")]
    assert rejected[1] == rejected[2]
    assert len(rejected[1]) >= 5
    assert all(int(origin.rpartition(":")[2]) > 50 for origin in rejected[1])
    assert "links en-zh" in dragoman(*given, "--source", "de", "--out", "y.tsv").error_line
    off = ("--source", "en", "--set", "alignment=none")
    assert "alignment" in dragoman(*given, *off, "--out", "y.tsv").error_line


@pytest.mark.parametrize("name", ["apply", "evaluate"])
def test_a_file_of_such_a_name_is_told_apart(dragoman: Dragoman, name: str) -> None:
    Path(name).write_text("the house\nthe book\n", encoding="utf-8")
    Path("b").write_text("das haus\ndas buch\n", encoding="utf-8")
    assert dragoman("align", f"./{name}", "b").out == "0-0 1-1\n0-0 1-1\n"


def test_a_place_that_cannot_be_written_is_told_before_anything_is_learnt(dragoman: Dragoman, plain: list[str]) -> None:
    Path("file").touch()
    run = dragoman("align", *plain, "--out", "file/links")
    assert "file/links: cannot be written" in run.error_line
    assert "by spans" not in run.err
    assert "twice" in dragoman("align", *plain, "--out", "links", "--lexicon", "./links").error_line
    assert not Path("links").exists()


@pytest.mark.parametrize(("broken", "why"), [(b"a\xff b\n", "not UTF-8"), (b"a\x00b\n", "NUL"), (b"", "no records")])
def test_what_is_no_text_ends_the_run_or_is_a_blank_line(dragoman: Dragoman, broken: bytes, why: str) -> None:
    for name in ("s.en", "t.de"):
        Path(name).write_bytes(b"the house\nthe book\n" + broken if broken else broken)
    run = dragoman("align", "s.en", "t.de", "--out", "links")
    assert why in run.error_line
    assert not Path("links").exists()
    if broken:
        run = dragoman("align", "s.en", "t.de", "--on-bad-line", "skip")
        assert run.out == "0-0 1-1\n0-0 1-1\n\n"


def test_the_doctor_links_pairs_and_says_what_it_cannot(
    dragoman: Dragoman, aligner: Path, pair_files: tuple[Path, Path]
) -> None:
    lines = [file.read_text(encoding="utf-8").splitlines()[:40] for file in pair_files]
    for name, texts in zip(("a.en", "a.zh"), lines, strict=True):
        Path(name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    run = dragoman("doctor", aligner, "--test", "a.en", "a.zh")
    assert run.code == 0, run.err
    assert "warning" not in run.out
    assert re.search(r"good: +en: \d+ \(.* %\) of words have no link", run.out)
    Path("b.en").write_text("".join(f"{text} zyzzyva\n" for text in lines[0]), encoding="utf-8")
    Path("b.zh").write_text("".join(f"{text}\n" for text in reversed(lines[1])), encoding="utf-8")
    told = json.loads(dragoman("doctor", aligner, "--test", "b.en", "b.zh", "--json").out)["findings"]
    levels = {one["what"]: one["level"] for one in told}
    assert any("words are unknown: zyzzyva" in what for what, level in levels.items() if level == "warning")
    assert any("hardly translations" in what for what, level in levels.items() if level == "warning")
    run = dragoman("doctor", aligner)
    assert run.code == 0
    assert "give --test FILES" in run.err
    assert "--text would be dropped" in dragoman("doctor", aligner, "--text", "a.en").error_line
    refused = dragoman("translate", aligner, "a.en").error_line
    assert "is of the kind aligner-fast, which does not translate" in refused
    assert refused.endswith("it has: align, evaluate, explain, info, doctor")
