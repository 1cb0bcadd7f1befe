"""Copies of the database that lie in the workspace, and whether they hold what the filter takes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw

from workbench.imports.plain_text import secrets_in
from workbench.log.registry import EventTypeRegistry
from workbench.log.sqlite import last_position
from workbench.redaction import SecretFilter
from workbench.storage.connection import open_immutable
from workbench.storage.schema import APPLICATION_ID
from workbench.text_encoding import text_encoding
from workbench.workspace.layout import Layout
from workbench.workspace.redactions.places import COMPANIONS, Walk
from workbench.workspace.redactions.scan import EventScanner, other_texts

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_ID = slice(68, 72)
"""Where a database's header says whose it is."""


class BackupState(NamedTuple):
    """What is known of one copy."""

    path: Path
    upto: int
    """Position of its last event."""
    holds: bool | None
    """Whether today's filter would take something out of it; None where it cannot be looked into."""


def backups(layout: Layout, walk: Walk | None = None) -> list[Path]:
    """The copies: whatever lies below `backups/`, and databases like ours in the root or beside it.

    `walk` keeps the folders that could not be looked into.
    """
    walk = Walk() if walk is None else walk
    own = {
        layout.database,
        *(layout.database.with_name(f"{layout.database.name}{end}") for end in COMPANIONS),
    }
    beside = (
        path
        for folder in {layout.root, layout.database.parent}
        for path in walk.files(folder, deep=False)
        if path not in own and _is_database(path, ours=True)
    )
    below = walk.below(layout.root / "backups")
    return sorted({path for path in (*beside, *below) if not _is_side_file(path)})


def backup_state(
    path: Path,
    secrets: SecretFilter,
    registry: EventTypeRegistry,
    looked: Callable[[int, int], object] = lambda position, upto: None,
) -> BackupState:
    """Look through one copy until something is found; `looked(position, upto)` after each batch."""
    if not _is_database(path):
        return BackupState(path, 0, _text_holds(path, secrets))
    upto = 0
    try:
        connection = open_immutable(path)
        try:
            upto = last_position(connection)
            holds = _holds(connection, secrets, registry, upto, looked)
        finally:
            connection.close()
    except (apsw.Error, UnicodeError):
        return BackupState(path, upto, None)
    # What waits in a log beside it was not looked at.
    return BackupState(path, upto, holds or (None if _has_log(path) else False))


def _holds(
    connection: apsw.Connection,
    secrets: SecretFilter,
    registry: EventTypeRegistry,
    upto: int,
    looked: Callable[[int, int], object],
) -> bool:
    if next(other_texts(connection, secrets), None) is not None:
        return True

    @contextmanager
    def lend() -> Iterator[apsw.Connection]:
        yield connection

    for look in EventScanner(secrets, registry).batches(lend, 0, upto):
        if look.dirty:
            return True
        looked(look.position, upto)
    return False


def _text_holds(path: Path, secrets: SecretFilter) -> bool | None:
    try:
        with path.open("rb") as file:
            is_text = text_encoding(file) is not None
            # What is packed shows nothing of what is in it.
            return True if secrets_in(file, secrets) else False if is_text else None
    except OSError:
        return None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file() and not path.is_symlink()
    except OSError:
        return False


def _is_side_file(path: Path) -> bool:
    """Whether it is SQLite's own beside a database, which is named for both."""
    return any(
        path.name.endswith(end) and _is_file(path.with_name(path.name[: -len(end)])) for end in COMPANIONS
    )


def _has_log(path: Path) -> bool:
    log = path.with_name(f"{path.name}-wal")
    return _is_file(log) and log.stat().st_size > 0


def _is_database(path: Path, *, ours: bool = False) -> bool:
    try:
        if not _is_file(path):
            return False
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError:
        return False
    return header.startswith(_MAGIC) and (not ours or header[_ID] == APPLICATION_ID.to_bytes(4, "big"))
