"""What the detail of a session tells itself and its screen, and which actum it has open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from workbench.tui.sessions.found_words import HitPlace, Words

if TYPE_CHECKING:
    from workbench.tui.document import Block
    from workbench.tui.sessions.context_window import Window
    from workbench.workspace.readers.entry_queries import Breakdown
    from workbench.workspace.readers.rewinds import Stretch
    from workbench.workspace.readers.session_queries import Relative
    from workbench.workspace.rows import SessionRow


class Looked(Message):
    """What was found out about a session beside its row."""

    def __init__(
        self,
        row: SessionRow,
        breakdown: Breakdown,
        gone: bool,
        rewound: tuple[Stretch, ...],
        lineage: tuple[Relative, ...],
    ) -> None:
        super().__init__()
        self.row = row
        self.breakdown = breakdown
        self.gone = gone
        self.rewound = rewound
        self.lineage = lineage


class ActumRead(Message):
    """An actum was read whole and laid out."""

    def __init__(
        self, ticket: Reading, blocks: list[Block], answer: int | None, places: list[HitPlace]
    ) -> None:
        super().__init__()
        self.ticket = ticket
        self.blocks = blocks
        self.answer = answer
        self.places = places
        """Where the words that are looked for stand in it."""

    def first_place(self) -> int | None:
        """At which of those places it opens, by number; None: at none."""
        ticket, places = self.ticket, self.places
        if not ticket.at_hit or not places:
            return None
        if ticket.at_hit < 0:
            return len(places) - 1
        begin = self.answer if ticket.at_answer and self.answer is not None else 0
        return next((number for number, place in enumerate(places) if place.block >= begin), 0)


class WindowRead(Message):
    """The context window was read and laid out."""

    def __init__(self, session_id: str, window: Window, blocks: list[Block]) -> None:
        super().__init__()
        self.session_id = session_id
        self.window = window
        self.blocks = blocks


class Moved(Message):
    """The detail shows another place, side or actum: what can be done may have changed."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Which actum is open, in which form, and whether at its response."""

    session_id: str
    seq: int
    raw: bool = False
    at_answer: bool = False
    at_hit: int = 0
    """At a place with the words that are looked for: 1 for the first one, -1 for the last."""
    words: Words | None = None
