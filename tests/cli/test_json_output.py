"""Does every command that prints JSON print it by the one writer, which knows what JSON lacks?"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclopts import App

import dragoman.cli
from dragoman import wording
from dragoman.cli import main
from dragoman.cli.app import application
from tests.cli.conftest import Command

ARPA = "\\data\\\nngram 1=4\n\n\\1-grams:\n-1\t<unk>\n-99\t<s>\n-0.5\t</s>\n-inf\ta\n\n\\end\\\n"
# What each is asked; of words in capitals, the file or model of that name.
COMMANDS = {
    "translate": ["DICTIONARY", "TEXT"],
    "generate": ["NGRAM", "--n", "2"],
    "evaluate": ["NGRAM", "--test", "TEXT"],
    "doctor": ["NGRAM", "--text", "TEXT"],
    "info": ["NGRAM"],
    "align evaluate": ["--links", "LINKS", "--gold", "LINKS"],
    "corpus inspect": ["TEXT", "OTHER", "--source", "en", "--target", "de"],
    "corpus clean": ["TEXT", "OTHER", "--source", "en", "--target", "de", "--out", "clean.tsv", "--quiet"],
}


def commands_with_json(app: App, path: str = "") -> Iterator[str]:
    """The names of all commands that have --json."""
    for name in app:
        if name.startswith("-"):
            continue
        command = app[name]
        if command.default_command and "as_json" in inspect.signature(command.default_command).parameters:
            yield f"{path}{name}"
        yield from commands_with_json(command, f"{path}{name} ")


def test_every_command_with_json_is_here() -> None:
    assert set(commands_with_json(application())) == set(COMMANDS)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory, dictionary: Path) -> dict[str, str]:
    """Files and models by name. The n-gram model finds "a" impossible."""
    folder = tmp_path_factory.mktemp("json")
    (folder / "text").write_text("a b\nthe teacher\n", encoding="utf-8")
    (folder / "other").write_text("c d\nder Lehrer\n", encoding="utf-8")
    (folder / "links").write_text("0-0 1-1\n", encoding="utf-8")
    (folder / "ngram.arpa").write_text(ARPA, encoding="utf-8")
    assert main(["lm", "convert", str(folder / "ngram.arpa"), "--out", str(folder / "ngram"), "--quiet"]) == 0
    files = {name.upper(): str(folder / name) for name in ("text", "other", "links", "ngram")}
    return {**files, "DICTIONARY": str(dictionary)}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_printed_is_what_the_writer_wrote(
    dragoman: Command, places: dict[str, str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    written: list[str] = []
    writer = wording._safe_json

    def watched(value: object, indent: int | None) -> str:
        written.append(writer(value, indent))
        return written[-1]

    monkeypatch.setattr(wording, "_safe_json", watched)
    run = dragoman(*name.split(), *(places.get(word, word) for word in COMMANDS[name]), "--json")
    assert run.code == 0, run.err
    assert written
    assert run.out == "".join(f"{text}\n" for text in written)
    for text in written:
        json.loads(text, parse_constant=pytest.fail)


def test_a_log_probability_of_minus_infinity_is_null(dragoman: Command, places: dict[str, str]) -> None:
    figures = json.loads(dragoman("evaluate", places["NGRAM"], "--test", places["TEXT"], "--json").out)
    assert figures["log_probability"] is figures["perplexity"] is None


def test_no_command_has_a_writer_of_its_own() -> None:
    """explain writes JSON too, into a file: no module of commands has `json` at hand."""
    for path in Path(dragoman.cli.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not isinstance(node, ast.Import) or "json" not in {each.name for each in node.names}, path.name
