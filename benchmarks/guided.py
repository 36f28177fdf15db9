"""What does a file of links do to a Transformer: to its translations, and to the links that it gives itself?

python -m benchmarks.guided LINKS [--corpus NAME] [--minutes N] [--recipe NAME] [--gold SOURCE TARGET LINKS]: trains
twice for so many minutes (20), without and with LINKS (a line of links for each record of the corpus's training part,
on the words of text/words.py), and shows BLEU on the test set. With gold links (`i-j` sure, `i?j` possible, on words
between white space; SOURCE and TARGET may have more lines than are linked) also the alignment error rate of the links
that each model gives when it is made to write the reference, and, of the one that was not taught, by decoder layer.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.corpora import CORPORA, Corpus
from benchmarks.quality import THREADS, dragoman, place_of
from benchmarks.steps import Result, step, table

Links = set[tuple[int, int]]


def trained(corpus: Corpus, recipe: str, minutes: float, links: str) -> Result:
    """Train under a budget, and evaluate on the corpus's test set."""
    out = place_of(corpus, f"{recipe}-{'guided' if links else 'plain'}", minutes)
    languages = ["--source", corpus.source, "--target", corpus.target]
    command = ["train", recipe, "--train", *corpus.part("train"), "--dev", *corpus.part(corpus.dev), *languages]
    given = ["--links", links] if links else []
    dragoman(*command, *given, "--time-budget", f"{minutes:g}m", "--threads", str(THREADS), "--out", str(out))
    judged = dragoman("evaluate", str(out), "--test", *corpus.part(corpus.test), *languages, "--json")
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    return {"model": str(out), "evaluation": json.loads(judged), "report": report}


def gold_links(line: str) -> tuple[Links, Links]:
    """The sure links and the possible ones, among which the sure ones are too."""
    sure, possible = Links(), Links()
    for link in line.split():
        i, mark, j = link.partition("-" if "-" in link else "?")
        possible.add((int(i), int(j)))
        if mark == "-":
            sure.add((int(i), int(j)))
    return sure, possible


def words_of_gold(line: str, language: str) -> tuple[str, list[list[int]]]:
    """The raw text of a line of words between white space (none of it in Chinese), and which of these each word of ours
    shares characters with."""
    from dragoman.text.places import shared
    from dragoman.text.words import word_spans

    text, spans, gap = "", [], "" if language == "zh" else " "
    for token in line.split():
        text += gap if text else ""
        spans.append((len(text), len(text) + len(token)))
        text += token
    places = shared(word_spans(text), spans)
    tokens: list[list[int]] = places.pieces_of()
    return text, tokens


def forced_links(model: Any, pairs: Sequence[tuple[str, str]]) -> Iterator[list[tuple[int, int]] | None]:
    """The links that a model gives when it has to write the target; None where it would have to cut the source."""
    from dragoman.contracts import Request, SearchOptions

    requests = [Request(source, prefix=target) for source, target in pairs]
    cut = {segment.request for segment in model.segments(requests) if segment.number}
    translations = model.translate(requests, SearchOptions(beam=1, links=True))
    for index, ((_, target), translation) in enumerate(zip(pairs, translations, strict=True)):
        best = translation.hypotheses[0]
        own = {word for word, (start, _) in enumerate(best.words) if start < len(target)}
        yield None if index in cut else [(i, j) for i, j in best.links or () if j in own]


def error_rate(folder: str, gold: Sequence[str], languages: tuple[str, str], layer: int | None = None) -> Result:
    """1 - (|A and S| + |A and P|) / (|A| + |S|), A being the links of the model (Och and Ney 2003, eq. 29).

    layer: the mean of the heads of this decoder layer instead of what the model has chosen.
    """
    from dragoman.neural.network import Watched
    from dragoman.system.store import load_model

    model: Any = load_model(Path(folder))
    if layer is not None:
        model.networks[0].watched = Watched(layer)
    lines = [Path(file).read_text(encoding="utf-8").splitlines() for file in gold]
    rows = list(zip(*lines, strict=False))  # the gold links may be those of the first lines
    sides = [[words_of_gold(row[side], language) for row in rows] for side, language in enumerate(languages)]
    pairs = [(source, target) for (source, _), (target, _) in zip(*sides, strict=True)]
    hits = size = used = 0
    for row, links, source, target in zip(rows, forced_links(model, pairs), *sides, strict=True):
        if links is None:
            continue
        sure, possible = gold_links(row[2])
        found = {(a, b) for i, j in links for a in source[1][i] for b in target[1][min(j, len(target[1]) - 1)]}
        hits += len(found & sure) + len(found & possible)
        size += len(found) + len(sure)
        used += 1
    return {
        "aer": 1 - hits / size,
        "pairs": used,
        "left_out": len(rows) - used,
        "layers": len(model.networks[0].decoder),
    }


def main() -> None:
    """Print a row a model, and a row a layer."""
    parser = argparse.ArgumentParser()
    parser.add_argument("links")
    parser.add_argument("--corpus", default="tatoeba.zh-en")
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--recipe", default="transformer-small")
    parser.add_argument("--gold", nargs=3, metavar=("SOURCE", "TARGET", "LINKS"))
    asked = parser.parse_args()
    corpus = CORPORA[asked.corpus]
    rows: list[tuple[object, ...]] = []
    for name, links in (("without links", ""), ("with links", asked.links)):
        key = f"guided-{corpus.name}-{asked.recipe}-{'guided' if links else 'plain'}-{asked.minutes:g}m"
        found = step(key, partial(trained, corpus, asked.recipe, asked.minutes, links))
        if "skipped" in found:
            rows.append((name, "skipped", found["skipped"], ""))
            continue
        bleu = found["evaluation"]["bleu"]["value"]
        measure = partial(error_rate, found["model"], asked.gold, (corpus.source, corpus.target))
        judged = measure() if asked.gold else {}
        told = f"{judged['aer']:.3f} ({judged['pairs']} pairs)" if judged else ""
        rows.append((name, f"{bleu:.2f}", told, found["report"]["done"]["updates"]))
        if judged and not links:
            for layer in range(judged["layers"]):
                rows.append((f"- decoder layer {layer + 1}, mean of its heads", "", f"{measure(layer)['aer']:.3f}", ""))
    header = ("training", "BLEU", "AER", "updates")
    print(f"{corpus.name}, {asked.recipe}, {asked.minutes:g} minutes each\n{table(header, rows)}")


if __name__ == "__main__":
    main()
