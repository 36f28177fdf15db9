"""What holds for every test?

A shell that starts the tests in the background makes them ignore Ctrl-C, and so would every process that
they start: the tests of Ctrl-C would test nothing.
"""

from __future__ import annotations

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
