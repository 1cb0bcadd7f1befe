"""The program's hold on its workspace: opened on another thread, watched, lost, and opened again.

Whatever may wait for a disk or a lock happens on other threads; what is here runs on the UI thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError
from workbench.tui import failures
from workbench.tui.file_fate import WorkspaceLost
from workbench.tui.watch import Watch

if TYPE_CHECKING:
    from textual.message import Message

    from workbench.workspace import Workspace

CLOSE_SECONDS = 1.0
"""How long leaving the program waits for the workspace to be closed."""

WAITS_ON_SECONDS = 1.6
"""A wait that was not heard of again for this long is over."""

MIGRATABLE = ("schema_migration_required", "fold_set_mismatch")
"""The codes of what an explicit migration mends."""

LOST_WORDS = {
    "db_replaced": "replaced",
    "db_damaged": "damaged",
    "not_a_workbench_database": "damaged",
    "no_database_file": "damaged",
}

TITLES = {
    "schema_ahead_of_code": "A newer release wrote this workspace",
    "not_a_workbench_database": "This is no workbench database",
    "db_damaged": "The database is damaged",
    "no_database_file": "There is no database in its place",
    "db_locked": "Another program holds the database",
}
"""What stands over the page of a workspace that cannot be opened, by the error's code."""


class Access:
    """One workspace at a time. `post` takes messages from any thread."""

    def __init__(self, post: Callable[[Message], bool], root: Path, *, read_only: bool) -> None:
        self._post = post
        self._root = root
        self._asked_read_only = read_only
        self._watch: Watch | None = None
        self._waited: tuple[float, float] | None = None
        self._was_lost = False
        """It was open before, so that laying out another one is no way to help."""
        self.workspace: Workspace | None = None
        self.live = "opening"
        """`opening`, `live`, `lost` or `failed`."""
        self.reason = ""
        """In a few words, why it is lost."""
        self.past = ""
        """Why nothing can be written while the program shows the past; "" while it shows what is now."""
        self.problem: failures.Failure | None = None
        """Why it could not be opened, or was lost."""
        self.error: BaseException | None = None
        """The same as it was raised."""

    # Opening and closing

    def open(self, opener: Callable[[], Workspace]) -> None:
        """Open it, closing first what was open; a message of the watch follows."""
        if self._watch is not None:
            self._watch.stop()
        self._was_lost = self._was_lost or self.live == "lost"
        old, self.workspace = self.workspace, None
        self.live, self.reason, self.problem, self.error, self._waited = "opening", "", None, None, None

        def work() -> Workspace:
            # First, and not beside the new one: a process that has one database open twice and closes
            # one of the two gives up the locks of the other.
            if old is not None:
                _close(old)
            return opener()

        self._watch = Watch(work, self._post)
        self._watch.start()

    def close(self) -> None:
        """End the watch and close the workspace; does not wait for long."""
        if self._watch is not None:
            self._watch.stop(CLOSE_SECONDS)
        workspace, self.workspace = self.workspace, None
        if workspace is not None:
            closing = threading.Thread(target=_close, args=(workspace,), name="workspace-close", daemon=True)
            closing.start()
            closing.join(CLOSE_SECONDS)

    # What the watch tells

    def opened(self, workspace: Workspace) -> None:
        """It is open."""
        self.workspace = workspace
        self.live = "live"
        self._was_lost = False

    def refused(self, error: Exception) -> None:
        """It cannot be opened."""
        self.live = "failed"
        self.error = error
        self.problem = failures.failure_of(error, _title(error), self._root)
        if self._was_lost and self.problem.code == "workspace_missing":
            self.problem = replace(
                self.problem,
                title="The workspace is lost",
                hint="Put it back, or a copy of it, then try again",
            )

    def lost(self, error: Exception) -> bool:
        """It does not answer, or its file is another one; returns whether a person is to be told."""
        first = self.live == "live"
        if self.live == "opening":
            return False
        self.live = "lost"
        code = getattr(error, "code", "")
        reason = error.reason if isinstance(error, WorkspaceLost) else LOST_WORDS.get(code, "no answer")
        first = first or reason != self.reason
        self.reason = reason
        self.error = error
        self.problem = failures.failure_of(error, "The workspace is lost", self._root)
        return first

    def found(self) -> bool:
        """It answers again; returns whether that is news."""
        news = self.live == "lost"
        self.live, self.reason, self.problem, self.error = "live", "", None, None
        return news

    # What others ask

    @property
    def migratable(self) -> bool:
        """Whether it could not be opened because it has to be migrated first."""
        return self.live == "failed" and getattr(self.error, "code", "") in MIGRATABLE

    @property
    def shown(self) -> str:
        """What the header says of it: `live` only where changes are seen."""
        if self.migratable:
            return "outdated"
        is_still = self.live == "live" and self.workspace is not None and self.workspace.log.stale_reason
        return "still" if is_still else self.live

    @property
    def write_refusal(self) -> str:
        """Why nothing can be written now; "" where writing works."""
        workspace = self.workspace
        if workspace is None:
            return "the workspace is not open yet"
        if self.live == "lost":
            return f"the workspace is lost: {self.reason}"
        if not workspace.read_only:
            return self.past
        if self._asked_read_only:
            return "the workspace was opened read-only"
        if workspace.log.stale_reason.startswith("full"):
            return "there is no room left where its files lie"
        return "its files cannot be written by this user"

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written, as far as that is known."""
        return self.workspace.read_only if self.workspace is not None else self._asked_read_only

    def swallows(self, error: BaseException) -> bool:
        """Whether an error only repeats that the workspace is lost."""
        from workbench.storage.errors import StorageError

        return self.live == "lost" and isinstance(error, StorageError | WorkspaceLost)

    # Waiting writes

    def write_waits(self, seconds: float) -> None:
        """A write has waited this long for another program."""
        self._waited = seconds, monotonic()

    @property
    def waiting(self) -> str:
        """That a write waits for another program, and since when; "" where none does."""
        if self._waited is None:
            return ""
        seconds, told = self._waited
        since = monotonic() - told
        if since > WAITS_ON_SECONDS:
            self._waited = None
            return ""
        return f"waiting for another program that writes, {round(seconds + since)} s"


def _title(error: Exception) -> str:
    code = error.code if isinstance(error, WorkbenchError) else ""
    return TITLES.get(code, "The workspace cannot be opened")


def _close(workspace: Workspace) -> None:
    # What is lost may refuse even that, and there is nobody left who could do anything about it.
    with suppress(Exception):
        workspace.close()
