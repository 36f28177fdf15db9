"""How do sentence pairs go from one format to another, and into parts that do not leak?"""

from __future__ import annotations

from pathlib import Path

from dragoman.cli.options import Files, Folder, ReadingFlags
from dragoman.cli.reading import opened_by
from dragoman.cli.screen import say


def convert(
    files: Files,
    /,
    *,
    out: Files,
    reading: ReadingFlags = ReadingFlags(),
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
    from dragoman.corpus.streams import refuse_overwriting
    from dragoman.corpus.writers import write_bitext

    refuse_overwriting(files, out)
    bitext = opened_by(reading, files)
    say(write_bitext(bitext, out, bitext.source_language, bitext.target_language).summary())


def split(
    files: Files,
    /,
    *,
    out: Folder,
    dev: float | None = None,
    test: float | None = None,
    reading: ReadingFlags = ReadingFlags(),
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
    from dragoman.corpus.splitting import split_bitext

    bitext = opened_by(reading, files)
    report = split_bitext(bitext, Path(out), dev=dev, test=test)
    print(report.summary())
