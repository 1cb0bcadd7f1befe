"""Where a screen can lead: an event, a session, a task, a fact, a chronicle, and the way back.

A screen that can be led to shows a destination in `Page.arrive`; whoever wants to lead there calls
`app.lead_to(destination)` and knows no other screen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class ToEvent:
    """One event on the Timeline, by its position or, where that is 0, by its id."""

    position: int = 0
    event_id: str = ""


@dataclass(frozen=True, slots=True)
class ToSession:
    """A session, and in it the entry with this number."""

    chronicum_id: str
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class ToTask:
    """A task on the Handoffs screen, and of it one checkpoint (empty: the latest)."""

    project: str
    task_id: str
    domain: str = ""
    checkpoint_id: str = ""


@dataclass(frozen=True, slots=True)
class ToFact:
    """A fact on the Facts screen."""

    fact_id: str


@dataclass(frozen=True, slots=True)
class ToChronicle:
    """What the Chronicle screen has of one event: the section that stands for it, or that none does."""

    stream: str
    """The stream's whole name; "" where only the position is known."""
    seq: int = 0
    """The event's number in it; 0 for the stream as a whole."""
    position: int = 0
    """The event's position in the log, where its stream is not named."""


Destination: TypeAlias = ToEvent | ToSession | ToTask | ToFact | ToChronicle

SCREENS: dict[type[Destination], str] = {
    ToEvent: "timeline",
    ToSession: "sessions",
    ToTask: "handoffs",
    ToFact: "facts",
    ToChronicle: "chronicle",
}
"""The name of the screen that shows each kind of destination."""


def screen_of(destination: Destination) -> str:
    """The name of the screen that shows a destination."""
    return SCREENS[type(destination)]
