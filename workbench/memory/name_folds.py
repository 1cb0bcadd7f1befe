"""Which spellings of names were used, how often and when: what `names list` answers from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw
from msgspec import UNSET

from workbench.log.folds import FoldEvent
from workbench.memory.events import OBSERVATION, ObservationRecorded


class NamesFold:
    """The fold `names`: each spelling as it was given, in how many observations, and the first and last one.

    One observation stands for a whole call: its checkpoint and fact have the same names. What a spelling
    means is not stored: readers ask today's registry.
    """

    name = "names"
    version = 1
    tables = ("names",)
    schema = (
        "CREATE TABLE names("
        "kind TEXT NOT NULL, spelling TEXT NOT NULL, observed INTEGER NOT NULL, "
        "first_position INTEGER NOT NULL, last_position INTEGER NOT NULL, "
        "PRIMARY KEY(kind, spelling)) STRICT, WITHOUT ROWID",
    )
    types: frozenset[str] | None = frozenset({OBSERVATION.type})
    at_commit = False

    def apply(self, connection: apsw.Connection, events: Sequence[FoldEvent]) -> None:
        """Count the names of observations, one row for each spelling."""
        rows: dict[tuple[str, str], list[int]] = {}
        for event in events:
            position = event.position
            for used in _spellings(event.payload):
                row = rows.get(used)
                if row is None:
                    rows[used] = [1, position, position]
                else:
                    row[0] += 1
                    row[2] = position
        connection.executemany(_COUNT, [(*used, *row) for used, row in rows.items()])


_COUNT = (
    "INSERT INTO names VALUES(?, ?, ?, ?, ?) ON CONFLICT(kind, spelling) DO UPDATE SET "
    "observed = observed + excluded.observed, last_position = excluded.last_position"
)


def _spellings(said: ObservationRecorded) -> list[tuple[str, str]]:
    """Kind and spelling of each name in it, as given."""
    used = [
        ("agent", said.agent if said.agent_raw is UNSET else said.agent_raw),
        ("domain", said.domain if said.domain_raw is UNSET else said.domain_raw),
    ]
    if said.project_raw is not UNSET:
        used.append(("project", said.project_raw))
    elif said.project is not UNSET:
        used.append(("project", said.project))
    return used


FOLDS: tuple[Any, ...] = (NamesFold(),)
