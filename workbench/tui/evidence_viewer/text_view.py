"""The pane of the evidence viewer: documents of blocks, and source texts with their colours."""

from __future__ import annotations

from workbench.tui.evidence_viewer.colours import Colours
from workbench.tui.evidence_viewer.source_document import LineIndex, SourceDocument
from workbench.tui.sessions.find_panes import ActumPane

SHIFT_CELLS = 16
"""Cells by which lines that do not wrap are moved at a time."""


class EvidenceText(ActumPane):
    """Shows blocks (`set_blocks`) or one text as a source file (`show_source`)."""

    def __init__(self, *, css_id: str) -> None:
        super().__init__(id=css_id)
        self._source: tuple[str, LineIndex, Colours] | None = None
        self.wraps = True
        self.numbered = True
        self._shift = 0

    def show_source(self, text: str, index: LineIndex, colours: Colours, *, keep_place: bool = False) -> None:
        """Show a text line by line, as it is."""
        if self._source is None or self._source[0] is not text:
            self._shift = 0
        self._source = (text, index, colours)
        self.set_document(
            SourceDocument(text, index, colours, numbered=self.numbered, wraps=self.wraps, shift=self._shift),
            keep_place=keep_place,
        )

    def look_like(self, *, wraps: bool, numbered: bool) -> None:
        """Wrap lines, number them, or not; for the source that is shown and those to come."""
        self.wraps, self.numbered = wraps, numbered
        if wraps:
            self._shift = 0
        self._again()

    def move_sideways(self, steps: int) -> None:
        """Move over lines that do not wrap."""
        if not self.wraps:
            self._shift = max(0, self._shift + steps * SHIFT_CELLS)
            self._again()

    def _again(self) -> None:
        if self._source is not None and isinstance(self._document, SourceDocument):
            self.show_source(*self._source, keep_place=True)
