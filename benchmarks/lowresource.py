"""What do a fitting network and text in the target language alone gain where pairs are few?

python -m benchmarks.lowresource [CORPUS [MINUTES]]: on CORPUS (lafand.en-yor), each with a budget of MINUTES (20):
transformer-auto on all pairs; on every second pair; a reverse model on the same, and transformer-auto on them with the
target sides of the other pairs as monolingual text; last the untuned transformer-base on all pairs, whose outputs find
no end, so that its evaluation takes long. The test set is the same for all. One run each.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.corpora import CORPORA, Corpus
from benchmarks.quality import THREADS, dragoman, place_of
from benchmarks.steps import RESULTS, Result, step, table


def trained(
    corpus: Corpus, name: str, recipe: str, minutes: float, train: Sequence[str], more: Sequence[str] = ()
) -> Result:
    """Train under a budget, and evaluate on the corpus's test set."""
    out = (RESULTS / f"{corpus.name}-{name}-{minutes:g}m").resolve()
    languages = ["--source", corpus.source, "--target", corpus.target]
    command = ["train", recipe, "--train", *train, "--dev", *corpus.part(corpus.dev), *languages, *more]
    dragoman(*command, "--time-budget", f"{minutes:g}m", "--threads", str(THREADS), "--out", str(out))
    judged = dragoman("evaluate", str(out), "--test", *corpus.part(corpus.test), *languages, "--json")
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    return {"evaluation": json.loads(judged), "report": report}


def halves(corpus: Corpus) -> tuple[list[str], str]:
    """The files of every second pair, and that of the other pairs' target sides."""
    place = (RESULTS / f"{corpus.name}-halves").resolve()
    place.mkdir(parents=True, exist_ok=True)
    pairs = []
    for file, language in zip(corpus.part("train"), (corpus.source, corpus.target), strict=True):
        lines = Path(file).read_text(encoding="utf-8").split("\n")[:-1]
        half = place / f"half.{language}"
        half.write_text("\n".join(lines[::2]) + "\n", encoding="utf-8")
        pairs.append(str(half))
    alone = place / f"alone.{corpus.target}"
    alone.write_text("\n".join(lines[1::2]) + "\n", encoding="utf-8")
    return pairs, str(alone)


def main(name: str, minutes: float) -> None:
    """Print a row a training."""
    corpus = CORPORA[name]
    backwards = corpus._replace(source=corpus.target, target=corpus.source)
    whole = corpus.part("train")
    half, alone = halves(corpus)
    reverse = place_of(backwards, "reverse", minutes)
    synthetic = ["--monolingual", alone, "--reverse", str(reverse)]
    rows: list[tuple[object, ...]] = []
    for row, key, run in (
        ("transformer-auto, all pairs", "auto", partial(trained, corpus, "auto", "transformer-auto", minutes, whole)),
        ("transformer-auto, half", "half", partial(trained, corpus, "half", "transformer-auto", minutes, half)),
        (
            "(the reverse model)",
            "reverse",
            partial(trained, backwards, "reverse", "transformer-auto", minutes, half[::-1]),
        ),
        (
            "transformer-auto, half, and back-translation",
            "synthetic",
            partial(trained, corpus, "synthetic", "transformer-auto", minutes, half, synthetic),
        ),
        ("transformer-base, all pairs", "base", partial(trained, corpus, "base", "transformer-base", minutes, whole)),
    ):
        found = step(f"lowresource-{name}-{key}-{minutes:g}m", run)
        if "skipped" in found:
            rows.append((row, "skipped", "", found["skipped"]))
            continue
        judged = found["evaluation"]
        figures = (f"{judged[metric]['value']:.2f}" for metric in ("bleu", "chrf"))
        rows.append((row, *figures, judged["bleu"]["signature"]))
    print(f"{name}, {minutes:g} minutes each\n{table(('training', 'BLEU', 'chrF', 'signature'), rows)}")


if __name__ == "__main__":
    main((sys.argv[1:2] or ["lafand.en-yor"])[0], float((sys.argv[2:3] or ["20"])[0]))
