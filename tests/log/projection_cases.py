"""A log with a place for positions, and background folds that only tests know."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw

from tests.log.log_cases import TYPES, stream
from workbench.log import EventLog, EventType, EventTypeRegistry, Payload, StoredEvent
from workbench.log.background_folds import FoldDeterminism
from workbench.log.event_log import Stream
from workbench.log.event_reader import EventReader
from workbench.log.folds import InlineFold
from workbench.log.positions import TABLES as POSITION_TABLES
from workbench.log.projector import Projector
from workbench.log.upcasts import UpcastRegistry
from workbench.storage import fetch

TABLES = (
    *POSITION_TABLES,
    "CREATE TABLE kept(fold TEXT NOT NULL, number INTEGER NOT NULL, text TEXT) STRICT",
)


class Noted(Payload, frozen=True, kw_only=True):
    """The first shape of a note: all of it in one text."""

    line: str


class NotedTwice(Payload, frozen=True, kw_only=True):
    """The second shape: title and rest apart."""

    title: str
    rest: str


class NotedThrice(Payload, frozen=True, kw_only=True):
    """The third shape: with a length."""

    title: str
    rest: str
    length: int


def _words(note: Any) -> tuple[str, str]:
    return note.title, note.rest


NOTED = EventType("test", "noted", 1, Noted, searchable=lambda note: ("", note.line))
NOTED_TWICE = EventType("test", "noted", 2, NotedTwice, searchable=_words)
NOTED_THRICE = EventType("test", "noted", 3, NotedThrice, searchable=_words)


def split_line(payload: dict[str, Any]) -> dict[str, Any]:
    """From the first shape to the second."""
    title, _, rest = payload["line"].partition(" ")
    return {"title": title, "rest": rest}


def measure(payload: dict[str, Any]) -> dict[str, Any]:
    """From the second shape to the third, in place."""
    payload["length"] = len(payload["title"]) + len(payload["rest"])
    return payload


def note_steps() -> UpcastRegistry:
    """Both steps."""
    upcasts = UpcastRegistry()
    upcasts.register("test", "noted", 1, split_line)
    upcasts.register("test", "noted", 2, measure)
    return upcasts


def open_log(
    path: Path,
    *,
    types: Sequence[EventType] = TYPES,
    folds: Sequence[InlineFold] = (),
    upcasts: UpcastRegistry | None = None,
) -> EventLog:
    """A log with the table of positions and one that folds may keep rows in."""
    return EventLog.open(
        path, folds, EventTypeRegistry(types), synchronous="OFF", tables=TABLES, upcasts=upcasts
    )


def reader_of(
    store: EventLog | Stream, *, upcasts: UpcastRegistry | None = None, types: Sequence[EventType] = TYPES
) -> EventReader:
    """A reader of a log or stream."""
    return EventReader(store, UpcastRegistry() if upcasts is None else upcasts, EventTypeRegistry(types))


def projector_of(store: EventLog | Stream, *folds: Any) -> Projector:
    """A projector over a log or stream of the types in `log_cases`."""
    return Projector(store, reader_of(store), folds)


class Broken(Exception):
    """What a fold raises when it is told to."""


class KeepFold:
    """Keeps one row for each event: deterministic."""

    fold: FoldDeterminism = "deterministic"

    def __init__(
        self,
        name: str = "keep",
        *,
        types: frozenset[tuple[str, str]] | None = frozenset({("test", "said")}),
        number: Callable[[StoredEvent], int] = lambda event: event.position,
    ) -> None:
        self.name = name
        self.types = types
        self.breaks_at: int | None = None
        self.applied: list[int] = []
        """Every event that `apply` was called with, kept or not."""
        self._number = number

    def apply(self, event: StoredEvent, connection: apsw.Connection) -> None:
        """Keep the event; raises `Broken` at the number it was told."""
        number = self._number(event)
        self.applied.append(number)
        connection.execute("INSERT INTO kept VALUES(?, ?, ?)", (self.name, number, event.payload.get("text")))
        if number == self.breaks_at:
            raise Broken(number)


class DrawFold(KeepFold):
    """Draws before it keeps: generative."""

    fold: FoldDeterminism = "generative"

    def __init__(self, name: str = "draw", *, on_draw: Callable[[StoredEvent], None] | None = None) -> None:
        super().__init__(name)
        self.drawn: list[int] = []
        self._on_draw = on_draw

    def prepare(self, event: StoredEvent) -> None:
        """Note the draw and do what the test wants done meanwhile."""
        self.drawn.append(event.position)
        if self._on_draw is not None:
            self._on_draw(event)


class AwaitFold(KeepFold):
    """Can only draw by awaiting."""

    fold: FoldDeterminism = "generative"

    def __init__(self, name: str = "await", *, on_draw: Callable[[StoredEvent], Any] | None = None) -> None:
        super().__init__(name)
        self.drawn: list[int] = []
        self._on_draw = on_draw

    async def prepare_async(self, event: StoredEvent) -> None:
        """Note the draw."""
        if self._on_draw is not None:
            await self._on_draw(event)
        self.drawn.append(event.position)


class OwnFold(KeepFold):
    """Keeps its position to itself."""

    def __init__(self, name: str = "own") -> None:
        super().__init__(name)
        self.mine: int | None = None

    def read_position(self) -> int | None:
        """Where it stands."""
        return self.mine

    def commit_position(self, position: int) -> None:
        """Remember where it stands."""
        self.mine = position


def kept(log: EventLog, name: str = "keep") -> list[int]:
    """The numbers that a fold has kept, in the order of keeping."""
    with log.reader() as connection:
        sql = "SELECT number FROM kept WHERE fold = ? ORDER BY rowid"
        return [number for (number,) in fetch.rows(connection, sql, (name,))]


def forget(log: EventLog, name: str = "keep") -> Callable[[], None]:
    """A `reset` for a fold that keeps rows."""

    def reset() -> None:
        with log.transaction() as transaction:
            transaction.connection.execute("DELETE FROM kept WHERE fold = ?", (name,))

    return reset


A, B = stream("a"), stream("b")
