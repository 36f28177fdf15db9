"""Which signals ask a command to stop?"""

from __future__ import annotations

import signal


def stop_signals() -> tuple[signal.Signals, ...]:
    """Ctrl-C, SIGTERM, and the SIGHUP of a terminal that is closed, unless somebody (nohup) has it ignored."""
    closed = getattr(signal, "SIGHUP", None)  # not on Windows
    if closed is None or signal.getsignal(closed) is signal.SIG_IGN:
        return signal.SIGINT, signal.SIGTERM
    return signal.SIGINT, signal.SIGTERM, closed
