"""Chronicles that write themselves while the program is open (contract log-and-chronicle, "Ours")."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.app import App

    from workbench.workspace import Workspace
    from workbench.workspace.chronicle.background import Background


class Chronicler:
    """Has what lags written up, on a thread of its own; all but that happens on the UI's thread.

    `after` is how many seconds of quiet come before anything is looked at; None: nothing is written.
    """

    def __init__(self, app: App[None]) -> None:
        self._app = app
        self._workspace: Workspace | None = None
        self._background: Background | None = None
        self.after: float | None = None

    def begin(self, workspace: Workspace) -> None:
        """The workspace is open: write there from now on, unless it is only looked at."""
        self.end(0)
        if self.after is None or workspace.read_only:
            return
        self._workspace = workspace
        # First of all the screen is painted.
        self._app.set_timer(
            self.after, lambda: self._app.run_worker(self._start(workspace), exit_on_error=False)
        )

    async def _start(self, workspace: Workspace) -> None:
        pause = self.after
        # What it is made of is loaded beside the screen.
        made = await asyncio.to_thread(lambda: workspace.chronicles.background(pause_seconds=pause))
        if self._workspace is workspace:
            self._background = made.start()

    def end(self, seconds: float) -> None:
        """Write no more; wait so long for what is being written."""
        self._workspace = None
        if self._background is not None:
            self._background.stop(seconds)
