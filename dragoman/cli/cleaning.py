"""What is in these sentence pairs, and which of them are worth learning from?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from dragoman.cli.options import File, Files, Folder, Json, Quiet, ReadingFlags, Settings, Workers
from dragoman.cli.reading import NO_RECORDS, opened_by, walked
from dragoman.cli.screen import say
from dragoman.contracts import UserError
from dragoman.wording import json_text

if TYPE_CHECKING:
    from dragoman.cleaning.cleaner import Cleaner, CleaningRecipe
    from dragoman.cleaning.filters import Filter
    from dragoman.corpus.rows import Rows

REJECTED, PICTURE = "rejected.tsv", "picture.png"

Recipe = Annotated[
    File | None,
    Parameter(metavar="TOML", help="Thresholds of your own: `dragoman recipes cleaning > my.toml` writes all of them."),
]
Test = Annotated[
    Files | None,
    Parameter(help="Test sets: pairs with a side that stands there, case, punctuation and digits apart, are left out."),
]


def inspect(
    files: Files,
    /,
    *,
    picture: File | None = None,
    recipe: Recipe = None,
    set_: Settings | None = None,
    test: Test = None,
    as_json: Json = False,
    reading: ReadingFlags = ReadingFlags(),
    workers: Workers = 0,
    quiet: Quiet = False,
) -> None:
    """Say what is in sentence pairs: lengths, scripts, languages, repeated and odd texts, and what looks wrong.

    Parameters
    ----------
    files:
        Sentence pairs, in any format that train reads.
    picture:
        Draw lengths and reasons to this PNG.
    set_:
        A threshold, as name=value; may be repeated.
    as_json:
        Print one JSON object.
    """
    from dragoman.cleaning.cleaner import crew_for
    from dragoman.cleaning.inspection import inspect as look
    from dragoman.cleaning.pictures import draw
    from dragoman.cli.inspected import inspection_lines
    from dragoman.corpus.streams import refuse_overwriting

    if picture is not None and Path(picture).suffix.lower() != ".png":
        raise UserError(f"{picture}: a picture is written as .png")
    refuse_overwriting([*files, *(test or ()), recipe], [picture])
    wanted = _recipe(recipe, set_)
    held_out = _held_out(test, reading, quiet)
    with (
        walked(reading, files, "inspecting", quiet) as (rows, languages, size),
        crew_for(wanted, languages, held_out, size, workers) as crew,
    ):
        found = look(rows, languages, wanted, held_out, crew)
    if not found.cleaning.total:
        raise UserError(NO_RECORDS)
    if as_json:
        print(json_text(found.figures()))
    else:
        print("\n".join(inspection_lines(found)))
    if picture is not None:
        draw(found, Path(picture))


def clean(
    files: Files,
    /,
    *,
    out: Files,
    report: Folder | None = None,
    recipe: Recipe = None,
    set_: Settings | None = None,
    test: Test = None,
    aligner: Annotated[
        Folder | None,
        Parameter(help="A trained aligner: pairs are left out whose words it cannot explain by each other."),
    ] = None,
    as_json: Json = False,
    reading: ReadingFlags = ReadingFlags(),
    workers: Workers = 0,
    quiet: Quiet = False,
) -> None:
    """Write the pairs that are worth learning from, and set the others aside, each with its reason.

    Parameters
    ----------
    files:
        Sentence pairs, in any format that train reads.
    out:
        Where the kept pairs go, in any format that `dragoman corpus convert` writes.
    report:
        A folder for report.md, report.json, picture.png and rejected.tsv; else OUT.rejected.tsv stands beside --out.
    set_:
        A threshold, as name=value; may be repeated.
    as_json:
        Print one JSON object.
    """
    from dragoman.cleaning.beyond import NothingToWrite
    from dragoman.cleaning.cleaner import Cleaner, NothingKept, crew_for
    from dragoman.cleaning.pictures import draw_cleaning
    from dragoman.cleaning.reports import as_json as shown
    from dragoman.cleaning.reports import rejected_file, table, write_report
    from dragoman.corpus.streams import refuse_overwriting
    from dragoman.corpus.writers import rules_of, write_columns

    piped = "-" in out
    if piped and as_json:
        raise UserError("--json and --out - would both go to standard output: write the pairs to a file")
    wanted = _recipe(recipe, set_)
    aside = Path(report) / REJECTED if report is not None else None if piped else Path(f"{out[0]}.{REJECTED}")
    page = [Path(report) / name for name in ("report.md", "report.json", PICTURE)] if report is not None else []
    refuse_overwriting([*files, *(test or ()), recipe, aligner], [*out, aside, *page])
    more: list[Filter] = [NothingToWrite(0, rules_of(out))]  # so that what is kept is what is written
    held_out = _held_out(test, reading, quiet)
    nothing: NothingKept | None = None
    with ExitStack() as stack:
        rows, languages, size = stack.enter_context(walked(reading, files, "cleaning", quiet))
        if aligner is not None:
            more.append(_aligned(aligner, wanted, languages))
        crew = stack.enter_context(crew_for(wanted, languages, held_out, size, workers, more))
        cleaner = Cleaner(wanted, languages, held_out, more, crew)
        reject = stack.enter_context(rejected_file(aside)) if aside else None
        try:
            written = write_columns(_kept(cleaner, rows, reject), out, *languages)
        except NothingKept as refusal:
            nothing = refusal  # the reasons are written all the same
    facts = {
        "files": list(files),
        "languages": "-".join(languages),
        "test sets": list(test or []),
        **({"aligner": aligner} if aligner is not None else {}),
        "written": [] if nothing else list(out),
        "recipe": asdict(wanted),
    }
    if report is not None:
        write_report(cleaner.report, report, facts)
        draw_cleaning(cleaner.report, Path(report) / PICTURE)
    if nothing is not None:
        raise UserError(f"{nothing}{f' (each with its reason: {aside})' if aside and cleaner.report.rejected else ''}")
    if as_json:
        print(json_text(shown(cleaner.report, facts)))
        return
    print("\n".join(table(cleaner.report)), file=sys.stderr if piped else sys.stdout)
    if not quiet or written.replaced:
        say(written.summary())
    if aside and cleaner.report.rejected:
        say(f"the others, each with its reason: {aside}")
    elif cleaner.report.rejected:
        say("the others are written nowhere: give --report FOLDER to see them")


def _kept(cleaner: Cleaner, rows: Iterator[Rows], reject: Any) -> Iterator[tuple[list[str], list[str]]]:
    """Sources and targets to write; the others are handed to `reject`. NothingKept where none is left."""
    from dragoman.cleaning.cleaner import NothingKept

    for settled in cleaner.settled(rows):
        yield settled.columns()
        for one in settled.rejected.values() if reject else ():
            reject(one)
    if not cleaner.report.kept:
        raise NothingKept(cleaner.report.summary() if cleaner.report.total else NO_RECORDS)


def _recipe(file: str | None, sets: list[str] | None) -> CleaningRecipe:
    from dragoman.system.settings import tool_from

    recipe: CleaningRecipe = tool_from("cleaning", file, sets or ())
    return recipe


def _aligned(folder: str, wanted: CleaningRecipe, languages: tuple[str, str]) -> Filter:
    from dragoman.system.mismatched import aligned_filter

    return aligned_filter(folder, wanted.filters.alignment, languages)


def _held_out(test: list[str] | None, reading: ReadingFlags, quiet: bool) -> frozenset[int]:
    from dragoman.cleaning.duplicates import held_out_keys

    return held_out_keys([opened_by(reading, test, "test", quiet=quiet)]) if test else frozenset()
