"""The three streams that a program is born with, of which whoever starts it may have closed some."""

from __future__ import annotations

import os
import sys

closed: set[int] = set()
"""Which of them were closed: 0 standard input, 1 standard output, 2 standard error."""

_NAMES = ("stdin", "stdout", "stderr")


def stand_in() -> None:
    """Put the null device in the place of each that is closed.

    Else the next file that is opened, a database say, would get its number, and be written to as if it were
    the terminal.
    """
    closed.clear()
    for number, name in enumerate(_NAMES):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is given out first, and it is this one.
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            closed.add(number)
            # Open to the end of the process, as the streams are.
            setattr(sys, name, open(os.devnull, "r" if number == 0 else "w", encoding="utf-8"))  # noqa: PTH123, SIM115


def end_line() -> None:
    """Begin a new line on a terminal, behind the ^C that it shows."""
    try:
        if sys.stderr.isatty():
            sys.stderr.write("\n")
            sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        return
