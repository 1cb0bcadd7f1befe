"""A section as one document: what is exact above, and behind a bar what was generated."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.tui.document import Block, Document, DocumentLine, Place
from workbench.tui.present import Span

BAR = Span("┃ ", "faint")
_CELLS = 2


class ProseDocument(Document):
    """Blocks as they are, then prose with a bar at its side, so that nobody takes one for the other."""

    def __init__(self, exact: Sequence[Block], prose: Sequence[Block]) -> None:
        super().__init__((*exact, *prose))
        self._barred_from = self.block(len(exact)).run if prose else len(self.blocks) + 1
        self._has_prose = bool(prose)

    def lines(self, place: Place, width: int) -> tuple[DocumentLine, ...]:
        """The lines of one segment; those of the prose leave room for the bar."""
        if not self._has_prose or place.run < self._barred_from:
            return super().lines(place, width)
        inner = super().lines(place, max(2, width - _CELLS))
        return tuple(DocumentLine((BAR, *each.line), each.lead + _CELLS, each.joint) for each in inner)
