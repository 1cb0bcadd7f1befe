"""How far an examination is, and whether it should go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import apsw

from workbench.workspace.errors import Cancelled

Progress = Callable[[int, int | None, str], None]
"""`progress(done, total, note)`: thousandths of the whole, and what is being looked at."""

STAGES = {
    "the database's structure": 210,
    "the order of events": 70,
    "replaying events": 520,
    "comparing projections": 140,
    "artifacts": 50,
    "permissions": 10,
}
"""The stages in their order, each with its share of a thousand on a large workspace."""

_STEPS = 200_000
"""Steps of SQLite's machine between two looks at whether to go on: some milliseconds."""


class Watch:
    """Tells whoever waits how far it is, and asks whether to go on."""

    def __init__(self, progress: Progress | None, cancelled: Callable[[], bool] | None) -> None:
        self._progress = progress
        self._cancelled = cancelled
        self._base = 0
        self._share = 0
        self._note = ""
        self._shown = -1

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
        if self._progress is not None and reached != self._shown:
            self._shown = reached
            self._progress(reached, sum(STAGES.values()), self._note)

    def is_cancelled(self) -> bool:
        """Whether it should not go on."""
        return self._cancelled is not None and self._cancelled()

    @contextmanager
    def interrupting(self, connection: apsw.Connection) -> Iterator[None]:
        """Long statements of the connection end early when it should not go on (`Cancelled`)."""
        if self._cancelled is None:
            yield
            return
        connection.set_progress_handler(self._cancelled, _STEPS)
        try:
            yield
        except apsw.InterruptError as error:
            raise Cancelled("the examination was stopped; nothing was changed") from error
        finally:
            connection.set_progress_handler(None)
