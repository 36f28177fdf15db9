"""How fast does this machine start, train and translate?

python -m benchmarks.speed [SECONDS]: transformer-small on generated pairs, training for
SECONDS (60), then decoding. Figures compare builds on one machine, not machines.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from dragoman.contracts import SearchOptions
from dragoman.corpus.bitext import ListBitext
from dragoman.evaluation.curves import read_progress
from dragoman.system.lifecycle import train_model
from dragoman.system.settings import recipe_from
from tests.generated import generated_pairs

PAIRS = 20_000
DECODED = 400
SETTINGS = ("pieces=2000", "validate_every=1000000", "dev_sentences=20")  # no time for looks at the dev set


def seconds(action: Callable[[], object]) -> float:
    """Wall-clock time of one call."""
    began = time.monotonic()
    action()
    return time.monotonic() - began


def start_up() -> float:
    """Seconds for `dragoman --help`, the median of five."""
    command = [sys.executable, "-m", "dragoman", "--help"]
    return median(seconds(lambda: subprocess.run(command, check=True, capture_output=True)) for _ in range(5))


def main(budget: float) -> None:
    """Print a line a figure."""
    print(f"start of the command         {start_up():8.2f} s", flush=True)
    pairs = generated_pairs(PAIRS, "en", "de")
    train, dev = (ListBitext(part, "en", "de") for part in (pairs[DECODED:], pairs[:DECODED]))
    recipe = recipe_from("transformer-small", [f"time_budget={budget:g}s", *SETTINGS])
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "model"
        translator = train_model(recipe, train, dev, out).product
        rows = read_progress(out / "progress.jsonl")
        assert translator is not None
        rates = [float(str(row["tokens_per_second"])) for row in rows if "tokens_per_second" in row]
        print(f"training, target tokens/s    {median(rates):8,.0f}")
        texts = [pair.source for pair in dev]
        for name, beam in (("beam 5", 5), ("greedy", 1)):
            taken = seconds(partial(translator.translate, texts, SearchOptions(beam=beam)))
            print(f"translating, {name}, sent./s  {len(texts) / taken:8.1f}", flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0)
