"""How fast are a million pairs cleaned and inspected, and how fast by OpusFilter?

python -m benchmarks.filtering [PAIRS [COMPARED [TIMES]]]: `corpus clean` and `corpus inspect` with all their filters on
PAIRS (1,000,000) made-up pairs, a tenth of them spoilt; then COMPARED (1,000,000) by us and by OpusFilter (with
one process and with two), both with the filters that both have: length, length ratio, long words, script, duplicates.
Seconds with start and reading, the largest memory of a process, medians of TIMES (3) by turns, and whether the same
pairs are kept.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.memory import write
from benchmarks.steps import PEERS, Result, step, table

LONGEST, RATIO, LONG_WORD, SHARE = 40, 3, 40, 0.8

OURS = f"""
kind = "cleaning"
repeated = "pairs"
[normalise]
mojibake = false
spaces = false
[filters]
longest = {LONGEST}
shortest = 1
length_ratio = {RATIO - 1e-9}
ratio_slack = 0.0
longest_word = {LONG_WORD - 1}
script_share = {SHARE}
punctuation_share = "none"
odd_signs = "none"
mojibake = false
identical = "none"
number_share = "none"
link_share = "none"
repeats = "none"
"""


def write_spoilt(place: Path, pairs: int) -> list[str]:
    """Made-up pairs; of each 50 one is too long on one side, one has a long word, one is Cyrillic, two come again."""
    files = write(place, pairs)
    texts = [Path(file).read_text(encoding="utf-8").split("\n")[:-1] for file in files]
    draws = np.random.default_rng(2)
    for number, line in enumerate(draws.permutation(pairs)[: pairs // 10].tolist()):
        if number % 5 == 0:
            texts[1][line] = " ".join([texts[1][line]] * 4)
        elif number % 5 == 1:
            texts[1][line] += " " + "o" * 50
        elif number % 5 == 2:
            texts[1][line] = "это предложение написано кириллицей " + str(line)
        else:
            other = int(draws.integers(pairs))
            texts[0][line], texts[1][line] = texts[0][other], texts[1][other]
    for file, lines in zip(files, texts, strict=True):
        Path(file).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return files


def spoilt_apart(place: Path, pairs: int) -> list[str]:
    """`write_spoilt` in a process of its own: a child is told the largest memory of its parent as its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as apart:
        return apart.submit(write_spoilt, place, pairs).result()


def timed(command: Sequence[str], **environment: str) -> tuple[float, float]:
    """Seconds by the clock, and GiB of the largest of its processes. CalledProcessError where it fails."""
    began = time.monotonic()
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **environment}
    ) as running:
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        raise subprocess.CalledProcessError(running.returncode, command)
    largest: resource.struct_rusage = usage
    return time.monotonic() - began, largest.ru_maxrss / 2**20


def dragoman(*arguments: str) -> tuple[float, float]:
    return timed([sys.executable, "-m", "dragoman", *arguments])


def by_us(files: Sequence[str], place: Path, recipe: str) -> tuple[float, float]:
    """`corpus clean` with a recipe."""
    out = [str(place / f"ours.{language}") for language in ("en", "de")]
    (place / "recipe.toml").write_text(recipe, encoding="utf-8")
    return dragoman("corpus", "clean", *files, "--out", *out, "--recipe", str(place / "recipe.toml"), "--quiet")


def by_opusfilter(files: Sequence[str], place: Path, jobs: int) -> tuple[float, float]:
    """Its duplicate removal and its filters, in one run."""
    command = PEERS.resolve() / "venvs/opusfilter/bin/opusfilter"
    if not command.exists():
        raise FileNotFoundError(f"no {command}: set PEERS_ROOT")
    filters: list[dict[str, object]] = [
        {"LengthFilter": {"unit": "word", "min_length": 1, "max_length": LONGEST}},
        {"LengthRatioFilter": {"unit": "word", "threshold": RATIO}},
        {"LongWordFilter": {"threshold": LONG_WORD}},
        {"CharacterScoreFilter": {"scripts": ["Latin", "Latin"], "thresholds": [SHARE, SHARE]}},
    ]
    kept, out = ([f"{name}.{language}" for language in ("en", "de")] for name in ("filtered", "theirs"))
    steps = [
        {"type": "filter", "parameters": {"inputs": list(files), "outputs": kept, "filters": filters}},
        {
            "type": "remove_duplicates",
            "parameters": {
                "inputs": kept, "outputs": out, "lowercase": True, "letters_only": True, "letter_words_only": False
            },
        },
    ]  # fmt: skip
    config = {"common": {"output_directory": str(place), "default_n_jobs": jobs}, "steps": steps}
    (place / "config.yaml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
    return timed([str(command), "--overwrite", str(place / "config.yaml")])


def compared(pairs: int, times: int) -> Result:
    """Seconds and memory of both, by turns, and how many of the kept pairs are the same."""
    taken: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        files = spoilt_apart(place, pairs)
        for _ in range(times):
            taken.setdefault("Dragoman", []).append(by_us(files, place, OURS))
            for jobs in (1, 2):
                taken.setdefault(f"OpusFilter 3.3.1, n_jobs {jobs}", []).append(by_opusfilter(files, place, jobs))
        kept = [set(_lines(place, name)) for name in ("ours", "theirs")]
    return {"taken": taken, "kept": [len(each) for each in kept], "both": len(kept[0] & kept[1])}


def _lines(place: Path, name: str) -> list[tuple[str, str]]:
    sides = [(place / f"{name}.{code}").read_text(encoding="utf-8").split("\n")[:-1] for code in ("en", "de")]
    return list(zip(*sides, strict=True))


def whole(pairs: int) -> Result:
    """`clean` and `inspect` with all that they do by default."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        files = spoilt_apart(place, pairs)
        cleaned = by_us(files, place, 'kind = "cleaning"\n')
        return {"clean": cleaned, "inspect": dragoman("corpus", "inspect", *files, "--json", "--quiet")}


def main(pairs: int = 1_000_000, few: int = 1_000_000, times: int = 3) -> None:
    """Print a row a run."""
    found = step(f"filtering-{pairs}", partial(whole, pairs))
    rows: list[tuple[object, ...]] = [
        (f"Dragoman, corpus {verb}, {pairs:,} pairs", f"{found[verb][0]:.0f}", f"{found[verb][1]:.2f}", "")
        for verb in ("clean", "inspect")
        if verb in found
    ]
    beside = step(f"filtering-beside-{few}", partial(compared, few, times))
    if "taken" in beside:
        medians = {name: median(seconds for seconds, _ in runs) for name, runs in beside["taken"].items()}
        ours = medians["Dragoman"]
        for name, runs in beside["taken"].items():
            memory = max(size for _, size in runs)
            rows.append(
                (f"{name}, {few:,} pairs", f"{medians[name]:.1f}", f"{memory:.2f}", f"{medians[name] / ours:.1f}")
            )
    print(table(("run", "seconds", "GiB", "times ours"), rows))
    if "taken" in beside:
        print(f"\nkept by us {beside['kept'][0]:,}, by OpusFilter {beside['kept'][1]:,}, by both {beside['both']:,}")
    else:
        print(f"\nOpusFilter: skipped: {beside['skipped']}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
