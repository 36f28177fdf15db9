"""How does `dragoman train` turn files into a model folder?"""

from __future__ import annotations

import os
import time
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from dragoman.cli.data import check_links, opened_data
from dragoman.cli.errors import ENDING, stopping
from dragoman.cli.loading import use_threads
from dragoman.cli.options import (
    Device,
    File,
    Files,
    Folder,
    Language,
    OnBadLine,
    Quiet,
    Seed,
    Settings,
    Source,
    Target,
    Threads,
    refuse_given,
)
from dragoman.cli.screen import say, screen
from dragoman.contracts import Bitext, Recipe, UserError

if TYPE_CHECKING:
    from dragoman.system.backtranslation import Backtranslation
    from dragoman.system.lifecycle import Outcome

EXAMPLE = "dragoman train transformer-tiny --train my.tmx --out my-model"
SHOWN_FACTS = ("folder", "kind", "languages", "size", "synthetic", "seconds", "done", "dev_figures")


def train(
    recipe: File | None = None,
    /,
    *,
    train: Files | None = None,
    dev: Files | None = None,
    source: Source = None,
    target: Target = None,
    language: Language = None,
    out: Folder | None = None,
    set_: Settings | None = None,
    seed: Seed = None,
    time_budget: str | None = None,
    init_from: Folder | None = None,
    links: File | None = None,
    monolingual: Files | None = None,
    reverse: Folder | None = None,
    restart: bool = False,
    discard_work: bool = False,
    finish: Folder | None = None,
    on_bad_line: OnBadLine = "stop",
    device: Device = "auto",
    threads: Threads = 0,
    quiet: Quiet = False,
) -> None:
    """Train a model on sentence pairs or on text; the same command again goes on with what was interrupted.

    Aligners, n-gram models and the dictionary are learnt in one go: they begin anew.

    Under torchrun several processes, or machines, learn one network together.

    Parameters
    ----------
    recipe:
        A name that `dragoman recipes` lists, or a path ending in .toml.
    train:
        Files or folders: TSV, CSV, JSON Lines, Pharaoh, TMX, XLIFF, PO, MO stand alone, plain text files come in
        pairs (source, target); compressed ones too; - is standard input; NAME*3 reads NAME three times. For a language
        model any text files.
    dev:
        Data on which checkpoints are chosen; without it a little is held out of the training data.
    out:
        The folder that becomes the model.
    set_:
        A field of the recipe, as name=value; may be repeated.
    seed:
        Another seed, another model; 1 where none is given.
    time_budget:
        Wall-clock time for the whole training, such as 20m or 1h30m.
    init_from:
        A model to go on from, with its vocabulary.
    links:
        A file with a line of word links (such as 0-0 1-2, source-target) for each record of --train: they teach the
        attention.
    monolingual:
        Text files in the target language, a sentence a line; compressed ones too, and -. --reverse makes further
        pairs of them.
    reverse:
        A finished model that translates the target language into the source language: it writes their sources.
    restart:
        Train anew where work for other data or settings lies in the folder.
    discard_work:
        Remove what would be needed to go on with the training later.
    finish:
        Make a model of the best checkpoint so far in that folder; recipe, data and settings are those of its work.
    """
    began = time.monotonic()
    if time_budget is not None and not _seconds(time_budget):
        raise UserError(f"--time-budget {time_budget}: more than nothing, such as 20m (leave it out for no limit)")
    use_threads(threads)
    if finish is not None:
        refuse_given(
            "--finish stands alone, all else is as in the work there",
            {
                "RECIPE": recipe,
                "--train": train,
                "--dev": dev,
                "--source": source,
                "--target": target,
                "--language": language,
                "--out": out,
                "--set": set_,
                "--seed": seed is not None,
                "--time-budget": time_budget,
                "--init-from": init_from,
                "--links": links,
                "--monolingual": monolingual,
                "--reverse": reverse,
                "--restart": restart,
                "--discard-work": discard_work,
                "--on-bad-line": on_bad_line != "stop",
            },
        )
        _finish(finish, device=device, threads=threads, quiet=quiet)
        return
    missing = [name for name, value in (("RECIPE", recipe), ("--train", train), ("--out", out)) if not value]
    if missing or recipe is None or train is None or out is None:
        raise UserError(f"train: {', '.join(missing)} missing; for example: {EXAMPLE}")

    from dragoman.system.lifecycle import check_folder, train_model
    from dragoman.system.settings import recipe_from
    from dragoman.system.settling import follow_training

    sets = [*(set_ or ()), *([f"time_budget={time_budget}"] if time_budget else ())]
    chosen = recipe_from(recipe, sets)
    rank, world = (int(os.environ.get(name, default)) for name, default in (("RANK", "0"), ("WORLD_SIZE", "1")))
    same: dict[str, Any] = {
        "seed": 1 if seed is None else seed,
        "device": device,
        "threads": threads,
        "init_from": Path(init_from) if init_from else None,
        "world": world,
    }
    if links:
        check_links(chosen, links, [*train, *(dev or ())])
    _check_backtranslation(chosen, monolingual, reverse, [*train, *(dev or ()), *([links] if links else ())], world)
    where = source, target, language, on_bad_line, links, quiet
    if rank:
        with redirect_stderr(StringIO()):
            data, _ = opened_data(chosen, train, dev, *where)
        with stopping():
            follow_training(chosen, data, rank=rank, **same)
        return
    check_folder(Path(out))
    data, held = opened_data(chosen, train, dev, *where)
    more = None
    if monolingual and reverse:  # of kinds alone that learn from pairs
        more = _backtranslation(monolingual, reverse, cast(Bitext, data), cast(Bitext, held), on_bad_line, quiet)
    with screen(quiet) as report, stopping(*([] if chosen.limits else [ENDING])) as stop:
        outcome = train_model(
            chosen,
            data,
            held,
            Path(out),
            **same,
            restart=restart,
            discard_work=discard_work,
            backtranslation=more,
            report=report,
            stop=stop,
            began=began,
            command={
                "train": " ".join([*train, *(["--links", links] if links else [])]),
                "dev": " ".join(dev or ()),
                "monolingual": " ".join(monolingual or ()),
            },
        )
    _conclude(Path(out), outcome)


def _seconds(budget: str) -> float:
    from dragoman.durations import parse_duration

    try:
        return parse_duration(budget)
    except ValueError as error:
        raise UserError(f"--time-budget {budget}: {error}") from error


def _finish(folder: str, *, device: str, threads: int, quiet: bool) -> None:
    from dragoman.system.lifecycle import finish_model

    with screen(quiet) as report, stopping() as stop:
        outcome = finish_model(Path(folder), device=device, threads=threads, report=report, stop=stop)
    _conclude(Path(folder), outcome)


def _check_backtranslation(
    recipe: Recipe[Any, Any], monolingual: list[str] | None, reverse: str | None, others: list[str], world: int
) -> None:
    """UserError for what cannot be right, before anything is read."""
    if not monolingual and not reverse:
        return
    if not monolingual or not reverse:
        raise UserError(
            "--monolingual (text in the target language) and --reverse (a model from there into the source language) "
            "go together"
        )
    from dragoman.corpus.streams import require_files
    from dragoman.system.backtranslation import choices_of
    from dragoman.system.store import read_card

    choices_of(recipe)
    if world > 1:
        raise UserError("--monolingual: back-translation is made in one process; start it without torchrun")
    require_files(monolingual)
    if "-" in monolingual and "-" in others:
        raise UserError("standard input (-) can be read only once")
    read_card(Path(reverse))


def _backtranslation(
    monolingual: list[str], reverse: str, train: Bitext, dev: Bitext, on_bad_line: OnBadLine, quiet: bool
) -> Backtranslation:
    from dragoman.corpus.monolingual import open_monolingual
    from dragoman.system.backtranslation import Backtranslation, check_reverse

    check_reverse(Path(reverse), train.source_language, train.target_language)
    text = open_monolingual(monolingual, train, dev, on_bad_line=on_bad_line)
    if not quiet or text.set_aside:
        say(f"monolingual: {text.language}, {text.summary()}")
    return Backtranslation(text, Path(reverse))


NEXT = {
    "translate": "translate with: dragoman translate {out} FILE",
    "generate": "generate with: dragoman generate {out} --prefix TEXT",
    "align": "link with: dragoman align apply {out} FILES",
}


def next_command(out: Path) -> str:
    """What a user does with the finished model."""
    from dragoman.system.store import read_card
    from dragoman.system.verbs import own_verb

    verb = own_verb(read_card(out).kind)
    return NEXT.get(verb, f"next: dragoman {verb} {{out}} FILE").format(out=out)


def _conclude(out: Path, outcome: Outcome) -> None:
    from dragoman.cli.info import card_lines

    if outcome.already_finished:
        print(f"{out} is finished; nothing to do (--restart trains anew, a raised limit goes on)")
    else:
        print("\n".join(card_lines(out, SHOWN_FACTS)))
    print(next_command(out))
