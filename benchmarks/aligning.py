"""How long do our aligners take beside eflomal, and how many of their links are right?

python -m benchmarks.aligning ROUNDS [SET ...]: multi30k, en-fr, grc-en, zh-en-characters, zh-en-jieba (all by
default), from BENCH_DATA; eflomal-align of EFLOMAL (its path) by turns with `dragoman align`, a process each,
after kernels are compiled. Wall seconds with start-up and memory are medians; AER in percent, of grow-diag-final-and
and of the intersection, the mean over rounds, each with another seed.

python -m benchmarks.aligning made-up COUNT: time and memory of `fast`, as it comes, with so many made-up pairs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import mean, median

import numpy as np

from dragoman.alignment.symmetrise import Symmetry, symmetrise
from dragoman.alignment.words import Cutting
from dragoman.contracts import Link
from dragoman.corpus.links import read_links
from dragoman.evaluation.links import link_figures, read_gold

WAYS: tuple[Symmetry, ...] = ("grow-diag-final-and", "intersection")
OURS = ("fast", "best")


@dataclass(frozen=True)
class Task:
    """source, target: files of words between spaces, those with gold first; gold: none where only time is measured."""

    name: str
    source: Path
    target: Path
    gold: Path | None
    options: tuple[str, ...] = ("--words", "spaces")


def tasks(data: Path, folder: Path) -> Iterator[Task]:
    """The sets that can be measured."""
    align = data / "align"
    raw = data / "multi30k"
    yield Task("multi30k", raw / "train.en", raw / "train.de", None)
    yield Task("en-fr", align / "en-fr/train.en", align / "en-fr/train.fr", align / "en-fr/gold")
    yield Task("grc-en", align / "grc-en/all.grc", align / "grc-en/all.en", align / "grc-en/all.gold")
    for units in ("characters", "jieba"):
        yield chinese(data, folder, units)


def chinese(data: Path, folder: Path, units: str) -> Task:
    """The gold pairs and then tatoeba and pydocs, these cut as `units` says: eflomal has to be given words."""
    gold = data / "align/zh-en-nist02"
    cut = {"zh": Cutting("spans", "jieba" if units == "jieba" else "characters", fold=False), "en": Cutting(fold=False)}
    files = {}
    for language, cutting in cut.items():
        files[language] = folder / f"{units}.{language}"
        more = (data / corpus / f"train.{language}" for corpus in ("tatoeba.en-zh", "pydocs.en-zh"))
        lines = chain.from_iterable(path.read_text(encoding="utf-8").splitlines() for path in more)
        words = (" ".join(line[start:end] for start, end in cutting.unit_spans(line)) for line in lines)
        first = (gold / f"test.{language}").read_text(encoding="utf-8").splitlines()
        files[language].write_text("".join(f"{line}\n" for line in chain(first, words)), encoding="utf-8")
    options = ("--words", "spaces", *(("--units", "characters") if units == "characters" else ()))
    return Task(f"zh-en-{units}", files["zh"], files["en"], gold / "test.gold", options)


def run(command: list[str]) -> tuple[float, float]:
    """Wall seconds and the largest resident memory (MB) of a process or one of its children."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(command)}")
    return time.monotonic() - began, usage.ru_maxrss / 1024


def eflomal(task: Task, out: Path) -> tuple[float, float]:
    """Both directions, its defaults."""
    given = ["-s", str(task.source), "-t", str(task.target), "-f", f"{out}.fwd", "-r", f"{out}.rev"]
    return run([os.environ["EFLOMAL"], "--overwrite", *given])


def dragoman(task: Task, model: str, how: str, seed: int, out: Path) -> tuple[float, float]:
    """Learning and linking at once."""
    files = [str(task.source), str(task.target), "--source", "qaa", "--target", "qab"]
    given = ["--model", model, "--symmetrise", how, "--seed", str(seed), "--out", str(out), "-q"]
    return run([sys.executable, "-m", "dragoman", "align", *files, *task.options, *given])


def links_of(path: Path) -> list[tuple[Link, ...]]:
    return [read_links(line) for line in path.read_text(encoding="utf-8").splitlines()]


def aer(found: Iterable[Iterable[Link]], gold: Path) -> float:
    true = [read_gold(line) for line in gold.read_text(encoding="utf-8").splitlines()]
    return 100 * link_figures(list(found)[: len(true)], true).error_rate


def measure(task: Task, rounds: int, folder: Path) -> None:
    """Print a row a system."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ("eflomal", *OURS)}
    errors: dict[tuple[str, str], list[float]] = {(name, how): [] for name in times for how in WAYS}
    out = folder / "links"
    for number in range(1, rounds + 1):
        taken = {"eflomal": eflomal(task, out)}
        if task.gold:
            both = [links_of(Path(f"{out}.{way}"))[: sum(1 for _ in task.gold.open())] for way in ("fwd", "rev")]
            for how in WAYS:
                found = [symmetrise(one, other, how) for one, other in zip(*both, strict=True)]
                errors["eflomal", how].append(aer(found, task.gold))
        for model in OURS:
            for how in WAYS if task.gold else WAYS[:1]:
                spent = dragoman(task, model, how, number, out)
                taken.setdefault(model, spent)
                if task.gold:
                    errors[model, how].append(aer(links_of(out), task.gold))
        for name, spent in taken.items():
            times[name].append(spent)
    base = median(seconds for seconds, _ in times["eflomal"])
    for name, all_taken in times.items():
        seconds, memory = (median(column) for column in zip(*all_taken, strict=True))
        figures = " | ".join(f"{mean(errors[name, how]):.2f}" if errors[name, how] else "-" for how in WAYS)
        print(f"| {task.name} | {name} | {seconds:.1f} | {seconds / base:.2f} | {memory:.0f} | {figures} |", flush=True)


def made_up(count: int, folder: Path, words: int = 100_000) -> Task:
    """Words by Zipf's law, 15 a sentence, without topics; a fifth of the target is noise, its order nearly the same."""
    random = np.random.default_rng(1)
    upto_V = np.cumsum(1 / np.arange(3, words + 3))
    other_V = random.permutation(words)

    def drawn(size: int) -> np.ndarray:
        found: np.ndarray = np.searchsorted(upto_V, random.random(size) * upto_V[-1])
        return found

    files = folder / "made-up.en", folder / "made-up.de"
    with files[0].open("w") as source, files[1].open("w") as target:
        for length in random.poisson(14, count) + 1:
            words_I = drawn(length)
            turned_J = np.where(random.random(length) < 0.2, drawn(length), other_V[words_I])
            order_J = np.argsort(np.arange(length) + random.normal(0, 1.5, length))
            source.write(" ".join(f"s{word}" for word in words_I) + "\n")
            target.write(" ".join(f"t{word}" for word in turned_J[order_J]) + "\n")
    return Task("made-up", *files, None)


def main(rounds: int, names: list[str]) -> None:
    data = Path(os.environ["BENCH_DATA"])
    head = "set", "system", "seconds", "of eflomal's", "MB", *(f"AER {how}" for how in WAYS)
    print(f"| {' | '.join(head)} |\n{'|---' * len(head)}|")
    with tempfile.TemporaryDirectory() as folder:
        few = made_up(200, Path(folder))
        for model in OURS:  # so that kernels are compiled
            dragoman(few, model, WAYS[0], 1, Path(folder) / "links")
        for task in tasks(data, Path(folder)):
            if not names or task.name in names:
                measure(task, rounds, Path(folder))


if __name__ == "__main__" and sys.argv[1:2] == ["made-up"]:
    with tempfile.TemporaryDirectory() as place:
        task = made_up(int(sys.argv[2]), Path(place))
        print("{:.0f} seconds, {:.0f} MiB".format(*dragoman(task, "fast", WAYS[0], 1, Path(place) / "links")))
elif __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3, sys.argv[2:])
