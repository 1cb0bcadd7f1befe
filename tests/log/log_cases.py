"""Event types, folds and a log that only tests know."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
from msgspec import UNSET, UnsetType

from workbench.log import FOLDS, EventLog, EventType, EventTypeRegistry, Payload, StoredEvent, StreamRef
from workbench.log.folds import FoldEvent, InlineFold
from workbench.log.fulltext import TABLE, match_expression
from workbench.log.ports import Redactor
from workbench.log.times import Clock
from workbench.storage import fetch


class Said(Payload, frozen=True, kw_only=True):
    """Somebody said something."""

    who: str
    text: str
    extra: dict[str, Any] | UnsetType = UNSET


class Measured(Payload, frozen=True, kw_only=True):
    """Anything at all, not searchable and by nobody."""

    label: str
    value: Any = UNSET


class Stranger(Payload, frozen=True, kw_only=True):
    """A payload that no registry knows."""

    text: str


SAID = EventType(
    "test",
    "said",
    1,
    Said,
    identifiers=frozenset({"who"}),
    searchable=lambda said: (said.who, said.text),
    actor="who",
)
MEASURED = EventType("test", "measured", 1, Measured, identifiers=frozenset({"label"}))
TYPES = (SAID, MEASURED)


class TallyFold:
    """How many events each stream has, counted at once and not at commit."""

    def __init__(self, name: str = "tally", version: int = 1, types: frozenset[str] | None = None) -> None:
        self.name = name
        self.version = version
        self.tables: tuple[str, ...] = (name,)
        self.schema: tuple[str, ...] = (
            f"CREATE TABLE {name}(stream_id INTEGER PRIMARY KEY, events INTEGER NOT NULL) STRICT",
        )
        self.types = types
        self.at_commit = False

    def apply(self, connection: apsw.Connection, events: Sequence[FoldEvent]) -> None:
        """Add one for each event."""
        connection.executemany(
            f"INSERT INTO {self.name} VALUES(?, 1) ON CONFLICT DO UPDATE SET events = events + 1",
            [(event.stream_id,) for event in events],
        )


def new_log(
    path: Path,
    *,
    folds: Sequence[InlineFold] = FOLDS,
    redactor: Redactor | None = None,
    clock: Clock | None = None,
    read_only: bool = False,
) -> EventLog:
    """A log in a file, of the types above, that is quick because nothing waits for the disk."""
    return EventLog.open(
        path,
        folds,
        EventTypeRegistry(TYPES),
        redactor=redactor,
        clock=clock,
        read_only=read_only,
        synchronous="OFF",
    )


def stream(name: str) -> StreamRef:
    """A stream of kind `test`."""
    return StreamRef(f"test/{name}", "test")


def said(text: str, who: str = "ann") -> Said:
    """Something said."""
    return Said(who=who, text=text)


def texts(events: Sequence[StoredEvent] | Any) -> list[str]:
    """The text of each event."""
    return [event.payload["text"] for event in events]


def found(log: EventLog, words: str) -> list[int]:
    """Positions that full text gives for what a person typed, ascending."""
    match = match_expression(words)
    if not match:
        return []
    with log.reader() as connection:
        sql = f"SELECT rowid FROM {TABLE} WHERE {TABLE} MATCH ? ORDER BY rowid"
        return [position for (position,) in fetch.rows(connection, sql, (match,))]


def actors(log: EventLog) -> dict[str, tuple[int, list[int]]]:
    """Per actor the counter and the indexed positions."""
    with log.reader() as connection:
        return {
            name: (
                events,
                [
                    p
                    for (p,) in fetch.rows(
                        connection,
                        "SELECT position FROM event_actors WHERE actor_id = ? ORDER BY 1",
                        (number,),
                    )
                ],
            )
            for number, name, events in fetch.rows(connection, "SELECT actor_id, name, events FROM actors")
        }


def fold_positions(log: EventLog) -> dict[str, int]:
    """Fold name to position."""
    with log.reader() as connection:
        return dict(fetch.rows(connection, "SELECT name, position FROM folds"))


def assert_whole(log: EventLog) -> None:
    """No gap in `position` or any `seq`, and everything derived agrees with the events."""
    events = list(log.read())
    assert [event.position for event in events] == list(range(1, len(events) + 1))
    seqs: dict[str, list[int]] = {}
    for event in events:
        seqs.setdefault(event.stream, []).append(event.seq)
    for name, numbers in seqs.items():
        assert numbers == list(range(1, len(numbers) + 1)), name
    times = [event.envelope.recorded_at for event in events]
    assert times == sorted(times)
    with log.reader() as connection:
        stored: dict[str, int] = dict(fetch.rows(connection, "SELECT name, last_seq FROM streams"))
    # On a connection of its own: one that has checked full text before checks against what it saw then,
    # and calls the commits of others since then corruption.
    with closing(apsw.Connection(str(log.path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        assert fetch.value(connection, "PRAGMA integrity_check") == "ok"
    assert stored == {name: numbers[-1] for name, numbers in seqs.items()}
    assert set(fold_positions(log).values()) == {len(events)}
    by_actor: dict[str, list[int]] = {}
    for event in events:
        if event.envelope.type == "said":
            by_actor.setdefault(event.payload["who"], []).append(event.position)
    assert actors(log) == {name: (len(positions), positions) for name, positions in by_actor.items()}
