"""Where do the ids of running text lie that may not fit into memory?

A folder of flat files, opened by memory mapping: `text.ids` (int32: the documents one behind the other, each with its
end piece), `text.offsets` (int64, where each begins, one more than documents) and `store.json`. It is written aside and
renamed when whole.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np

from dragoman.contracts import Progress, UserError, quiet
from dragoman.text.pieces import LINE_END
from dragoman.text.running import RunningText, marked
from dragoman.text.store import CARD, CHUNK, Ids, Offsets, found_or_made
from dragoman.texts import Text
from dragoman.wording import summary_of


@dataclass(frozen=True)
class TextStore:
    """Document i is `ids[offsets[i]:offsets[i + 1]]`, its end piece last. set_aside: why documents are not in it, and
    how many: "too long"."""

    ids: Ids
    offsets: Offsets
    set_aside: Counter[str]

    def __len__(self) -> int:
        """Documents."""
        return len(self.offsets) - 1

    def document(self, index: int) -> Ids:
        """A view into the file."""
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    @cached_property
    def lengths(self) -> Ids:
        """Pieces of each document, the end piece not counted."""
        return np.diff(self.offsets).astype(np.int32) - 1

    def summary(self) -> str:
        """One line for people: "11 of 12 documents kept: 1 too long"."""
        return summary_of(len(self), self.set_aside, "documents")


def build_text_store(
    text: Text,
    pipeline: RunningText,
    folder: Path,
    max_pieces: int,
    report: Callable[[Progress], None] = quiet,
) -> TextStore:
    """The ids of the text, in a folder under `folder` that is named by content and reopened if there.

    Lines and blocks of more than `max_pieces` pieces are set aside, files never. UserError when nothing is left.
    """
    longest = 0 if pipeline.document == "file" else max_pieces
    key = f"{text.fingerprint} {pipeline.fingerprint} {longest}"
    return found_or_made(folder, key, _open, lambda aside: _write(aside, text, pipeline, longest, report))


def _open(place: Path) -> TextStore | None:
    """The store in the folder; None where there is none or its files are not whole."""
    try:
        card = json.loads((place / CARD).read_bytes())
        set_aside = Counter({str(name): int(count) for name, count in card["set_aside"].items()})
        offsets = np.memmap(place / "text.offsets", dtype=np.int64, mode="r")
        ids = np.memmap(place / "text.ids", dtype=np.int32, mode="r")
        if len(offsets) != int(card["documents"]) + 1 or offsets[-1] != len(ids):
            return None
    except (OSError, KeyError, ValueError, TypeError, AttributeError):
        return None
    return TextStore(np.asarray(ids), np.asarray(offsets), set_aside)


def _write(folder: Path, text: Text, pipeline: RunningText, longest: int, report: Callable[[Progress], None]) -> None:
    set_aside, offsets, written = Counter[str](), [0], 0
    with (folder / "text.ids").open("wb") as file:
        for ids, is_last in _parts(text, pipeline, longest, report):
            if ids is None:
                set_aside["too long"] += 1
                continue
            written += len(ids)
            file.write(ids.tobytes())
            if is_last:
                offsets.append(written)
    if len(offsets) == 1:
        shutil.rmtree(folder)
        what = {"line": "lines", "block": "blocks of lines", "file": "files"}[pipeline.document]
        raise UserError(f"0 of {set_aside.total():,} {what} kept: all have more than {longest:,} pieces (max_pieces)")
    (folder / "text.offsets").write_bytes(np.array(offsets, dtype=np.int64).tobytes())
    card = {"documents": len(offsets) - 1, "set_aside": dict(set_aside)}
    (folder / CARD).write_text(json.dumps(card) + "\n", encoding="utf-8")


def _parts(
    text: Text, pipeline: RunningText, longest: int, report: Callable[[Progress], None]
) -> Iterator[tuple[Ids | None, bool]]:
    """Ids and whether a document ends with them: whole documents, None for one that is too long; of files
    (longest = 0) line by line."""
    end, seen, size = pipeline.pieces.end, 0, 0
    begun: list[int] = []
    walk = marked(text, pipeline.document)
    while chunk := list(islice(walk, CHUNK)):
        for ids, (_, is_last) in zip(pipeline.segmenter.encode(line for line, _ in chunk), chunk, strict=True):
            size += len(ids) + 1
            fits = not longest or size - 1 <= longest
            begun = [*begun, *ids, end if is_last else LINE_END] if fits else []
            if is_last or not longest:
                yield (np.array(begun, dtype=np.int32) if fits else None), is_last
                begun, size = [], 0
        seen += len(chunk)
        report(Progress("encoding", seen, len(text)))
