"""How does a user give a model a shortlist, with which it searches faster?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from dragoman.cli.loading import use_threads
from dragoman.cli.options import WHOLE, Files, Folder, OnBadLine, Quiet, Threads
from dragoman.cli.reading import opened
from dragoman.cli.screen import screen


def shortlist(
    model: Folder,
    /,
    *,
    train: Files,
    partners: Annotated[int, WHOLE, Parameter(validator=Number(gte=1, lte=10_000))] = 100,
    frequent: Annotated[int, WHOLE, Parameter(validator=Number(gte=0, lte=100_000))] = 600,
    on_bad_line: OnBadLine = "stop",
    threads: Threads = 0,
    quiet: Quiet = False,
) -> None:
    """Teach a model which pieces the translation of a source may need, for `translate --shortlist`.

    The model's weights stay as they are, and so does what it translates without --shortlist.

    Parameters
    ----------
    model:
        The folder of a neural translator.
    train:
        The pairs that it was trained on, or like them.
    partners:
        Translations of each source piece, the likeliest first.
    frequent:
        The most frequent target pieces, which every sentence may need.
    """
    from dragoman.system.shortlisting import add_shortlist
    from dragoman.system.store import read_card

    use_threads(threads)
    card = read_card(Path(model))
    pairs = opened(train, card.source_language or None, card.target_language, on_bad_line, "train")
    with screen(quiet) as report:
        kept = add_shortlist(Path(model), pairs, partners, frequent, threads=threads, report=report)
    print(f"{model}: {kept}")
    print(f"translate with: dragoman translate {model} FILE --shortlist")
