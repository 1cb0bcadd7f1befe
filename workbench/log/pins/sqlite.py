"""The table `pin_scratch`: what a unit of work has drawn before it is committed or given up."""

from __future__ import annotations

from typing import NamedTuple

import apsw

from workbench.log.background_folds import OpenTransaction
from workbench.log.event_log import EventLog
from workbench.log.pins.results import decoded
from workbench.log.ports import JsonValue
from workbench.storage import fetch

_COLUMNS = "unit_id, pin_key, kind, result, attempts"
_DIVERGED = ""
"""Stands for a key in the row that holds a unit's first miss; no pin has an empty key."""


class ScratchRow(NamedTuple):
    """One pin of a unit of work."""

    unit_id: str
    pin_key: str
    kind: str
    result: JsonValue
    attempts: int


class PinScratch:
    """The pins of units that are not finished, in the log's file but outside its transactions.

    Each write is an immediate transaction of its own, so that a pin outlives whatever happens to the work
    that drew it. Only `take` is a part of the caller's transaction.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def refuse_transaction(self) -> None:
        """Raise `OpenTransaction` where the calling thread holds one: it could undo a pin."""
        if self._log.in_transaction:
            raise OpenTransaction(
                "a pin is kept outside the log's transactions, and one is open here",
                hint="draw first, then open the transaction",
            )

    def get(self, unit_id: str, key: str) -> ScratchRow | None:
        """A unit's pin of that key."""
        sql = f"SELECT {_COLUMNS} FROM pin_scratch WHERE unit_id = ? AND pin_key = ?"
        with self._log.reader() as connection:
            found = fetch.row(connection, sql, (unit_id, key))
        return None if found is None else _row(found)

    def put(self, unit_id: str, key: str, kind: str, result: str) -> ScratchRow:
        """Keep a result (JSON text) under a key; the row that is there first stays, with an attempt more."""
        return self._write(unit_id, key, kind, result, more=1)

    def adopt(self, unit_id: str, key: str, kind: str, result: str) -> ScratchRow:
        """As `put`, but a row that is there stays as it is."""
        return self._write(unit_id, key, kind, result, more=0)

    def bump(self, unit_id: str, key: str) -> None:
        """Count an attempt."""
        self.refuse_transaction()
        with self._log.database.transaction() as connection:
            connection.execute(
                "UPDATE pin_scratch SET attempts = attempts + 1 WHERE unit_id = ? AND pin_key = ?",
                (unit_id, key),
            )

    def mark(self, unit_id: str, key: str, kind: str) -> None:
        """Note a unit's first miss; a later one is passed over."""
        self.refuse_transaction()
        with self._log.database.transaction() as connection:
            connection.execute(
                "INSERT INTO pin_scratch VALUES(?, ?, ?, json_quote(?), 1, ?) ON CONFLICT DO NOTHING",
                (unit_id, _DIVERGED, kind, key, self._log.now()),
            )

    def missed(self, unit_id: str) -> tuple[str, str] | None:
        """The (key, kind) of a unit's first miss, if it was noted."""
        row = self.get(unit_id, _DIVERGED)
        return None if row is None else (row.result, row.kind)

    def rows(self, unit_id: str) -> list[ScratchRow]:
        """A unit's pins in the order in which they were drawn."""
        sql = f"SELECT {_COLUMNS} FROM pin_scratch WHERE unit_id = ? AND pin_key <> ? ORDER BY rowid"
        with self._log.reader() as connection:
            return [_row(row) for row in fetch.rows(connection, sql, (unit_id, _DIVERGED))]

    def is_empty(self, unit_id: str) -> bool:
        """Whether a unit holds neither pins nor a note of a miss."""
        sql = "SELECT 1 FROM pin_scratch WHERE unit_id = ? LIMIT 1"
        with self._log.reader() as connection:
            return fetch.row(connection, sql, (unit_id,)) is None

    def clear(self, connection: apsw.Connection, unit_id: str) -> None:
        """Forget a unit, as a part of the transaction of the given connection."""
        connection.execute("DELETE FROM pin_scratch WHERE unit_id = ?", (unit_id,))

    def units(self) -> list[str]:
        """The units that hold anything, by their first pin, oldest first."""
        sql = "SELECT unit_id FROM pin_scratch GROUP BY unit_id ORDER BY min(rowid)"
        with self._log.reader() as connection:
            return [unit_id for (unit_id,) in fetch.rows(connection, sql)]

    def _write(self, unit_id: str, key: str, kind: str, result: str, *, more: int) -> ScratchRow:
        self.refuse_transaction()
        sql = (
            "INSERT INTO pin_scratch VALUES(?, ?, ?, ?, 1, ?) "
            f"ON CONFLICT DO UPDATE SET attempts = attempts + ? RETURNING {_COLUMNS}"
        )
        with self._log.database.transaction() as connection:
            found = fetch.row(connection, sql, (unit_id, key, kind, result, self._log.now(), more))
        assert found is not None
        return _row(found)


def _row(row: fetch.Row) -> ScratchRow:
    unit_id, key, kind, result, attempts = row
    return ScratchRow(unit_id, key, kind, decoded(result), attempts)
