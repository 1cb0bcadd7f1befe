"""How far an examination is, and whether it should go on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import apsw

from workbench.workspace.errors import Cancelled

Progress = Callable[[int, int | None, str], None]
"""`progress(done, total, note)`: thousandths of the whole, and what is being looked at."""

STAGES = {
    "the database's structure": 210,
    "the order of events": 40,
    "the order of each session": 30,
    "replaying events": 520,
    "comparing projections": 140,
    "artifacts": 50,
    "permissions": 10,
}
"""The stages in their order, each with its share of a thousand on a large workspace."""

_STEPS = 20_000
"""Steps of SQLite's machine, or pages that it checks, between two looks: some milliseconds mostly."""
_LATEST = 0.95
"""How far a stage of unknown length is shown at most before it has ended."""


_HEARTBEAT = 0.5
"""Seconds after which whoever waits is told even what has not changed: it still goes on."""


class Watch:
    """Tells whoever waits how far it is, and asks whether to go on."""

    def __init__(self, progress: Progress | None, cancelled: Callable[[], bool] | None) -> None:
        self._progress = progress
        self._cancelled = cancelled
        self._base = 0
        self._share = 0
        self._note = ""
        self._shown = -1
        self._told = 0.0

    def stage(self, name: str) -> None:
        """The next stage of `STAGES` begins."""
        names = list(STAGES)
        self._base = sum(STAGES[before] for before in names[: names.index(name)])
        self._share, self._note, self._shown = STAGES[name], name, -1
        self.step(0, 1)

    def step(self, done: int, total: int) -> None:
        """So far into the stage. Raises `Cancelled` if it should not go on."""
        if self.is_cancelled():
            raise Cancelled("the examination was stopped; nothing was changed")
        reached = self._base + self._share * min(done, total) // max(total, 1)
        if self._progress is None:
            return
        if reached != self._shown or time.monotonic() - self._told > _HEARTBEAT:
            self._shown, self._told = reached, time.monotonic()
            self._progress(reached, sum(STAGES.values()), self._note)

    def is_cancelled(self) -> bool:
        """Whether it should not go on."""
        return self._cancelled is not None and self._cancelled()

    @contextmanager
    def interrupting(self, connection: apsw.Connection, *, looks: float = 0) -> Iterator[None]:
        """Long statements of the connection end early when it should not go on (`Cancelled`).

        With `looks`, about how often they will be looked at, they also move the stage forward.
        """
        taken = 0

        def look() -> bool:
            nonlocal taken
            taken += 1
            if self.is_cancelled():
                return True
            if looks:
                self.step(int(1000 * min(taken / looks, _LATEST)), 1000)
            return False

        connection.set_progress_handler(look, _STEPS)
        try:
            yield
        except apsw.InterruptError as error:
            raise Cancelled("the examination was stopped; nothing was changed") from error
        finally:
            connection.set_progress_handler(None)
