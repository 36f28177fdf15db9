"""What does a model think of given translations, or lines?"""

from __future__ import annotations

from itertools import islice

from dragoman.cli.language import score_lines
from dragoman.cli.loading import Ensemble, loaded, purpose_of
from dragoman.cli.options import (
    Device,
    File,
    Files,
    Folder,
    LengthFlags,
    OnBadLine,
    Precision,
    Quiet,
    Source,
    Target,
    Threads,
    refuse_given,
)
from dragoman.cli.reading import every_record, opened, refuse_foreign
from dragoman.cli.screen import screen
from dragoman.contracts import Ability, CanScore, Progress

WINDOW = 2000


def score(
    model: Folder,
    /,
    *,
    test: Files,
    source: Source = None,
    target: Target = None,
    out: File = "-",
    with_: Ensemble = None,
    length: LengthFlags = LengthFlags(),
    on_bad_line: OnBadLine = "stop",
    device: Device = "auto",
    precision: Precision = "fp32",
    threads: Threads = 0,
    quiet: Quiet = False,
) -> None:
    """Print a line a record: the score that a search maximises, a tab, the log-probability (natural logs).

    Records that are set aside (a blank side, a missing language) give an empty line. A language model prints the
    log-probability of each line of a text.

    Parameters
    ----------
    model:
        A model folder.
    test:
        Sentence pairs, in any format that train reads; for a language model text files, a sentence a line.
    out:
        Write there instead of to standard output.
    """
    from dragoman.corpus.lines import writing
    from dragoman.corpus.streams import refuse_overwriting
    from dragoman.system.baselines import baseline_of
    from dragoman.system.stream import require_ability

    refuse_overwriting([model, *(with_ or ()), *test], [out])
    if purpose_of(model) == "generate":
        asked = {"--source": source, "--target": target, "--with": with_, "--precision": precision != "fp32"}
        refuse_given("a language model scores lines", {**asked, **length.given()})
        score_lines(model, test, out, on_bad_line, device, threads, quiet)
        return
    baseline = baseline_of(model)
    if baseline is not None:
        require_ability(baseline.kind, baseline.abilities, Ability.SCORE)
    translator = loaded(model, with_, device, threads, source, target, precision)
    require_ability(translator.kind, translator.abilities, Ability.SCORE)
    assert isinstance(translator, CanScore)
    refuse_foreign(test, model, translator, source, target)
    bitext = opened(test, translator.source_language, translator.target_language, on_bad_line, "test")
    records, options, done = every_record(bitext), length.options(), 0
    with screen(quiet or out == "-") as report, writing(out) as output:
        while window := list(islice(records, WINDOW)):
            scores = iter(translator.score([pair for pair in window if pair is not None], options))
            for pair in window:
                found = next(scores) if pair is not None else None
                print(f"{found.score:.6f}\t{found.log_probability:.6f}" if found else "", file=output)
            done += len(window)
            report(Progress("scoring", done))
