"""What does noise cost a translator, and how much of it does cleaning bring back?

python -m benchmarks.cleaned [CORPUS [UPDATES [SHARE]]]: transformer-tiny with so many updates (5,000) on one thread, so
that the load of the machine does not matter: on the training pairs of CORPUS (tatoeba.zh-en) as they are, with SHARE
(0.3) of them spoilt (benchmarks/noise.py), and on what `dragoman corpus clean` leaves of the spoilt ones; the same dev
and test set. One run each.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

from benchmarks.corpora import CORPORA, Corpus
from benchmarks.noise import pairs_of, spoilt
from benchmarks.quality import dragoman
from benchmarks.steps import RESULTS, Result, step, table

DEFAULTS = ("tatoeba.zh-en", "5000", "0.3")
WAYS = ("as it is", "spoilt", "cleaned")


def train_files(corpus: Corpus, way: str, share: float) -> list[str]:
    """The two files of one way, made anew from the corpus."""
    if way == "as it is":
        return corpus.part("train")
    place = (RESULTS / f"cleaned-{corpus.name}-{share:g}").resolve()
    place.mkdir(parents=True, exist_ok=True)
    files = [str(place / f"spoilt.{language}") for language in (corpus.source, corpus.target)]
    found, _, _ = spoilt(pairs_of(corpus), share)
    for side, file in enumerate(files):
        Path(file).write_text("".join(pair[side] + "\n" for pair in found), encoding="utf-8")
    if way == "spoilt":
        return files
    out = [str(place / f"cleaned.{language}") for language in (corpus.source, corpus.target)]
    dragoman("corpus", "clean", *files, "--source", corpus.source, "--target", corpus.target, "--out", *out)
    return out


def trained(corpus: Corpus, way: str, updates: int, share: float) -> Result:
    """BLEU and chrF on the test set, and how many pairs there were to learn from."""
    files = train_files(corpus, way, share)
    out = (RESULTS / f"{named(corpus.name, way, updates, share)}").resolve()
    languages = ["--source", corpus.source, "--target", corpus.target]
    made = ["train", "transformer-tiny", "--train", *files, "--dev", *corpus.part(corpus.dev), *languages]
    dragoman(*made, "--set", f"max_updates={updates}", "--threads", "1", "--out", str(out))
    judged = json.loads(dragoman("evaluate", str(out), "--test", *corpus.part(corpus.test), *languages, "--json"))
    with Path(files[0]).open(encoding="utf-8") as lines:
        return {"evaluation": judged, "lines": sum(1 for _ in lines)}


def named(corpus: str, way: str, updates: int, share: float) -> str:
    """The step of one way, and the folder of its model."""
    return f"cleaned-{corpus}-{way.replace(' ', '-')}-{updates}-{share:g}"


def main(name: str, updates: int, share: float) -> None:
    """Print a row a way."""
    rows: list[tuple[object, ...]] = []
    for way in WAYS:
        found = step(named(name, way, updates, share), partial(trained, CORPORA[name], way, updates, share))
        if "skipped" in found:
            rows.append((way, "skipped", "", found["skipped"]))
            continue
        bleu, chrf = (found["evaluation"][figure] for figure in ("bleu", "chrf"))
        rows.append((way, f"{found['lines']:,}", f"{bleu['value']:.2f}", f"{chrf['value']:.1f}", bleu["signature"]))
    print(f"{name}, {updates:,} updates each")
    print(table(("training pairs", "lines", "BLEU", "chrF", "signature"), rows))


if __name__ == "__main__":
    asked = [*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]]
    main(asked[0], int(asked[1]), float(asked[2]))
