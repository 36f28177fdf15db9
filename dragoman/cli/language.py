"""How good is a language model on a text, and what does it think of given lines?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.cli.data import opened_text
from dragoman.cli.loading import use_threads
from dragoman.cli.options import OnBadLine
from dragoman.cli.screen import say, screen
from dragoman.contracts import Progress
from dragoman.wording import counted, json_text

if TYPE_CHECKING:
    from dragoman.texts import LanguageModel, TextFigures

WINDOW = 1000
SHOWN = 10  # lines that are named


def loaded_model(folder: str, verb: str, device: str, threads: int) -> LanguageModel:
    """The language model in a folder. UserError where the model there lacks the verb."""
    use_threads(threads)
    from dragoman.system.store import load_model
    from dragoman.system.verbs import require_verb

    require_verb(folder, verb)
    model: LanguageModel = load_model(Path(folder), device)
    return model


def evaluate_text(
    folder: str, files: Sequence[str], as_json: bool, on_bad_line: OnBadLine, device: str, threads: int, quiet: bool
) -> None:
    """Print how well the text of the files is predicted."""
    model = loaded_model(folder, "evaluate", device, threads)
    text = opened_text(files, None, on_bad_line, "test")
    with screen(quiet) as report:
        began = time.perf_counter()
        figures = model.evaluate(text, report)
        seconds = time.perf_counter() - began
    if as_json:
        asked = {"model": folder, "test": list(files), "language": model.language}
        speed = {"tokens_per_second": figures.tokens / max(seconds, 1e-9)}
        print(json_text({**asked, **figures.to_json(), **speed}))
    else:
        print("\n".join(figure_lines(figures, seconds, own_units(model))))


def own_units(model: LanguageModel) -> str:
    """What the tokens of a model are; most cut a text as they have learnt to."""
    known = {"words": "what white space separates", "characters": "characters"}
    return known.get(str(model.describe().get("units")), "its pieces")


def figure_lines(figures: TextFigures, seconds: float, tokens: str) -> list[str]:
    """The figures, each with what it counts. tokens: what those of the model are."""
    words = f"{figures.words:,}: words and marks apart, as for every model, and line ends"
    own = f"{figures.tokens:,}: {tokens}, and ends"
    lines = [
        f"perplexity          {figures.perplexity:10,.3f}  a token of the model ({own})",
        f"perplexity          {figures.word_perplexity:10,.2f}  a word of the text ({words})",
        f"bits per character  {figures.bits_per_character:10.4f}  ({figures.characters:,}, line ends among them)",
        f"log-probability     {figures.log_probability:10,.1f}  natural log, of {figures.lines:,} lines",
    ]
    if figures.unknown:
        others = f"perplexity of the others {figures.perplexity_of_known:,.3f}"
        lines.append(
            f"unknown             {figures.unknown:10,}  tokens ({figures.unknown / figures.tokens:.2%}); {others}"
        )
    return [*lines, f"{figures.tokens / max(seconds, 1e-9):,.0f} tokens/s"]


def score_lines(
    folder: str, files: Sequence[str], out: str, on_bad_line: OnBadLine, device: str, threads: int, quiet: bool
) -> None:
    """Print the log-probability of each line of the files, a blank line for a blank one."""
    from dragoman.corpus.lines import read_lines, writing
    from dragoman.corpus.records import is_blank
    from dragoman.corpus.streams import require_files, shown_name

    require_files(files)
    model = loaded_model(folder, "score", device, threads)
    lines = ((shown_name(file), line) for file in files for line in read_lines(file, on_bad_line))
    done = faults = 0
    with screen(quiet or out == "-") as report, writing(out) as output:
        while window := list(islice(lines, WINDOW)):
            scores = iter(model.score([line.text for _, line in window if not is_blank(line.text)]))
            for name, line in window:
                if line.fault:
                    faults += 1
                    if faults <= SHOWN:
                        say(f"{name}:{line.number}: {line.fault}; its line is blank")
                print("" if is_blank(line.text) else f"{next(scores).log_probability:.6f}", file=output)
            done += len(window)
            report(Progress("scoring", done))
    if faults > SHOWN:
        say(f"and {counted(faults - SHOWN, 'more such line')}")
