"""How do our n-gram models compare with KenLM's: figures, exchange, speed; and how long does a large text take?

python -m benchmarks.ngram [--rounds N] [--tokens N] [--picture FILE] [PART ...]: figures, exchange, speed, large,
picture (all by default), of the folder lm in BENCH_DATA. KENLM is a Python that has the module kenlm; without it what
needs it is skipped. Speeds are medians of rounds by turns, each of one thread, in words and ends of lines a second.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.aligning import run
from dragoman.contracts import Sampling, Work
from dragoman.corpus.textfiles import ListText, open_text
from dragoman.drawing.chart import Curve, curves
from dragoman.drawing.raster import png
from dragoman.lm.learning import learn_ngrams
from dragoman.lm.model import NgramModel
from dragoman.lm.recipes import NgramRecipe
from dragoman.lm.units import END
from dragoman.texts import Generating

PARTS = ("figures", "exchange", "speed", "large", "picture")
TIMES = 5
LEAST = 20_000_000
BATCHES = (100, 1000)
KENLM_SCRIPT = """
import json, statistics, sys, time
import kenlm
model, lines = kenlm.Model(sys.argv[1]), open(sys.argv[2], encoding="utf-8").read().splitlines()
sentences = [line.split() + ["</s>"] for line in lines]
def walk():
    total = 0.0
    for words in sentences:
        state, after = kenlm.State(), kenlm.State()
        model.BeginSentenceWrite(state)
        for word in words:
            total += model.BaseScore(state, word, after)
            state, after = after, state
    return total
def timed(what):
    taken = []
    for _ in range(int(sys.argv[3])):
        began = time.perf_counter()
        what()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)
print(json.dumps({
    "scores": [model.score(line) for line in lines],
    "score": timed(lambda: [model.score(line) for line in lines]),
    "states": timed(walk),
}))
"""


def kenlm(arpa: Path, test: Path) -> dict[str, Any]:
    """Its scores of the lines, and the seconds that it takes."""
    command = [os.environ["KENLM"], "-c", KENLM_SCRIPT, str(arpa), str(test), str(TIMES)]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def learnt(text: Any, **choices: Any) -> NgramModel:
    with tempfile.TemporaryDirectory() as folder:
        return learn_ngrams(NgramRecipe(**choices), text, None, Work(Path(folder)))


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def apart(model: NgramModel, lines: list[str], tens: list[float]) -> float:
    """How far the worst line is from these logarithms of base 10."""
    return float(np.abs(model.log_probabilities(lines) / math.log(10) - np.array(tens)).max())


def figures(data: Path) -> None:
    """Ours of the same text, beside what KenLM gave for its lines."""
    lines = lines_of(data / "brown.test.txt")
    for order in (3, 5):
        model = learnt(open_text([str(data / "brown.train.txt")]), order=order)
        found = model.evaluate(ListText([lines]))
        worst = apart(model, lines, [float(line) for line in lines_of(data / f"brown.test.o{order}.log10")])
        print(f"order {order}: n-grams {model.ngrams.counts}, discounts {model.facts['discounts']}")
        print(
            f"  perplexity {found.perplexity:.4f}, without unknown {found.perplexity_of_known:.4f}, of "
            f"{found.tokens:,} and {found.unknown:,} unknown; worst line {worst:.1e} from KenLM's"
        )


def exchange(data: Path, folder: Path) -> None:
    """ARPA both ways."""
    lines = lines_of(data / "brown.test.txt")
    read = NgramModel.read_arpa(data / "brown.o3.arpa.gz")
    worst = apart(read, lines, [float(line) for line in lines_of(data / "brown.test.o3.log10")])
    print(f"KenLM's ARPA read by us: worst of {len(lines):,} lines {worst:.1e}")
    if "KENLM" in os.environ:
        worst = apart(read, lines, kenlm(data / "brown.o3.arpa.gz", data / "brown.test.txt")["scores"])
        print(f"  beside the module kenlm reading it: {worst:.1e}")
        for choices in ({}, {"prune": (0, 0, 1)}, {"smoothing": "witten-bell"}):
            model = learnt(open_text([str(data / "brown.train.txt")]), order=5, **choices)
            model.write_arpa(folder / "ours.arpa")
            worst = apart(model, lines, kenlm(folder / "ours.arpa", data / "brown.test.txt")["scores"])
            print(f"our ARPA {choices or ''} read by kenlm: worst line {worst:.1e}")


def seconds(what: Callable[[], object]) -> float:
    taken = []
    for _ in range(TIMES):
        began = time.perf_counter()
        what()
        taken.append(time.perf_counter() - began)
    return median(taken)


def walk(model: NgramModel, ids: list[list[int]], batch: int) -> float:
    """All sentences, word by word, so many of them side by side; those that have ended leave."""
    order, total = sorted(ids, key=len, reverse=True), 0.0
    for begin in range(0, len(order), batch):
        part = order[begin : begin + batch]
        words_TB = [np.array([one[t] for one in part if len(one) > t], np.int32) for t in range(len(part[0]))]
        states_B = np.full(len(part), model.ngrams.start, np.int32)
        for words_B in words_TB:
            log_probs_B, states_B = model.ngrams.advance(states_B[: len(words_B)], words_B)
            total += float(log_probs_B.sum())
    return total


def speed(data: Path, folder: Path, rounds: int) -> None:
    """Beside the module kenlm, which reads our ARPA."""
    test = data / "brown.test.txt"
    lines = lines_of(test)
    model = learnt(open_text([str(data / "brown.train.txt")]), order=5)
    model.write_arpa(folder / "ours.arpa")
    ids = [[*model.vocabulary.ids(line), END] for line in lines]
    tokens = sum(map(len, ids))
    ways: dict[str, Callable[[], object]] = {
        "score, with a log-probability for each word": lambda: model.score(lines),
        "log_probabilities, sums only": lambda: model.log_probabilities(lines),
        **{f"advance, {batch:,} states at once": lambda batch=batch: walk(model, ids, batch) for batch in BATCHES},  # type: ignore[misc]
    }
    taken: dict[str, list[float]] = {}
    for what in ways.values():
        what()
    for _ in range(rounds):
        if "KENLM" in os.environ:
            found = kenlm(folder / "ours.arpa", test)
            taken.setdefault("kenlm score", []).append(found["score"])
            taken.setdefault("kenlm BaseScore", []).append(found["states"])
        for name, what in ways.items():
            taken.setdefault(name, []).append(seconds(what))
    print("| | words a second | of kenlm's |\n|---|---|---|")
    for name, all_taken in taken.items():
        peer = "kenlm BaseScore" if "advance" in name or "Base" in name else "kenlm score"
        ratio = f"{median(taken[peer]) / median(all_taken):.2f}" if peer in taken else "-"
        print(f"| {name} | {tokens / median(all_taken):,.0f} | {ratio} |")


def large(data: Path, folder: Path, tokens: int) -> None:
    """A text drawn from our own model, and the process that learns from it."""
    model = learnt(open_text([str(data / "brown.train.txt")]), order=5)
    text, drawn = folder / "drawn.txt", 0
    with text.open("w", encoding="utf-8") as out:
        for one in model.generate("", Generating(tokens // 20, 200, Sampling(seed=1))):
            if drawn < tokens:
                drawn += len(one.token_log_probabilities)
                out.write(f"{one.text}\n")
    command = [sys.executable, "-m", "dragoman", "train", "ngram", "--train", str(text), "--set", "order=5"]
    taken, memory = run([*command, "--out", str(folder / "model"), "-q"])
    made = NgramModel.load(folder / "model")
    print(f"{drawn:,} words and ends, order 5: {taken:.1f} s, {memory:,.0f} MB; n-grams {made.ngrams.counts}")


def picture(data: Path, path: Path) -> None:
    """Order against perplexity, with and without smoothing."""
    train, texts = open_text([str(data / "brown.train.txt")]), {}
    for name, file in (("unseen text", "brown.test.txt"), ("its own text", "brown.train.txt")):
        lines = lines_of(data / file)
        texts[name] = lines, sum(len(line.split()) + 1 for line in lines)
    orders = tuple(range(1, 7))
    rows: dict[str, list[float]] = {}
    for order in orders:
        for smoothing in ("kneser-ney", "witten-bell", "add-k", "maximum-likelihood"):
            model = learnt(train, order=order, smoothing=smoothing, k=0.01)
            for name, (lines, tokens) in texts.items():
                loss = -float(model.log_probabilities(lines).sum()) / tokens
                rows.setdefault(f"{smoothing}, {name}", []).append(math.exp(loss) if loss < 700 else math.inf)
    print(f"| | {' | '.join(map(str, orders))} |\n|---{'|---' * len(orders)}|")
    for name, values in rows.items():
        print(f"| {name} | {' | '.join(f'{value:,.1f}' for value in values)} |")
    drawn = [
        Curve(name, tuple(map(float, orders)), tuple(values), "own" in name)
        for name, values in rows.items()
        if np.isfinite(values).all() and ("unseen" in name or name[0] in "km")
    ]
    path.write_bytes(png(curves(drawn, across="order n", up="perplexity", logarithmic=True)))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ngram", description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=LEAST)
    parser.add_argument("--picture", type=Path, default=Path("build/bench/ngram.png"))
    asked = parser.parse_args()
    data = Path(os.environ["BENCH_DATA"]) / "lm"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        works: dict[str, Callable[[], None]] = {
            "figures": lambda: figures(data),
            "exchange": lambda: exchange(data, folder),
            "speed": lambda: speed(data, folder, asked.rounds),
            "large": lambda: large(data, folder, asked.tokens),
            "picture": lambda: picture(data, asked.picture),
        }
        for part in asked.parts or PARTS:
            print(f"\n--- {part}", flush=True)
            works[part]()


if __name__ == "__main__":
    main()
