"""Does every command that the pages show exist, with the options they show?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.cli.app import application
from dragoman.cli.options import protect

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "README.zh.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMAND = re.compile(r"(?:\$ )?(?:\.venv/bin/)?dragoman (\S.*)")
LINKING = [page for page in [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CHANGELOG.md"] if page.exists()]
LINK = re.compile(r"\]\(([^)#\s]+)")
MAKE = re.compile(r"\bmake ([a-z]+)\b")


def code_lines(page: Path) -> Iterator[str]:
    """Lines of fenced blocks, those that end in a backslash joined."""
    inside, text = False, page.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if line.startswith("```"):
            inside = not inside
        elif inside:
            yield line.strip()


def commands() -> Iterator[tuple[str, list[str]]]:
    for page in filter(Path.exists, PAGES):
        for line in code_lines(page):
            if shown := COMMAND.fullmatch(line):
                words = shlex.split(shown[1], comments=True)
                end = next((i for i, word in enumerate(words) if word in ("|", ">", "<", "&&")), len(words))
                yield f"{page.name}: {line}", words[:end]


COMMANDS = list(commands())


def test_the_readme_shows_commands() -> None:
    shown = {words[0] for where, words in COMMANDS if where.startswith("README.md")}
    assert {"train", "translate", "evaluate"} <= shown


@pytest.mark.parametrize("words", [words for _, words in COMMANDS], ids=[where for where, _ in COMMANDS])
def test_a_shown_command_parses(words: list[str]) -> None:
    application().parse_args(protect(words), exit_on_error=False, print_error=False)


def test_make_targets_that_pages_name_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    named = {name for page in filter(Path.exists, PAGES) for line in code_lines(page) for name in MAKE.findall(line)}
    assert named <= targets
    assert {"demo", "test", "check", "bench"} <= targets


@pytest.mark.parametrize("page", LINKING, ids=[page.name for page in LINKING])
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = [target for target in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in target]
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", LINKING, ids=[page.relative_to(ROOT).as_posix() for page in LINKING])
def test_nothing_waits_to_be_filled_in(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [word for word in ("@@", "being measured", "TODO", "TBD", "FIXME", "XXX") if word in text] == []
