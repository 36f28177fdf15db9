"""How do endless lines become as many lines?

Lines are read in windows and given back in order, so memory stays flat; a blank line, or one that is
no text, never reaches the model and still has its place in the output.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from dragoman.abilities import inability, refuse_unable
from dragoman.contracts import Ability, Flag, Request, SearchOptions, Translation, UserError
from dragoman.corpus.lines import Line
from dragoman.system.catalogue import model_kinds, product_class

WINDOW_CHARACTERS = 1_000_000
Translate = Callable[[Sequence[str | Request], SearchOptions], list[Translation]]


class System(Protocol):
    """What translates: a product, or a baseline that is made on the spot."""

    @property
    def kind(self) -> str: ...
    @property
    def source_language(self) -> str: ...
    @property
    def target_language(self) -> str: ...
    @property
    def abilities(self) -> frozenset[Ability]: ...
    def translate(
        self, requests: Sequence[str | Request], options: SearchOptions = SearchOptions()
    ) -> list[Translation]: ...


@dataclass(frozen=True)
class LineResult:
    """What became of a line. translation: None for a blank line and for one with a fault."""

    line: Line
    translation: Translation | None

    @property
    def text(self) -> str:
        """The output line: the 1-best, or the blank that the line itself is."""
        return self.translation.text if self.translation else self.line.text

    @property
    def flags(self) -> tuple[Flag, ...]:
        """The flags of the 1-best."""
        return self.translation.hypotheses[0].flags if self.translation else ()


def translate_lines(
    system: System,
    lines: Iterable[Line],
    options: SearchOptions = SearchOptions(),
    *,
    window: int,
    prefix: str = "",
    translate: Translate | None = None,
) -> Iterator[LineResult]:
    """One result for each line, in order. window: lines that are searched together, 1 at a terminal; a window
    ends early at WINDOW_CHARACTERS. prefix: what each translation must begin with. translate: what does the work
    in place of the system, as `Workers.translate`.

    UserError at once for options that the kind lacks. Where reading fails, what was read before is
    translated and given first.
    """
    check_options(system, options, prefix)
    for ready, failure in windows(lines, window):
        yield from translate_window(translate or system.translate, ready, options, prefix)
        if failure is not None:
            raise failure


def check_options(system: System, options: SearchOptions, prefix: str = "") -> None:
    """UserError for the first option that the system lacks, naming the kinds which have it."""
    refuse_unable(system.kind, system.abilities, [Request("", prefix=prefix)], options, kinds_with)


def require_ability(kind: str, abilities: Collection[Ability], ability: Ability, option: str = "") -> None:
    """UserError that names the kinds which can, where this one cannot."""
    if ability not in abilities:
        raise UserError(inability(kind, ability, kinds_with(ability), option))


def kinds_with(ability: Ability) -> list[str]:
    """The kinds of translators in the catalogue that have an ability."""
    return [kind for kind in model_kinds("translate") if ability in product_class(kind).abilities]


def windows(lines: Iterable[Line], size: int) -> Iterator[tuple[list[Line], UserError | None]]:
    """Up to `size` lines at once, and after the last lines the error that ended the reading, if one did."""
    ready: list[Line] = []
    characters = 0
    source = iter(lines)
    while True:
        try:
            line = next(source)
        except StopIteration:
            yield ready, None
            return
        except UserError as failure:
            yield ready, failure
            return
        ready.append(line)
        characters += len(line.text)
        if len(ready) >= size or characters >= WINDOW_CHARACTERS:
            yield ready, None
            ready, characters = [], 0


def translate_window(
    translate: Translate, lines: Sequence[Line], options: SearchOptions, prefix: str
) -> Iterator[LineResult]:
    """The results of a window: one call for all its lines with text."""
    asked = [Request(line.text, prefix=prefix) for line in lines if line.text.strip()]
    translations = iter(translate(asked, options) if asked else ())
    for line in lines:
        yield LineResult(line, next(translations) if line.text.strip() else None)
