"""Opening a workspace and watching it for commits, on one thread of its own.

The thread is a daemon: leaving the program never waits for a disk or a lock that does not answer. The
first look at the data version is taken before the workspace is announced, so that no commit falls between.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from workbench.workspace import Workspace

POLL_SECONDS = 0.5
LOST_SECONDS = 5.0
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


class LiveLost(Message):
    """The database could not be polled; it is tried again."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


class LiveAgain(Message):
    """Polling works again."""


class Watch:
    """One opening of one workspace, and the watch over it until `stop`.

    `open_workspace` is called on the watch's thread; `post` must be safe to call from any thread and
    returns whether the message was taken.
    """

    def __init__(self, open_workspace: Callable[[], Workspace], post: Callable[[Message], bool]) -> None:
        self._open = open_workspace
        self._post = post
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="workspace-watch", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, wait_seconds: float = 1.0) -> None:
        """End the watch; waits at most `wait_seconds` for the thread, which may be inside a slow call."""
        self._stop.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(wait_seconds)

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
        while not self._stop.is_set():
            try:
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


def workspace_opener(root: Path, *, read_only: bool) -> Callable[[], Workspace]:
    """What opens the workspace at `root`; the engine is imported on the thread that calls it."""

    def open_workspace() -> Workspace:
        from workbench.workspace import Workspace

        return Workspace.open(root, read_only=read_only)

    return open_workspace
