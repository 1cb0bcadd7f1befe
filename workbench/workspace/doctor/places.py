"""What lies in a database's place and beside it: a log that is not its own, and copies of it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import NamedTuple

import apsw

from workbench.errors import WorkbenchError
from workbench.storage.errors import DatabaseDamaged
from workbench.storage.stale_log import refuse_stale_log
from workbench.workspace.layout import Layout
from workbench.workspace.opening import refuse_orphaned_log

_FORMAT = b"SQLite format 3\0"
"""How a database begins."""


class WrongLog(NamedTuple):
    """A write-ahead log that is not the one of the file beside it."""

    error: DatabaseDamaged
    """How opening refuses it."""
    orphaned: bool
    """Whether there is no database beside it; else it is another one's."""


def wrong_log(layout: Layout) -> WrongLog | None:
    """Whether opening is refused for the write-ahead log's sake; nothing is changed by the look."""
    try:
        refuse_orphaned_log(layout)
    except DatabaseDamaged as error:
        return WrongLog(error, orphaned=True)
    except WorkbenchError:
        return None
    try:
        refuse_stale_log(layout.database)
    except DatabaseDamaged as error:
        return WrongLog(error, orphaned=False)
    except (OSError, apsw.Error):
        return None
    return None


def moving_log_away(database: Path) -> str:
    """A command for a shell that moves the log and its index to names that are free."""
    sources = [database.with_name(f"{database.name}{suffix}") for suffix in ("-wal", "-shm")]
    moves = [(source, _free(source)) for source in sources if os.path.lexists(source)]
    return " && ".join(f"mv {shlex.quote(str(one))} {shlex.quote(str(other))}" for one, other in moves)


def _free(path: Path) -> Path:
    number = 1
    while os.path.lexists(other := path.with_name(f"{path.name}.other{'' if number == 1 else number}")):
        number += 1
    return other


def newest_copy(layout: Layout) -> Path | None:
    """The database below `backups` that was written last; None if there is none. Links are not followed."""
    newest: tuple[float, Path] | None = None
    for place, _, names in os.walk(layout.root / "backups"):
        for name in names:
            path = Path(place, name)
            try:
                if path.is_symlink() or not path.is_file() or name.endswith(".part"):
                    continue
                with path.open("rb") as file:
                    begin = file.read(len(_FORMAT))
                written = path.stat().st_mtime
            except OSError:
                continue
            if begin == _FORMAT and (newest is None or written > newest[0]):
                newest = written, path
    return None if newest is None else newest[1]
