"""What does Dragoman cost around CTranslate2, and what does CTranslate2 gain?

python -m benchmarks.engine MODEL --test FILE... [--threads 2] [--rounds 3] [--json]: translate the test sources with
the model itself, with exports of it in fp32 and int8, and with CTranslate2 driven by hand: the same pieces, beam,
length normalisation, batch and threads. Rounds go through all of them in turn, so that a busy minute meets them all;
figures are medians over the rounds, of wall-clock time, with CPU time beside it. Ratios compare; seconds do not travel.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from dragoman.cli.loading import use_threads
from dragoman.contracts import Translation
from dragoman.corpus.formats import open_bitext
from dragoman.evaluation.metrics import corpus_scores

QUANTIZATIONS = ("fp32", "int8")


@dataclass(frozen=True)
class Output:
    """What a system made of the sources, as text and as pieces without the end piece."""

    texts: Sequence[str]
    pieces: Sequence[Sequence[int]]

    @property
    def tokens(self) -> int:
        """Pieces, the end pieces among them."""
        return sum(len(each) + 1 for each in self.pieces)


@dataclass(frozen=True)
class Row:
    """Medians over the rounds. equal: share of texts as the model itself gives them."""

    name: str
    seconds: float
    cpu_seconds: float
    sentences_per_second: float
    tokens_per_second: float
    bleu: float
    equal: float


def by_us(translator: Any, sources: Sequence[str]) -> Output:
    """As `dragoman translate` does it, from text to text."""
    translations: list[Translation] = translator.translate(sources)
    best = [translation.hypotheses[0] for translation in translations]
    return Output([one.text for one in best], [one.pieces for one in best])


def by_hand(library: Any, exported: Any, threads: int, batch_tokens: int) -> Callable[[Sequence[str]], Output]:
    """CTranslate2 as its own manual uses it: all sentences in one call, one length limit for all of them."""
    engine = library.Translator(
        str(exported.folder),
        compute_type="int8" if exported.quantization == "int8" else "float32",
        inter_threads=threads,
        intra_threads=1,
    )
    pipeline, search = exported.pipeline, exported.search
    table, ids = pipeline.source.pieces, exported.ids

    def run(sources: Sequence[str]) -> Output:
        rows = [[table.pieces[index] for index in row] for row in pipeline.source.encode(sources)]
        results = engine.translate_batch(
            [[*row, table.pieces[table.end]] for row in rows],
            max_batch_size=batch_tokens,
            batch_type="tokens",
            beam_size=search.beam,
            length_penalty=search.alpha,
            max_decoding_length=int(search.max_ratio * max(map(len, rows))) + 9,
        )
        best = [[ids[token] for token in result.hypotheses[0]] for result in results]
        return Output([pipeline.target.decode(pieces).strip() for pieces in best], best)

    return run


def contest(folder: Path, place: Path, threads: int) -> dict[str, Callable[[Sequence[str]], Output]]:
    """Every system by its name. The exports are written to `place`."""
    from dragoman.neural.exported import ExportedTranslator, ctranslate2_module
    from dragoman.neural.exporting import write_ctranslate2
    from dragoman.neural.segments import BATCH_TOKENS
    from dragoman.system.store import load_model

    model: Any = load_model(folder)
    systems: dict[str, Callable[[Sequence[str]], Output]] = {"the model": lambda sources: by_us(model, sources)}
    for quantization in QUANTIZATIONS:
        write_ctranslate2(model, place / quantization, quantization)
        exported = ExportedTranslator.load(place / quantization, "cpu")
        systems[f"engine {quantization}"] = lambda sources, exported=exported: by_us(exported, sources)  # type: ignore[misc]
        systems[f"by hand {quantization}"] = by_hand(ctranslate2_module(), exported, threads, BATCH_TOKENS)
    return systems


def measured(
    systems: dict[str, Callable[[Sequence[str]], Output]],
    sources: Sequence[str],
    references: Sequence[str],
    target_language: str,
    rounds: int,
) -> list[Row]:
    """A row a system, after a short warm-up of each."""
    for run in systems.values():
        run(sources[:8])
    wall: dict[str, list[float]] = {name: [] for name in systems}
    cpu: dict[str, list[float]] = {name: [] for name in systems}
    outputs: dict[str, Output] = {}
    for _ in range(rounds):
        for name, run in systems.items():
            began, began_cpu = time.perf_counter(), time.process_time()
            outputs[name] = run(sources)
            wall[name].append(time.perf_counter() - began)
            cpu[name].append(time.process_time() - began_cpu)
    own = outputs["the model"].texts
    rows = []
    for name, output in outputs.items():
        seconds = median(wall[name])
        bleu = corpus_scores(output.texts, [references], target_language, with_ter=False).bleu.value
        equal = sum(one == other for one, other in zip(own, output.texts, strict=True)) / len(own)
        rates = len(sources) / seconds, output.tokens / seconds
        rows.append(Row(name, seconds, median(cpu[name]), *rates, bleu, equal))
    return rows


def ratios(rows: Sequence[Row]) -> dict[str, float]:
    """Tokens a second: each export against the model, and against CTranslate2 by hand."""
    rate = {row.name: row.tokens_per_second for row in rows}
    found = {}
    for quantization in QUANTIZATIONS:
        engine = rate[f"engine {quantization}"]
        found[f"engine {quantization} / the model"] = engine / rate["the model"]
        found[f"engine {quantization} / by hand {quantization}"] = engine / rate[f"by hand {quantization}"]
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line a system and a line a ratio, or one JSON object."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine", description=__doc__.partition("\n")[0])
    parser.add_argument("model", type=Path, help="a folder that `dragoman train` made")
    parser.add_argument("--test", nargs="+", required=True, help="sentence pairs, in any format that train reads")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(arguments)
    use_threads(asked.threads)
    from dragoman.system.store import read_card

    card = read_card(asked.model)
    pairs = list(open_bitext(asked.test, card.source_language, card.target_language))
    sources, references = [pair.source for pair in pairs], [pair.target for pair in pairs]
    load = os.getloadavg()
    with tempfile.TemporaryDirectory() as place:
        systems = contest(asked.model, Path(place), asked.threads)
        rows = measured(systems, sources, references, card.target_language, asked.rounds)
    if asked.json:
        facts = {"model": str(asked.model), "test": asked.test, "sentences": len(sources), "threads": asked.threads}
        table = {**facts, "load": load, "rows": list(map(asdict, rows)), "ratios": ratios(rows)}
        print(json.dumps(table, indent=2))
        return
    print(f"{len(sources):,} sentences, {asked.threads} threads, load {load[0]:.1f} at the start")
    print(f"{'':14} {'seconds':>8} {'CPU s':>8} {'sent./s':>8} {'tokens/s':>9} {'BLEU':>6} {'equal':>7}")
    for row in rows:
        speed = (
            f"{row.seconds:8.2f} {row.cpu_seconds:8.2f} {row.sentences_per_second:8.1f} {row.tokens_per_second:9,.0f}"
        )
        print(f"{row.name:14} {speed} {row.bleu:6.2f} {row.equal:7.1%}")
    for name, ratio in ratios(rows).items():
        print(f"{name:36} {ratio:.2f}")


if __name__ == "__main__":
    main()
