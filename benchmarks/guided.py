"""What do links do to a Transformer: to its translations, and to the links that it gives itself?

python -m benchmarks.guided [--corpus NAME] [--updates N] [--recipe NAME] [--threads N] [--gold SOURCE TARGET LINKS]:
aligner-best links the words of the training part; the recipe is trained twice for so many updates (4,000), so that the
load of the machine does not matter, without and with these links, and BLEU on the test set is shown. With gold links
(`i-j` sure, `i?j` possible, on words between white space; SOURCE and TARGET may have more lines than are linked) also
the alignment error rate of the links that each model gives when it is made to write the reference, by the aligner
beside them on the same pairs; and, of the model that was not taught, by decoder layer.

NAME hansards.en-fr: the training text of align/en-fr, its last 1,500 pairs kept apart as dev and test; its gold is the
default there, and stands in the training text, as it does for every aligner.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.corpora import CORPORA, DATA, TATOEBA_ZH_EN, Corpus
from benchmarks.quality import dragoman
from benchmarks.steps import RESULTS, Result, step, table

HANSARDS = "hansards.en-fr"
Links = set[tuple[int, int]]


def hansards() -> Corpus:
    """The pairs of align/en-fr in three parts: all but the last 1,500, then 500 and 1,000."""
    place = (RESULTS / "hansards.en-fr").resolve()
    place.mkdir(parents=True, exist_ok=True)
    for language in ("en", "fr"):
        lines = (DATA / "align/en-fr" / f"train.{language}").read_text(encoding="utf-8").split("\n")[:-1]
        for part, chosen in (("train", lines[:-1500]), ("dev", lines[-1500:-1000]), ("test", lines[-1000:])):
            (place / f"{part}.{language}").write_text("\n".join(chosen) + "\n", encoding="utf-8")
    return Corpus(str(place), "en", "fr")


def linked(corpus: Corpus, threads: int) -> Result:
    """Train the aligner, and link the words of the training part with it."""
    model, links = (RESULTS / f"{corpus.name}-aligner-best{end}" for end in ("", ".links"))
    languages = ["--source", corpus.source, "--target", corpus.target]
    cutting = ["--set", "words=spans", *(["--set", "units=jieba"] if "zh" in languages else [])]
    few = ["--threads", str(threads)]
    dragoman("train", "aligner-best", "--train", *corpus.part("train"), *languages, *cutting, *few, "--out", str(model))
    dragoman("align", "apply", str(model), *corpus.part("train"), *few, "--out", str(links))
    return {"model": str(model.resolve()), "links": str(links.resolve())}


class Run(NamedTuple):
    """What both trainings have in common."""

    corpus: Corpus
    recipe: str
    updates: int
    threads: int

    def key(self, links: str) -> str:
        taught = "guided" if links else "plain"
        return f"guided-{self.corpus.name}-{self.recipe}-{taught}-{self.updates}"


def trained(run: Run, links: str) -> Result:
    """Train for so many updates, and evaluate on the corpus's test set."""
    corpus, out = run.corpus, (RESULTS / run.key(links)).resolve()
    languages = ["--source", corpus.source, "--target", corpus.target]
    limits = {"max_updates": run.updates, "validate_every": max(1, run.updates // 10), "patience": 0}
    sets = [f"--set=training.{name}={value}" for name, value in limits.items()]
    files = ["--train", *corpus.part("train"), "--dev", *corpus.part(corpus.dev), *languages]
    few = ["--threads", str(run.threads)]
    dragoman("train", run.recipe, *files, *(["--links", links] if links else []), *sets, *few, "--out", str(out))
    judged = dragoman("evaluate", str(out), "--test", *corpus.part(corpus.test), *languages, *few, "--json")
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


def own_links(model: Any, pairs: Sequence[tuple[str, str]]) -> Iterator[list[tuple[int, int]] | None]:
    """The links of an aligner."""
    for alignment in model.align(pairs):
        yield list(alignment.links)


class Gold(NamedTuple):
    """Pairs with gold links. sides: of each pair its raw texts, and which words of ours each gold word overlaps."""

    links: list[tuple[Links, Links]]
    sides: list[list[tuple[str, list[list[int]]]]]

    @classmethod
    def read(cls, files: Sequence[str], languages: tuple[str, str]) -> Gold:
        """The lines up to the end of the shortest file."""
        rows = list(zip(*(Path(file).read_text(encoding="utf-8").splitlines() for file in files), strict=False))
        sides = [[words_of_gold(row[side], language) for row in rows] for side, language in enumerate(languages)]
        return cls([gold_links(row[2]) for row in rows], sides)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        source, target = self.sides
        return [(one, other) for (one, _), (other, _) in zip(source, target, strict=True)]

    def error_rate(self, found: Iterable[list[tuple[int, int]] | None], among: Container[int]) -> float:
        """1 - (|A and S| + |A and P|) / (|A| + |S|), A being the links found (Och and Ney 2003, eq. 29), over some of
        the pairs."""
        hits = size = 0
        for place, (links, (sure, possible)) in enumerate(zip(found, self.links, strict=True)):
            if links is None or place not in among:
                continue
            sources, targets = (side[place][1] for side in self.sides)
            ours = {(a, b) for i, j in links for a in sources[i] for b in targets[min(j, len(targets) - 1)]}
            hits += len(ours & sure) + len(ours & possible)
            size += len(ours) + len(sure)
        return 1 - hits / size


def judged(gold: Gold, aligner: str, models: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """A name and an error rate a row: the aligner, each model, and each layer of the first model."""
    from dragoman.neural.network import Watched
    from dragoman.system.store import load_model

    loaded: list[tuple[str, Any]] = [(name, load_model(Path(folder))) for name, folder in models]
    found = [(name, list(forced_links(model, gold.pairs))) for name, model in loaded]
    among = {place for place, links in enumerate(found[0][1]) if links is not None}
    found.insert(0, ("the aligner", list(own_links(load_model(Path(aligner)), gold.pairs))))
    plain = loaded[0][1]
    for layer in range(len(plain.networks[0].decoder)):
        plain.networks[0].watched = Watched(layer)
        found.append((f"without links, decoder layer {layer + 1}", list(forced_links(plain, gold.pairs))))
    for name, links in found:
        yield name, f"{100 * gold.error_rate(links, among):.1f} % ({len(among)} of {len(gold.links)} pairs)"


def done(name: str, measure: Callable[[], Result]) -> Result:
    """The result of a step that all that follows needs."""
    found = step(name, measure)
    if "skipped" in found:
        raise SystemExit(f"skipped: {found['skipped']}")
    return found


def main() -> None:
    """Print a row a model, and a row a source of links."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guided", description=__doc__.partition("\n")[0])
    parser.add_argument("--corpus", choices=(*CORPORA, HANSARDS), default=TATOEBA_ZH_EN.name)
    parser.add_argument("--updates", type=int, default=4_000)
    parser.add_argument("--recipe", default="transformer-tiny")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--gold", nargs=3, metavar=("SOURCE", "TARGET", "LINKS"))
    asked = parser.parse_args()
    corpus = hansards() if asked.corpus == HANSARDS else CORPORA[asked.corpus]
    files = asked.gold or ([*corpus.part("train"), str(DATA / "align/en-fr/gold")] if asked.corpus == HANSARDS else [])
    aligner = done(f"guided-{corpus.name}-links", partial(linked, corpus, asked.threads))
    run = Run(corpus, asked.recipe, asked.updates, asked.threads)
    models: list[tuple[str, str]] = []
    rows: list[tuple[object, ...]] = []
    for name, links in (("without links", ""), ("with links", str(aligner["links"]))):
        found = done(run.key(links), partial(trained, run, links))
        models.append((name, found["model"]))
        figures = (f"{found['evaluation'][metric]['value']:.2f}" for metric in ("bleu", "chrf"))
        rows.append((name, *figures, found["report"]["done"]["updates"]))
    print(f"{corpus.name}, {asked.recipe}, {asked.updates:,} updates each")
    print(table(("training", "BLEU", "chrF", "updates"), rows))
    if files:
        gold = Gold.read(files, (corpus.source, corpus.target))
        print(table(("links of", "AER"), list(judged(gold, aligner["model"], models))))


if __name__ == "__main__":
    main()
