"""What is wrong with this corpus or this model, and what helps?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from cyclopts import Parameter

from dragoman.cli.loading import purpose_of
from dragoman.cli.options import File, Files, Json, Quiet, ReadingFlags, Threads, refuse_given
from dragoman.cli.reading import NO_RECORDS, opened_by, refuse_foreign, walked
from dragoman.cli.screen import say, screen
from dragoman.contracts import Progress, SentencePair, UserError
from dragoman.wording import json_text

if TYPE_CHECKING:
    from dragoman.system.diagnosis import Finding

Thing = TypeVar("Thing")

TRANSLATED, LINKED = 200, 20_000  # texts and pairs at most
AT_ONCE = 20


def doctor(
    files: Files,
    /,
    *,
    text: Annotated[File | None, Parameter(help="Text that the model is to translate, or to predict.")] = None,
    test: Files | None = None,
    train: Files | None = None,
    as_json: Json = False,
    reading: ReadingFlags = ReadingFlags(),
    threads: Threads = 0,
    quiet: Quiet = False,
) -> None:
    """Examine a corpus or a model: what looks wrong, and what to do about it.

    Parameters
    ----------
    files:
        A model folder, or sentence pairs in any format that train reads.
    test:
        Test pairs: of a model, to translate (at most 200) and to measure; of an aligner, to link; of a corpus, to look
        for leaks.
    train:
        The pairs that a model was trained on, to look for test pairs among them.
    as_json:
        Print one JSON object.
    """
    models = [name for name in files if _is_model(name)]
    if models and len(files) > 1:
        raise UserError(f"{models[0]}: a model is examined alone, without other files")
    purpose = purpose_of(files[0]) if models else ""
    if purpose == "generate":
        asked = {"--test": test, "--train": train, "--source": reading.source, "--target": reading.target}
        refuse_given("a language model is examined on --text", asked)
        findings = _language_model(files[0], text, reading, threads)
    elif purpose == "align":
        refuse_given("an aligner is examined on pairs, --test", {"--text": text, "--train": train})
        findings = _aligner(files[0], test, reading, threads, quiet)
    elif purpose:
        findings = _model(files[0], text, test, train, reading, threads, quiet)
    else:
        refuse_given("these options are for a model folder", {"--text": text, "--train": train, "--threads": threads})
        findings = _corpus(files, test, reading, quiet)
    if as_json:
        print(json_text({"examined": files, "findings": [asdict(one) for one in findings]}))
    else:
        print("\n".join(_lines(findings)))


def _is_model(name: str) -> bool:
    return any((Path(name) / inside).exists() for inside in ("model.json", "work/run.json"))


def _lines(findings: Sequence[Finding]) -> list[str]:
    """A line a finding, its advice below it."""
    width = max((len(one.level) for one in findings), default=0) + 1
    lines = []
    for one in findings:
        lines.append(f"{one.level + ':':<{width}} {one.what}")
        if one.advice:
            lines.append(f"{'':<{width}} -> {one.advice}")
    return lines


def _corpus(files: list[str], test: list[str] | None, reading: ReadingFlags, quiet: bool) -> list[Finding]:
    from dragoman.cleaning.cleaner import CLEANING, crew_for
    from dragoman.cleaning.duplicates import held_out_keys
    from dragoman.cleaning.inspection import inspect
    from dragoman.system.diagnosis import corpus_findings

    held_out = held_out_keys([opened_by(reading, test, "test")]) if test else frozenset()
    with (
        walked(reading, files, "examining", quiet) as (rows, languages, size),
        crew_for(CLEANING, languages, held_out, size) as crew,
    ):
        found = inspect(rows, languages, CLEANING, held_out, crew)
    if not found.cleaning.total:
        raise UserError(NO_RECORDS)
    return corpus_findings(found)


def _model(
    folder: str,
    text: str | None,
    test: list[str] | None,
    train: list[str] | None,
    reading: ReadingFlags,
    threads: int,
    quiet: bool,
) -> list[Finding]:
    from dragoman.cleaning.duplicates import held_out_keys
    from dragoman.cli.loading import loaded
    from dragoman.corpus.lines import read_lines
    from dragoman.system import diagnosis
    from dragoman.system.journal import rows_of
    from dragoman.system.store import read_report

    if train and not test:
        raise UserError("--train is for finding test pairs in it: give --test too")
    system = loaded(folder, None, "auto", threads, reading.source, reading.target)
    findings = diagnosis.report_findings(read_report(Path(folder)), rows_of(Path(folder) / "progress.jsonl"))
    given = reading.source, reading.target
    reading = replace(reading, source=system.source_language, target=system.target_language)
    pairs: list[SentencePair] = []
    if test:
        refuse_foreign(test, folder, system, *given)
        pairs = list(opened_by(reading, test, "test"))
    texts = _sources(pairs)
    if text is not None:
        texts += [line.text for line in read_lines(text, reading.on_bad_line) if line.text.strip()]
    if text is not None and not texts:
        raise UserError(f"{text}: no line with text in it")
    if not texts:
        say("give --text FILE or --test FILES, and the translations are examined too")
        return diagnosis.by_level(findings) or [diagnosis.Finding("note", "nothing is known of its training")]
    findings += diagnosis.coverage_findings(system, texts)
    shown = _spread(texts)
    with screen(quiet) as report:
        best = []
        for begin in range(0, len(shown), AT_ONCE):
            report(Progress("translating", begin, len(shown)))
            best += [each.hypotheses[0] for each in system.translate(shown[begin : begin + AT_ONCE])]
    findings += diagnosis.output_findings(system, shown, best)
    if test:
        judged = best if text is None else [each.hypotheses[0] for each in system.translate(_sources(_spread(pairs)))]
        findings += diagnosis.quality_findings(_spread(pairs), judged, system.target_language)
    if test and not train:
        say("give --train FILES too, and leaks of the test pairs into the training text are looked for")
    if test and train:
        findings += diagnosis.leak_findings(pairs, held_out_keys([opened_by(reading, train, "train")]))
    return diagnosis.by_level(findings)


def _language_model(folder: str, text: str | None, reading: ReadingFlags, threads: int) -> list[Finding]:
    from dragoman.cli.data import opened_text
    from dragoman.cli.language import loaded_model
    from dragoman.system import diagnosis
    from dragoman.system.journal import rows_of
    from dragoman.system.store import read_report

    model = loaded_model(folder, "doctor", "auto", threads)
    report = read_report(Path(folder))
    findings = diagnosis.report_findings(report, rows_of(Path(folder) / "progress.jsonl"))
    if text is None:
        say("give --text FILE, and what it makes of that is examined too")
    else:
        findings += diagnosis.language_findings(
            model, opened_text([text], model.language, reading.on_bad_line, "text"), report
        )
    return diagnosis.by_level(findings) or [diagnosis.Finding("note", "nothing is known of its training")]


def _aligner(folder: str, test: list[str] | None, reading: ReadingFlags, threads: int, quiet: bool) -> list[Finding]:
    from dragoman.cli.align import languages_for, loaded_aligner
    from dragoman.system import diagnosis
    from dragoman.system.mislinked import mislinked_findings

    aligner: Any = loaded_aligner(folder, threads)
    if test is None:
        say("give --test FILES, and what it makes of these pairs is examined")
        facts = aligner.describe()
        return [diagnosis.Finding("note", f"knows {facts['source_words']:,} and {facts['target_words']:,} words")]
    languages = languages_for(aligner, folder, test, reading.source, reading.target)
    reading = replace(reading, source=languages[0], target=languages[1])
    pairs = _spread(list(opened_by(reading, test, "test")), LINKED)
    with screen(quiet) as report:
        report(Progress("linking", total=len(pairs)))
        findings = mislinked_findings(aligner, pairs)
    return diagnosis.by_level(findings)


def _sources(pairs: Sequence[SentencePair]) -> list[str]:
    return [pair.source for pair in pairs]


def _spread(things: Sequence[Thing], most: int = TRANSLATED) -> list[Thing]:
    """At most so many of them, evenly spread."""
    count = min(len(things), most)
    return [things[place * len(things) // count] for place in range(count)]
