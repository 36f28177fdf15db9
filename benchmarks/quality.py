"""How good is a translator after so many minutes here, beside a peer's after as many?

python -m benchmarks.quality CORPUS [MINUTES [RECIPE]] [--alone]: trains RECIPE (transformer-auto) with a budget of
MINUTES (30) of wall clock and evaluates it; then trains Eole's bench configuration (256/1024, 4 heads, 3+3 layers,
batches of 4,096, WARM=400 LR=0.45) on the same pairs, cut into the pieces of our model, stops it after the same minutes
of wall clock, its start included, and scores the better of its two usual ways to normalise length. One run each, two
threads, one after the other. CORPUS is one of benchmarks/corpora.py; MINUTES 0 trains ours until it stops by itself;
then, and with --alone, no peer is trained.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.corpora import CORPORA, Corpus
from benchmarks.steps import PEERS, RESULTS, Result, step, table

THREADS = 2
SAVE_EVERY = 20  # updates: what is lost at the end of the peer's time
LENGTH_PENALTIES = (("none", 0.0), ("avg", 1.0))

EOLE = {
    "seed": 1234,
    "overwrite": True,
    "report_every": SAVE_EVERY,
    "share_vocab": True,
    "vocab_size_multiple": 8,
    "n_sample": 0,
    "training": {
        "save_checkpoint_steps": SAVE_EVERY,
        "keep_checkpoint": 1,
        "train_steps": 1_000_000,
        "valid_steps": 1_000_000,
        "bucket_size": 29_000,
        "num_workers": 0,
        "world_size": 1,
        "gpu_ranks": [],
        "batch_type": "tokens",
        "batch_size": 4096,
        "batch_size_multiple": 1,
        "accum_count": [1],
        "accum_steps": [0],
        "dropout_steps": [0],
        "dropout": [0.1],
        "attention_dropout": [0.1],
        "use_amp": True,
        "optim": "adam",
        "adam_beta2": 0.98,
        "learning_rate": 0.45,
        "warmup_steps": 400,
        "decay_method": "noam",
        "max_grad_norm": 1.0,
        "label_smoothing": 0.1,
        "param_init_method": "xavier_uniform",
        "normalization": "tokens",
    },
    "model": {
        "architecture": "transformer",
        "hidden_size": 256,
        "share_decoder_embeddings": True,
        "share_embeddings": True,
        "layers": 3,
        "heads": 4,
        "transformer_ff": 1024,
        "embeddings": {"word_vec_size": 256, "position_encoding_type": "SinusoidalInterleaved"},
    },
}


def place_of(corpus: Corpus, recipe: str, minutes: float) -> Path:
    """Where our model of a run lies."""
    return (RESULTS / f"{corpus.name}-{recipe}-{minutes:g}m").resolve()


def ours(corpus: Corpus, recipe: str, minutes: float) -> Result:
    """Train and evaluate by the command line, as a user would."""
    out = place_of(corpus, recipe, minutes)
    languages = ["--source", corpus.source, "--target", corpus.target]
    train = ["train", recipe, "--train", *corpus.part("train"), "--dev", *corpus.part(corpus.dev), *languages]
    budget = ["--time-budget", f"{minutes:g}m"] if minutes else []
    began = time.monotonic()
    dragoman(*train, *budget, "--threads", str(THREADS), "--out", str(out))
    seconds = time.monotonic() - began
    judged = dragoman("evaluate", str(out), "--test", *corpus.part(corpus.test), *languages, "--json")
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    return {"seconds": seconds, "evaluation": json.loads(judged), "report": report}


def dragoman(*arguments: str) -> str:
    """What the command prints; its log goes to the terminal."""
    done = subprocess.run([sys.executable, "-m", "dragoman", *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def eole(corpus: Corpus, pieces_of: Path, minutes: float) -> Result:
    """Train Eole on our pieces for so many minutes, then translate the test set and score it as ours is scored."""
    from dragoman.corpus.formats import open_bitext
    from dragoman.evaluation.metrics import corpus_scores
    from dragoman.system.store import load_model

    model: Any = load_model(pieces_of)
    place = (RESULTS / f"{corpus.name}-eole-{minutes:g}m").resolve()
    place.mkdir(parents=True, exist_ok=True)
    written: Counter[str] = Counter()
    for part in ("train", corpus.test):
        pairs = list(open_bitext(corpus.part(part), corpus.source, corpus.target))
        for language, side, texts in (
            (corpus.source, model.pipeline.source, [pair.source for pair in pairs]),
            (corpus.target, model.pipeline.target, [pair.target for pair in pairs]),
        ):
            rows = [[side.pieces.pieces[index] for index in row] for row in side.encode(texts)]
            (place / f"{part}.{language}").write_text("".join(" ".join(row) + "\n" for row in rows), encoding="utf-8")
            if part == "train":
                written.update(piece for row in rows for piece in row)
    (place / "vocab").write_text(
        "".join(f"{piece}\t{count}\n" for piece, count in written.most_common()), encoding="utf-8"
    )
    updates, seconds = train_eole(corpus, place, len(written), minutes)
    best: Result = {}
    for penalty, alpha in LENGTH_PENALTIES:
        texts = translated_by_eole(corpus, place, updates, penalty, alpha, model.pipeline.target)
        references = [pair.target for pair in open_bitext(corpus.part(corpus.test), corpus.source, corpus.target)]
        bleu = corpus_scores(texts, [references], corpus.target, with_ter=False).bleu
        if bleu.value > best.get("bleu", -1.0):
            best = {"bleu": bleu.value, "signature": bleu.signature, "length_penalty": penalty}
    return {**best, "updates": updates, "seconds": seconds, "log": (place / "log").read_text(encoding="utf-8")[-2000:]}


def peer_environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": str(THREADS), "MKL_NUM_THREADS": str(THREADS)}


def eole_command() -> str:
    command = PEERS.resolve() / "venvs/eole/bin/eole"
    if not command.exists():
        raise FileNotFoundError(f"no {command}: set PEERS_ROOT")
    return str(command)


def train_eole(corpus: Corpus, place: Path, pieces: int, minutes: float) -> tuple[int, float]:
    """Run its command for so long. Returns the updates of its last checkpoint, and the seconds."""
    size = pieces + 8
    files = {
        f"path_{side}": str(place / f"train.{language}")
        for side, language in (("src", corpus.source), ("tgt", corpus.target))
    }
    training = {**EOLE["training"], "model_path": str(place / "model"), "compute_dtype": "fp32"}  # type: ignore[dict-item]
    vocabulary = {f"{side}_vocab": str(place / "vocab") for side in ("src", "tgt")}
    sizes = {"src_vocab_size": size, "tgt_vocab_size": size}
    conf = {
        **EOLE,
        **vocabulary,
        **sizes,
        "save_data": str(place / "data"),
        "data": {"corpus_1": files},
        "training": training,
    }
    (place / "conf.yaml").write_text(json.dumps(conf, indent=1), encoding="utf-8")  # JSON is YAML
    began = time.monotonic()
    with (place / "log").open("w", encoding="utf-8") as log:
        running = subprocess.Popen(
            [eole_command(), "train", "--config", str(place / "conf.yaml")],
            stdout=log, stderr=subprocess.STDOUT, env=peer_environment(), start_new_session=True,
        )  # fmt: skip
        try:
            code = running.wait(timeout=60 * minutes)
            raise OSError(f"eole ended by itself with code {code}: see {place / 'log'}")
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()
    seconds = time.monotonic() - began
    saved = [int(folder.name.removeprefix("step_")) for folder in (place / "model").glob("step_*")]
    if not saved:
        raise OSError(f"eole saved nothing: see {place / 'log'}")
    return max(saved), seconds


def translated_by_eole(corpus: Corpus, place: Path, updates: int, penalty: str, alpha: float, target: Any) -> list[str]:
    """The test set, beam 5, as text."""
    output = place / f"output.{penalty}"
    command = [eole_command(), "predict", "--model_path", str(place / "model" / f"step_{updates}")]
    command += ["--src", str(place / f"{corpus.test}.{corpus.source}"), "--output", str(output), "--beam_size", "5"]
    command += ["--batch_size", "32", "--batch_type", "sents", "--compute_dtype", "fp32", "--max_length", "100"]
    command += ["--length_penalty", penalty, "--alpha", str(alpha)]
    subprocess.run(command, env=peer_environment(), check=True, capture_output=True)
    index_of = {piece: index for index, piece in enumerate(target.pieces.pieces)}
    lines = output.read_text(encoding="utf-8").split("\n")[:-1]
    return [target.decode([index_of[piece] for piece in line.split() if piece in index_of]).strip() for line in lines]


def main(name: str, minutes: float = 30.0, recipe: str = "transformer-auto", alone: bool = False) -> None:
    """Print a row a system; alone: only ours."""
    corpus = CORPORA[name]
    own = step(f"quality-{name}-{recipe}-{minutes:g}m", partial(ours, corpus, recipe, minutes))
    rows: list[tuple[object, ...]] = []
    if "evaluation" in own:
        bleu = own["evaluation"]["bleu"]
        rows.append((f"Dragoman, {recipe}", f"{own['seconds'] / 60:.1f}", f"{bleu['value']:.2f}", bleu["signature"]))
    else:
        rows.append((f"Dragoman, {recipe}", "", "skipped", own["skipped"]))
    if minutes and not alone and "evaluation" in own:
        model = place_of(corpus, recipe, minutes)
        theirs = step(f"quality-{name}-eole-{minutes:g}m", partial(eole, corpus, model, minutes))
        if "bleu" in theirs:
            rows.append(
                ("Eole 0.6.4, fp32", f"{theirs['seconds'] / 60:.1f}", f"{theirs['bleu']:.2f}", theirs["signature"])
            )
        else:
            rows.append(("Eole 0.6.4, fp32", "", "skipped", theirs["skipped"]))
    print(f"{name}\n{table(('system', 'minutes', 'BLEU', 'signature'), rows)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__.partition("\n")[0])
    parser.add_argument("corpus", choices=CORPORA)
    parser.add_argument("minutes", type=float, nargs="?", default=30.0)
    parser.add_argument("recipe", nargs="?", default="transformer-auto")
    parser.add_argument("--alone", action="store_true", help="no peer")
    asked = parser.parse_args()
    main(asked.corpus, asked.minutes, asked.recipe, asked.alone)
