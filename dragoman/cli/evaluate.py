"""How good is a system on a test set?"""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated

from dragoman.cli.align import evaluate_links
from dragoman.cli.language import evaluate_text
from dragoman.cli.loading import Ensemble, loaded, precision_of, purpose_of
from dragoman.cli.options import (
    WHOLE,
    Device,
    Engine,
    File,
    Files,
    Json,
    OnBadLine,
    Precision,
    Quiet,
    SearchFlags,
    Source,
    Target,
    Threads,
    Workers,
    refuse_given,
)
from dragoman.cli.reading import every_record, lines_beside, opened, refuse_foreign
from dragoman.cli.screen import screen
from dragoman.contracts import UserError
from dragoman.wording import json_text

if TYPE_CHECKING:
    from dragoman.corpus.bitext import FileBitext


def evaluate(
    system: File | None = None,
    /,
    *,
    test: Files,
    reference: Files | None = None,
    hypotheses: File | None = None,
    gold: File | None = None,
    out: File | None = None,
    explain: Annotated[int | None, WHOLE] = None,
    as_json: Json = False,
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
    """Measure translations against references: BLEU, chrF and TER, with sacrebleu's signatures.

    Of a language model: perplexity and bits per character of a text. Of an aligner: precision, recall and error rate.

    Parameters
    ----------
    system:
        A model folder; copy (the source as it is); or memory:FILE[,FILE] (the closest segment of a bitext).
    test:
        Sentence pairs, in any format that train reads; for a language model text files.
    reference:
        Text files with further references, a line a test pair.
    hypotheses:
        A text file with any system's translations, a line a test pair, in place of a system.
    gold:
        For an aligner: links that people drew, a line for each of the first pairs (i-j sure, i?j possible).
    out:
        Write the translations there.
    explain:
        Show the clipped n-gram counts of test pair N, from which BLEU is made.
    as_json:
        Print one JSON object.
    """
    from dragoman.cli.figures import evaluation_lines, explained_lines
    from dragoman.corpus.lines import writing
    from dragoman.corpus.streams import refuse_overwriting
    from dragoman.system import measure
    from dragoman.system.baselines import files_of
    from dragoman.system.workers import workers_for

    if (system is None) == (hypotheses is None):
        raise UserError("evaluate: give one of a system (a model folder, copy, memory:FILE) and --hypotheses FILE")
    systems = files_of(*([system] if system else []), *(with_ or ()))
    refuse_overwriting([*systems, *test, *(reference or ()), hypotheses], [out])
    purpose = "translate" if system is None else purpose_of(system)
    of_translators = {
        "--reference": reference,
        "--out": out,
        "--explain": explain,
        "--with": with_,
        "--engine": engine,
        "--precision": precision != "fp32",
        "--workers": workers,
        **search.given(),
    }
    if system is not None and purpose == "align":
        elsewhere = device not in ("auto", "cpu")
        refuse_given("an aligner is evaluated by its links", {**of_translators, "--device": elsewhere})
        evaluate_links(system, test, gold, as_json, source, target, on_bad_line, threads)
        return
    refuse_given("--gold is for aligners", {"--gold": gold})
    if system is not None and purpose == "generate":
        languages = {"--source": source, "--target": target}
        refuse_given("a language model is evaluated on a text", {**of_translators, **languages})
        evaluate_text(system, test, as_json, on_bad_line, device, threads, quiet)
        return
    if as_json and explain is not None:
        raise UserError("--explain is for reading, --json for programs: give one of them")
    if hypotheses is not None:
        given = {
            "--with": with_,
            "--engine": engine,
            "--device": device != "auto",
            "--precision": precision != "fp32",
            "--threads": threads,
            "--workers": workers,
            **search.given(),
        }
        refuse_given("--hypotheses are judged as they are", given)
    options, crew = search.options(), None
    if system is not None:
        judged = loaded(system, with_, device, threads, source, target, precision, engine)
        refuse_foreign(test, system, judged, source, target)
        source, target = judged.source_language or source, judged.target_language or target
        load = partial(loaded, system, with_, device, 1, source, target, precision_of(judged), engine, chosen=True)
        crew = workers_for(judged, load, workers, threads=threads, device=device)
    bitext = opened(test, source, target, on_bad_line, "test")
    place = _place(bitext, explain) if explain is not None else None
    streams = [lines_beside(file, bitext, on_bad_line) for file in reference or ()]
    with screen(quiet) as report:
        if crew is not None:
            with crew:
                crew.start_for(len(bitext))
                evaluation = measure.evaluate(
                    crew.system, bitext, streams, options, translate=crew.translate, report=report
                )
        else:
            translations = lines_beside(str(hypotheses), bitext, on_bad_line)
            evaluation = measure.judge(translations, bitext, streams, bitext.target_language)
    if out is not None:
        with writing(out) as output:
            output.writelines(f"{text}\n" for text in evaluation.hypotheses)
    if as_json:
        asked = {
            "system": system,
            "hypotheses": hypotheses,
            "test": test,
            "languages": f"{bitext.source_language}-{bitext.target_language}",
        }
        print(json_text({**asked, **evaluation.to_json()}))
        return
    print("\n".join(evaluation_lines(evaluation)))
    if place is not None:
        pair = next(islice(bitext, place, None))
        references = [pair.target, *(stream[place] for stream in streams if stream[place].strip())]
        print("\n".join(["", *explained_lines(evaluation.hypotheses[place], pair, references, bitext.target_language)]))


def _place(bitext: FileBitext, number: int) -> int:
    """Where among the kept pairs test pair `number` stands, counted from 1 in the files."""
    records = list(every_record(bitext))
    if not 1 <= number <= len(records):
        raise UserError(f"--explain {number}: the test pairs are 1 to {len(records):,}")
    if records[number - 1] is None:
        raise UserError(f"--explain {number}: this pair was set aside")
    return sum(pair is not None for pair in records[: number - 1])
