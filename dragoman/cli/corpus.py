"""How do sentence pairs get into another format, another order, fewer, or parts that do not leak?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from dragoman.cli.options import WHOLE, Files, Folder, Quiet, ReadingFlags, Seed
from dragoman.cli.reading import opened_by
from dragoman.cli.screen import say
from dragoman.contracts import Bitext, SentencePair


def convert(
    files: Files,
    /,
    *,
    out: Files,
    reading: ReadingFlags = ReadingFlags(),
    quiet: Quiet = False,
) -> None:
    """Write sentence pairs in another format, chosen by the suffix of --out.

    Parameters
    ----------
    files:
        TSV, CSV, JSON Lines, Pharaoh, TMX, XLIFF, PO or MO files, pairs of plain text files
        (source, target), or folders of them; compressed too.
    out:
        One .tsv, .csv, .jsonl, .ndjson, .pharaoh, .tmx, .xlf (XLIFF 1.2), .xliff (2.0), .po or .mo,
        or two plain text files (source, target); each also as .gz, .xz, .bz2 or .zst.
        - is TSV on standard output.
    """
    _write(files, out, reading, quiet, lambda bitext: bitext)


def merge(
    files: Files,
    /,
    *,
    out: Files,
    reading: ReadingFlags = ReadingFlags(),
    quiet: Quiet = False,
) -> None:
    """Write the sentence pairs of several files one after another; FILE*3 comes three times.

    Parameters
    ----------
    files:
        Files in any format that train reads, also of several formats.
    out:
        As of `dragoman corpus convert`.
    """
    _write(files, out, reading, quiet, lambda bitext: bitext)


def dedupe(
    files: Files,
    /,
    *,
    out: Files,
    by: Literal["pairs", "sources", "targets", "sides"] = "pairs",
    reading: ReadingFlags = ReadingFlags(),
    quiet: Quiet = False,
) -> None:
    """Keep the first of repeated sentence pairs, case and punctuation apart (and spaces, in scripts without them).

    Parameters
    ----------
    files:
        Sentence pairs, in any format that train reads.
    out:
        As of `dragoman corpus convert`.
    by:
        What may not come twice: a pair of both sides, a source, a target, or either of them.
    """
    from dragoman.cleaning.duplicates import Seen
    from dragoman.cleaning.ordering import different

    _write(files, out, reading, quiet, lambda bitext: different(bitext, Seen(by)))


def sample(
    files: Files,
    /,
    *,
    out: Files,
    count: Annotated[int, WHOLE, Parameter(validator=Number(gte=1))],
    seed: Seed = None,
    reading: ReadingFlags = ReadingFlags(),
    quiet: Quiet = False,
) -> None:
    """Draw so many sentence pairs, each with the same chance; they stay in their order.

    Parameters
    ----------
    files:
        Sentence pairs, in any format that train reads.
    out:
        As of `dragoman corpus convert`.
    count:
        How many.
    seed:
        Another seed, another sample.
    """
    from dragoman.cleaning.ordering import sampled

    _write(files, out, reading, quiet, lambda bitext: sampled(bitext, count, seed or 0))


def shuffle(
    files: Files,
    /,
    *,
    out: Files,
    seed: Seed = None,
    reading: ReadingFlags = ReadingFlags(),
    quiet: Quiet = False,
) -> None:
    """Write sentence pairs in random order, both sides together; memory stays small however many there are.

    Parameters
    ----------
    files:
        Sentence pairs, in any format that train reads.
    out:
        As of `dragoman corpus convert`.
    seed:
        Another seed, another order.
    """
    from dragoman.cleaning.ordering import shuffled

    _write(files, out, reading, quiet, lambda bitext: shuffled(bitext, seed or 0))


def _write(
    files: list[str],
    out: list[str],
    reading: ReadingFlags,
    quiet: bool,
    of: Callable[[Bitext], Iterable[SentencePair]],
) -> None:
    """What `of` makes of the pairs of the files."""
    from dragoman.corpus.streams import refuse_overwriting
    from dragoman.corpus.writers import rules_of, write_bitext

    refuse_overwriting(files, out)
    rules_of(out)  # a name that says no format is told before anything is read
    bitext = opened_by(reading, files, quiet=quiet)
    written = write_bitext(of(bitext), out, bitext.source_language, bitext.target_language)
    left_out = len(bitext) - written.pairs - written.left_out
    if not quiet or written.replaced:
        say(f"{written.summary()}{f'; {left_out:,} of {len(bitext):,} left out' if left_out else ''}")


def split(
    files: Files,
    /,
    *,
    out: Folder,
    dev: float | None = None,
    test: float | None = None,
    reading: ReadingFlags = ReadingFlags(),
    quiet: Quiet = False,
) -> None:
    """Split sentence pairs into train, dev and test, without leaks and the same on every machine.

    The part is a hash of the normalised source (NFKC, case folded, digits to 0, punctuation dropped).
    Pairs whose normalised source or target also stands in dev or test leave train, and are counted.

    Parameters
    ----------
    files:
        TSV, CSV, JSON Lines, Pharaoh, TMX, XLIFF, PO or MO files, pairs of plain text files
        (source, target), or folders of them; compressed too.
    out:
        The folder for train.SOURCE, train.TARGET, dev.SOURCE and so on.
    dev:
        Share of the pairs, or about so many of them where above 1; 0.02 where none is given, more of few pairs.
    test:
        Likewise.
    """
    from dragoman.corpus.splitting import part_files, split_bitext
    from dragoman.corpus.streams import refuse_overwriting

    bitext = opened_by(reading, files, quiet=quiet)
    refuse_overwriting(files, part_files(out, (bitext.source_language, bitext.target_language)))
    report = split_bitext(bitext, Path(out), dev=dev, test=test)
    print(report.summary())
    if warning := report.warning():
        say(warning)
