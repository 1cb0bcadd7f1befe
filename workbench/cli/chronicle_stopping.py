"""Ctrl-C in commands that write or carry sections, what is said of what they had done, and of a wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from workbench.errors import WorkbenchError
from workbench.workspace.errors import Cancelled

STOPPED = 130
CANCELLED = "cancelled"
"""The code of whatever ends because somebody wants it to: a job, a wait, a summarizer's program."""


Progress = Callable[[int, int | None, str], None]


def telling_whom(progress: Progress) -> Progress:
    """The progress, which also says on stderr, once each, whom the command waits for."""
    from workbench.cli.output import to_stderr
    from workbench.workspace.chronicle.turns import WAITING

    told: set[str] = set()

    def show(done: int, total: int | None, note: str) -> None:
        if note.startswith(WAITING):
            if note not in told:
                told.add(note)
                to_stderr(note)
            return
        progress(done, total, note)

    return show


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
