"""Bringing a workspace's database to this release's schema (contract workspace, "Schema")."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from workbench.log import sqlite
from workbench.log.decoding import FoldDecoder
from workbench.log.errors import LogError
from workbench.log.fold_changes import EVERY_SCHEMA, FoldFollowup
from workbench.log.times import Clock
from workbench.storage import fetch, schema
from workbench.storage.errors import DatabaseDamaged, SchemaError
from workbench.storage.history import History, Migration, MigrationError
from workbench.storage.migration_backup import name_of
from workbench.storage.migration_steps import MigrationCancelled, Steps
from workbench.storage.migrations import upgrade
from workbench.workspace.errors import Cancelled
from workbench.workspace.folds import FOLDS, TABLES, event_types
from workbench.workspace.layout import Layout, standing
from workbench.workspace.migrations import HISTORY, RETIRED
from workbench.workspace.opening import refuse_missing

Progress = Callable[[int, int | None, str], object]
"""Told what is done, how much there is to do, and of what: `waiting` (for another program that writes:
seconds, without an end that is known), `backup` (pages), `schema` (statements), `projections` (events)."""


class PendingMigration(msgspec.Struct, frozen=True):
    """A step that a database has before it, or has just taken."""

    version: int
    name: str
    what: str
    """What it brings, in one sentence."""


class MigrationPlan(msgspec.Struct, frozen=True):
    """What a migration would do."""

    db_path: str
    current: int
    """The database's schema."""
    target: int
    """This release's."""
    pending: tuple[PendingMigration, ...]
    folds: tuple[str, ...]
    """Projections that would be built from the events, anew or for the first time."""
    retired: tuple[str, ...]
    """Projections that would go."""
    events: int
    """In the log."""
    database_bytes: int
    """With what waits in its write-ahead log; the copy takes about as much."""
    backup_dir: str
    """Where the copy would be put."""
    backup_name: str
    """The copy's name, with `TIME` and `MARK` for what is not known yet."""
    needed: bool


class Migrated(msgspec.Struct, frozen=True):
    """What a migration did."""

    db_path: str
    applied: tuple[PendingMigration, ...]
    folds: tuple[str, ...]
    """Projections that were built."""
    backup_path: str | None
    """The copy of the database as it was; None where nothing had to be done."""
    summary: str
    """One sentence."""


class Schema(NamedTuple):
    """What a database's layout is made of; the product's is `PRODUCT`."""

    history: History
    folds: tuple[Any, ...]
    tables: tuple[str, ...]
    retired: dict[str, tuple[str, ...]]


PRODUCT = Schema(HISTORY, FOLDS, TABLES, RETIRED)


class SchemaState(NamedTuple):
    """How far a database is, whatever it is."""

    current: int | None
    """None where it is none of ours."""
    pending: tuple[int, ...]
    unknown: tuple[int, ...]
    """Steps that it has taken and this release does not know."""


def plan_migration(layout: Layout, product: Schema = PRODUCT) -> MigrationPlan:
    """What `migrate` would do now; changes nothing, and leaves nothing beside the file.

    Raises `WorkspaceMissing`, `SchemaError`s for a database that is foreign, newer or damaged, and the
    storage errors of a read.
    """
    path = layout.database
    for _ in range(_LOOKS):
        refuse_missing(layout)
        before = _state(path)
        try:
            return _plan(layout, product)
        except DatabaseDamaged:
            # A file that nobody has open is read without a lock: who began to write it meanwhile tears
            # what is seen of it.
            if _state(path) == before:
                raise
    return _plan(layout, product)


_LOOKS = 3
"""At a file that seems to be damaged, and changes."""


def _state(path: Path) -> tuple[object, ...]:
    """What is different once somebody wrote to a file, or began to."""
    beside = path.with_name(f"{path.name}-wal")
    found = [standing(each, follow=True) for each in (path, beside)]
    return tuple(each and (each.st_ino, each.st_size, each.st_mtime_ns) for each in found)


def _plan(layout: Layout, product: Schema) -> MigrationPlan:
    path = layout.database
    history = product.history
    followup = _followup(path, product)
    with schema.looking(path) as connection:
        current = schema.stage(connection, path, EVERY_SCHEMA, history)
        changes = followup.changes(connection)
        pending = _described(history.after(current))
        if not pending and not changes.build and not changes.gone:
            followup.check(connection)
        pages = fetch.value(connection, "PRAGMA page_count") * fetch.value(connection, "PRAGMA page_size")
        return MigrationPlan(
            db_path=str(path),
            current=current,
            target=history.version,
            pending=pending,
            folds=tuple(fold.name for fold in changes.build),
            retired=changes.gone,
            events=sqlite.last_position(connection),
            database_bytes=int(pages),
            backup_dir=str(backup_folder(layout)),
            backup_name=name_of(path, current, history.version, "TIME", "MARK"),
            needed=bool(pending or changes.build or changes.gone),
        )


def migrate(
    layout: Layout,
    *,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    clock: Clock | None = None,
    product: Schema = PRODUCT,
) -> Migrated:
    """Bring the database to this release's schema in one transaction, after a copy of it.

    Nothing is done, and no copy made, where it is current by the time that the write lock is held.
    Whatever goes wrong, the database stays as it was and the copy goes.

    Raises what `plan_migration` raises, `Cancelled` once `cancelled` says so, `DatabaseLocked`,
    `DatabaseReadOnly`, `DiskFull`, `BackupFailed`, and `MigrationError` for a step that fails, or events
    that cannot be folded.
    """
    if not plan_migration(layout, product).needed:
        return Migrated(str(layout.database), (), (), None, _summary(product, (), (), None))
    path = layout.database
    followup = _followup(path, product)
    moment = now(clock)
    try:
        done = upgrade(
            path,
            product.history,
            followup,
            needs=EVERY_SCHEMA,
            backups=backup_folder(layout),
            moment=moment,
            steps=Steps(progress, cancelled),
        )
    except MigrationCancelled as error:
        raise Cancelled(error.message) from error
    except SchemaError:
        raise
    except (LogError, UnicodeDecodeError) as error:
        said = error.message if isinstance(error, LogError) else f"an event holds a broken text, {error}"
        raise MigrationError(
            f"the events of {path} cannot be folded: {said}",
            hint="nothing was changed; see: workbench doctor",
        ) from error
    backup = None if done.backup is None else str(done.backup)
    applied = _described(done.applied)
    return Migrated(
        str(path), applied, followup.built, backup, _summary(product, applied, followup.built, backup)
    )


def schema_state(layout: Layout, product: Schema = PRODUCT) -> SchemaState:
    """How far the database is, for whoever cannot open it; never raises for what is in it."""
    history = product.history
    try:
        with schema.looking(layout.database) as connection:
            if fetch.value(connection, "PRAGMA application_id") != schema.APPLICATION_ID:
                return SchemaState(None, (), ())
            current = int(fetch.value(connection, "PRAGMA user_version"))
            unknown = tuple(schema.unknown_to(connection, history))
    except SchemaError:
        return SchemaState(None, (), ())
    return SchemaState(current, tuple(step.version for step in history.after(current)), unknown)


def now(clock: Clock | None) -> datetime:
    """The moment by this clock, else by the machine's."""
    return datetime.now(UTC) if clock is None else clock()


def backup_folder(layout: Layout) -> Path:
    """Where copies from before migrations lie."""
    return layout.root / "backups" / "migrations"


def _followup(path: Path, product: Schema) -> FoldFollowup:
    return FoldFollowup(
        product.folds,
        FoldDecoder(event_types()),
        product.history,
        tables=product.tables,
        retired=product.retired,
        path=path,
    )


def _described(migrations: tuple[Migration, ...]) -> tuple[PendingMigration, ...]:
    return tuple(PendingMigration(each.version, each.name, each.what) for each in migrations)


def _summary(
    product: Schema, applied: tuple[PendingMigration, ...], folds: tuple[str, ...], backup: str | None
) -> str:
    if backup is None:
        return f"nothing to do: the schema is {product.history.version}, as this program needs it"
    parts: list[str] = []
    if applied:
        parts.append(f"the schema is now {product.history.version}, it was {applied[0].version - 1}")
    if folds:
        parts.append(f"built from the events: {', '.join(folds)}")
    return "; ".join(parts) or "projections that this program no longer has are gone"
