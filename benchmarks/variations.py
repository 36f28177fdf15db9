"""What does each choice of a network bring, one changed at a time?

python -m benchmarks.variations STUDY [--updates N] [--seeds 1,2] [--threads 1] [--set name=value]: trains each row of a
study (walk, encoders, ablation) for so many updates, so that the load of the machine does not matter for BLEU, and
evaluates it on the test set. Target tokens/s are medians over the training; they compare only where the machine did
nothing else (each result in build/bench says under which load). BLEU of several seeds is shown one by one, with the
mean's distance from the first row.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from benchmarks.corpora import MULTI30K, TATOEBA_ZH_EN, Corpus
from benchmarks.quality import dragoman
from benchmarks.steps import RESULTS, Result, step, table
from dragoman.neural.recipes import BAHDANAU, LUONG, TINY

Settings = tuple[str, ...]
"""name=value, as `--set` takes them."""


class Study(NamedTuple):
    """rows: of each its name and what it changes of the recipe. The first one is what the others are compared with."""

    about: str
    corpus: Corpus
    recipe: str
    rows: Callable[[], dict[str, Settings]]
    updates: int
    seeds: tuple[int, ...]


def walk() -> dict[str, Settings]:
    """From the preset of Bahdanau et al. to that of Luong et al.; each row keeps what the rows above it changed."""
    there, now = asdict(LUONG.model), asdict(BAHDANAU.model)
    rows: dict[str, Settings] = {"rnn-bahdanau": ()}
    for name in ("fuse", "ask", "score", "encoder"):
        rows[f"{name} = {there[name]}"] = (*list(rows.values())[-1], f"model.{name}={there[name]}")
        now[name] = there[name]
    rest = [name for name in there if there[name] != now[name]]
    what = ", ".join(f"{name} = {there[name]}" for name in rest)
    rows[f"{what}: rnn-luong" if rest else "rnn-luong"] = (
        *list(rows.values())[-1],
        *(f"model.{name}={there[name]}" for name in rest),
    )
    rows["input feeding"] = (*list(rows.values())[-1], "model.input_feeding=true")
    return rows


def encoders() -> dict[str, Settings]:
    """One decoder, that of rnn-luong, behind each encoder."""
    rows = {
        "LSTM": ("encoder=uni",),
        "LSTM, both directions": ("encoder=bi",),
        "convolution, 4 layers": ("encoder=conv", "encoder_layers=4"),
        "convolution, 4 layers, dilation 2": ("encoder=conv", "encoder_layers=4", "dilation=2"),
        "convolution over both sides, 4 layers": ("encoder=conv-bi", "encoder_layers=4"),
        "self-attention": ("encoder=attention",),
    }
    return {name: tuple(f"model.{each}" for each in settings) for name, settings in rows.items()}


WIDTH, HEADS, DROPOUT = TINY.model.width, TINY.model.heads, TINY.model.dropout
INNER = TINY.model.inner // WIDTH  # times the width


def ablation() -> dict[str, Settings]:
    """A Transformer, and the same without each of its parts, or with more or less of it."""
    dropouts = ("dropout", "attention_dropout", "inner_dropout")
    rows: dict[str, Settings] = {
        f"the Transformer ({WIDTH} wide, inner {INNER} d, {HEADS} heads, dropout {DROPOUT})": (),
        "no positions": ("positions=none",),
        "no residual": ("residual=false",),
        "no norm": ("norm=none",),
        "no ReLU": ("activation=none",),
        "no 1/sqrt(d_k)": ("score=dot",),
        **{f"inner width {times} d": (f"inner={times * WIDTH}",) for times in (1, 2, 4, 8) if times != INNER},
        **{f"heads {heads}": (f"heads={heads}",) for heads in (1, 4, 8) if heads != HEADS},
        **{f"dropout {p:g}": tuple(f"{name}={p:g}" for name in dropouts) for p in (0, 0.1, 0.3) if p != DROPOUT},
    }
    return {name: tuple(f"model.{each}" for each in settings) for name, settings in rows.items()}


STUDIES = {
    "walk": Study("from rnn-bahdanau to rnn-luong, one setting at a time", MULTI30K, "rnn-bahdanau", walk, 6_000, (1,)),
    "encoders": Study("one decoder behind each encoder", MULTI30K, "rnn-luong", encoders, 6_000, (1,)),
    "ablation": Study(
        "the Transformer without each of its parts", TATOEBA_ZH_EN, "transformer-tiny", ablation, 6_000, (1, 2)
    ),
}
DIVERGED = ("the loss is no number", "they are NaN")  # said by an update, or by a look at the dev set


class Run(NamedTuple):
    """One training: where its step and its model are, and what is asked for."""

    key: str
    corpus: Corpus
    recipe: str
    settings: Settings
    seed: int
    limits: Settings = ()
    threads: int = 1


def trained(run: Run) -> Result:
    """BLEU and chrF on the test set, target tokens/s; or that the training diverged, which is a result too."""
    out = (RESULTS / run.key).resolve()
    languages = ["--source", run.corpus.source, "--target", run.corpus.target]
    files = ["--train", *run.corpus.part("train"), "--dev", *run.corpus.part(run.corpus.dev)]
    sets = [f"--set={each}" for each in run.settings]
    command = ["train", run.recipe, *files, *languages, *sets, *run.limits, "--seed", str(run.seed)]
    threads = ["--threads", str(run.threads)]
    done = subprocess.run(
        [sys.executable, "-m", "dragoman", *command, *threads, "--out", str(out)],
        capture_output=True,
        text=True,
    )
    sys.stderr.write(done.stderr)
    if any(words in done.stderr for words in DIVERGED):
        return {"diverged": done.stderr.splitlines()[-1]}
    if done.returncode:
        raise OSError(done.stderr.strip().rpartition("\n")[2])
    texts = RESULTS / f"{run.key}.txt"
    asked = [str(out), "--test", *run.corpus.part(run.corpus.test), *languages, *threads, "--out", str(texts)]
    judged = json.loads(dragoman("evaluate", *asked, "--json"))
    return {
        "evaluation": judged,
        "outputs": texts.read_text(encoding="utf-8").split("\n")[:-1],
        "report": json.loads((out / "report.json").read_text(encoding="utf-8")),
        "tokens_per_second": speed_of(out),
    }


def speed_of(model: Path) -> float | None:
    """The median of the target tokens/s that its progress tells; None for what learns without updates."""
    progress = model / "progress.jsonl"
    rows = map(json.loads, progress.read_text(encoding="utf-8").splitlines() if progress.exists() else ())
    found = [row["tokens_per_second"] for row in rows if "tokens_per_second" in row]
    return median(found) if found else None


def main(name: str, updates: int = 0, seeds: tuple[int, ...] = (), threads: int = 1, more: Settings = ()) -> None:
    """Print a row a variation."""
    study = STUDIES[name]
    updates, seeds = updates or study.updates, seeds or study.seeds
    limits = (f"--set=training.max_updates={updates}", f"--set=training.validate_every={max(1, updates // 10)}")
    rows: list[tuple[object, ...]] = []
    first: float | None = None
    for number, (row, settings) in enumerate(study.rows().items()):
        keys = [f"{name}-{updates}-{number}-{seed}" for seed in seeds]
        runs = [
            Run(key, study.corpus, study.recipe, (*settings, *more), seed, limits, threads)
            for key, seed in zip(keys, seeds, strict=True)
        ]
        found = [step(run.key, partial(trained, run)) for run in runs]
        scores = [each["evaluation"]["bleu"]["value"] for each in found if "evaluation" in each]
        shown = " ".join(
            f"{each['evaluation']['bleu']['value']:.2f}" if "evaluation" in each else word(each) for each in found
        )
        mean = fmean(scores) if len(scores) == len(found) else None
        first = mean if number == 0 else first
        apart = f"{mean - first:+.2f}" if number and mean is not None and first is not None else ""
        speeds = [each["tokens_per_second"] for each in found if each.get("tokens_per_second")]
        sizes = [each["report"]["model"]["parameters"] for each in found if "report" in each]
        rows.append((row, shown, apart, f"{median(speeds):,.0f}" if speeds else "", f"{sizes[0]:,}" if sizes else ""))
    print(
        f"{study.about}: {study.corpus.name}, {study.recipe}, {updates:,} updates, seeds {', '.join(map(str, seeds))}"
    )
    print(table(("", "BLEU", "to the first row", "target tokens/s", "parameters"), rows))


def word(result: Result) -> str:
    """What stands in place of a BLEU."""
    return "diverged" if "diverged" in result else f"skipped: {result['skipped']}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.variations", description=__doc__.partition("\n")[0])
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--updates", type=int, default=0, help="instead of the study's own")
    parser.add_argument("--seeds", default="", help="comma-separated, instead of the study's own")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], help="a setting for all rows")
    asked = parser.parse_args()
    main(
        asked.study,
        asked.updates,
        tuple(int(each) for each in asked.seeds.split(",") if each),
        asked.threads,
        asked.set,
    )
