"""How does text in one language become ids, its line ends too, and text again?

A document is a line, a block of lines up to a blank one, or a file. Inside of it the piece `LINE_END` stands where a
line ends; where the document ends, the end piece stands in its place. So every line has one sign more than it has
characters, whatever a document is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import cast, get_args

from dragoman.contracts import PieceTable, Progress, quiet
from dragoman.text.normalise import one_line
from dragoman.text.options import Document, RunningTextOptions
from dragoman.text.pieces import FIRST_FREE, LINE_END
from dragoman.text.pipeline import (
    AnySegmenter,
    class_name,
    fit_segmenter,
    read_segmenter,
    reading_card,
    write_card,
)
from dragoman.texts import Text
from dragoman.whole import write_whole


@dataclass(frozen=True)
class RunningText:
    """The segmenter of a language, and what a document is. longest: pieces of a document, the end piece not counted,
    that were met in training; of files 0."""

    segmenter: AnySegmenter
    language: str
    document: Document
    longest: int = 0

    @cached_property
    def pieces(self) -> PieceTable:
        """Those of the segmenter; line ends may come out."""
        table = self.segmenter.pieces
        return replace(table, reserved=tuple(piece for piece in table.reserved if piece != LINE_END))

    @property
    def first(self) -> int:
        """The piece after which a line begins of which nothing else is known: inside a file the end of another one."""
        return LINE_END if self.document == "file" else self.pieces.start

    @property
    def last(self) -> int:
        """The piece with which such a line is over."""
        return LINE_END if self.document == "file" else self.pieces.end

    @property
    def has_lines(self) -> bool:
        """May a document have several lines?"""
        return self.document != "line"

    @cached_property
    def fingerprint(self) -> str:
        """Hex digest of what decides on the ids."""
        content = self.segmenter.to_bytes()
        head = f"{class_name(self.segmenter)} {self.language} {self.document} {len(content)}\0"
        return hashlib.blake2b(head.encode() + content, digest_size=16).hexdigest()

    def encode(self, lines: Sequence[str]) -> list[int]:
        """Ids of lines that belong together, `LINE_END` between them; neither start nor end pieces."""
        ids = [piece for encoded in self.segmenter.encode(lines) for piece in (*encoded, LINE_END)]
        return ids[:-1]

    def encode_text(self, text: str) -> list[int]:
        """The same of a text with `\\n` in it, which is a space where documents have one line only."""
        return self.encode(lines_of(text) if self.has_lines else [one_line(text)])

    def decode(self, ids: Iterable[int]) -> str:
        """The text of the ids; end pieces and the like are silent."""
        lines: list[list[int]] = [[]]
        for piece in ids:
            if piece == LINE_END:
                lines.append([])
            else:
                lines[-1].append(piece)
        return "\n".join(self.segmenter.decode(line) for line in lines)

    def go_on(self, ids: Sequence[int]) -> str:
        """The text of ids that follow others on their line: a space before the first one is kept."""
        before = [self.pieces.byte_ids[ord("a")] if self.pieces.byte_ids else FIRST_FREE]
        return self.decode([*before, *ids])[len(self.decode(before)) :]

    def save(self, folder: Path) -> None:
        """Write the vocabulary and, last, text.json into the folder, which is made."""
        folder.mkdir(parents=True, exist_ok=True)
        units = class_name(self.segmenter)
        name = f"pieces.{'model' if units == 'subwords' else 'json'}"
        write_whole(folder / name, self.segmenter.to_bytes())
        card = {
            "language": self.language,
            "document": self.document,
            "longest": self.longest,
            "units": units,
            "file": name,
        }
        write_card(folder, card)

    @classmethod
    def load(cls, folder: Path) -> RunningText:
        """Raises UserError naming the file that is missing or damaged."""
        with reading_card(folder) as card:
            document, longest = card["document"], int(card["longest"])
            if document not in get_args(Document):
                raise ValueError(document)
            language, units, name = (str(card[key]) for key in ("language", "units", "file"))
        return cls(read_segmenter(folder, units, name), language, cast(Document, document), longest)


def lines_of(text: str) -> list[str]:
    """The lines of a text; they end at `\\n` and `\\r\\n`, and a lone `\\r` is a space."""
    return text.replace("\r\n", "\n").replace("\r", " ").split("\n")


def marked(text: Text, document: Document) -> Iterator[tuple[str, bool]]:
    """(line, is it the last one of its document?) of all lines that belong to one.

    Blank lines belong to files alone. A block ends before a blank line and with its file.
    """
    lines = iter(text)
    for length in text.lengths:
        waiting: str | None = None
        for line in islice(lines, length):
            blank = document != "file" and not line.strip()
            if waiting is not None:
                yield waiting, blank or document == "line"
            waiting = None if blank else line
        if waiting is not None:
            yield waiting, True


def documents_of(text: Text, document: Document) -> Iterator[list[str]]:
    """The lines of each document."""
    lines: list[str] = []
    for line, is_last in marked(text, document):
        lines.append(line)
        if is_last:
            yield lines
            lines = []


def fit_running_text(
    text: Text,
    options: RunningTextOptions,
    *,
    threads: int = 0,
    seed: int = 1,
    report: Callable[[Progress], None] = quiet,
) -> RunningText:
    """Learn the vocabulary; what could not be had as asked goes out as notes."""
    report(Progress("vocabulary"))
    segmenter, notes = fit_segmenter(lambda: iter(text), options, threads, seed)
    for note in notes:
        report(Progress("vocabulary", note=note))
    return RunningText(segmenter, text.language, options.document)
