"""How much happened when: events counted per hour of happened time and type, and which are private.

What an activity strip shows of a million events stands in as many rows as there were busy hours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import apsw

from workbench.log.folds import FoldEvent

HOUR = 3_600_000_000
"""Microseconds."""

_COUNT = (
    "INSERT INTO activity_hours VALUES(?, ?, ?, ?) "
    "ON CONFLICT(hour, namespace, type) DO UPDATE SET events = events + excluded.events"
)


class ActivityFold:
    """The fold `activity`: every event, by when it happened (`occurred_at`, else `recorded_at`).

    An hour is a whole number of hours since 1970 in UTC, negative before it; every zone's days are
    made of hours or parts of them, and whoever draws days adds hours up.
    """

    name = "activity"
    version = 1
    tables = ("activity_hours", "private_events")
    schema = (
        # A fold sees a type's name, not the number that one file gave it.
        "CREATE TABLE activity_hours("
        "hour INTEGER NOT NULL, namespace TEXT NOT NULL, type TEXT NOT NULL, events INTEGER NOT NULL, "
        "PRIMARY KEY(hour, namespace, type)) STRICT, WITHOUT ROWID",
        "CREATE TABLE private_events(position INTEGER PRIMARY KEY) STRICT",
    )
    types: frozenset[str] | None = None
    at_commit = True

    def apply(self, connection: apsw.Connection, events: Sequence[FoldEvent]) -> None:
        """Add the events to their hours, and note the private ones."""
        if len(events) == 1:
            # One act at a time is how most are recorded.
            (event,) = events
            connection.execute(_COUNT, (*_place(event), 1))
        else:
            counts = Counter(map(_place, events))
            connection.executemany(_COUNT, ((*place, number) for place, number in counts.items()))
        private = [(event.position,) for event in events if event.private]
        if private:
            connection.executemany("INSERT INTO private_events VALUES(?)", private)


def _place(event: FoldEvent) -> tuple[int, str, str]:
    happened = event.recorded_at if event.occurred_at is None else event.occurred_at
    return happened // HOUR, event.event_type.namespace, event.event_type.type
