"""How much memory does a training take on a large corpus?

python -m benchmarks.memory [PAIRS [UPDATES]]: transformer-small on PAIRS (1,000,000) generated sentence pairs, from the
text files to the state of update UPDATES (60), in a process of its own; the largest resident memory of that process.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.steps import Result, step

WORDS = 30_000


def write(place: Path, pairs: int) -> list[str]:
    """Two text files of so many pairs of made-up words, 15 a sentence in the mean, the n-th word 1/n as frequent as
    the first; the same ones every time."""
    draws = np.random.default_rng(1)
    letters = np.array(list("abcdefghijklmnoprstuvwz"))
    words = ["".join(draws.choice(letters, size)) for size in draws.integers(2, 11, WORDS)]
    shares = np.cumsum(1 / np.arange(1, WORDS + 1))
    files = [place / "train.en", place / "train.de"]
    with files[0].open("w", encoding="utf-8") as source, files[1].open("w", encoding="utf-8") as target:
        for _ in range(pairs):
            chosen = np.searchsorted(shares, draws.random(draws.integers(4, 27)) * shares[-1])
            source.write(" ".join(words[index] for index in chosen) + "\n")
            target.write(" ".join(words[-index] for index in chosen[::-1]) + "\n")
    return [str(file) for file in files]


def measured(pairs: int, updates: int) -> Result:
    """Train by the command line and ask the system for the peak of that process."""
    with tempfile.TemporaryDirectory() as folder:
        files = write(Path(folder), pairs)
        command = [sys.executable, "-m", "dragoman", "train", "transformer-small", "--train", *files]
        settings = [f"max_updates={updates}", f"validate_every={updates}", "warmup_updates=10", "dev_sentences=50"]
        for setting in settings:
            command += ["--set", setting]
        began = time.monotonic()
        subprocess.run([*command, "--out", str(Path(folder) / "m")], check=True, stdout=subprocess.DEVNULL)
        seconds = time.monotonic() - began
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2  # of kilobytes on Linux
    return {"pairs": pairs, "updates": updates, "seconds": seconds, "peak_gib": peak}


def main(pairs: int = 1_000_000, updates: int = 60) -> None:
    """Print a line."""
    found = step(f"memory-{pairs}-{updates}", partial(measured, pairs, updates))
    if "skipped" in found:
        print(json.dumps(found))
    else:
        print(f"{pairs:,} pairs: {found['peak_gib']:.2f} GiB at the peak, {found['seconds']:.0f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
