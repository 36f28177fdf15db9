"""How fast is beam search here, beside the peers' on the same weights?

python -m benchmarks.peer_decoding MODEL TEST.SRC TEST.TGT [SENTENCES [TIMES]]: JoeyNMT, Hugging Face, Eole and
CTranslate2 get the weights and the pieces of MODEL (a Transformer with a joint vocabulary, its norms before the
sublayers). Beam 5, alpha 1, two threads, which CTranslate2 and we have also as two translators of one thread; each
takes the fastest of several batch sizes, sentences of like length together. Loading is not counted. Cutting text into
pieces is counted with us and CTranslate2 only. The peers' outputs may have CAP pieces, ours and CTranslate2's RATIO
times as many as the source. A MODEL with a shortlist is measured with it too. Medians of TIMES (3).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.engine import by_hand
from benchmarks.peers.task import Sentences, Task, measured
from benchmarks.steps import PEERS, Result, step, table
from dragoman.contracts import SearchOptions
from dragoman.corpus.formats import open_bitext

BEAM, ALPHA, CAP, RATIO, THREADS = 5, 1.0, 64, 3.0, 2
BATCHES = [16, 32, 64, 128]  # sentences
TOKENS = [512, 1024, 2048, 4096]  # the same for us and CTranslate2
TRIED = 200
ENVIRONMENTS = {"joeynmt": "joeynmt", "joeynmt_rnn": "joeynmt", "huggingface": "transformers", "eole": "eole"}


def read_model(folder: Path, threads: int = 0, precision: str = "fp32") -> Any:
    """The model with the search that everybody is given."""
    from dragoman.cli.loading import use_threads
    from dragoman.system.store import load_model

    if threads:
        use_threads(threads)
    model: Any = load_model(folder)
    model.search = replace(model.search, beam=BEAM, alpha=ALPHA, length_form="power", max_ratio=RATIO)
    return model.at_precision(precision)


def ours(
    folder: Path, texts: Sequence[str], workers: int, times: int, shortlist: bool = False, precision: str = "fp32"
) -> Result:
    """With `workers` processes of one thread, or in this one with all threads."""
    from dragoman.system.workers import Workers

    model = read_model(folder, THREADS, precision)
    if shortlist and model.shortlist is None:
        raise FileNotFoundError(f"{folder} has no shortlist: dragoman shortlist {folder} --train FILES")
    with Workers(model, partial(read_model, folder, 1, precision), workers, enough=0) as crew:

        def translate(part: Sequence[str], tokens: int) -> Sentences:
            found = crew.translate(part, SearchOptions(batch_tokens=tokens, shortlist=shortlist))
            return [each.hypotheses[0].pieces for each in found]

        return measured(translate, texts, TOKENS, TRIED, times)


def by_ctranslate2(folder: Path, texts: Sequence[str], quantization: str, times: int) -> Result:
    """Driven by hand, two translators of one thread."""
    from dragoman.neural.exported import ExportedTranslator, ctranslate2_module
    from dragoman.neural.exporting import write_ctranslate2

    with tempfile.TemporaryDirectory() as place:
        write_ctranslate2(read_model(folder), Path(place), quantization)
        exported = ExportedTranslator.load(Path(place), "cpu")
        runs = {tokens: by_hand(ctranslate2_module(), exported, THREADS, tokens) for tokens in TOKENS}
        return measured(lambda part, tokens: runs[tokens](part).pieces, texts, TOKENS, TRIED, times)


def by_peer(name: str, folder: Path, texts: Sequence[str], times: int, *more: str) -> Result:
    """In its own environment; more: what its script is told besides."""
    python = PEERS.resolve() / "venvs" / ENVIRONMENTS[name] / "bin/python"
    if not python.exists():
        raise FileNotFoundError(f"no {python}: set PEERS_ROOT")
    threads = {"OMP_NUM_THREADS": str(THREADS), "MKL_NUM_THREADS": str(THREADS)}
    with tempfile.TemporaryDirectory() as place:
        write_task(folder, texts, times, Path(place))
        command = [str(python), "-m", f"benchmarks.peers.{name}", place, *more]
        done = subprocess.run(command, env={**os.environ, **threads}, capture_output=True, text=True)
        if done.returncode:
            raise OSError(f"{name}: {done.stderr.strip()[-500:]}")
        found: Result = json.loads((Path(place) / f"{name}.json").read_text(encoding="utf-8"))
    return found


def write_task(folder: Path, texts: Sequence[str], times: int, place: Path) -> None:
    """What the peers need to know of the model."""
    import torch

    model = read_model(folder)
    network, pieces, shape = model.networks[0], model.pipeline.source.pieces, model.options
    torch.save(network.state_dict(), place / "weights.pt")
    Task(
        width=shape.width,
        inner=shape.inner,
        heads=shape.heads,
        encoder_layers=shape.encoder_layers,
        decoder_layers=shape.decoder_layers,
        padding=pieces.padding,
        unknown=pieces.unknown,
        start=pieces.start,
        end=pieces.end,
        beam=BEAM,
        alpha=ALPHA,
        cap=CAP,
        batches=BATCHES,
        tried=TRIED,
        times=times,
        threads=THREADS,
        pieces=list(pieces.pieces),
        sources=model.pipeline.source.encode(texts),
    ).write(place)


def main(folder: Path, test: list[str], sentences: int = 1000, times: int = 3) -> None:
    """A row a system: pieces a second, how many times as fast we are, BLEU."""
    from dragoman.evaluation.metrics import corpus_scores
    from dragoman.system.store import read_card

    card = read_card(folder)
    pairs = list(open_bitext(test, card.source_language, card.target_language))[:sentences]
    texts = [pair.source for pair in pairs]
    systems: dict[str, Callable[[], Result]] = {
        "Dragoman, 2 processes of one thread": partial(ours, folder, texts, THREADS, times),
        "Dragoman, 2 processes, bf16": partial(ours, folder, texts, THREADS, times, precision="bf16"),
        "Dragoman, 2 processes, int8": partial(ours, folder, texts, THREADS, times, precision="int8"),
        "Dragoman, 2 processes, shortlist": partial(ours, folder, texts, THREADS, times, shortlist=True),
        "Dragoman, 2 threads": partial(ours, folder, texts, 1, times),
        "CTranslate2 fp32": partial(by_ctranslate2, folder, texts, "fp32", times),
        "CTranslate2 int8": partial(by_ctranslate2, folder, texts, "int8", times),
        "Eole 0.6.4, fp32": partial(by_peer, "eole", folder, texts, times, "fp32"),
        "Eole 0.6.4, bf16": partial(by_peer, "eole", folder, texts, times, "bf16"),
        "Hugging Face 4.57.3": partial(by_peer, "huggingface", folder, texts, times),
        "JoeyNMT 2.3.0": partial(by_peer, "joeynmt", folder, texts, times),
    }
    decode = read_model(folder).pipeline.target.decode
    rows: list[tuple[object, ...]] = []
    first = 0.0
    for name, measure in systems.items():
        found = step(f"peer-decoding-{sentences}-{name.replace(' ', '-').replace(',', '')}", measure)
        if "skipped" in found:
            rows.append((name, "skipped", "", "", "", found["skipped"]))
            continue
        taken, outputs = median(found["seconds"]), found["outputs"]
        rate = sum(len(output) + 1 for output in outputs) / taken
        first = first or rate
        bleu = corpus_scores(
            [decode(output).strip() for output in outputs],
            [[pair.target for pair in pairs]],
            card.target_language,
            with_ter=False,
        ).bleu.value
        speed = (f"{rate:,.0f}", f"{len(texts) / taken:.1f}", f"{first / rate:.2f}")
        rows.append((name, *speed, f"{bleu:.2f}", found["batch"]))
    header = ("system", "output pieces/s", "sentences/s", "we are ... times as fast", "BLEU", "batch")
    print(table(header, rows))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:4], *map(int, sys.argv[4:6]))
