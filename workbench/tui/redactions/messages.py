"""What the workers of the Redactions screen tell its page."""

from __future__ import annotations

from collections.abc import Sequence

from textual.message import Message

from workbench.tui.redactions.detail import CopyFile
from workbench.tui.redactions.hints import StoredState
from workbench.workspace.readers.redaction_queries import DayCount, KindCount
from workbench.workspace.rows import RedactionFilter, RedactionPlace


class DaysCounted(Message):
    """What passes a filter was counted, day by day."""

    def __init__(self, wanted: RedactionFilter, days: Sequence[DayCount]) -> None:
        super().__init__()
        self.wanted = wanted
        self.days = days


class StateRead(Message):
    """Whether a rescan is due, and what else needs a person."""

    def __init__(self, state: StoredState) -> None:
        super().__init__()
        self.state = state


class NamesOffered(Message):
    """The kinds and actors that can be filtered by were read."""

    def __init__(self, kinds: Sequence[KindCount], actors: Sequence[tuple[str, int]]) -> None:
        super().__init__()
        self.kinds = kinds
        self.actors = actors


class PlaceFound(Message):
    """Where to go, and what a person should know of it."""

    def __init__(self, place: RedactionPlace, told: str = "") -> None:
        super().__init__()
        self.told = told
        self.place = place


class EventFound(Message):
    """The event that held a secret: its session, and its number in the session's stream."""

    def __init__(self, chronicum_id: str, seq: int) -> None:
        super().__init__()
        self.chronicum_id = chronicum_id
        self.seq = seq


class ScrubOffered(Message):
    """What there is to say before a scrub was read."""

    def __init__(self, files: Sequence[CopyFile], state: StoredState) -> None:
        super().__init__()
        self.files = files
        self.state = state
