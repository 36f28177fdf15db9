"""How good is every kind after equal time, on short, middle and long sentences?

python -m benchmarks.families [CORPUS [MINUTES [SEEDS]]]: trains each of RECIPES on CORPUS (tatoeba.zh-en) with a budget
of MINUTES (20) of wall clock and SEEDS (1,2,3), two threads, one after the other, and evaluates it on the test set, as
a whole and cut into thirds by the source's length in words (a Chinese sign is one). What a kind loses on long sentences
is its BLEU there less its BLEU on short ones; the last table holds it against that of the first kind.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from statistics import fmean, stdev

from benchmarks.corpora import CORPORA
from benchmarks.steps import step, table
from benchmarks.variations import Run, trained, word
from dragoman.system.catalogue import PRESETS

DEFAULTS = ("tatoeba.zh-en", "20", "1,2,3")
RECIPES: dict[str, tuple[str, tuple[str, ...]]] = {  # by the row's name: preset and settings
    "transformer-auto": ("transformer-auto", ()),
    "transformer-small": ("transformer-small", ()),
    "rnn-auto": ("rnn-auto", ()),
    "rnn-bahdanau": ("rnn-bahdanau", ()),
    "rnn-luong": ("rnn-luong", ()),
    "rnn-luong, convolution reads": ("rnn-luong", ("model.encoder=conv-bi", "model.encoder_layers=4")),
    "rnn-luong, self-attention reads": ("rnn-luong", ("model.encoder=attention",)),
    "rnn-fixed": ("rnn-fixed", ()),
    "dictionary": ("dictionary", ()),
}
PARTS = ("short", "middle", "long")


def thirds(sources: Sequence[str]) -> tuple[list[list[int]], list[str]]:
    """Places of the sources by their length, the shortest first, and which lengths a part has."""
    from dragoman.text.words import word_spans

    lengths = [len(word_spans(source)) for source in sources]
    order = sorted(range(len(sources)), key=lambda place: (lengths[place], place))
    cuts = [len(order) * third // 3 for third in range(4)]
    parts = [order[cuts[third] : cuts[third + 1]] for third in range(3)]
    named = [f"{min(lengths[i] for i in part)}-{max(lengths[i] for i in part)} words" for part in parts]
    return parts, named


def by_length(outputs: list[str], parts: list[list[int]], references: list[str], language: str) -> list[float]:
    """BLEU of each part."""
    from dragoman.evaluation.metrics import corpus_scores

    return [
        corpus_scores(
            [outputs[place] for place in part], [[references[place] for place in part]], language, with_ter=False
        ).bleu.value
        for part in parts
    ]


def around(values: list[float]) -> str:
    """The mean, and how far the seeds are apart (standard deviation)."""
    return f"{fmean(values):.2f}" + (f" ± {stdev(values):.2f}" if len(values) > 1 else "")


def main(name: str, minutes: float, seeds: list[int]) -> None:
    """Print a row a kind, then what each loses on long sentences."""
    from dragoman.corpus.formats import open_bitext

    corpus = CORPORA[name]
    pairs = list(open_bitext(corpus.part(corpus.test), corpus.source, corpus.target))
    parts, lengths = thirds([pair.source for pair in pairs])
    references = [pair.target for pair in pairs]
    rows: list[tuple[object, ...]] = []
    lost: dict[str, list[float]] = {}
    for row, (recipe, settings) in RECIPES.items():
        if recipe not in PRESETS:
            continue
        budget = () if recipe == "dictionary" else ("--time-budget", f"{minutes:g}m")
        runs = [
            Run(f"families-{name}-{row.replace(', ', '-').replace(' ', '-')}-{minutes:g}m-{seed}", corpus, recipe,
                settings, seed, budget, threads=2)
            for seed in (seeds if budget else seeds[:1])  # which counts, and draws nothing
        ]  # fmt: skip
        found = [step(run.key, partial(trained, run)) for run in runs]
        if missing := [word(each) for each in found if "evaluation" not in each]:
            rows.append((row, *missing[:1], "", "", "", ""))
            continue
        cut = [by_length(each["outputs"], parts, references, corpus.target) for each in found]
        lost[row] = [scores[-1] - scores[0] for scores in cut]
        whole = [each["evaluation"]["bleu"]["value"] for each in found]
        speeds = [each["tokens_per_second"] for each in found if each["tokens_per_second"]]
        each_part = (around([scores[part] for scores in cut]) for part in range(len(PARTS)))
        rows.append((row, around(whole), *each_part, f"{fmean(speeds):,.0f}" if speeds else ""))
    header = ("", "BLEU", *(f"{part}, {words}" for part, words in zip(PARTS, lengths, strict=True)), "target tokens/s")
    print(f"{name}, {minutes:g} minutes each, seeds {', '.join(map(str, seeds))}\n{table(header, rows)}\n")
    if not lost:
        return
    first = next(iter(lost))
    falls: list[tuple[object, ...]] = [
        (row, around(each), f"{fmean(each) - fmean(lost[first]):+.2f}") for row, each in lost.items()
    ]
    print(table(("", "BLEU, long less short", f"beside {first}"), falls))


if __name__ == "__main__":
    asked = [*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]]
    main(asked[0], float(asked[1]), [int(each) for each in asked[2].split(",")])
