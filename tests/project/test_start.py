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
code = main(sys.argv[1:])
print(json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]), file=sys.stderr)
"""


def modules_after(*arguments: str) -> tuple[int, set[str]]:
    run = subprocess.run([sys.executable, "-c", MODULES_AFTER, *arguments], capture_output=True, text=True, check=True)
    code, modules = json.loads(run.stderr.splitlines()[-1])
    return code, set(modules)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["train", "--help"], ["translate", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code, modules = modules_after(*arguments)
    assert code == 0
    assert modules & HEAVY == set()


@pytest.mark.parametrize(
    "arguments", [["recipes"], ["recipes", "transformer-small"], ["recipes", "dictionary"], ["recipes", "aligner-best"]]
)
def test_recipes_load_no_torch(arguments: list[str]) -> None:
    code, modules = modules_after(*arguments)
    assert code == 0
    assert modules & {"torch", "matplotlib", "sacrebleu", "sentencepiece", "lxml", "numba"} == set()
