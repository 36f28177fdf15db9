"""How do tests run a command?"""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from dragoman.cli import main
from tests.generated import generated_pairs

# A network, and looks at the dev set, that take next to no time.
TINY = [
    "pieces=400",
    "width=32",
    "inner=64",
    "validate_every=1000",
    "dev_sentences=4",
    "beam=3",
    "alpha=0.7",
    "max_ratio=0.5",
]


@dataclass(frozen=True)
class Run:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def error_line(self) -> str:
        """The one line that a mistake is told in."""
        lines = self.err.splitlines()
        assert self.code == 2, self.err
        assert lines
        assert "Traceback" not in self.err
        return lines[-1]


Command = Callable[..., Run]
MadeOnce = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture
def dragoman(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run a command inside this process, in a folder of its own. given: what it reads from standard input."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, given: bytes = b"") -> Run:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), encoding="utf-8"))
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        shown = capsys.readouterr()
        return Run(code, shown.out, shown.err)

    return run


@pytest.fixture
def fed(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Run a command as a process of its own, with bytes on standard input."""

    def run(given: bytes, *arguments: object) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "dragoman", *map(str, arguments)]
        return subprocess.run(command, input=given, capture_output=True, cwd=tmp_path)

    return run


@pytest.fixture(scope="session")
def pair_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """600 generated pairs as two plain text files, train.en and train.zh."""
    folder = tmp_path_factory.mktemp("pairs")
    pairs = generated_pairs(600, "en", "zh")
    files = folder / "train.en", folder / "train.zh"
    files[0].write_text("".join(f"{pair.source}\n" for pair in pairs), encoding="utf-8")
    files[1].write_text("".join(f"{pair.target}\n" for pair in pairs), encoding="utf-8")
    return files


@pytest.fixture(scope="session")
def dictionary(pair_files: tuple[Path, Path], made_once: MadeOnce) -> Path:
    """A model folder of the quickest kind."""
    return made_once("commands/dictionary", lambda folder: train("dictionary", pair_files, folder))


@pytest.fixture(scope="session")
def transformer(pair_files: tuple[Path, Path], made_once: MadeOnce) -> Path:
    """A model folder of a network that has hardly learnt anything: enough for commands, not for quality."""
    settings = [*TINY, "max_updates=20"]
    return made_once("commands/transformer", lambda folder: train("transformer-tiny", pair_files, folder, *settings))


def train(recipe: str, files: tuple[Path, Path], folder: Path, *settings: str) -> None:
    sets = [word for setting in settings for word in ("--set", setting)]
    assert main(["train", recipe, "--train", *map(str, files), "--out", str(folder), "--quiet", *sets]) == 0
