"""The Chronicle screen: long runs told in sections, each beside the events that it stands for."""

from __future__ import annotations

from workbench.tui.chronicle.copies import copy_choices
from workbench.tui.chronicle.page_actions import CHRONICLE_ACTIONS, NAME
from workbench.tui.chronicle.writing_page import ChronicleWritingPage
from workbench.tui.copying import CopyChoice


class ChroniclePage(ChronicleWritingPage):
    """Streams and their ranges as a tree; prose, events, generations and lag of one beside it."""

    NAME, TITLE, NUMBER = NAME, "Chronicle", 5
    LIST_SHARE = 46
    OFFERS = frozenset(
        {
            "page.filter",
            "page.goto",
            "page.copy",
            "page.select",
            "page.next_tab",
            "page.previous_tab",
        }
    )
    ACTIONS = CHRONICLE_ACTIONS

    def copy_choices(self) -> list[CopyChoice]:
        """The forms of what is under the cursor."""
        workspace, node = self._workspace, self.cursor_node
        if workspace is None or node is None:
            return []
        return copy_choices(workspace, node, self.target_event)


PAGE = ChroniclePage
