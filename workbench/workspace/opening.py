"""What is decided before a workspace's database is opened (contract workspace, "Schema")."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from workbench.storage.errors import DatabaseDamaged, SchemaError
from workbench.workspace.layout import Layout, standing

_TRUE = frozenset({"1", "true", "yes", "on"})


class NoDatabaseFile(SchemaError):
    """What stands in the database's place holds none: an empty file, a folder, a pipe, a link."""

    code = "no_database_file"


def refuse_missing(layout: Layout) -> None:
    """Refuse a root without a database, or with an empty one: opening never lays one out.

    Raises `WorkspaceMissing`, `NoDatabaseFile`, `DatabaseDamaged`, and what `standing` raises.
    """
    refuse_orphaned_log(layout)
    found = standing(layout.database)
    if found is None:
        # Here, as below: only a refusal needs it.
        from workbench.workspace.missing import no_database

        raise no_database(layout)
    if found.st_size == 0:
        # What `create` leaves is laid out: an empty file was cut, and must not become a log unseen.
        from workbench.workspace.missing import making

        raise NoDatabaseFile(
            f"{layout.database} is empty: whatever it held was cut off",
            hint=f"restore a copy of it; if there is none, lay out a new one with: {making(layout)}",
        )


def refuse_orphaned_log(layout: Layout) -> None:
    """Refuse a root in whose database's place no database can be, nor be laid out without a loss.

    There stands something else than a file, a link included; or the database is gone, or empty, while
    its write-ahead log still holds something: what was committed last lies in that log alone, and a new
    database would throw it away. Raises `NoDatabaseFile`, `DatabaseDamaged`, and what `standing` raises.
    """
    database = layout.database
    found = standing(database)
    if found is not None and not stat.S_ISREG(found.st_mode):
        raise _no_file(database, found.st_mode)
    log = database.with_name(f"{database.name}-wal")
    held = None if found is not None and found.st_size else standing(log, follow=True)
    if held is not None and stat.S_ISREG(held.st_mode) and held.st_size:
        raise DatabaseDamaged(
            f"{database} is {'gone' if found is None else 'empty'}, "
            f"but {log.name} beside it holds what was written last",
            hint=f"put the database back before anything else, or move {log.name} away; nothing was changed",
        )


_KINDS = {
    stat.S_IFDIR: ("folder", "move the folder away"),
    stat.S_IFIFO: ("pipe", "remove the pipe"),
    stat.S_IFSOCK: ("socket", "remove the socket"),
}


def _no_file(database: Path, mode: int) -> NoDatabaseFile:
    if stat.S_ISLNK(mode):
        return _link(database)
    kind, away = _KINDS.get(stat.S_IFMT(mode), ("device", "name another workspace with --root"))
    return NoDatabaseFile(
        f"{database} is no file but a {kind}", hint=f"{away}, then restore a copy of the database there"
    )


def _link(database: Path) -> NoDatabaseFile:
    """Of a link: the log that belongs to a file lies beside it, so one name of it must be known to all."""
    where = os.path.realpath(database)
    if not os.path.isfile(where):  # noqa: PTH113
        return NoDatabaseFile(
            f"{database} is a symbolic link that leads to no file",
            hint="remove the link, then restore a copy of the database there",
        )
    # Here, not above: only a refusal needs it.
    from shlex import quote

    return NoDatabaseFile(
        f"{database} is a symbolic link to {where}, and a database is opened only where it lies itself",
        hint="put the file itself there instead of the link, and its -wal if it has one, "
        f"or name it with: CHRONICLE_DB={quote(where)}",
    )


def may_upgrade(migrate: bool | None) -> bool:
    """Whether opening for writing upgrades an older database: what the caller says, True or False.

    With None, whether `$CHRONICLE_AUTO_MIGRATE` switches it on: 1, true, yes or on, in any case.
    """
    if migrate is not None:
        return migrate
    return os.environ.get("CHRONICLE_AUTO_MIGRATE", "").strip().casefold() in _TRUE
