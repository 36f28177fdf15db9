"""Which verbs are there?"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache

from cyclopts import App, Parameter

from dragoman.cli.align import application as alignment
from dragoman.cli.cleaning import clean, inspect
from dragoman.cli.corpus import convert, dedupe, merge, sample, shuffle, split
from dragoman.cli.doctor import doctor
from dragoman.cli.errors import exit_code_of, terminating
from dragoman.cli.evaluate import evaluate
from dragoman.cli.explain import explain
from dragoman.cli.export import export
from dragoman.cli.generate import generate
from dragoman.cli.info import info
from dragoman.cli.lm import application as language_models
from dragoman.cli.options import protect
from dragoman.cli.recipes import recipes
from dragoman.cli.score import score
from dragoman.cli.screen import say
from dragoman.cli.shortlist import shortlist
from dragoman.cli.train import train
from dragoman.cli.translate import translate
from dragoman.notices import listen

HELP = "Train translators on your own sentence pairs, translate with them, and know how good they are."
START = """Begin with:
  dragoman train transformer-auto --train my.tmx --source en --target de \\
      --time-budget 20m --out model
  dragoman translate model my.txt
  dragoman evaluate model --test my-test.tmx"""


def _version() -> str:
    from importlib.metadata import version

    return version("dragoman")


def _shown_default(value: object) -> object:
    return None if value is False or value == "" else value


@cache
def application() -> App:
    """The command line as a tree of verbs; each is one function in a module of its own."""
    app = App(
        name="dragoman",
        help=HELP,
        help_epilogue=START,
        version=_version,
        help_format="plaintext",
        default_parameter=Parameter(negative=(), show_default=_shown_default),
        suppress_keyboard_interrupt=False,
    )
    data = App(name="corpus", help="Look at sentence pairs, clean, convert and split them.", help_epilogue="")
    in_order(data, inspect, clean, convert, merge, dedupe, sample, shuffle, split)
    in_order(app, train, translate, generate, evaluate, score, explain, shortlist, export, doctor, info, recipes)
    in_order(app, alignment(), language_models(), data, after=99)
    return app


def in_order(app: App, *verbs: App | Callable[..., None], after: int = 0) -> None:
    """Put the verbs below the command, for `--help` one behind the other."""
    for place, verb in enumerate(verbs, start=after):
        if isinstance(verb, App):
            verb.sort_key = place
            app.command(verb)
        else:
            app.command(verb, sort_key=place)


def run(arguments: Sequence[str] | None) -> int:
    """Parse, run one verb, return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    listen(say)
    tokens = protect(sys.argv[1:] if arguments is None else arguments)
    with terminating():
        return exit_code_of(
            lambda: application()(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        )
