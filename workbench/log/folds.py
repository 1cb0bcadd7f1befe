"""Inline folds: tables computed inside the append transaction (DESIGN §2 "Inline folds")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import apsw
import msgspec

from workbench.log.errors import FoldSetMismatch
from workbench.log.registry import EventType
from workbench.storage import fetch


class FoldEvent(msgspec.Struct, frozen=True, gc=False):
    """An event as a fold sees it: everything that it may depend on, and nothing else."""

    position: int
    event_id: bytes
    causation_id: bytes | None
    stream_id: int
    stream: str
    seq: int
    event_type: EventType
    private: bool
    recorded_at: int
    """Microseconds since 1970."""
    occurred_at: int | None
    payload: Any


class InlineFold(Protocol):
    """A named, versioned pure function from the events up to a position to rows of its own tables.

    It reads no clock, random source, manifest or file; rows that can change are versioned,
    counters hold the value of now.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int: ...

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables it owns, which nothing else writes."""
        ...

    @property
    def schema(self) -> tuple[str, ...]:
        """Statements that create the tables and set them up, one each."""
        ...

    @property
    def types(self) -> frozenset[str] | None:
        """The event types (without namespace) that it reads; None for all of them."""
        ...

    @property
    def at_commit(self) -> bool:
        """Whether its rows are only needed by readers after the commit.

        Such a fold is applied once per transaction, just before the commit, to all its events
        together: full text would otherwise write a segment for every savepoint.
        """
        ...

    def apply(self, connection: apsw.Connection, events: Sequence[FoldEvent]) -> None:
        """Fold events, in order of position, into the tables."""
        ...


FOLD_POSITIONS = (
    "CREATE TABLE folds("
    "name TEXT PRIMARY KEY, version INTEGER NOT NULL, position INTEGER NOT NULL) STRICT, WITHOUT ROWID"
)


class FoldSet:
    """The folds of one program, checked against what a file was folded by."""

    def __init__(self, folds: Sequence[InlineFold]) -> None:
        names = [fold.name for fold in folds]
        if len(set(names)) != len(names):
            raise ValueError("two folds have one name")
        self.folds = tuple(folds)
        self._expected = {fold.name: fold.version for fold in folds}

    def schema(self) -> tuple[str, ...]:
        """The statements that lay out every fold's tables."""
        return (FOLD_POSITIONS, *(statement for fold in self.folds for statement in fold.schema))

    def schema_in(self, connection: apsw.Connection) -> tuple[str, ...]:
        """The statements that laid out the tables of those folds that the file knows at this version."""
        stored: dict[str, int] = dict(fetch.rows(connection, "SELECT name, version FROM folds"))
        known = (fold for fold in self.folds if stored.get(fold.name) == fold.version)
        return tuple(statement for fold in known for statement in fold.schema)

    def install(self, connection: apsw.Connection) -> None:
        """Note every fold at position 0, in the transaction that created the tables."""
        connection.executemany(
            "INSERT INTO folds VALUES(?, ?, 0)", [(fold.name, fold.version) for fold in self.folds]
        )

    def behind(self, connection: apsw.Connection, last_position: int) -> list[tuple[InlineFold, int]]:
        """Folds that lag, each with the position it has reached; empty when all are current.

        Raises `FoldSetMismatch` for a fold that only the file or only this program knows, or at
        another version.
        """
        stored = fetch.rows(connection, "SELECT name, version, position FROM folds")
        if {name: version for name, version, _ in stored} != self._expected:
            self._refuse({name: version for name, version, _ in stored})
        if all(position == last_position for _, _, position in stored):
            return []
        reached = {name: position for name, _, position in stored}
        return [(fold, reached[fold.name]) for fold in self.folds if reached[fold.name] < last_position]

    def _refuse(self, stored: dict[str, int]) -> None:
        differing = sorted(
            name
            for name in stored.keys() | self._expected.keys()
            if stored.get(name) != self._expected.get(name)
        )
        raise FoldSetMismatch(
            f"this file was folded by another release (differing: {', '.join(differing)})",
            hint="run: workbench migrate",
        )
