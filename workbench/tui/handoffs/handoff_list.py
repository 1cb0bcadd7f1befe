"""The list of hand-offs: a task that is handed off again moves up, and the cursor with it."""

from __future__ import annotations

from collections.abc import Hashable

from workbench.memory.handoff_views import Handoff
from workbench.tui.widgets.page_source import Page
from workbench.tui.widgets.row_window import Batch
from workbench.tui.widgets.virtual_list import VirtualList


class HandoffList(VirtualList[Handoff]):
    """A virtual list whose cursor stays with its row, wherever what came meanwhile has put that."""

    def _take_live(self, anchor: Hashable, batch: Batch[Handoff], newer: Page[Handoff] | None) -> None:
        key = self.cursor_key
        super()._take_live(anchor, batch, newer)
        if key is None or key == self.cursor_key:
            return
        at = self._window.find(key)
        if at is not None:
            self._view.cursor = at
            self._view.reveal()
        elif newer is not None and any(row.key == key for row in newer.rows):
            self.go_to(key)
