"""A question to the workspace, answered by one message."""

from __future__ import annotations

from collections.abc import Callable

from textual.message import Message
from textual.widget import Widget
from textual.worker import get_current_worker


def ask(widget: Widget, group: str, description: str, work: Callable[[], Message | None]) -> None:
    """Run `work` on a thread and post what it gives to `widget`, unless a later question of `group` came.

    Nothing is done for a widget that is not shown. What `work` raises is the screen's to tell.
    """

    def run() -> None:
        message = work()
        if message is not None and not get_current_worker().is_cancelled:
            widget.post_message(message)

    if not widget.is_attached:
        return
    # The screen's worker: where one fails, the screen says so.
    widget.screen.run_worker(
        run,
        name=group,
        group=group,
        description=description,
        exclusive=True,
        exit_on_error=False,
        thread=True,
    )
