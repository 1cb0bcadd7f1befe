"""What the workers of the Facts screen tell its page."""

from __future__ import annotations

from textual.message import Message

from workbench.errors import WorkbenchError
from workbench.workspace.fact_rows import FactDetail


class DetailRead(Message, bubble=False):
    """A worker has read all about a fact; None where there is no such fact (any more)."""

    def __init__(self, position: int, as_of: int | None, detail: FactDetail | None) -> None:
        super().__init__()
        self.position = position
        self.as_of = as_of
        self.detail = detail


class FactFound(Message):
    """Where to go; `passes` says whether the filter lets it through, `led` that the person was led there."""

    def __init__(self, position: int, passes: bool, *, led: bool = False) -> None:
        super().__init__()
        self.position = position
        self.passes = passes
        self.led = led


class NoFactFound(Message):
    """What a person typed leads to no fact."""

    def __init__(self, error: WorkbenchError) -> None:
        super().__init__()
        self.error = error


class SessionFound(Message):
    """Whether the workspace has the session that an author named."""

    def __init__(self, session_id: str, there: bool) -> None:
        super().__init__()
        self.session_id = session_id
        self.there = there


class SlotLooked(Message):
    """The fact at a position (`was`) has been replaced by the one at `now`; None where it is gone."""

    def __init__(self, was: int, now: int | None) -> None:
        super().__init__()
        self.was = was
        self.now = now
