"""How do counted language models come from other programs, and go to them?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from dragoman.cli.options import File, Language, Quiet, refuse_given
from dragoman.cli.screen import say, screen
from dragoman.contracts import UserError

KIND = "ngram"


def convert(
    model: File,
    /,
    *,
    to: Annotated[
        File | None, Parameter(help="Write the model there, as ARPA; gzip where the name ends in .gz.")
    ] = None,
    out: Annotated[
        str | None, Parameter(metavar="DIR", help="The folder that becomes the model in an ARPA file.")
    ] = None,
    language: Language = None,
    units: Literal["words", "characters"] | None = None,
    quiet: Quiet = False,
) -> None:
    """Write an n-gram model as ARPA, or make a model of an ARPA file (of KenLM, SRILM and others).

    Parameters
    ----------
    model:
        A model folder, for --to; an ARPA file, compressed or not, for --out.
    units:
        What the units of an ARPA file are: words (the default), or characters, a space being written as U+2581.
    """
    if (to is None) == (out is None):
        raise UserError("lm convert: give one of --to FILE (a model becomes ARPA) and --out DIR (ARPA becomes a model)")
    if to is not None:
        refuse_given("a model folder knows these itself", {"--language": language, "--units": units})
        _to_arpa(model, to, quiet)
    else:
        _from_arpa(model, str(out), language, units or "words", quiet)


def _to_arpa(folder: str, path: str, quiet: bool) -> None:
    from dragoman.corpus.streams import refuse_overwriting
    from dragoman.system.store import load_model, read_card

    refuse_overwriting([folder], [path])
    kind = read_card(Path(folder)).kind
    if kind != KIND:
        raise UserError(f"{folder}: is of the kind {kind}; ARPA holds n-grams, the kind {KIND!r}")
    if Path(path).is_dir():
        raise UserError(f"{path}: is a folder, not a file")
    model: Any = load_model(Path(folder))
    model.write_arpa(path)
    name = "<stdout>" if path == "-" else path
    if model.vocabulary.units == "characters":
        say(f"{name}: its words are characters; `lm convert --units characters` makes a model of it again")
    if model.ngrams.order == 1:
        say(f"{name}: of order 1, which KenLM does not read")
    if path != "-" and not quiet:
        say(f"{path}: {_counted(model)}")


def _from_arpa(path: str, folder: str, language: str | None, units: str, quiet: bool) -> None:
    from dragoman.corpus.streams import require_files
    from dragoman.lm.units import RESERVED
    from dragoman.system.catalogue import product_class, recipe_class
    from dragoman.system.lifecycle import check_folder
    from dragoman.system.store import published, save_model

    require_files([path])
    check_folder(Path(folder))
    if any(Path(folder).glob("*.json")) or (Path(folder) / "work").exists():
        raise UserError(f"{folder}: holds a model or its work; --out names a new or empty folder")
    with screen(quiet) as report:
        model = product_class(KIND).read_arpa(path, language or "und", units, report)
    words = model.vocabulary.words[len(RESERVED) :]
    if units == "words" and words and all(len(word) == 1 for word in words):
        say(f"{path}: all of its words are single characters; if it is a model of characters, say --units characters")
    recipe = recipe_class(KIND)(order=model.ngrams.order, units=units)  # type: ignore[call-arg]
    facts = {"kind": KIND, "languages": model.language, "read from": path, "model": dict(model.describe())}
    with published(Path(folder)) as aside:
        save_model(model, recipe, aside, facts)
    if not quiet:
        say(f"{folder}: {_counted(model)}")


def _counted(model: Any) -> str:
    return ", ".join(f"{count:,} {order}-grams" for order, count in enumerate(model.ngrams.counts, start=1))


def application() -> App:
    """`lm`, with `convert` below it."""
    app = App(name="lm", help="Exchange n-gram language models with other programs.", help_epilogue="")
    app.command(convert)
    return app
