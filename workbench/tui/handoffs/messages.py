"""What the workers of the Handoffs screen tell it."""

from __future__ import annotations

from typing import Any

from textual.message import Message

from workbench.memory.handoff_views import Handoff


class SideRead(Message, bubble=False):
    """What a side of a hand-off shows was read; `data` is that side's own."""

    def __init__(self, row: Handoff, side: str, data: Any) -> None:
        super().__init__()
        self.row = row
        self.side = side
        self.data = data


class TaskFound(Message):
    """The task that was asked for; None: there is none like that. `led`: the person was led to it."""

    def __init__(
        self, key: tuple[str, str] | None, row: Handoff | None, again: str = "", *, led: bool = False
    ) -> None:
        super().__init__()
        self.key = key
        self.row = row
        self.led = led
        self.again = again
        """What was asked for, where there is none."""


class NextWaiting(Message):
    """The next task that waits for a person; None: no other one does."""

    def __init__(self, key: tuple[str, str] | None) -> None:
        super().__init__()
        self.key = key
