"""How does `dragoman align` say which words of a pair belong together?"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import islice, tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

from cyclopts import App, Parameter

from dragoman.cli.errors import ENDING, stopping
from dragoman.cli.loading import check_languages, use_threads
from dragoman.cli.options import (
    File,
    Files,
    Folder,
    Json,
    OnBadLine,
    Quiet,
    Seed,
    Settings,
    Source,
    Target,
    Threads,
)
from dragoman.cli.reading import every_record, opened, refuse_foreign
from dragoman.cli.screen import say, screen
from dragoman.contracts import Interrupted, Progress, SentencePair, UserError, Work
from dragoman.wording import counted, json_text

if TYPE_CHECKING:
    from dragoman.corpus.bitext import FileBitext
    from dragoman.evaluation.links import Gold, LinkFigures
    from dragoman.links import Aligner, Alignment

WINDOW, REPORT_EVERY = 20_000, 5_000
PREFIX = "aligner-"
SHOWN = 10
Row = tuple[SentencePair | None, "Alignment | None"]
UNNAMED = ("qaa", "qab")  # codes that ISO 639 leaves to whoever needs some

Symmetrise = Annotated[
    Literal[
        "forward",
        "reverse",
        "union",
        "intersection",
        "grow-diag",
        "grow-diag-final",
        "grow-diag-final-and",
        "agreement",
    ]
    | None,
    Parameter(help="How the links of both directions become one set; else what the model stores."),
]
Probabilities = Annotated[bool, Parameter(help="Write each link with its probability: 0-0:0.98.")]
Words = Annotated[
    Literal["auto", "spaces", "spans"] | None,
    Parameter(
        help="The words that links count: what spaces separate, or the words of raw text, as train --links does."
    ),
]
Units = Annotated[
    Literal["words", "characters", "jieba"] | None,
    Parameter(
        help="What is counted: the words; or Chinese by characters, or by jieba's words. Links count words still."
    ),
]


def align(
    files: Files,
    /,
    *,
    model: str = "fast",
    symmetrise: Symmetrise = None,
    words: Words = None,
    units: Units = None,
    set_: Settings | None = None,
    out: File = "-",
    probabilities: Probabilities = False,
    lexicon: File | None = None,
    source: Source = None,
    target: Target = None,
    seed: Seed = None,
    on_bad_line: OnBadLine = "stop",
    threads: Threads = 0,
    quiet: Quiet = False,
) -> None:
    """Learn from sentence pairs which words belong together, and write it: a line of links (0-0 1-2) for each record.

    A pair with a blank side gives a blank line. A file called apply or evaluate is given as ./apply.

    Parameters
    ----------
    files:
        Sentence pairs in any format that train reads; plain text files come in pairs (source, target).
    model:
        ibm1, ibm2, hmm, ibm3, fast or best.
    set_:
        A field of the recipe (`dragoman recipes aligner-fast`), as name=value; may be repeated.
    out:
        Write the links there instead of to standard output.
    lexicon:
        Write the lexical table there: source, target, t(target | source), t(source | target), tab-separated.
    """
    use_threads(threads)
    from dragoman.system.catalogue import KINDS, did_you_mean
    from dragoman.system.settings import recipe_from

    kind = PREFIX + model.removeprefix(PREFIX)
    if kind not in KINDS:
        names = [name.removeprefix(PREFIX) for name in KINDS if name.startswith(PREFIX)]
        raise UserError(f"--model {model}: no such aligner{did_you_mean(model, names)}; there are: {', '.join(names)}")
    given = {"words": words, "units": units, "symmetry": symmetrise}
    recipe: Any = recipe_from(kind, [*(set_ or ()), *(f"{name}={value}" for name, value in given.items() if value)])
    _refuse_overwriting(files, out, lexicon)
    bitext = _opened(files, source, target, on_bad_line, quiet)
    with _outputs(out, lexicon) as (output, table):
        learnt = _learnt(recipe, bitext, 1 if seed is None else seed, threads, quiet)
        if words in (None, "auto"):
            say(f"align: links count words by {learnt.aligner.cutting.words} (--words)")
        records, again = tee(every_record(bitext))
        found = learnt.alignments(pair for pair in again if pair is not None)
        rows = ((pair, None if pair is None else next(found)) for pair in records)
        _write(rows, output, probabilities, quiet or out == "-")
        _write_lexicon(learnt.aligner, table)


def apply(
    model: Folder,
    files: Files,
    /,
    *,
    symmetrise: Symmetrise = None,
    out: File = "-",
    probabilities: Probabilities = False,
    lexicon: File | None = None,
    source: Source = None,
    target: Target = None,
    on_bad_line: OnBadLine = "stop",
    threads: Threads = 0,
    quiet: Quiet = False,
) -> None:
    """Link the words of sentence pairs with an aligner that `dragoman train` made.

    Parameters
    ----------
    model:
        A model folder.
    files:
        Sentence pairs in any format that train reads.
    out:
        Write the links there instead of to standard output.
    lexicon:
        Write the model's lexical table there.
    """
    _refuse_overwriting(files, out, lexicon, model=model)
    aligner = loaded_aligner(model, threads)
    languages = languages_for(aligner, model, files, source, target)
    bitext = _opened(files, *languages, on_bad_line, quiet, may_be_empty=True)
    with _outputs(out, lexicon) as (output, table):
        rows = aligned(aligner, every_record(bitext), symmetrise or "")
        _write(rows, output, probabilities, quiet or out == "-")
        _write_lexicon(aligner, table)


def evaluate(*, links: File, gold: File, as_json: Json = False) -> None:
    """Compare links with those that people drew: precision, recall and alignment error rate (AER).

    Parameters
    ----------
    links:
        A file with a line of links for each pair, such as `dragoman align` writes.
    gold:
        A file with a line for each of the first pairs: i-j is sure, i?j possible; both count from 0.
    as_json:
        Print one JSON object.
    """
    from dragoman.corpus.lines import read_lines

    true = gold_lines(gold)
    found = [_links_of(line.text, links, line.number) for line in read_lines(links)]
    tell_figures(figures_of(found, true, links, gold), {"links": links, "gold": gold}, as_json)


def evaluate_links(
    folder: str,
    test: Sequence[str],
    gold: str | None,
    as_json: bool,
    source: str | None,
    target: str | None,
    on_bad_line: OnBadLine,
    threads: int,
) -> None:
    """Link the pairs of a test set and compare with the gold; records that were set aside have no links."""
    if gold is None:
        raise UserError("evaluate: --gold FILE is missing, with the links that people drew")
    true = gold_lines(gold)
    aligner = loaded_aligner(folder, threads)
    bitext = _opened(test, *languages_for(aligner, folder, test, source, target), on_bad_line)
    found = []
    for number, (pair, alignment) in enumerate(aligned(aligner, islice(every_record(bitext), len(true)))):
        found.append(alignment.links if alignment else ())
        if pair is not None:
            _refuse_beyond(true[number], aligner.word_counts(pair), f"{gold}:{number + 1}", str(pair.origin))
    tell_figures(figures_of(found, true, " ".join(test), gold), {"system": folder, "test": test, "gold": gold}, as_json)


def application() -> App:
    """`align`, with `apply` and `evaluate` below it."""
    app = App(name="align", help=(align.__doc__ or "").partition("\n\n    Parameters")[0], help_epilogue="")
    app.default(align)
    app.command(apply)
    app.command(evaluate)
    return app


# --- what is shared -----------------------------------------------------------------------------


def loaded_aligner(folder: str, threads: int) -> Aligner:
    """The aligner in a folder. UserError where the model there is none."""
    use_threads(threads)
    from dragoman.processes import cores
    from dragoman.system.store import load_model
    from dragoman.system.verbs import require_verb

    require_verb(folder, "align")
    model: Aligner = load_model(Path(folder)).on_threads(threads or cores())
    return model


def languages_for(
    aligner: Aligner, folder: str, files: Sequence[str], source: str | None, target: str | None
) -> tuple[str, str]:
    """In which languages pairs are that the aligner is to link. UserError where these are others than its own."""
    if (aligner.source_language, aligner.target_language) != UNNAMED:
        check_languages(folder, aligner, source, target, "links")
    refuse_foreign(files, folder, aligner, source, target)
    return source or aligner.source_language, target or aligner.target_language


def _opened(
    files: Sequence[str],
    source: str | None,
    target: str | None,
    on_bad_line: OnBadLine,
    quiet: bool = False,
    *,
    may_be_empty: bool = False,
) -> FileBitext:
    return opened(files, source, target, on_bad_line, "align", quiet=quiet, unnamed=UNNAMED, may_be_empty=may_be_empty)


def _refuse_overwriting(files: Sequence[str], *outputs: str | None, model: str | None = None) -> None:
    from dragoman.corpus.streams import refuse_overwriting, require_files

    require_files(files)
    refuse_overwriting([*files, model], outputs)


def _learnt(recipe: Any, bitext: FileBitext, seed: int, threads: int, quiet: bool) -> Any:
    """Interrupted, with what that means here, after Ctrl-C."""
    with screen(quiet) as report, stopping(ENDING) as stop, tempfile.TemporaryDirectory() as folder:
        try:
            return recipe.learn(bitext, Work(Path(folder), report, seed, threads=threads, stop=stop))
        except Interrupted as interruption:
            raise Interrupted("interrupted; nothing was written") from interruption


@contextmanager
def _outputs(out: str, lexicon: str | None) -> Iterator[tuple[TextIO, TextIO | None]]:
    """The files of the links and of the lexicon, opened before anything slow begins."""
    from dragoman.corpus.lines import writing

    with writing(out) as output, nullcontext() if lexicon is None else writing(lexicon) as table:
        yield output, table


def _write(rows: Iterable[Row], output: TextIO, probabilities: bool, quiet: bool) -> None:
    faults = 0
    with screen(quiet) as report:
        for done, (pair, alignment) in enumerate(rows, start=1):
            print(_line(alignment, probabilities), file=output)
            if alignment is not None and alignment.fault and pair is not None:
                faults += 1
                if faults <= SHOWN:
                    say(f"{pair.origin}: {alignment.fault}; its line is blank")
            if done % REPORT_EVERY == 0:
                report(Progress("linking", done))
    if faults > SHOWN:
        say(f"and {faults - SHOWN:,} more such pairs")


def aligned(aligner: Aligner, records: Iterable[SentencePair | None], symmetry: str = "") -> Iterator[Row]:
    """The records with their alignments, None for those that were set aside."""
    walk = iter(records)
    while window := list(islice(walk, WINDOW)):
        found = iter(aligner.align([pair for pair in window if pair is not None], symmetry))
        for pair in window:
            yield pair, None if pair is None else next(found)


def _line(alignment: Alignment | None, probabilities: bool) -> str:
    if alignment is None:
        return ""
    if probabilities:
        rows = zip(alignment.links, alignment.probabilities, strict=True)
        return " ".join(f"{i}-{j}:{share:.4f}" for (i, j), share in rows)
    return " ".join(f"{i}-{j}" for i, j in alignment.links)


def _write_lexicon(aligner: Any, output: TextIO | None) -> None:
    if output is not None:
        for source, target, forward, reverse in aligner.lexicon():
            print(f"{source}\t{target}\t{forward:.6f}\t{reverse:.6f}", file=output)


def gold_lines(path: str) -> list[Gold]:
    """The gold of a file, line by line. UserError with file and line for what is none."""
    from dragoman.corpus.lines import read_lines
    from dragoman.evaluation.links import read_gold

    found = []
    for line in read_lines(path):
        try:
            found.append(read_gold(line.text))
        except ValueError as error:
            raise UserError(f"{path}:{line.number}: {error}") from error
    return found


def _links_of(text: str, path: str, number: int) -> list[tuple[int, int]]:
    from dragoman.corpus.links import read_links

    try:
        return list(read_links(text))
    except ValueError as error:
        raise UserError(f"{path}:{number}: {error}") from error


def figures_of(found: Sequence[Iterable[tuple[int, int]]], true: Sequence[Gold], links: str, gold: str) -> LinkFigures:
    """The figures of the lines that have gold, which are the first. UserError where there are fewer links."""
    from dragoman.evaluation.links import link_figures

    if len(found) < len(true):
        raise UserError(f"{gold}: {len(true):,} lines, but {links} has {len(found):,}")
    if len(found) > len(true):
        say(f"{gold}: has the first {len(true):,} of {len(found):,} lines")
    if not true:
        raise UserError(f"{gold}: holds no line")
    return link_figures(found[: len(true)], true)


def _refuse_beyond(gold: Gold, counts: tuple[int, int], where: str, pair: str) -> None:
    for i, j in sorted(gold.possible):
        if i >= counts[0] or j >= counts[1]:
            raise UserError(
                f"{where}: {i}-{j} is beyond the words of {pair}, {counts[0]} and {counts[1]} of them: "
                "links count from 0, the source word first"
            )


def tell_figures(figures: LinkFigures, asked: dict[str, object], as_json: bool) -> None:
    """Print them."""
    if as_json:
        print(json_text({**asked, **figures.to_json()}))
        return
    print(f"precision  {figures.precision:7.2%}  of {figures.links:,} links are possible")
    print(f"recall     {figures.recall:7.2%}  of {figures.sure:,} sure links are there")
    over = f"over {counted(figures.lines, 'line')}; lower is better"
    print(f"AER        {figures.error_rate:7.2%}  alignment error rate, {over}")
