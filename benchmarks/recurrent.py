"""How fast and how good is a recurrent network here, beside JoeyNMT's of the same shape?

python -m benchmarks.recurrent [PART...] [--attention bahdanau|luong] [--minutes 30] [--rounds 3] [--updates 60]: on
Multi30k en-de, LSTMs 256 wide, one layer each, the encoder's in both directions, input feeding, embeddings shared, the
output matrix of its own, dropout 0.1, 8,000 joint pieces, two threads. Parts:
training: real target pieces a second by wall clock, ours and theirs (bench_joeynmt.sh rnn) by turns, batches of about
4,096 positions as theirs and our own of 512; medians of ROUNDS.
quality: each after MINUTES of wall clock, their start included; theirs on our pieces with batches of 4,096 and of 1,024
positions, its last weights, the better of two ways to normalise length on the test set; ours as it selects.
decoding: beam 5 with our weights on both sides, medians of three, as benchmarks/peer_decoding.py; needs the model of
`quality`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.corpora import MULTI30K
from benchmarks.peer_decoding import by_peer, ours, write_task
from benchmarks.quality import THREADS, dragoman
from benchmarks.steps import PEERS, RESULTS, Result, peer, step, table
from benchmarks.training import one
from dragoman.neural.recipes import LUONG, RecurrentRecipe

SCORES = {"bahdanau": "additive", "luong": "general"}
SHAPE = (
    *("cell=lstm", "embedding=256", "width=256", "encoder_width=256", "encoder=bi", "encoder_layers=1"),
    *("decoder_layers=1", "turned=false", "residual=false", "layer_norm=false", "dropout=0.1", "tied=false"),
    *("ask=after", "fuse=outside", "input_feeding=true"),
)
OURS, THEIRS = "Dragoman", "JoeyNMT 2.3.0"
PEER_BATCHES = (4096, 1024)
ALPHAS = (0.0, 1.0)
PARTS = ("training", "quality", "decoding")


def settings(attention: str) -> list[str]:
    """The shape, for `--set`."""
    return [*(f"model.{each}" for each in SHAPE), f"model.score={SCORES[attention]}", "text.pieces=8000"]


def recipe(attention: str) -> RecurrentRecipe:
    """The same as a recipe."""
    from dragoman.system.settings import with_settings

    made = with_settings(LUONG, settings(attention))
    assert isinstance(made, RecurrentRecipe)
    return made


# --- training speed -----------------------------------------------------------------------------


def trained_pieces(attention: str, tokens: int, updates: int) -> Result:
    """Steady speed of ours, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.recurrent", "--one", str(tokens), "--attention", attention]
    done = subprocess.run([*command, "--updates", str(updates)], capture_output=True, text=True, check=True)
    found: Result = json.loads(done.stdout.splitlines()[-1])
    return found


def training(attention: str, rounds: int, updates: int) -> None:
    """By turns; print medians and ratios."""
    rates: dict[str, list[float]] = {}
    real: dict[str, float] = {}
    for turn in range(1, rounds + 1):
        for name, key, measure in (
            (f"{OURS}, batches of 4,096", "4096", partial(trained_pieces, attention, 4096, updates)),
            (f"{OURS}, batches of 512", "512", partial(trained_pieces, attention, 512, 4 * updates)),
            (THEIRS, "joeynmt", partial(peer, "bench_joeynmt.sh", "rnn", str(updates), ATTN=attention)),
        ):
            result = step(f"recurrent-training-{attention}-{updates}-{key}-{turn}", measure)
            rates.setdefault(name, []).extend(result.get("pieces_per_second") or result.get("wall_segs", []))
            real[name] = result.get("real") or result.get("pad_eff", 0.0)
            if "skipped" in result:
                print(f"{name}: skipped, {result['skipped']}", file=sys.stderr)
    theirs = median(rates[THEIRS]) if rates[THEIRS] else None
    rows: list[tuple[object, ...]] = [
        (
            name,
            f"{median(found):,.0f}" if found else "skipped",
            f"{median(found) / theirs:.2f}" if found and theirs else "",
            f"{100 * real[name]:.1f} %",
        )
        for name, found in rates.items()
    ]
    print(table((f"training, {attention}", "target pieces/s", "times JoeyNMT's", "real positions"), rows))


# --- quality ------------------------------------------------------------------------------------


def place_of(attention: str, minutes: float) -> Path:
    """Where our model lies."""
    return (RESULTS / f"recurrent-{attention}-{minutes:g}m").resolve()


def our_quality(attention: str, minutes: float) -> Result:
    """By the command line, as a user would."""
    out, corpus = place_of(attention, minutes), MULTI30K
    files = ["--train", *corpus.part("train"), "--dev", *corpus.part(corpus.dev)]
    sets = [f"--set={each}" for each in settings(attention)]
    began = time.monotonic()
    dragoman("train", "rnn-luong", *files, *sets, "--time-budget", f"{minutes:g}m", "--threads", str(THREADS),
             "--out", str(out))  # fmt: skip
    seconds = time.monotonic() - began
    judged = json.loads(dragoman("evaluate", str(out), "--test", *corpus.part(corpus.test), "--json"))
    return {"bleu": judged["bleu"]["value"], "signature": judged["bleu"]["signature"], "seconds": seconds}


def their_quality(attention: str, minutes: float, batch: int) -> Result:
    """On our pieces, by its own trainer; then its own search with its weights."""
    from benchmarks.peers.joeynmt_rnn import configuration, vocabulary_lines
    from benchmarks.peers.task import Task
    from dragoman.corpus.formats import open_bitext
    from dragoman.evaluation.metrics import corpus_scores
    from dragoman.system.store import load_model

    began = time.time()
    corpus, model = MULTI30K, place_of(attention, minutes)
    pipeline: Any = load_model(model).pipeline
    test = list(open_bitext(corpus.part(corpus.test), corpus.source, corpus.target))
    place = (RESULTS / f"recurrent-joeynmt-{attention}-{minutes:g}m-{batch}").resolve()
    place.mkdir(parents=True, exist_ok=True)
    for part, ours_ in (("train", "train"), ("dev", corpus.dev)):
        pairs = list(open_bitext(corpus.part(ours_), corpus.source, corpus.target))
        for language, side, texts in (
            (corpus.source, pipeline.source, [pair.source for pair in pairs]),
            (corpus.target, pipeline.target, [pair.target for pair in pairs]),
        ):
            lines = (" ".join(map(str, row)) + "\n" for row in side.encode(texts))
            (place / f"{part}.{language}").write_text("".join(lines), encoding="utf-8")
    write_task(model, [pair.source for pair in test], 1, place)
    task = Task.read(str(place))
    (place / "vocabulary").write_text(vocabulary_lines(task), encoding="utf-8")
    conf = configuration(task, place, (corpus.source, corpus.target), attention, batch)
    (place / "conf.yaml").write_text(json.dumps(conf, indent=1), encoding="utf-8")  # JSON is YAML
    began = time.time()
    weights = str(place / "weights-joeynmt.pt")
    their_python("train", str(place / "conf.yaml"), str(began + 60 * minutes), weights)
    seconds = time.time() - began
    best: Result = {}
    for alpha in ALPHAS:
        replace(task, alpha=alpha, batches=[64], tried=8).write(place)
        their_python(str(place), weights)
        found = json.loads((place / "joeynmt_rnn.json").read_text(encoding="utf-8"))
        texts = [pipeline.target.decode(row).strip() for row in found["outputs"]]
        bleu = corpus_scores(texts, [[pair.target for pair in test]], corpus.target, with_ter=False).bleu
        if bleu.value > best.get("bleu", -1.0):
            best = {"bleu": bleu.value, "signature": bleu.signature, "alpha": alpha}
    return {**best, "seconds": seconds, **json.loads(Path(f"{weights}.json").read_text(encoding="utf-8"))}


def their_python(*arguments: str) -> None:
    """Our script in JoeyNMT's environment. OSError with its last words where it fails."""
    python = PEERS.resolve() / "venvs/joeynmt/bin/python"
    if not python.exists():
        raise FileNotFoundError(f"no {python}: set PEERS_ROOT")
    threads = {"OMP_NUM_THREADS": str(THREADS), "MKL_NUM_THREADS": str(THREADS)}
    command = [str(python), "-m", "benchmarks.peers.joeynmt_rnn", *arguments]
    done = subprocess.run(command, env={**os.environ, **threads}, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"joeynmt: {done.stderr.strip()[-500:]}")


def quality(attention: str, minutes: float) -> None:
    """Print a row a system."""
    found = {OURS: step(f"recurrent-quality-{attention}-{minutes:g}m", partial(our_quality, attention, minutes))}
    for batch in PEER_BATCHES if "bleu" in found[OURS] else ():
        key = f"recurrent-quality-{attention}-{minutes:g}m-joeynmt-{batch}"
        found[f"{THEIRS}, batches of {batch:,}"] = step(key, partial(their_quality, attention, minutes, batch))
    rows: list[tuple[object, ...]] = [
        (name, f"{each['seconds'] / 60:.1f}", f"{each['bleu']:.2f}", each["signature"])
        if "bleu" in each
        else (name, "", "skipped", each["skipped"])
        for name, each in found.items()
    ]
    print(table((f"quality, {attention}", "minutes", "BLEU", "signature"), rows))


# --- decoding -----------------------------------------------------------------------------------


def decoding(attention: str, minutes: float, times: int) -> None:
    """Print a row a system, on the first thousand test sentences."""
    from dragoman.corpus.formats import open_bitext
    from dragoman.evaluation.metrics import corpus_scores
    from dragoman.system.store import load_model

    folder = place_of(attention, minutes)
    pairs = list(open_bitext(MULTI30K.part(MULTI30K.test), MULTI30K.source, MULTI30K.target))[:1000]
    texts = [pair.source for pair in pairs]
    systems = {
        f"{OURS}, 2 processes of one thread": partial(ours, folder, texts, THREADS, times),
        f"{OURS}, 2 threads": partial(ours, folder, texts, 1, times),
        THEIRS: partial(by_peer, "joeynmt_rnn", folder, texts, times),
    }
    found = {}
    for name, measure in systems.items():
        key = name.replace(" ", "-").replace(",", "")
        found[name] = step(f"recurrent-decoding-{attention}-{minutes:g}m-{key}", measure)
    rates = {
        name: sum(len(row) + 1 for row in each["outputs"]) / median(each["seconds"])
        for name, each in found.items()
        if "outputs" in each
    }
    rows: list[tuple[object, ...]] = []
    for name, each in found.items():
        if name not in rates:
            rows.append((name, "skipped", "", "", each["skipped"]))
            continue
        outputs = decoded(load_model(folder), each["outputs"])
        bleu = corpus_scores(outputs, [[pair.target for pair in pairs]], MULTI30K.target, with_ter=False).bleu.value
        ratio = f"{rates[name] / rates[THEIRS]:.2f}" if THEIRS in rates else ""
        rows.append((name, f"{rates[name]:,.0f}", ratio, f"{bleu:.2f}", each["batch"]))
    print(table((f"beam 5, {attention}", "output pieces/s", "times JoeyNMT's", "BLEU", "batch"), rows))


def decoded(model: Any, outputs: Sequence[Sequence[int]]) -> list[str]:
    """Text of pieces."""
    return [model.pipeline.target.decode(row).strip() for row in outputs]


def main(parts: Sequence[str], attention: str, minutes: float, rounds: int, updates: int) -> None:
    """The parts in turn."""
    for part in parts:
        if part == "training":
            training(attention, rounds, updates)
        elif part == "quality":
            quality(attention, minutes)
        else:
            decoding(attention, minutes, rounds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recurrent", description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS])
    parser.add_argument("--attention", choices=SCORES, default="bahdanau")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=60, help="of a measurement of speed; a multiple of 10")
    parser.add_argument("--one", type=int, default=0, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(one(MULTI30K.part("train"), asked.one, asked.updates, recipe(asked.attention))))
    else:
        main(asked.parts or PARTS, asked.attention, asked.minutes, asked.rounds, asked.updates)
