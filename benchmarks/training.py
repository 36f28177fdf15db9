"""How many target pieces a second does one network learn here, and in its peers?

python -m benchmarks.training TRAIN.SRC TRAIN.TGT [ROUNDS [PEER_UPDATES]]: a Transformer 256/1024 with 4 heads, 3+3
layers, 8,000 joint pieces and all dropouts at 0.1, in batches of about 4,096 pieces as the peers have them (and in our
own of 512), two threads, ours and theirs by turns. Real target pieces, end pieces among them, by wall clock.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

from benchmarks.steps import Result, peer, step, table
from dragoman.neural.recipes import NetworkRecipe

UPDATES, WARM_UP = 60, 10


def ours(files: list[str], tokens: int, updates: int) -> Result:
    """Steady speed in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.training", "--one", str(tokens), str(updates), *files]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: Result = json.loads(done.stdout.splitlines()[-1])
    return found


def one(files: list[str], tokens: int, updates: int, network: NetworkRecipe | None = None) -> Result:
    """Train some updates of transformer-small, or of that network; report pieces a second in three stretches, and the
    share of positions that are real."""
    from dragoman.contracts import Interrupted, Progress
    from dragoman.corpus.formats import open_bitext
    from dragoman.neural.recipes import SMALL
    from dragoman.system.lifecycle import train_model

    chosen = network or SMALL
    recipe = replace(chosen, training=replace(chosen.training, tokens_per_batch=tokens, validate_every=10**9))
    marks: list[float] = []

    def hear(progress: Progress) -> None:
        if progress.phase == "training" and progress.step > len(marks):
            marks.append(time.monotonic())

    train = open_bitext(files)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "m"
        with contextlib.suppress(Interrupted):
            train_model(recipe, train, None, out, report=hear, threads=2, stop=lambda: len(marks) >= updates)
        pieces, real = planned(out / "work", tokens, updates)
    cuts = [WARM_UP + (updates - WARM_UP - 1) * third // 3 for third in range(4)]
    rates = [sum(pieces[a:b]) / (marks[b - 1] - marks[a - 1]) for a, b in itertools.pairwise(cuts)]
    return {"pieces_per_second": rates, "real": real}


def planned(work: Path, tokens: int, updates: int) -> tuple[list[int], float]:
    """Target pieces of each update, and the real share of target positions."""
    import numpy as np

    from dragoman.neural import batches

    folder = next(work.glob("ids-*"))
    lengths = [np.diff(np.fromfile(folder / f"{side}.offsets", dtype=np.int64)) for side in ("source", "target")]
    plan = batches.plan(lengths[0], lengths[1], tokens, 1, 0)[:updates]
    pieces = [int(lengths[1][indices].sum()) + len(indices) for indices in plan]
    positions = sum(int(lengths[1][indices].max() + 1) * len(indices) for indices in plan)
    return pieces, sum(pieces) / positions


def main(files: list[str], rounds: int = 3, peer_updates: int = 100) -> None:
    """Ours and theirs by turns; print medians and ratios."""
    rates: dict[str, list[float]] = {}
    real: dict[str, float] = {}
    for turn in range(1, rounds + 1):
        for name, tokens, updates in (
            ("Dragoman, batches of 4,096", 4096, UPDATES),
            ("Dragoman, batches of 512", 512, 240),
        ):
            result = step(f"training-{tokens}-{turn}", lambda t=tokens, u=updates: ours(files, t, u))  # type: ignore[misc]
            rates.setdefault(name, []).extend(result.get("pieces_per_second", []))
            real[name] = result.get("real", 0.0)
        for name, script, kind in (
            ("JoeyNMT 2.3.0", "bench_joeynmt.sh", "transformer"),
            ("Eole 0.6.4, fp32", "bench_eole.sh", "fp32"),
            ("Eole 0.6.4, bf16", "bench_eole.sh", "bf16"),
        ):
            result = step(f"training-{script}-{kind}-{turn}", lambda s=script, k=kind: peer(s, k, str(peer_updates)))  # type: ignore[misc]
            rates.setdefault(name, []).extend(result.get("wall_segs", []))
            real[name] = result.get("pad_eff", 0.0)
    first = median(rates["Dragoman, batches of 4,096"] or [0.0])
    rows: list[tuple[object, ...]] = [
        (name, f"{median(found):,.0f}", f"{first / median(found):.2f}", f"{100 * real[name]:.1f} %")
        if found
        else (name, "skipped", "", "")
        for name, found in rates.items()
    ]
    print(table(("system", "target pieces/s", "Dragoman (4,096) is ... times as fast", "real positions"), rows))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(sys.argv[4:], int(sys.argv[2]), int(sys.argv[3]))))
    else:
        main(sys.argv[1:3], *map(int, sys.argv[3:5]))
