"""Which rows of a list are selected: single ones, and a range that moves with the cursor."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic

from workbench.tui.widgets.page_source import Row
from workbench.tui.widgets.row_window import RowWindow


class RowSelection(Generic[Row]):
    """Selected rows by identity, in a window that changes around them."""

    def __init__(self, window: RowWindow[Row]) -> None:
        self._window = window
        self._rows: dict[Hashable, Row] = {}
        self._anchor: Hashable | None = None
        self.ranging = False

    def toggle(self, at: int) -> None:
        """Select the row at an index, or no longer."""
        key = self._window.keys[at]
        if self._rows.pop(key, None) is None:
            self._rows[key] = self._window.rows[at]

    def start_range(self, at: int) -> None:
        """Begin a range at an index."""
        self._anchor, self.ranging = self._window.keys[at], True

    def end_range(self, cursor: int) -> None:
        """Keep the rows of the range and end it."""
        for at in self._range(cursor):
            self._rows[self._window.keys[at]] = self._window.rows[at]
        self.ranging = False

    def cancel(self) -> bool:
        """Drop the range, or else all that is selected; false if there was neither."""
        had = self.ranging or bool(self._rows)
        if not self.ranging:
            self._rows.clear()
        self.ranging = False
        return had

    def clear(self) -> None:
        """Select nothing."""
        self._rows.clear()
        self.ranging = False

    def before_drop(self, cursor: int, front: int, back: int) -> None:
        """Keep what a range covers of rows that the window is about to forget."""
        if not self.ranging or not len(self._window):
            return
        last = len(self._window) - 1 - back
        dropped = [at for at in self._range(cursor) if at < front or at > last]
        for at in dropped:
            self._rows[self._window.keys[at]] = self._window.rows[at]
        if dropped:
            self._anchor = self._window.keys[front if dropped[0] < front else last]

    def holds(self, at: int, cursor: int) -> bool:
        """Whether the row at an index is selected while the cursor is at another."""
        return self._window.keys[at] in self._rows or at in self._range(cursor)

    def rows(self, cursor: int) -> list[Row]:
        """Every selected row, in the list's order as far as it is known."""
        chosen = dict(self._rows)
        for at in self._range(cursor):
            chosen.setdefault(self._window.keys[at], self._window.rows[at])
        order = {key: at for at, key in enumerate(self._window.keys) if key in chosen}
        return [chosen[key] for key in sorted(chosen, key=lambda key: order.get(key, -1))]

    def count(self, cursor: int) -> int:
        """How many rows are selected."""
        span = self._range(cursor)
        return len(self._rows) + sum(1 for at in span if self._window.keys[at] not in self._rows)

    def range_keys(self, cursor: int) -> set[Hashable]:
        """The keys of the rows that the range covers."""
        return {self._window.keys[at] for at in self._range(cursor)}

    def refreshed(self) -> None:
        """Take over the new versions of rows that the window holds now."""
        for key in self._rows:
            at = self._window.find(key)
            if at is not None:
                self._rows[key] = self._window.rows[at]

    def _range(self, cursor: int) -> range:
        at = self._window.find(self._anchor) if self.ranging else None
        return range(0) if at is None else range(min(at, cursor), max(at, cursor) + 1)
