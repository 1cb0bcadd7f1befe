"""What a virtual list tells the screen that it is on."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from textual.message import Message
from textual.widget import Widget

from workbench.tui.present import ELLIPSIS, number


@dataclass(frozen=True, slots=True)
class ListStatus:
    """Where a list stands, for the line above it or its border."""

    first: int | None = None
    """The number of the first row on the screen, from 1, and of the last, where they are known."""
    last: int | None = None
    total: int | None = None
    """How many rows there are; None while nobody knows."""
    at_least: int = 0
    """Rows that are known to be there."""
    loading: bool = False
    """Nothing to show yet."""
    selected: int = 0

    def text(self) -> str:
        """`1–9 of 214`, `≥ 200`, `2 selected · 1–9 of 14`, `2 of 14 selected`, or `…` while it loads."""
        if self.loading:
            return ELLIPSIS
        whole = f"≥ {number(self.at_least)}" if self.total is None else number(self.total)
        if self.first is not None and self.last is not None and self.total != 0:
            whole = f"{number(self.first)}–{number(self.last)} of {whole}"
        elif self.selected:
            # Two bare numbers side by side do not say which of them is what.
            return f"{number(self.selected)} of {whole} selected"
        return f"{number(self.selected)} selected · {whole}" if self.selected else whole


class _ListMessage(Message):
    """A message of one list; `list` is that list, and `control` too, so that `@on` takes a selector."""

    def __init__(self, sender: Widget) -> None:
        super().__init__()
        self.list = sender

    @property
    def control(self) -> Widget:
        return self.list


class _LatestCounts(_ListMessage):
    """Of several in a row only the last is handled."""

    def can_replace(self, message: Message) -> bool:
        return type(message) is type(self) and message.control is self.list


# The messages hold rows as Any: a handler's class cannot name the row type of one list.


class Highlighted(_LatestCounts, namespace="virtual_list"):
    """The cursor stands on another row, or its row changed; `row` is None where there are none."""

    def __init__(self, sender: Widget, row: Any, key: Hashable | None) -> None:
        super().__init__(sender)
        self.row = row
        self.key = key


class Opened(_ListMessage, namespace="virtual_list"):
    """A person wants to go into a row."""

    def __init__(self, sender: Widget, row: Any, key: Hashable) -> None:
        super().__init__(sender)
        self.row = row
        self.key = key


class Failed(_ListMessage, namespace="virtual_list"):
    """The source raised; the list shows what it had."""

    def __init__(self, sender: Widget, error: Exception) -> None:
        super().__init__(sender)
        self.error = error


class NewRows(_LatestCounts, namespace="virtual_list"):
    """How many rows arrived beyond the newest one that the person has seen; 0 once they were seen."""

    def __init__(self, sender: Widget, count: int, more: bool) -> None:
        super().__init__(sender)
        self.count = count
        self.more = more
        """There are more than `count`."""


class StatusChanged(_LatestCounts, namespace="virtual_list"):
    """The list's place, length or selection changed."""

    def __init__(self, sender: Widget, status: ListStatus) -> None:
        super().__init__(sender)
        self.status = status
