"""Does the command line load only what it needs to answer? (How fast it is, `make bench` says.)"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {
    "torch",
    "pydantic",
    "numpy",
    "matplotlib",
    "sentencepiece",
    "sacrebleu",
    "lxml",
    "polib",
    "tomlkit",
    "zstandard",
    "numba",
}
MODULES_AFTER = """
import json, sys
from dragoman.cli import main
for arguments in json.loads(sys.argv[1]):
    code = main(arguments)
    print(json.dumps([arguments, code, sorted({name.partition(".")[0] for name in sys.modules})]), file=sys.stderr)
"""
HELP = [["--version"], ["--help"], ["train", "--help"], ["translate", "--help"]]
RECIPES = [["recipes"], ["recipes", "transformer-small"], ["recipes", "dictionary"], ["recipes", "aligner-best"]]


@pytest.mark.parametrize(
    ("commands", "unwanted"),
    [(HELP, HEAVY), (RECIPES, {"torch", "matplotlib", "sacrebleu", "sentencepiece", "lxml", "numba"})],
    ids=["help", "recipes"],
)
def test_what_a_command_does_not_need_is_not_loaded(commands: list[list[str]], unwanted: set[str]) -> None:
    """One process runs them in turn: what none of them loads is loaded by no single one."""
    command = [sys.executable, "-c", MODULES_AFTER, json.dumps(commands)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    told = [json.loads(line) for line in run.stderr.splitlines()]
    assert [arguments for arguments, *_ in told] == commands
    for arguments, code, modules in told:
        assert code == 0, arguments
        assert set(modules) & unwanted == set(), arguments
