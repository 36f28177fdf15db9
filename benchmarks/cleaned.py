"""What does noise cost a translator, and how much of it does cleaning bring back?

python -m benchmarks.cleaned [CORPUS [MINUTES [SHARE]]]: transformer-auto with a budget of MINUTES (20) on the training
pairs of CORPUS (tatoeba.zh-en) as they are, with SHARE (0.3) of them spoilt (benchmarks/noise.py), and on what
`dragoman corpus clean` leaves of the spoilt ones; the same dev and test set. One run each, two threads.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

from benchmarks.corpora import CORPORA, Corpus
from benchmarks.noise import pairs_of, spoilt
from benchmarks.quality import THREADS, dragoman
from benchmarks.steps import RESULTS, Result, step, table

DEFAULTS = ("tatoeba.zh-en", "20", "0.3")
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


def trained(corpus: Corpus, way: str, minutes: float, share: float) -> Result:
    """BLEU and chrF on the test set, and how many pairs there were to learn from."""
    files = train_files(corpus, way, share)
    out = (RESULTS / f"cleaned-{corpus.name}-{way.replace(' ', '-')}").resolve()
    languages = ["--source", corpus.source, "--target", corpus.target]
    made = ["train", "transformer-auto", "--train", *files, "--dev", *corpus.part(corpus.dev), *languages]
    dragoman(*made, "--time-budget", f"{minutes:g}m", "--threads", str(THREADS), "--out", str(out))
    judged = json.loads(dragoman("evaluate", str(out), "--test", *corpus.part(corpus.test), *languages, "--json"))
    with Path(files[0]).open(encoding="utf-8") as lines:
        return {"evaluation": judged, "lines": sum(1 for _ in lines)}


def main(name: str, minutes: float, share: float) -> None:
    """Print a row a way."""
    corpus = CORPORA[name]
    rows: list[tuple[object, ...]] = []
    for way in WAYS:
        named = f"cleaned-{name}-{way.replace(' ', '-')}-{minutes:g}m-{share:g}"
        found = step(named, partial(trained, corpus, way, minutes, share))
        if "skipped" in found:
            rows.append((way, "skipped", "", found["skipped"]))
            continue
        bleu, chrf = (found["evaluation"][figure]["value"] for figure in ("bleu", "chrf"))
        rows.append((way, f"{found['lines']:,}", f"{bleu:.2f}", f"{chrf:.1f}"))
    print(f"{name}, {minutes:g} minutes each\n{table(('training pairs', 'lines', 'BLEU', 'chrF'), rows)}")


if __name__ == "__main__":
    asked = [*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]]
    main(asked[0], float(asked[1]), float(asked[2]))
