"""What are --train and --dev for a recipe, and what is said of them?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from dragoman.cli.options import refuse_given
from dragoman.cli.reading import opened
from dragoman.cli.screen import say
from dragoman.contracts import Bitext, DataKind, Recipe, UserError
from dragoman.wording import counted

if TYPE_CHECKING:
    from dragoman.corpus.textfiles import FileText
    from dragoman.texts import Text

HELD_OUT_SHARE = 20  # one pair in 20 ...
HELD_OUT_MOST = 500  # ... but at most so many, and at least ...
HELD_OUT_LEAST = 10

OnBadLine = Literal["stop", "skip"]


def opened_data(
    recipe: Recipe[Any, Any],
    train: Sequence[str],
    dev: Sequence[str] | None,
    source: str | None,
    target: str | None,
    language: str | None,
    on_bad_line: OnBadLine,
) -> tuple[Bitext | Text, Bitext | Text | None]:
    """What to train on and what to choose by, as the recipe's data is. UserError for a kind without a reader here,
    and for options of data of another kind."""
    what = f"{recipe.kind} learns from {recipe.data.value}"
    if recipe.data is DataKind.BITEXT:
        refuse_given(f"{what}, whose languages are --source and --target", {"--language": language})
        return _pairs(train, dev, source, target, on_bad_line)
    if recipe.data is DataKind.TEXT:
        refuse_given(f"{what}, in one --language", {"--source": source, "--target": target})
        return _text(train, dev, language, on_bad_line)
    raise UserError(f"train: kind {recipe.kind!r} learns from {recipe.data.value}, which no reader here provides")


def _pairs(
    train: Sequence[str], dev: Sequence[str] | None, source: str | None, target: str | None, on_bad_line: OnBadLine
) -> tuple[Bitext, Bitext]:
    bitext = opened(train, source, target, on_bad_line, "train")
    if dev:
        return bitext, opened(dev, bitext.source_language, bitext.target_language, on_bad_line, "dev")
    return _held_out_pairs(bitext)


def _held_out_pairs(bitext: Bitext) -> tuple[Bitext, Bitext]:
    from dragoman.corpus.splitting import hold_out

    about = min(HELD_OUT_MOST, max(HELD_OUT_LEAST, len(bitext) // HELD_OUT_SHARE))
    train, dev, left_out = hold_out(bitext, about)
    leaks = f", {left_out:,} left out of train as their source or target stands in dev" if left_out else ""
    left = f"{len(train):,} left to train on{leaks}"
    say(f"dev: {counted(len(dev), 'pair')} held out by hash of the source, {left} (--dev gives others)")
    return train, dev


def _text(
    train: Sequence[str], dev: Sequence[str] | None, language: str | None, on_bad_line: OnBadLine
) -> tuple[FileText, FileText | None]:
    from dragoman.corpus.textfiles import held_out

    text = opened_text(train, language, on_bad_line, "train")
    if dev:
        return text, opened_text(dev, text.language, on_bad_line, "dev")
    parts = held_out(text)
    if parts is None:
        say("dev: there is too little text to hold some out; nothing is chosen (--dev gives some)")
        return text, None
    left, out = parts
    say(f"dev: the last {counted(len(out), 'line')} held out, {len(left):,} left to train on (--dev gives others)")
    return left, out


def opened_text(files: Sequence[str], language: str | None, on_bad_line: OnBadLine, part: str) -> FileText:
    """Open the files as text in one language; say on standard error what there is."""
    from dragoman.corpus.textfiles import UNDETERMINED, open_text

    text = open_text(files, language, on_bad_line=on_bad_line)
    told = "" if text.language == UNDETERMINED else f"{text.language}, "
    say(f"{part}: {told}{text.summary()}")
    return text
