"""How does `dragoman translate` turn lines into lines?"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from dragoman.cli.loading import Ensemble, loaded, precision_of
from dragoman.cli.options import (
    Device,
    Engine,
    File,
    Files,
    Folder,
    Json,
    NBest,
    OnBadLine,
    Precision,
    Quiet,
    SearchFlags,
    Source,
    Target,
    Threads,
    Workers,
)
from dragoman.cli.screen import say, screen
from dragoman.contracts import Hypothesis, Progress, UserError
from dragoman.wording import json_line

if TYPE_CHECKING:
    from dragoman.system.stream import LineResult

FLAGS_SHOWN = 20
WINDOW = 2000  # lines that are sorted by length and searched together; memory does not grow beyond them


def translate(
    model: Folder,
    files: Files | None = None,
    /,
    *,
    out: File = "-",
    n_best: NBest = None,
    as_json: Json = False,
    links: File | None = None,
    prefix: str = "",
    source: Source = None,
    target: Target = None,
    with_: Ensemble = None,
    search: SearchFlags = SearchFlags(),
    on_bad_line: OnBadLine = "stop",
    engine: Engine = None,
    device: Device = "auto",
    precision: Precision = "fp32",
    threads: Threads = 0,
    workers: Workers = 0,
    quiet: Quiet = False,
) -> None:
    """Translate line by line: as many lines come out as go in, in order, blank ones for blank ones.

    What should be known of a translation goes to standard error as FILE:LINE: FLAG, or into the JSON.

    Parameters
    ----------
    model:
        A model folder, or memory:FILE[,FILE] for the closest segment of a bitext.
    files:
        Text files, compressed ones too; none or - is standard input.
    out:
        Write there instead of to standard output.
    n_best:
        Print up to N different translations a line: index ||| text ||| score ||| log-probability.
    as_json:
        Print a JSON object a line, with all hypotheses and flags.
    links:
        Write there which words became which: a line such as 0-0 1-2 (source-target) for each line of input, blank for
        blank.
    prefix:
        What every translation must begin with.
    """
    from dragoman.corpus.lines import read_lines, writing
    from dragoman.corpus.streams import refuse_overwriting, require_files, shown_name
    from dragoman.system.baselines import files_of
    from dragoman.system.stream import translate_lines
    from dragoman.system.workers import workers_for

    options = replace(search.options(n_best or 1), links=links is not None)
    require_files(files or ())
    _check_links(links, out, as_json or (n_best or 1) == 1)
    refuse_overwriting([*(files or ()), *files_of(model, *(with_ or ()))], [out, links])
    system = loaded(model, with_, device, threads, source, target, precision, engine)
    load = partial(loaded, model, with_, device, 1, source, target, precision_of(system), engine, chosen=True)
    show = _json if as_json else _n_best if n_best is not None else _plain
    warnings = Warnings()
    index = 0
    with (
        screen(quiet or "-" in (out, links)) as report,
        writing(out) as output,
        writing(links) if links else nullcontext() as linked,
        workers_for(system, load, workers, threads=threads, device=device) as crew,
    ):
        for file in files or ["-"]:
            name = shown_name(file)
            typed = file == "-" and sys.stdin.isatty()
            lines = read_lines(file, on_bad_line)
            window = 1 if typed else WINDOW
            for result in translate_lines(
                system, lines, options, window=window, prefix=prefix, translate=crew.translate
            ):
                show(result, index, name, output)
                if linked is not None:
                    print(_links(result), file=linked)
                index += 1
                if typed:
                    output.flush()
                if not as_json:
                    warnings.tell(result, name)
                report(Progress("translating", index))
    warnings.close()


def _check_links(links: str | None, out: str, by_lines: bool) -> None:
    """UserError where the links would have no place, or would not be those of the lines beside them."""
    if links is None:
        return
    if not by_lines:
        raise UserError("--links has one line for each line of input: leave out --n-best, or take --json")
    if links == out or (links != "-" and out != "-" and Path(links).resolve() == Path(out).resolve()):
        raise UserError(f"--links {links}: the translations go there; name another file")


def _links(result: LineResult) -> str:
    from dragoman.corpus.links import written_links

    return written_links((result.translation.hypotheses[0].links if result.translation else None) or ())


def _plain(result: LineResult, index: int, file: str, output: TextIO) -> None:
    print(result.text, file=output)


def _n_best(result: LineResult, index: int, file: str, output: TextIO) -> None:
    for best in result.translation.hypotheses if result.translation else (Hypothesis(result.text),):
        print(f"{index} ||| {best.text} ||| {best.score:.6f} ||| {best.log_probability:.6f}", file=output)


def _json(result: LineResult, index: int, file: str, output: TextIO) -> None:
    hypotheses = result.translation.hypotheses if result.translation else ()
    row = {
        "file": file,
        "line": result.line.number,
        "source": result.line.text,
        "flags": _warnings_of(result),
        "hypotheses": [_hypothesis(best) for best in hypotheses],
    }
    print(json_line(row), file=output)


def _hypothesis(best: Hypothesis) -> dict[str, object]:
    row: dict[str, object] = {
        "text": best.text,
        "score": best.score,
        "log_probability": best.log_probability,
        "token_log_probabilities": best.token_log_probabilities,
        "flags": [flag.value for flag in best.flags],
    }
    if best.links is not None:
        row["links"] = best.links
    return row


def _warnings_of(result: LineResult) -> list[str]:
    return [*([result.line.fault] if result.line.fault else []), *(flag.value for flag in result.flags)]


class Warnings:
    """Flags as lines on standard error: the first few, then how many more there were."""

    def __init__(self) -> None:
        self.count = 0

    def tell(self, result: LineResult, file: str) -> None:
        """One line a flag: FILE:LINE: FLAG."""
        for flag in _warnings_of(result):
            self.count += 1
            if self.count <= FLAGS_SHOWN:
                say(f"{file}:{result.line.number}: {flag}")

    def close(self) -> None:
        """The count of those that were not shown."""
        if self.count > FLAGS_SHOWN:
            say(f"and {self.count - FLAGS_SHOWN:,} more such lines; --json gives them all")
