"""How fast does a model translate, by beam, batch, threads and processes?

python -m benchmarks.decoding MODEL FILE [--lines N] [--times 3] [--json]: translates the lines of FILE as
`dragoman translate` does, so often for each row, the rows by turns; medians. Starting and loading are not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from typing import Any

from dragoman.cli.loading import loaded
from dragoman.contracts import SearchOptions
from dragoman.corpus.lines import read_lines
from dragoman.system.workers import Workers

BEAMS = (1, 5)
BATCHES = (512, 1024, 2048, 4096)  # source pieces searched at once, on one thread


@dataclass(frozen=True)
class Setting:
    """A row of the table; batch_tokens None is the default."""

    beam: int
    batch_tokens: int | None
    threads: int
    workers: int = 1

    @property
    def options(self) -> SearchOptions:
        return SearchOptions(beam=self.beam, batch_tokens=self.batch_tokens)


SETTINGS = [
    setting
    for beam in BEAMS
    for setting in (
        *(Setting(beam, batch, 1) for batch in BATCHES),
        Setting(beam, None, 1),
        Setting(beam, None, 2),
        Setting(beam, None, 1, workers=2),
    )
]


def timed(workers: Workers, texts: Sequence[str], setting: Setting) -> tuple[float, int]:
    """Seconds by the clock, and output pieces, the end pieces among them."""
    import torch  # after `loaded`, which may set what torch reads

    torch.set_num_threads(setting.threads)
    began = time.perf_counter()
    translations = workers.translate(texts, setting.options)
    seconds = time.perf_counter() - began
    return seconds, sum(len(each.hypotheses[0].token_log_probabilities) for each in translations)


def measure(model: str, texts: Sequence[str], times: int) -> list[dict[str, Any]]:
    """A row for each setting: the median rates, and the rates of each time."""
    system = loaded(model, None, "cpu", 0)
    load = partial(loaded, model, None, "cpu", 1)
    found: dict[Setting, list[tuple[float, int]]] = {setting: [] for setting in SETTINGS}
    with ExitStack() as stack:
        crews = {
            count: stack.enter_context(Workers(system, load, count, enough=0))
            for count in {setting.workers for setting in SETTINGS}
        }
        for crew in crews.values():
            crew.translate(texts[:16])  # starts the processes and warms up
        for _ in range(times):
            for setting, taken in found.items():
                taken.append(timed(crews[setting.workers], texts, setting))
    return [
        {
            **asdict(setting),
            "sentences_per_second": median(len(texts) / seconds for seconds, _ in taken),
            "tokens_per_second": median(pieces / seconds for seconds, pieces in taken),
            "seconds": [seconds for seconds, _ in taken],
        }
        for setting, taken in found.items()
    ]


def main() -> None:
    """Print the table, or one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a model folder")
    parser.add_argument("file", help="a text file in its source language")
    parser.add_argument("--lines", type=int, default=1000, help="take so many lines")
    parser.add_argument("--times", type=int, default=3, help="runs of each row")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args()
    texts = [line.text for line in read_lines(asked.file) if line.text.strip()][: asked.lines]
    loads = [os.getloadavg()[0]]
    rows = measure(asked.model, texts, asked.times)
    loads.append(os.getloadavg()[0])
    if asked.json:
        print(json.dumps({"model": asked.model, "lines": len(texts), "load": loads, "rows": rows}, indent=2))
        return
    print(f"{len(texts)} lines, median of {asked.times}; load average {loads[0]:.1f} before, {loads[1]:.1f} after")
    print("beam  batch    threads  processes  sentences/s  tokens/s")
    for row in rows:
        batch = row["batch_tokens"] or "default"
        print(
            f"{row['beam']:4}  {batch:<7}  {row['threads']:7}  {row['workers']:9}"
            f"  {row['sentences_per_second']:11.1f}  {row['tokens_per_second']:8,.0f}"
        )


if __name__ == "__main__":
    main()
