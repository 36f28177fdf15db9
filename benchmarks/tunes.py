"""Are tunes that a language model writes tunes to a program that reads ABC?

python -m benchmarks.tunes FILES.abc... [--recipe rnn-lm] [--time 3m | --updates 1500] [--count 50]
    [--temperature 0.8] [--python PYTHON]

A document is a block of lines, which is how a file of ABC tunes is written; a model of characters learns them for the
time, writes as many as asked, and music21 reads each one. Read is a tune that music21 parses and that has at least
FEWEST notes. The tunes that were learnt from are read too: they are what can be reached. PYTHON: an interpreter that
has music21 (pip install music21), if this one has not; without it the tunes are written and not read.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

FEWEST = 8
SETTINGS = ["text.document=block", "text.max_pieces=1500"]
READER = """
import json, sys, warnings
warnings.simplefilter("ignore")
from music21 import converter
found = []
for tune in json.load(sys.stdin):
    try:
        notes = len(converter.parse(tune, format="abc").flatten().notes)
        found.append([notes, ""])
    except Exception as error:
        found.append([0, f"{type(error).__name__}: {error}"[:100]])
print(json.dumps(found))
"""


def read_by_music21(tunes: Sequence[str], python: str) -> list[tuple[int, str]] | None:
    """Notes of each tune, and why it could not be read; None where there is no music21."""
    done = subprocess.run([python, "-c", READER], input=json.dumps(tunes), capture_output=True, text=True)
    if done.returncode:
        print(f"not read: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return [(notes, why) for notes, why in json.loads(done.stdout.splitlines()[-1])]


def blocks_of(files: Sequence[str]) -> list[str]:
    """The tunes of some files."""
    texts = (Path(file).read_text(encoding="utf-8") for file in files)
    return [block.strip("\n") for text in texts for block in text.split("\n\n") if block.strip()]


def written(files: Sequence[str], asked: argparse.Namespace, folder: Path) -> list[str]:
    """Train by the command, and write by the command."""
    command, out = [sys.executable, "-m", "dragoman"], str(folder / "tunes")
    sets = [word for setting in (*SETTINGS, *asked.set) for word in ("--set", setting)]
    limit = ["--set", f"max_updates={asked.updates}"] if asked.updates else ["--time-budget", asked.time]
    learn = ["train", asked.recipe, "--train", *files, "--out", out, *sets, *limit]
    subprocess.run([*command, *learn, "--threads", str(asked.threads)], check=True)
    write = ["generate", out, "--n", str(asked.count), "--temperature", str(asked.temperature), "--length", "1500"]
    done = subprocess.run([*command, *write, "--json"], check=True, capture_output=True, text=True)
    return [json.loads(line)["text"] for line in done.stdout.splitlines()]


def told(name: str, tunes: Sequence[str], found: Sequence[tuple[int, str]]) -> None:
    """Print how many were read, and why the others were not."""
    read = sum(notes >= FEWEST for notes, _ in found)
    print(f"{name}: {read} of {len(found)} read ({read / len(found):.0%})")
    for tune, (notes, why) in zip(tunes, found, strict=True):
        if notes < FEWEST:
            print(f"  {why or f'{notes} notes'}  {tune[:60]!r}")


def main() -> None:
    """Print the shares, and one of the tunes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--recipe", default="rnn-lm")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--time", default="3m")
    parser.add_argument("--updates", type=int, default=0, help="a limit of updates in place of a time")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--python", default=os.environ.get("MUSIC21_PYTHON", sys.executable))
    asked = parser.parse_args()
    known = blocks_of(asked.files)
    with tempfile.TemporaryDirectory() as folder:
        tunes = written(asked.files, asked, Path(folder))
    sample = random.Random(1).sample(known, min(len(known), asked.count))
    copied = sum(tune in set(known) for tune in tunes)
    print(f"{tunes[0]}\n\n{copied} of {len(tunes)} are tunes of the files, word for word")
    for name, texts in (("written", tunes), ("learnt from", sample)):
        found = read_by_music21(texts, asked.python)
        if found is None:
            return
        told(name, texts, found)


if __name__ == "__main__":
    main()
