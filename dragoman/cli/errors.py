"""What does a user see, and a shell get, when a command does not end well?

Exit codes: 0 well, 2 a user's mistake (one line), 130 interrupted, 141 the reader of our output went away.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from cyclopts import CycloptsError
from cyclopts.exceptions import MissingArgumentError, UnusedCliTokensError

from dragoman.cli.options import STANDARD_STREAM
from dragoman.contracts import Interrupted, UserError
from dragoman.stopping import stop_signals
from dragoman.wording import escaped

MISTAKE = 2
INTERRUPTED = 130
READER_GONE = 141


def exit_code_of(action: Callable[[], object]) -> int:
    """Run a command; say what went wrong in one line on standard error. Bugs keep their traceback."""
    try:
        action()
        print(end="", flush=True)
    except CycloptsError as error:
        return _complain(_usage_line(error), MISTAKE)
    except UserError as error:
        return _complain(str(error), MISTAKE)
    except Interrupted as interruption:
        return _complain(str(interruption) or "interrupted; the same command goes on from here", INTERRUPTED)
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)
    except BrokenPipeError:
        _close_output()
        return READER_GONE
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename is not None:
            raise
        _close_output()
        return _complain("standard output: no space left on device", MISTAKE)
    return 0


def _close_output() -> None:
    """What is not yet written has nowhere to go."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _forget_lost_terminal() -> None:
    """Lines for a terminal that was closed go nowhere: none of them may be an error while files are put in order."""
    for descriptor in (1, 2):
        try:
            os.write(descriptor, b"")
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def _complain(line: str, code: int) -> int:
    print(escaped(" ".join(line.split())), file=sys.stderr)
    return code


def _usage_line(error: CycloptsError) -> str:
    text = str(error).replace(STANDARD_STREAM, "-")
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        text = f"unexpected argument '{error.unused_tokens[0].replace(STANDARD_STREAM, '-')}'."
    elif isinstance(error, MissingArgumentError) and error.argument is not None:
        unknown = next(
            (f"; unknown option '{token}'" for token in error.unused_tokens or () if token.startswith("--")), ""
        )
        text = f"{error.argument.name} is missing{unknown}."
    command = " ".join(["dragoman", *(error.command_chain or ())])
    return f"{text.rstrip()} ('{command} --help' shows what there is.)"


@contextmanager
def terminating() -> Iterator[None]:
    """Inside, SIGTERM and a terminal that closes (SIGHUP) end a command as Ctrl-C does, so that half-written files are
    removed."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        _forget_lost_terminal()
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in stop_signals() if number != signal.SIGINT}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


ENDING = "ending after this step; once more ends at once"


@contextmanager
def stopping(told: str = "finishing this step and saving; once more stops at once") -> Iterator[Callable[[], bool]]:
    """Inside, the first Ctrl-C, SIGTERM or SIGHUP makes the yielded function true, and that is told; the second one
    interrupts."""
    asked = False

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        _forget_lost_terminal()
        if asked:
            raise KeyboardInterrupt
        asked = True
        print(told, file=sys.stderr)

    before = {number: signal.signal(number, ask) for number in stop_signals()}
    try:
        yield lambda: asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
