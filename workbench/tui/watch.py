"""Opening a workspace and watching it for commits, on one thread of its own.

The thread is a daemon: leaving the program never waits for a disk or a lock that does not answer. The
first look at the data version is taken before the workspace is announced, so that no commit falls between.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from workbench.tui.file_fate import FileFate, came_back

if TYPE_CHECKING:
    from workbench.workspace import Workspace

POLL_SECONDS = 0.5
LOST_SECONDS = 1.0
"""Pause before a poll that failed is tried anew."""


class Opened(Message):
    """The workspace is open."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.workspace = workspace


class OpenFailed(Message):
    """The workspace could not be opened."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


class Committed(Message):
    """Something was committed to the database since the last look, by any process: ask again."""

    def can_replace(self, message: Message) -> bool:
        """One is as good as many."""
        return isinstance(message, Committed)


class JobsMoved(Message):
    """A job of this program began, moved or ended."""

    def can_replace(self, message: Message) -> bool:
        """One is as good as many."""
        return isinstance(message, JobsMoved)


class LiveLost(Message):
    """The database could not be polled, or is no longer the file of its name; it is tried again."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


class LiveAgain(Message):
    """Polling works again."""


class WriteWaits(Message):
    """A write of this program has waited `seconds` for another program, and goes on waiting."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


class Watch:
    """One opening of one workspace, and the watch over it until `stop`.

    `open_workspace` is called on the watch's thread; `post` must be safe to call from any thread and
    returns whether the message was taken. Nothing is posted after `stop`.
    """

    def __init__(self, open_workspace: Callable[[], Workspace], post: Callable[[Message], bool]) -> None:
        self._open = open_workspace
        self._post_message = post
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="workspace-watch", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, wait_seconds: float = 0.0) -> None:
        """End the watch; waits at most `wait_seconds` for the thread, which may be inside a slow call."""
        self._stop.set()
        if wait_seconds and self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(wait_seconds)

    def _post(self, message: Message) -> None:
        if not self._stop.is_set():
            self._post_message(message)

    def _run(self) -> None:
        try:
            workspace = self._open()
        except Exception as error:
            self._post(OpenFailed(error))
            return
        if self._stop.is_set():
            workspace.close()
            return
        announced = False
        fate: FileFate | None = None
        while not self._stop.is_set():
            try:
                if fate is None:
                    fate = FileFate(workspace.layout.database)
                _refuse_lost(fate, workspace)
                with workspace.data_version_poller() as poller:
                    last = poller.poll()
                    if announced:
                        # What was committed while the poller was away is not known: ask.
                        self._post(LiveAgain())
                        self._post(Committed())
                    else:
                        announced = True
                        self._post(Opened(workspace))
                    while not self._stop.wait(POLL_SECONDS):
                        _refuse_lost(fate, workspace)
                        version = poller.poll()
                        if version != last:
                            last = version
                            self._post(Committed())
            except Exception as error:
                if not announced:
                    workspace.close()
                    self._post(OpenFailed(error))
                    return
                self._post(LiveLost(error))
                self._stop.wait(LOST_SECONDS)


def _refuse_lost(fate: FileFate, workspace: Workspace) -> None:
    """Raise `WorkspaceLost` where the file is not what it was, or was away and the engine noticed."""
    fate.refuse_lost()
    if said := workspace.log.database.given_up:
        # The engine never trusts this opening again, though the file may be in its place by now.
        raise came_back(said)


def workspace_opener(root: Path, *, read_only: bool) -> Callable[[], Workspace]:
    """What opens the workspace at `root`; the engine is imported on the thread that calls it.

    A workspace whose files this person cannot write is opened for reading, and says why it is. One whose
    projections another release built is refused as an older one is: its screens would read them.
    """

    def open_workspace() -> Workspace:
        from workbench.log.errors import FoldSetMismatch
        from workbench.workspace import Workspace

        if Workspace.plan_migration(root).needed:
            raise FoldSetMismatch(f"{root} has to be migrated first", hint="run: workbench migrate")
        return _open(root, read_only=read_only)

    return open_workspace


def _open(root: Path, *, read_only: bool) -> Workspace:
    from workbench.storage.errors import StorageError
    from workbench.workspace import Workspace

    if not read_only:
        try:
            # An upgrade that the environment asks for shows its progress on a page of its own.
            return Workspace.open(root, migrate=False)
        except StorageError:
            from workbench.workspace.layout import Layout

            if writable(Layout(root).database):
                raise
    return Workspace.open(root, read_only=True)


def writable(database: Path) -> bool:
    """Whether this person may write the file, and its folder, where SQLite keeps its log."""
    return os.access(database, os.W_OK) and os.access(database.parent, os.W_OK)
