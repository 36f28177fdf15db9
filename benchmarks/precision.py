"""What do bf16 and int8 gain in decoding here, and which translations do they change?

python -m benchmarks.precision MODEL TEST... [--sentences N] [--beam N] [--threads N] [--json]: the test set is
translated at each precision, whether that pays or not, in turns; then what `--precision` itself would take is said.
On a processor without kernels for them bf16 and int8 are many times slower than fp32: begin with a few --sentences.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, get_args

from dragoman.cli.loading import use_threads
from dragoman.contracts import HasPrecision, Precision, SearchOptions, SentencePair, UserError
from dragoman.corpus.formats import open_bitext
from dragoman.evaluation.metrics import corpus_scores
from dragoman.system.store import load_model, read_card

PRECISIONS: tuple[Precision, ...] = get_args(Precision)


@dataclass(frozen=True)
class Row:
    """Figures of one precision: sentences/s (the median), its ratio to fp32, BLEU, and how many 1-bests differ
    from those of fp32 (0 to 1)."""

    precision: Precision
    sentences_per_second: float
    ratio: float
    bleu: float
    changed: float


def measured(
    translators: Mapping[Precision, Any],
    pairs: Sequence[SentencePair],
    options: SearchOptions,
    repeats: int,
    language: str,
) -> list[Row]:
    """A row for each translator, the one in fp32 first; they take turns, so that a busy machine is busy for all."""
    sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
    seconds: dict[Precision, list[float]] = {precision: [] for precision in translators}
    outputs: dict[Precision, list[str]] = {}
    for _ in range(repeats):
        for precision, translator in translators.items():
            began = time.perf_counter()
            outputs[precision] = [each.text for each in translator.translate(sources, options)]
            seconds[precision].append(time.perf_counter() - began)
    plain = outputs["fp32"]
    return [
        Row(
            precision,
            len(pairs) / median(seconds[precision]),
            median(seconds["fp32"]) / median(seconds[precision]),
            corpus_scores(own, [targets], language, with_ter=False).bleu.value,
            sum(one != other for one, other in zip(own, plain, strict=True)) / len(pairs),
        )
        for precision, own in outputs.items()
    ]


def compared(
    folder: Path,
    test: Sequence[str],
    options: SearchOptions,
    *,
    sentences: int = 0,
    repeats: int = 3,
    device: str = "cpu",
    threads: int = 0,
) -> dict[str, Any]:
    """The rows of each precision, what is taken where it is asked for, and under which conditions; fit for JSON.

    sentences: only the first so many; 0 is all. UserError for a kind that has no precision to choose.
    """
    use_threads(threads)
    card, plain = read_card(folder), load_model(folder, device)
    if not isinstance(plain, HasPrecision):
        raise UserError(f"{folder}: a {card.kind} has no precision to choose")
    pairs = list(open_bitext(list(test), card.source_language, card.target_language))[: sentences or None]
    load = os.getloadavg()
    translators = {precision: plain.at_precision(precision) for precision in PRECISIONS}
    rows = measured(translators, pairs, options, repeats, card.target_language)
    return {
        "model": str(folder),
        "test": list(test),
        "sentences": len(pairs),
        "repeats": repeats,
        "device": device,
        "threads": threads,
        "beam": options.beam,
        "batch_tokens": options.batch_tokens,
        "load_average": load,
        "rows": [asdict(row) for row in rows],
        "taken": {
            precision: dict(zip(("precision", "note"), plain.usable_precision(precision), strict=True))
            for precision in PRECISIONS
        },
    }


def shown(found: Mapping[str, Any]) -> list[str]:
    """The table as lines."""
    lines = ["precision  sentences/s  against fp32    BLEU  changed 1-bests"]
    for row in found["rows"]:
        speed = f"{row['precision']:<9}  {row['sentences_per_second']:11.1f}  {row['ratio']:11.2f}x"
        lines.append(f"{speed}  {row['bleu']:6.2f}  {row['changed']:15.1%}")
    for asked, taken in found["taken"].items():
        lines.append(f"--precision {asked} takes {taken['precision']}{taken['note'] and ': ' + taken['note']}")
    return lines


def main() -> None:
    """Print a line a precision, or one JSON object."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.precision")
    parser.add_argument("model", type=Path, help="a model folder")
    parser.add_argument("test", nargs="+", help="sentence pairs, in any format that train reads")
    parser.add_argument("--sentences", type=int, default=0, help="only the first so many; 0 is all")
    parser.add_argument("--repeats", type=int, default=3, help="of which the median is taken")
    parser.add_argument("--beam", type=int, help="else what the model stores")
    parser.add_argument("--batch-tokens", type=int, help="source pieces searched at once")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=0, help="0 is all of them")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    options = SearchOptions(beam=asked.beam, batch_tokens=asked.batch_tokens)
    conditions = {name: getattr(asked, name) for name in ("sentences", "repeats", "device", "threads")}
    found = compared(asked.model, asked.test, options, **conditions)
    print(json.dumps(found, indent=2) if asked.json else "\n".join(shown(found)))


if __name__ == "__main__":
    main()
