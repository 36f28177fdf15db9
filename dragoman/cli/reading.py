"""What does a command say of the sentence pairs that it reads?"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from dragoman.cli.screen import say, screen
from dragoman.contracts import Progress, Record, SentencePair, UserError
from dragoman.wording import counted

if TYPE_CHECKING:
    from dragoman.cli.options import OnBadLine, ReadingFlags
    from dragoman.corpus.bitext import FileBitext
    from dragoman.corpus.rows import Rows

NO_RECORDS = "0 of 0 pairs kept: there are no records"
SECONDS_BETWEEN_SIGNS = 0.2


class HasLanguages(Protocol):
    """A translator or an aligner."""

    @property
    def source_language(self) -> str: ...
    @property
    def target_language(self) -> str: ...


def opened(
    files: Sequence[str],
    source: str | None,
    target: str | None,
    on_bad_line: OnBadLine,
    part: str,
    *,
    columns: tuple[str, str] | None = None,
    inline_tags: Literal["strip", "keep"] = "strip",
    quiet: bool = False,
    unnamed: tuple[str, str] | None = None,
    may_be_empty: bool = False,
) -> FileBitext:
    """Open the files as pairs; say on standard error what was kept, and what was set aside and why. quiet: only where
    something was set aside."""
    from dragoman.corpus.formats import open_bitext

    bitext = open_bitext(
        files,
        source,
        target,
        on_bad_line=on_bad_line,
        columns=columns,
        inline_tags=inline_tags,
        unnamed=unnamed,
        may_be_empty=may_be_empty,
    )
    languages = bitext.source_language, bitext.target_language
    told = "" if languages == unnamed else f"{'-'.join(languages)}, "
    if not quiet or bitext.set_aside:
        say(f"{part}: {told}{bitext.summary()}")
    for line in (*bitext.warnings, *bitext.details()):
        say(f"{part}: {line}")
    return bitext


def opened_by(flags: ReadingFlags, files: Sequence[str], part: str = "read", *, quiet: bool = False) -> FileBitext:
    """The same for the corpus commands, which share their flags."""
    columns, tags = flags.named_columns(), flags.inline_tags
    return opened(
        files, flags.source, flags.target, flags.on_bad_line, part, columns=columns, inline_tags=tags, quiet=quiet
    )


def refuse_foreign(
    files: Sequence[str], name: str, system: HasLanguages, source: str | None, target: str | None
) -> None:
    """UserError for a text file that is called after another language than those of the system that is to read it,
    unless somebody says in which languages the files are."""
    from dragoman.corpus.languages import is_known, language_of_suffix, same_language
    from dragoman.corpus.sources import PLAIN, suffix_container

    languages = system.source_language, system.target_language
    if source or target or not all(map(is_known, languages)):
        return
    for file in files:
        told = language_of_suffix(file) if suffix_container(file) == PLAIN else None
        if told and is_known(told) and not any(same_language(told, language) for language in languages):
            raise UserError(
                f"{file}: its name says {told}, and {name} is for {'-'.join(languages)}; if that is what it holds, say "
                f"--source {languages[0]} --target {languages[1]}"
            )


class Walked(NamedTuple):
    """The records of some files as rows, to be walked once; their languages; and the bytes of the files."""

    rows: Iterator[Rows]
    languages: tuple[str, str]
    size: int


@contextmanager
def walked(flags: ReadingFlags, files: Sequence[str], phase: str, quiet: bool) -> Iterator[Walked]:
    """The records of the files, with a sign of life while they are walked.

    Warnings of the readers are said when the block ends.
    """
    from dragoman.corpus.bitext import Warnings
    from dragoman.corpus.formats import open_records
    from dragoman.corpus.streams import metered

    opened_files = open_records(
        files,
        flags.source,
        flags.target,
        on_bad_line=flags.on_bad_line,
        columns=flags.named_columns(),
        inline_tags=flags.inline_tags,
    )
    warnings = Warnings()
    with screen(quiet) as report, metered() as meter:

        def alive() -> Iterator[Rows]:
            began = told = time.monotonic()
            count = 0
            for rows in opened_files.walk_rows(warnings.hear):
                yield rows
                count += len(rows)
                if (now := time.monotonic()) - told > SECONDS_BETWEEN_SIGNS:
                    told, done = now, min(1.0, meter.read / max(opened_files.size, 1))
                    values = {"records_per_second": count / (now - began)}
                    if done:
                        values["seconds_left"] = (now - began) * (1 - done) / done
                    report(Progress(phase, count, round(count / done) if done else 0, values))

        yield Walked(alive(), (opened_files.source_language, opened_files.target_language), opened_files.size)
    for warning in warnings.told():
        say(f"{phase}: {warning}")


def every_record(bitext: FileBitext) -> Iterator[SentencePair | None]:
    """The pairs in the order of the files, None in the place of one that was set aside."""
    from dragoman.corpus.bitext import fault_of
    from dragoman.corpus.records import unheard

    def pair_of(record: Record) -> SentencePair | None:
        kept = not fault_of(record, bitext.longest_side)
        return SentencePair(record.source, record.target, record.origin) if kept else None

    return (pair_of(record) for record in bitext.walk(unheard))


def lines_beside(file: str, bitext: FileBitext, on_bad_line: OnBadLine) -> list[str]:
    """The lines of a text file that belong to the kept pairs: it has a line for each of them, or for each record."""
    from dragoman.corpus.lines import read_lines

    lines = [line.text for line in read_lines(file, on_bad_line)]
    if len(lines) == len(bitext):
        return lines
    records = list(every_record(bitext))
    if len(lines) != len(records):
        raise UserError(f"{file}: {counted(len(lines), 'line')}, but the test set has {counted(len(records), 'pair')}")
    return [line for line, pair in zip(lines, records, strict=True) if pair is not None]
