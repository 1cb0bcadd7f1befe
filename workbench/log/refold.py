"""Folding the whole log anew inside one transaction: for a migration, and after events were rewritten."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import apsw

from workbench.log import leftovers, sqlite
from workbench.log.decoding import FoldDecoder
from workbench.log.folds import InlineFold
from workbench.log.replay import fold_into, read_batch
from workbench.storage import fetch
from workbench.storage.errors import DatabaseDamaged

_BATCH = 5000


def refold(
    connection: apsw.Connection,
    folds: Sequence[InlineFold],
    decoder: FoldDecoder,
    *,
    path: object,
    retired: Iterable[str] = (),
    between: Callable[[int, int], object] = lambda position, end: None,
) -> None:
    """Drop the tables of `folds`, those named `retired`, and make the tables of `folds` anew from the log.

    `between(position, end)` is called before each batch of events and at the end; what it raises passes.
    Raises `DatabaseDamaged`, naming `path`, for events that belong to no stream, and what decoding raises.
    """
    _drop(connection, {table for fold in folds for table in fold.tables} | set(retired))
    for fold in folds:
        for statement in fold.schema:
            connection.execute(statement)
    position, end = 0, sqlite.last_position(connection)
    while folds and position < end:
        between(position, end)
        batch = read_batch(connection, decoder, position, _BATCH)
        if batch.upto == position:
            raise DatabaseDamaged(
                f"{path} is damaged: events after {position:,} belong to no stream",
                hint="nothing was changed; see: workbench doctor",
            )
        fold_into(connection, folds, batch.events)
        position = batch.upto
    if folds:
        between(end, end)
    connection.executemany(
        "INSERT INTO folds VALUES(?, ?, ?) "
        "ON CONFLICT DO UPDATE SET version = excluded.version, position = excluded.position",
        [(fold.name, fold.version, end) for fold in folds],
    )


def _drop(connection: apsw.Connection, going: set[str]) -> None:
    # A rebuild beside this would put tables of before in place.
    going = going | set(leftovers.leftovers(connection))
    # Full text comes first: only it can drop its own tables, which are named after it.
    there = fetch.rows(
        connection,
        "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY sql NOT LIKE 'CREATE VIRTUAL%', name",
    )
    for (name,) in there:
        if name in going:
            connection.execute(f'DROP TABLE IF EXISTS "{name}"')
