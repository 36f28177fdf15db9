"""Counted language models by the command line: learnt, asked, exchanged."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from dragoman.cli import main
from dragoman.lm.model import NgramModel
from dragoman.system.store import load_model
from tests.cli.conftest import Command
from tests.lm.small import BABBLE, CATS, babble


@pytest.fixture(scope="module")
def babbling(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, and the text that it learnt from beside it."""
    folder = tmp_path_factory.mktemp("babble")
    (folder / "text.en").write_text("".join(f"{line}\n" for line in BABBLE), encoding="utf-8")
    command = ["train", "ngram", "--train", str(folder / "text.en"), "--set", "order=3", "--out", str(folder / "model")]
    assert main([*command, "--quiet"]) == 0
    return folder / "model"


def test_from_text_to_a_model_and_its_figures(dragoman: Command, tmp_path: Path) -> None:
    for name, lines in (("text.txt", BABBLE), ("dev.txt", babble(20, seed=1)), ("tiny.txt", CATS)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    run = dragoman(
        "train", "ngram", "--train", "text.txt", "--dev", "dev.txt", "--set", "prune=0 0 1", "--out", "model"
    )
    assert run.code == 0, run.err
    assert "held out" not in run.err
    assert "generate with: dragoman generate model --prefix TEXT" in run.out
    run = dragoman("evaluate", "model", "--test", "dev.txt", "--json")
    figures = json.loads(run.out)
    assert figures["tokens"] == sum(len(line.split()) + 1 for line in babble(20, seed=1))
    run = dragoman("evaluate", "model", "--test", "dev.txt")
    assert f"a token of the model ({figures['tokens']:,}: what white space separates, and ends)" in run.out
    assert f"a word of the text ({figures['words']:,}: words and marks apart, as for every model" in run.out
    run = dragoman("doctor", "model")
    assert f"dev perplexity {figures['perplexity']:.3g}" in run.out
    run = dragoman("generate", "model", "--n", "3", "--seed", "5", "--length", "20")
    assert run.code == 0
    assert set(run.out.split()) <= set("abcdefghij")
    asked = ("generate", "model", "--prefix", "a", "--length", "1", "--n", "30")
    assert "the limit of 1 pieces reached" in dragoman(*asked).err
    assert dragoman(*asked, "--quiet").err == ""
    run = dragoman("info", "model")
    assert "order 5" in run.out
    run = dragoman("train", "ngram", "--train", "tiny.txt", "--set", "order=3", "--out", "tiny")
    assert run.code == 0
    assert "order 1: discounts cannot be estimated" in run.err


def test_reserved_words_are_named_by_file_and_line(dragoman: Command, tmp_path: Path) -> None:
    """As in other tools they are no words of a text: never a model with two <s>."""
    (tmp_path / "text.txt").write_bytes(b"the cat\n\xff\nthe <s> cat </s> sat <unk>\n")
    train = ["train", "ngram", "--train", "text.txt", "--on-bad-line", "skip", "--out", "model"]
    run = dragoman(*train)
    assert "text.txt:3: <unk>, <s>, </s>: reserved" in run.error_line
    assert not (tmp_path / "model" / "model.json").exists()
    run = dragoman(*train, "--set", "reserved=skip")
    assert run.code == 0
    assert "text.txt:3: reserved words are left out" in run.err
    assert load_model(tmp_path / "model").vocabulary.words.count("<s>") == 1


def test_a_model_of_characters_is_told_from_one_of_words(dragoman: Command) -> None:
    Path("text.zh").write_text("我们去看电影\n我们去看书\n" * 5, encoding="utf-8")
    assert dragoman("train", "ngram", "--train", "text.zh", "--set", "units=characters", "--out", "model").code == 0
    assert "its words are characters" in dragoman("lm", "convert", "model", "--to", "x.arpa", "-q").err
    run = dragoman("lm", "convert", "x.arpa", "--out", "words", "-q")
    assert "say --units characters" in run.err
    assert dragoman("lm", "convert", "x.arpa", "--out", "signs", "--units", "characters", "-q").err == ""
    (one,), (other,) = (load_model(Path(name)).score(["我们去"]) for name in ("model", "signs"))
    assert other.log_probability == pytest.approx(one.log_probability, abs=1e-4)


def test_of_order_1_it_is_said_who_does_not_read_it(dragoman: Command) -> None:
    Path("text.en").write_text("a b\nb a\n", encoding="utf-8")
    assert dragoman("train", "ngram", "--train", "text.en", "--set", "order=1", "--out", "model").code == 0
    run = dragoman("lm", "convert", "model", "--to", "-")
    assert run.out.startswith("\\data\\")
    assert run.err == "<stdout>: of order 1, which KenLM does not read\n"


def test_nothing_goes_on_from_counts(dragoman: Command, babbling: Path) -> None:
    run = dragoman("train", "ngram", "--train", babbling.parent / "text.en", "--init-from", babbling, "--out", "new")
    assert run.error_line.endswith("ngram counts anew each time, so it would be dropped")


def test_lines_that_are_set_aside_are_named(dragoman: Command, babbling: Path) -> None:
    Path("bad.txt").write_bytes(b"a b\n\xff\nb a\n")
    run = dragoman("train", "ngram", "--train", "bad.txt", "--on-bad-line", "skip", "--out", "model", "-q")
    assert "train: not UTF-8: bad.txt:2" in run.err
    run = dragoman("score", babbling, "--test", "bad.txt", "--on-bad-line", "skip")
    assert [bool(line) for line in run.out.split("\n")] == [True, False, True, False]
    assert run.err == "bad.txt:2: not UTF-8; its line is blank\n"


@pytest.mark.parametrize("command", ["score {} --test text.txt --out", "lm convert {} --to"])
def test_no_output_takes_the_place_of_a_part_of_the_model(dragoman: Command, babbling: Path, command: str) -> None:
    Path("text.txt").write_text("a b\n")
    given = command.format(babbling).split()
    run = dragoman(*given, babbling / "words.txt")
    assert "which is read, and would be lost" in run.error_line


def test_arpa_and_back(dragoman: Command, tmp_path: Path, babbling: Path) -> None:
    assert dragoman("lm", "convert", babbling, "--to", "out.arpa.gz").code == 0
    run = dragoman("lm", "convert", "out.arpa.gz", "--out", "again", "--language", "en")
    assert run.code == 0, run.err
    assert "again: 13 1-grams" in run.err
    assert dragoman("lm", "convert", "again", "--to", "again.arpa", "--quiet").err == ""
    capital = (tmp_path / "again.arpa").read_text().replace("<unk>", "<UNK>")
    (tmp_path / "again.arpa").write_text(capital)
    run = dragoman("lm", "convert", "again.arpa", "--out", "quiet", "--quiet")
    taken, signs = run.err.splitlines()
    assert taken.startswith("again.arpa:7: <UNK> is taken as <unk>: log10 p is -")
    assert "say --units characters" in signs  # all words of this text are letters
    (tmp_path / "test.txt").write_text("a b\n\nq c\n", encoding="utf-8")
    scores = [dragoman("score", model, "--test", "test.txt").out.split("\n") for model in (babbling, "again")]
    assert [float(line) for line in scores[0] if line] == pytest.approx(
        [float(line) for line in scores[1] if line], abs=1e-4
    )
    assert [bool(line) for line in scores[1]] == [True, False, True, False]
    model: NgramModel = load_model(tmp_path / "again")
    assert (model.language, model.ngrams.order) == ("en", 3)
    assert math.fsum(map(math.exp, model.all_next("a").values())) == pytest.approx(1, abs=1e-5)
    assert dragoman("info", "again").code == dragoman("doctor", "again", "--text", "test.txt").code == 0


def test_what_cannot_be_converted_is_one_line(dragoman: Command, tmp_path: Path, babbling: Path) -> None:
    (tmp_path / "bad.arpa").write_text("\\data\\\nngram 1=1\n\n\\1-grams:\nx\ta\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine.txt").write_text("x")
    for command, why in (
        ([babbling], "give one of --to FILE"),
        ([babbling, "--to", "a", "--out", "b"], "give one of --to FILE"),
        (["nothing", "--to", "a"], "nothing: no such folder"),
        (["nothing", "--out", "a"], "nothing: no such file"),
        (["bad.arpa", "--out", "new"], "bad.arpa:5: 'x' is no number"),
        ([babbling, "--out", "new"], "is a folder"),
        (["bad.arpa", "--to", "new"], "bad.arpa: a file, not a model folder"),
        (["bad.arpa", "--out", "folder"], "folder: holds other files"),
        (["bad.arpa", "--out", babbling], "holds a model"),
        ([babbling, "--to", "a", "--units", "words"], "--units would be dropped"),
        ([babbling, "--to", "folder"], "folder: is a folder"),
        ([babbling, "--to", "bad.arpa/below"], "cannot be written"),
    ):
        run = dragoman("lm", "convert", *command)
        assert why in run.error_line, (command, run.err)
        assert len(run.err.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.arpa", "folder"]
    assert (tmp_path / "bad.arpa").read_text().startswith("\\data")


def test_choices_that_make_no_sense_are_one_line(dragoman: Command, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("a b\n")
    for setting, why in (
        ("order=0", "order"),
        ("smoothing=good-turing", "kneser-ney"),
        ("prune=0 2 1", "none is below"),
        ("prune=x", "prune"),
        ("k=0", "k"),
        ("units=syllables", "units"),
    ):
        run = dragoman("train", "ngram", "--train", "text.txt", "--out", "model", "--set", setting)
        assert why in run.error_line, run.err
