"""SQL over a session's entries, shared by the store and by readers above it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import apsw

from workbench.log.times import from_micros
from workbench.sessions.events import decode_actum
from workbench.sessions.folds import IMPORT_PREFIXES
from workbench.sessions.model import Actum
from workbench.storage import fetch


def stream_of(connection: apsw.Connection, chronicum_id: str) -> int | None:
    """The number of the session's stream, or None if there is no such session."""
    number: int | None = fetch.value(
        connection, "SELECT stream_id FROM chronica WHERE chronicum_id = ?", (known_as(chronicum_id),)
    )
    return number


def known_as(name: str) -> str | None:
    """`name` as SQL can look for it; None, which equals nothing, if it is no valid text.

    No name in the log holds a lone surrogate: the door refuses it.
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        return None
    return name


@lru_cache(maxsize=512)
def _merged(facets: tuple[int, ...], descending: bool, *more: str) -> str:
    """(seq, position) and `more` of entries of these facets beyond a seq, nearest first.

    One run of the index per facet, which SQLite merges lazily: the cost follows the limit and the
    number of facets, never the length of the session. A plain `facet IN (…)` would be sorted.
    """
    sign, order = ("<", "DESC") if descending else (">", "ASC")
    runs = " UNION ALL ".join(
        f"SELECT {', '.join(('seq', 'position', *more))} FROM session_entries "
        f"WHERE stream_id = ?1 AND facet = {number} AND seq {sign} ?2"
        for number in facets
    )
    return f"{runs} ORDER BY seq {order} LIMIT ?3"


@lru_cache(maxsize=512)
def entry_sql(facets: tuple[int, ...], descending: bool, columns: str) -> str:
    """Entries with columns of their events (alias `e`); bound are stream, seq beyond which, limit."""
    return (
        f"SELECT {columns} FROM ({_merged(facets, descending)}) k "
        "CROSS JOIN events e ON e.position = k.position"
    )


@lru_cache(maxsize=512)
def entry_facet_sql(facets: tuple[int, ...], descending: bool, columns: str) -> str:
    """The same as `entry_sql`, each row with seq, position and facet before the columns."""
    return (
        f"SELECT k.seq, k.position, k.facet, {columns} FROM ({_merged(facets, descending, 'facet')}) k "
        "CROSS JOIN events e ON e.position = k.position"
    )


_ACTUM_COLUMNS = "e.payload, e.recorded_at, e.occurred_at, e.private"
BEYOND_ALL = 2**62


def last_acta(connection: apsw.Connection, stream_id: int, facets: Sequence[int], last_n: int) -> list[Actum]:
    """The last `last_n` acta of these facets, oldest first; all of them for 0 or less."""
    if not facets:
        return []
    if last_n <= 0:
        sql = entry_sql(tuple(facets), False, _ACTUM_COLUMNS)
        return [actum(row) for row in connection.execute(sql, (stream_id, 0, -1))]
    sql = entry_sql(tuple(facets), True, _ACTUM_COLUMNS)
    found = fetch.rows(connection, sql, (stream_id, BEYOND_ALL, min(last_n, BEYOND_ALL)))
    return [actum(row) for row in reversed(found)]


_KEYED = (
    f"SELECT {_ACTUM_COLUMNS} FROM session_keys k "
    "CROSS JOIN events e ON e.position = k.position WHERE k.stream_id = ? AND k.key = ?"
)
_IMPORTED = (
    f"SELECT {_ACTUM_COLUMNS} FROM imported_records i "
    "CROSS JOIN events e ON e.position = i.position WHERE i.source_key = ? AND e.stream_id = ?"
)


def keyed_actum(connection: apsw.Connection, stream_id: int, key: str) -> fetch.Row | None:
    """The row (see `actum`) that used an idempotency key in a session first, or None."""
    if key.startswith(IMPORT_PREFIXES):
        # An importer's key that a session uses twice is noted in both tables: where all sessions have theirs
        # stands the first use.
        row = fetch.row(connection, _IMPORTED, (known_as(key), stream_id))
        if row is not None:
            return row
    return fetch.row(connection, _KEYED, (stream_id, known_as(key)))


def actum(row: Sequence[Any]) -> Actum:
    """An actum from (payload, recorded_at, occurred_at, private)."""
    payload = decode_actum(row[0])
    return Actum(
        id=payload.id,
        chronicum_id=payload.chronicum_id,
        kind=payload.kind,
        actor_kind=payload.actor_kind,
        actor=payload.actor,
        content=payload.content,
        at=from_micros(row[1]),
        metadata=payload.metadata,
        occurred_at=None if row[2] is None else from_micros(row[2]),
        visibility="private" if row[3] else "public",
    )
