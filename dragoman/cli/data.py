"""What are --train and --dev for a recipe, and what is said of them?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dragoman.cli.options import OnBadLine, refuse_given
from dragoman.cli.reading import opened
from dragoman.cli.screen import say
from dragoman.contracts import Bitext, DataKind, Recipe, UserError
from dragoman.wording import counted

if TYPE_CHECKING:
    from dragoman.corpus.bitext import FileBitext
    from dragoman.corpus.textfiles import FileText
    from dragoman.texts import Text

HELD_OUT_SHARE = 20  # one pair in 20 ...
HELD_OUT_MOST = 500  # ... but at most so many, and at least ...
HELD_OUT_LEAST = 10


def opened_data(
    recipe: Recipe[Any, Any],
    train: Sequence[str],
    dev: Sequence[str] | None,
    source: str | None,
    target: str | None,
    language: str | None,
    on_bad_line: OnBadLine,
    links: str | None = None,
    quiet: bool = False,
) -> tuple[Bitext | Text, Bitext | Text | None]:
    """What to train on and what to choose by, as the recipe's data is. links: a file of them, of what to train on.
    UserError for a kind without a reader here, and for options of data of another kind. quiet: see `opened`."""
    what = f"{recipe.kind} learns from {recipe.data.value}"
    if recipe.data is DataKind.BITEXT:
        refuse_given(f"{what}, whose languages are --source and --target", {"--language": language})
        if not getattr(recipe, "needs_dev", True):
            refuse_given(f"{recipe.kind} chooses nothing by a dev set", {"--dev": dev})
            return opened(train, source, target, on_bad_line, "train", quiet=quiet), None
        return _pairs(train, dev, source, target, on_bad_line, links, quiet)
    if recipe.data is DataKind.TEXT:
        refuse_given(f"{what}, in one --language", {"--source": source, "--target": target})
        if not dev and not getattr(recipe, "needs_dev", True):
            return opened_text(train, language, on_bad_line, "train", quiet), None
        return _text(train, dev, language, on_bad_line, quiet)
    raise UserError(f"train: kind {recipe.kind!r} learns from {recipe.data.value}, which no reader here provides")


def check_links(recipe: Recipe[Any, Any], links: str, others: Sequence[str]) -> None:
    """UserError for what cannot be right, before anything is read."""
    from dragoman.corpus.streams import require_files
    from dragoman.system.linked import refuse_unteachable

    refuse_unteachable(recipe)
    require_files([links])
    if links == "-" and "-" in others:
        raise UserError("standard input (-) can be read only once")


def _pairs(
    train: Sequence[str],
    dev: Sequence[str] | None,
    source: str | None,
    target: str | None,
    on_bad_line: OnBadLine,
    links: str | None,
    quiet: bool,
) -> tuple[Bitext, Bitext]:
    bitext = opened(train, source, target, on_bad_line, "train", quiet=quiet)
    data = bitext if links is None else _linked(bitext, links, on_bad_line, quiet)
    if dev:
        return data, opened(dev, bitext.source_language, bitext.target_language, on_bad_line, "dev", quiet=quiet)
    return _held_out_pairs(data, quiet)


def _linked(bitext: FileBitext, links: str, on_bad_line: OnBadLine, quiet: bool) -> Bitext:
    from dragoman.system.linked import with_links

    linked = with_links(bitext, links, on_bad_line)
    if not quiet or linked.unusable:
        say(f"train: {linked.summary()}")
    return linked


def _held_out_pairs(bitext: Bitext, quiet: bool) -> tuple[Bitext, Bitext]:
    from dragoman.corpus.splitting import hold_out

    about = min(HELD_OUT_MOST, max(HELD_OUT_LEAST, len(bitext) // HELD_OUT_SHARE))
    train, dev, left_out = hold_out(bitext, about)
    leaks = f", {left_out:,} left out of train as their source or target stands in dev" if left_out else ""
    left = f"{len(train):,} left to train on{leaks}"
    if not quiet:
        say(f"dev: {counted(len(dev), 'pair')} held out by hash of the source, {left} (--dev gives others)")
    return train, dev


def _text(
    train: Sequence[str], dev: Sequence[str] | None, language: str | None, on_bad_line: OnBadLine, quiet: bool
) -> tuple[FileText, FileText | None]:
    from dragoman.corpus.textfiles import held_out

    text = opened_text(train, language, on_bad_line, "train", quiet)
    if dev:
        return text, opened_text(dev, text.language, on_bad_line, "dev", quiet)
    parts = held_out(text)
    if parts is None:
        say("dev: there is too little text to hold some out; nothing is chosen (--dev gives some)")
        return text, None
    left, out = parts
    if not quiet:
        say(f"dev: the last {counted(len(out), 'line')} held out, {len(left):,} left to train on (--dev gives others)")
    return left, out


def opened_text(
    files: Sequence[str], language: str | None, on_bad_line: OnBadLine, part: str, quiet: bool = False
) -> FileText:
    """Open the files as text in one language; say on standard error what there is. quiet: only where something was set
    aside."""
    from dragoman.corpus.textfiles import UNDETERMINED, open_text

    text = open_text(files, language, on_bad_line=on_bad_line)
    told = "" if text.language == UNDETERMINED else f"{text.language}, "
    if not quiet or text.set_aside:
        say(f"{part}: {told}{text.summary()}")
    for line in text.details():
        say(f"{part}: {line}")
    return text
