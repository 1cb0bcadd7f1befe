"""Who did what: an index from actors to the positions of their events, for filters over the log."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from workbench.log.folds import FoldEvent


class ActorsFold:
    """The fold `actors`: every event whose type names an actor."""

    name = "actors"
    version = 1
    tables = ("actors", "event_actors")
    schema = (
        "CREATE TABLE actors("
        "actor_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, events INTEGER NOT NULL) STRICT",
        "CREATE TABLE event_actors("
        "actor_id INTEGER NOT NULL, position INTEGER NOT NULL, "
        "PRIMARY KEY(actor_id, position)) STRICT, WITHOUT ROWID",
    )
    types: frozenset[str] | None = None
    at_commit = True

    def apply(self, connection: apsw.Connection, events: Sequence[FoldEvent]) -> None:
        """Number new names in order of appearance, then index the events."""
        by_name: dict[str, list[int]] = {}
        for event in events:
            field = event.event_type.actor
            if field and (name := getattr(event.payload, field)):
                by_name.setdefault(name, []).append(event.position)
        for name, positions in by_name.items():
            row = connection.execute(
                "INSERT INTO actors(name, events) VALUES(?, ?) "
                "ON CONFLICT(name) DO UPDATE SET events = events + excluded.events RETURNING actor_id",
                (name, len(positions)),
            ).fetchone()
            assert row is not None
            connection.executemany(
                "INSERT INTO event_actors VALUES(?, ?)", [(row[0], position) for position in positions]
            )
