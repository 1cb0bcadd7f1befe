"""Which projections of a file are not this release's, and making them so inside a migration (DESIGN §2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import apsw

from workbench.log import sqlite
from workbench.log.decoding import FoldDecoder
from workbench.log.folds import FOLD_POSITIONS, InlineFold
from workbench.log.refold import refold
from workbench.storage import fetch, schema
from workbench.storage.errors import SchemaAheadOfCode
from workbench.storage.history import History
from workbench.storage.migration_steps import Steps

EVERY_SCHEMA = (*sqlite.SCHEMA, FOLD_POSITIONS)
"""Creates the tables that a log has at each schema."""


class FoldChanges(NamedTuple):
    """What tells a file's projections from this release's."""

    build: tuple[InlineFold, ...]
    """Those that it lacks or has at another version."""
    gone: tuple[str, ...]
    """Names of those that this release no longer has."""


def fold_changes(
    connection: apsw.Connection,
    folds: Sequence[InlineFold],
    retired: Mapping[str, Sequence[str]],
    path: object,
) -> FoldChanges:
    """Compare a file's projections with `folds`; nothing is changed.

    `retired` has the name of every projection that earlier releases had. Raises `SchemaAheadOfCode` for
    a projection, or a version of one, that no release up to this one had.
    """
    stored: dict[str, int] = dict(fetch.rows(connection, "SELECT name, version FROM folds"))
    ours = {fold.name: fold.version for fold in folds}
    newer = sorted(
        name
        for name, version in stored.items()
        if version > ours.get(name, version) or (name not in ours and name not in retired)
    )
    if newer:
        raise SchemaAheadOfCode(
            f"{path} has projections of another release: {', '.join(newer)}",
            hint="install a newer chronicle-workbench; this file was not touched",
        )
    return FoldChanges(
        tuple(fold for fold in folds if stored.get(fold.name) != fold.version),
        tuple(sorted(stored.keys() - ours.keys())),
    )


class FoldFollowup:
    """Builds the projections of a file anew where they are not this release's: a `Followup`."""

    def __init__(
        self,
        folds: Sequence[InlineFold],
        decoder: FoldDecoder,
        history: History,
        *,
        tables: Sequence[str],
        retired: Mapping[str, Sequence[str]],
        path: object,
    ) -> None:
        self._folds = tuple(folds)
        self._decoder = decoder
        self._history = history
        self._tables = tuple(tables)
        self._retired = retired
        self._path = path
        self.built: tuple[str, ...] = ()
        """Names of those that were built."""

    def changes(self, connection: apsw.Connection) -> FoldChanges:
        """What is to be done in a file."""
        return fold_changes(connection, self._folds, self._retired, self._path)

    def is_needed(self, connection: apsw.Connection) -> bool:
        """Whether the file's projections are not this release's."""
        changes = self.changes(connection)
        return bool(changes.build or changes.gone)

    def make(self, connection: apsw.Connection, steps: Steps) -> None:
        """Drop what is gone or old and fold the whole log into what is new, in batches."""
        changes = self.changes(connection)

        def between(position: int, end: int) -> None:
            steps.refuse_cancelled()
            steps.step(position, end, "projections")

        refold(
            connection,
            changes.build,
            self._decoder,
            path=self._path,
            retired=self._retired_tables(changes),
            between=between,
        )
        connection.executemany("DELETE FROM folds WHERE name = ?", [(name,) for name in changes.gone])
        self.built = tuple(fold.name for fold in changes.build)

    def check(self, connection: apsw.Connection) -> None:
        """Raise a `SchemaError` if a table is missing that this release works with."""
        statements = [*EVERY_SCHEMA, *(each for fold in self._folds for each in fold.schema), *self._tables]
        schema.check(connection, self._path, statements, self._history)

    def _retired_tables(self, changes: FoldChanges) -> set[str]:
        names = (*(fold.name for fold in changes.build), *changes.gone)
        going = {table for name in names for table in self._retired.get(name, ())}
        kept = (fold for fold in self._folds if fold not in changes.build)
        return going - {table for fold in kept for table in fold.tables}
