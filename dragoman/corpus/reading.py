"""What does a reader have to know besides the file?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dragoman.corpus.lines import OnBadLine

Columns = tuple[str, str]
InlineTags = Literal["strip", "keep"]


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read, whatever their format.

    source, target: the languages that are wanted. on_bad_line: whether a line that is no text ends the run or is
    set aside. columns: names of the CSV columns or JSON keys of source and target, where they do not tell it
    themselves. inline_tags: whether the tags inside a sentence are left out or kept as text.
    """

    source: str
    target: str
    on_bad_line: OnBadLine = "stop"
    columns: Columns | None = None
    inline_tags: InlineTags = "strip"
