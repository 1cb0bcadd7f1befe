"""What is decided before a workspace's database is opened (contract workspace, "Schema")."""

from __future__ import annotations

import os

from workbench.storage.errors import DatabaseDamaged
from workbench.workspace.errors import WorkspaceMissing
from workbench.workspace.layout import Layout

_TRUE = frozenset({"1", "true", "yes", "on"})


def refuse_missing(layout: Layout) -> None:
    """Refuse a root without a database, or with an empty one: opening never lays one out.

    Raises `WorkspaceMissing`, `DatabaseDamaged`.
    """
    refuse_orphaned_log(layout)
    if not layout.database.exists():
        raise WorkspaceMissing(
            f"{layout.root} has a manifest but no {layout.database.name}",
            hint=f"lay it out with: workbench init --root {layout.root}",
        )
    if not layout.database.is_file() or layout.database.stat().st_size == 0:
        # What `create` leaves is laid out: an empty file was cut, and must not become a log unseen.
        raise DatabaseDamaged(
            f"{layout.database} is empty or no file", hint="restore a copy of it; nothing was changed"
        )


def refuse_orphaned_log(layout: Layout) -> None:
    """Refuse a root whose database is gone while its write-ahead log still holds something.

    What was committed last lies in that log alone; a new database would throw it away. Raises
    `DatabaseDamaged`.
    """
    log = layout.database.with_name(f"{layout.database.name}-wal")
    if not layout.database.exists() and log.is_file() and log.stat().st_size:
        raise DatabaseDamaged(
            f"{layout.database} is gone, but {log.name} beside it holds what was written last",
            hint=f"put the database back before anything else, or move {log.name} away; nothing was changed",
        )


def may_upgrade(migrate: bool | None) -> bool:
    """Whether opening for writing upgrades an older database: what the caller says, True or False.

    With None, whether `$CHRONICLE_AUTO_MIGRATE` switches it on: 1, true, yes or on, in any case.
    """
    if migrate is not None:
        return migrate
    return os.environ.get("CHRONICLE_AUTO_MIGRATE", "").strip().casefold() in _TRUE
