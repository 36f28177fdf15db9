"""Characters of one text: our recurrent language model against a plain torch.nn.LSTM loop, and five networks of equal
size against each other.

python -m benchmarks.charlm TEXT [--time 3m | --updates 1500] [--threads 2] [--rounds 1] [--what loop|family]

The text is cut by lines: nine tenths to learn, a twentieth to choose by, a twentieth to test. `loop`: both of the same
shape learn in batches of the same size for the same time, or for as many updates, one after the other, in turns; the
loop carries its state on, clips, and follows the same schedule: it is what one writes by hand, at its best. `family`:
MLP, RNN, GRU, LSTM and Transformer of about equal parameters by the same command. Bits a character are of the test
text, read in one go with the state carried on. Speed is by the clock, while it learns; seconds of the processors are
those of the whole process, start and looks at the dev text among them, and tell more where others use the machine too.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from dragoman.durations import parse_duration

WIDTH, EMBEDDING, DROPOUT = 384, 128, 0.1
WINDOW, ROWS, RATE, CLIP = 128, 32, 3e-3, 1.0
FAMILY = {  # about 840,000 parameters each
    "MLP, 16 characters": ("mlp-lm", ["width=1330"]),
    "RNN": ("rnn-lm", ["cell=rnn", "width=820"]),
    "GRU": ("rnn-lm", ["cell=gru", "width=448"]),
    "LSTM": ("rnn-lm", []),
    "Transformer, 128 characters": ("transformer-lm", ["width=184", "inner=736", "layers=2"]),
}


def parts_of(text: Path, folder: Path) -> list[Path]:
    """The text cut in three by its lines: train, dev, test."""
    lines = text.read_text(encoding="utf-8").splitlines(keepends=True)
    cuts = [0, len(lines) * 18 // 20, len(lines) * 19 // 20, len(lines)]
    files = [folder / f"{name}.txt" for name in ("train", "dev", "test")]
    for file, first, last in zip(files, cuts, cuts[1:], strict=False):
        file.write_text("".join(lines[first:last]), encoding="utf-8")
    return files


def children_seconds() -> float:
    """What the processes that ended so far have had of the processors."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ours(recipe: str, settings: list[str], files: list[Path], out: Path, asked: argparse.Namespace) -> dict[str, Any]:
    """Train by the command, evaluate by the command."""
    train, dev, test = map(str, files)
    limit = [f"max_updates={asked.updates}"] if asked.updates else [f"time_budget={asked.time}"]
    sets = [word for setting in (*settings, *limit) for word in ("--set", setting)]
    common = ["--quiet", "--threads", str(asked.threads)]
    command = [sys.executable, "-m", "dragoman"]
    learn = ["train", recipe, "--train", train, "--dev", dev, "--out", str(out), *sets]
    before = children_seconds()
    subprocess.run([*command, *learn, *common], check=True, capture_output=True)
    used = children_seconds() - before
    judged = subprocess.run(
        [*command, "evaluate", str(out), "--test", test, "--json", *common], check=True, capture_output=True
    )
    rows = [json.loads(line) for line in (out / "progress.jsonl").read_text(encoding="utf-8").splitlines()]
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    return {
        "bits": json.loads(judged.stdout)["bits_per_character"],
        "speed": median(row["tokens_per_second"] for row in rows if "tokens_per_second" in row),
        "updates": report["done"]["updates"],
        "parameters": report["model"]["parameters"],
        "processors": used,
    }


def by_hand(files: list[Path], asked: argparse.Namespace) -> dict[str, Any]:
    """The plain loop, in a process of its own."""
    options = ["--time", asked.time, "--updates", str(asked.updates), "--threads", str(asked.threads)]
    command = [sys.executable, "-m", "benchmarks.charlm", *map(str, files), "--what", "plain", *options]
    before = children_seconds()
    done = subprocess.run(command, check=True, capture_output=True)
    found: dict[str, Any] = {**json.loads(done.stdout), "processors": children_seconds() - before}
    return found


def plain_loop(files: list[str], seconds: float, most: int, threads: int) -> dict[str, Any]:
    """Embedding, nn.LSTM, nn.Linear; truncated backpropagation through time; Adam with a cosine over the time."""
    began = time.monotonic()
    import torch
    from torch import nn

    torch.set_num_threads(threads)
    torch.manual_seed(1)
    texts = [Path(file).read_text(encoding="utf-8") for file in files]
    signs = {sign: place for place, sign in enumerate(sorted(set("".join(texts))))}
    train_N, _, test_N = (torch.tensor([signs[sign] for sign in text]) for text in texts)
    embedding, cell = nn.Embedding(len(signs), EMBEDDING), nn.LSTM(EMBEDDING, WIDTH, batch_first=True)
    output, drop = nn.Linear(WIDTH, len(signs)), nn.Dropout(DROPOUT)
    modules = nn.ModuleList([embedding, cell, output, drop])
    optimiser = torch.optim.AdamW(modules.parameters(), RATE, betas=(0.9, 0.98), weight_decay=0.0, fused=True)
    rows_RT = train_N[: len(train_N) // ROWS * ROWS].view(ROWS, -1)
    updates, learnt, state = 0, 0, None
    columns = list(range(0, rows_RT.shape[1] - 1, WINDOW))
    loop_began = time.monotonic()
    while (way := updates / most if most else (time.monotonic() - began) / seconds) < 1:
        first = columns[updates % len(columns)]
        inputs_RT = rows_RT[:, first : first + WINDOW]
        targets_RT = rows_RT[:, first + 1 : first + WINDOW + 1]
        inputs_RT = inputs_RT[:, : targets_RT.shape[1]]
        state = None if first == 0 else state
        optimiser.param_groups[0]["lr"] = RATE * min((updates + 1) / 200, 0.5 * (1 + math.cos(math.pi * way)))
        states, state = cell(drop(embedding(inputs_RT)), state)
        logits = output(drop(states))
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets_RT.flatten())
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(modules.parameters(), CLIP)
        optimiser.step()
        state = tuple(each.detach() for each in state)
        updates, learnt = updates + 1, learnt + targets_RT.numel()
    took = time.monotonic() - loop_began
    modules.eval()
    with torch.inference_mode():
        states, _ = cell(embedding(test_N[None, :-1]))
        loss = nn.functional.cross_entropy(output(states)[0], test_N[1:])
    parameters = sum(parameter.numel() for parameter in modules.parameters())
    bits = float(loss) / math.log(2)
    return {"bits": bits, "speed": learnt / took, "updates": updates, "parameters": parameters}


def shown(name: str, row: dict[str, Any]) -> str:
    """A line of the table."""
    return (
        f"{name:<28} {row['parameters']:>9,} parameters  {row['updates']:>6,} updates  "
        f"{row['speed']:>8,.0f} characters/s  {row['processors']:>5,.0f} s of processors  "
        f"{row['bits']:.3f} bits a character"
    )


def main() -> None:
    """Print a line a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", nargs="+")
    parser.add_argument("--time", default="3m")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--updates", type=int, default=0, help="a limit of updates in place of a time")
    parser.add_argument("--what", choices=["loop", "family", "plain"], default="loop")
    asked = parser.parse_args()
    if asked.what == "plain":
        print(json.dumps(plain_loop(asked.text, parse_duration(asked.time), asked.updates, asked.threads)))
        return
    os.environ["OMP_NUM_THREADS"] = str(asked.threads)
    with tempfile.TemporaryDirectory() as folder:
        files = parts_of(Path(asked.text[0]), Path(folder))
        if asked.what == "loop":
            pairs = []
            for number in range(asked.rounds):
                hand = by_hand(files, asked)
                print(shown("nn.LSTM, by hand", hand), flush=True)
                own = ours("rnn-lm", [], files, Path(folder) / f"ours-{number}", asked)
                print(shown("dragoman train rnn-lm", own), flush=True)
                pairs.append((own, hand))
            speed = median(own["speed"] / hand["speed"] for own, hand in pairs)
            bits = median(own["bits"] - hand["bits"] for own, hand in pairs)
            used = median(own["processors"] / hand["processors"] for own, hand in pairs)
            print(f"ours / by hand: {speed:.2f} times the speed, {used:.2f} times the processors, {bits:+.3f} bits")
            return
        for name, (recipe, settings) in FAMILY.items():
            row = ours(recipe, settings, files, Path(folder) / name.split(",")[0], asked)
            print(shown(name, row), flush=True)


if __name__ == "__main__":
    main()
