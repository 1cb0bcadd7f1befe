"""Ctrl-C in commands that write or carry sections, and what is said of what they had done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from workbench.errors import WorkbenchError
from workbench.workspace.errors import Cancelled

STOPPED = 130
CANCELLED = "cancelled"
"""The code of whatever ends because somebody wants it to: a job, a wait, a summarizer's program."""


class Stopped(Cancelled):
    """Ctrl-C was pressed, or the job was stopped, before the end."""

    exit_code = STOPPED


@contextmanager
def stoppable(kept: str) -> Iterator[None]:
    """Raise `Stopped` for what is cancelled in the block; `kept` says what has become of it."""
    try:
        yield
    except WorkbenchError as error:
        if error.code != CANCELLED or isinstance(error, Stopped):
            raise
        raise Stopped(f"it was stopped; {kept}") from error
