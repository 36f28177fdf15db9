"""What is in these sentence pairs, and which of them are worth learning from?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from dragoman.cli.options import File, Files, Folder, Json, Quiet, ReadingFlags, Settings
from dragoman.cli.reading import opened_by, walked
from dragoman.cli.screen import say
from dragoman.contracts import Record, SentencePair, UserError

if TYPE_CHECKING:
    from dragoman.cleaning.cleaner import Cleaner, CleaningRecipe

Recipe = Annotated[
    File | None,
    Parameter(metavar="TOML", help="Thresholds of your own: `dragoman recipes cleaning > my.toml` writes all of them."),
]
Test = Annotated[
    Files | None, Parameter(help="Test sets: pairs with a side that stands there, case and digits apart, are left out.")
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
    from dragoman.cleaning.inspection import inspect as look
    from dragoman.cleaning.pictures import draw
    from dragoman.cli.inspected import inspection_lines

    wanted = _recipe(recipe, set_)
    held_out = _held_out(test, reading)
    with walked(reading, files, "inspecting", quiet) as (records, languages):
        found = look(records, languages, wanted, held_out)
    if picture is not None:
        draw(found, Path(picture))
    if as_json:
        print(json.dumps(found.figures(), ensure_ascii=False, indent=2))
    else:
        print("\n".join(inspection_lines(found)))


def clean(
    files: Files,
    /,
    *,
    out: Files,
    report: Folder | None = None,
    recipe: Recipe = None,
    set_: Settings | None = None,
    test: Test = None,
    as_json: Json = False,
    reading: ReadingFlags = ReadingFlags(),
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
    from dragoman.cleaning.cleaner import Cleaner
    from dragoman.cleaning.pictures import draw_cleaning
    from dragoman.cleaning.reports import as_json as shown
    from dragoman.cleaning.reports import rejected_file, table, write_report
    from dragoman.corpus.streams import refuse_overwriting
    from dragoman.corpus.writers import write_bitext

    wanted = _recipe(recipe, set_)
    aside = Path(report) / "rejected.tsv" if report is not None else _aside(out[0])
    refuse_overwriting([*files, *(test or ())], [*out, *([aside] if aside else [])])
    held_out = _held_out(test, reading)
    with ExitStack() as stack:
        records, languages = stack.enter_context(walked(reading, files, "cleaning", quiet))
        cleaner = Cleaner(wanted, languages, held_out)
        reject = stack.enter_context(rejected_file(aside)) if aside else None
        written = write_bitext(_kept(cleaner, records, reject), out, *languages)
    facts = {"files": list(files), "languages": "-".join(languages), "written": list(written.files)}
    if report is not None:
        write_report(cleaner.report, report, facts)
        draw_cleaning(cleaner.report, Path(report) / "picture.png")
    if as_json:
        print(json.dumps(shown(cleaner.report, facts), ensure_ascii=False, indent=2))
        return
    print("\n".join(table(cleaner.report)))
    say(written.summary())
    if aside:
        say(f"the others, each with its reason: {aside}")


def _kept(cleaner: Cleaner, records: Iterator[Record], reject: Any) -> Iterator[SentencePair]:
    """The pairs to write; the others are handed to `reject`. UserError where none is left."""
    from dragoman.cleaning.cleaner import Rejected

    for one in cleaner.judged(records):
        if not isinstance(one, Rejected):
            yield one
        elif reject is not None:
            reject(one)
    if not cleaner.report.kept:
        raise UserError(cleaner.report.summary() if cleaner.report.total else "0 of 0 pairs kept: there are no records")


def _aside(out: str) -> Path | None:
    """Beside the first file; nowhere beside standard output."""
    return None if out == "-" else Path(f"{out}.rejected.tsv")


def _recipe(file: str | None, sets: list[str] | None) -> CleaningRecipe:
    from dragoman.system.settings import tool_from

    recipe: CleaningRecipe = tool_from("cleaning", file, sets or ())
    return recipe


def _held_out(test: list[str] | None, reading: ReadingFlags) -> frozenset[int]:
    from dragoman.cleaning.duplicates import held_out_keys

    return held_out_keys([opened_by(reading, test, "test")]) if test else frozenset()
