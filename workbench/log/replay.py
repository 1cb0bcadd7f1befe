"""Folding what is stored once more: the events of a file, in batches, as inline folds see them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import apsw

from workbench.log import sqlite
from workbench.log.decoding import FoldDecoder
from workbench.log.errors import LogError
from workbench.log.folds import FoldEvent, InlineFold
from workbench.storage.database import Database
from workbench.storage.errors import damaged

BATCH_BYTES = 4 * 1024 * 1024
"""A batch ends with the payload that fills it, whatever number of events was asked for."""
_REPLAY_EVENTS = 5000

Progress = Callable[[int, int], None]
"""Told, after each batch, the position reached and the last one there is."""


class ReplayCancelled(LogError):
    """Whoever asked for a replay or a rebuild took it back; nothing of it was kept."""

    code = "cancelled"
    retryable = True


class Batch(NamedTuple):
    """Events to fold, in order of position."""

    events: list[FoldEvent]
    """Without those of unregistered types."""
    upto: int
    """The position of the last row read; where nothing was left to read, the one asked from."""


def read_batch(connection: apsw.Connection, decoder: FoldDecoder, since: int, limit: int) -> Batch:
    """The next events after `since`: at most `limit`, of about `BATCH_BYTES` at most."""
    events: list[FoldEvent] = []
    size = 0
    for row in connection.execute(sqlite.TO_FOLD, (since, limit)):
        event = decoder.event(row)
        if event is not None:
            events.append(event)
        since = row[0]
        size += len(row[-1])
        if size >= BATCH_BYTES:
            break
    return Batch(events, since)


def fold_into(connection: apsw.Connection, folds: Iterable[InlineFold], events: Sequence[FoldEvent]) -> None:
    """Hand each fold the events of the types that it reads."""
    for fold in folds:
        wanted = fold.types
        mine = events if wanted is None else [e for e in events if e.event_type.type in wanted]
        if mine:
            fold.apply(connection, mine)


def replay(
    database: Database,
    folds: Sequence[InlineFold],
    decoder: FoldDecoder,
    scratch: apsw.Connection,
    *,
    upto: int | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> int:
    """Fold the events of a file into new tables of `scratch`, another, empty database.

    Ends at `upto`, by default where the log ends when the call begins; returns that position. The
    file itself is only read, in batches. Raises `ReplayCancelled`, what decoding raises, and
    `DatabaseDamaged` for events that belong to no stream.
    """
    for fold in folds:
        for statement in fold.schema:
            scratch.execute(statement)
    with database.reader() as connection:
        end = sqlite.last_position(connection)
    if upto is not None:
        end = min(upto, end)
    position = 0
    while position < end:
        if cancelled is not None and cancelled():
            raise ReplayCancelled("the replay was cancelled")
        with database.reader() as connection:
            batch = read_batch(connection, decoder, position, min(_REPLAY_EVENTS, end - position))
        if batch.upto == position:
            raise damaged(
                database.path, f"the events after position {position:,} belong to no stream or type"
            )
        with scratch:
            fold_into(scratch, folds, batch.events)
        position = batch.upto
        if progress is not None:
            progress(position, end)
    return position
