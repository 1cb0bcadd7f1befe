"""What is said of a workspace of which a part is gone, or closed to this user: which part, and what helps."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from shlex import quote

from workbench.errors import WorkbenchError
from workbench.workspace.errors import WorkspaceMissing
from workbench.workspace.layout import MANIFEST_NAME, Layout, standing


def has_database(layout: Layout) -> bool:
    """Whether a file with something in it stands in the database's place. Raises nothing."""
    try:
        found = standing(layout.database, follow=True)
    except WorkbenchError:
        return False
    return found is not None and stat.S_ISREG(found.st_mode) and found.st_size > 0


def no_manifest(path: Path) -> WorkspaceMissing:
    """What to raise where there is no manifest at `path`; a database that stands there alone is named."""
    layout = Layout(path.parent)
    if path.name == MANIFEST_NAME and has_database(layout):
        inside = layout.database.parent == layout.root
        database = layout.database.name if inside else layout.database
        return WorkspaceMissing(
            f"there is no {MANIFEST_NAME} at {layout.root}, but {database} is there",
            hint=f"put the manifest back, or write a new one with: {making(layout)}, "
            "which leaves the database alone",
        )
    return WorkspaceMissing(
        f"there is no workspace at {path.parent}",
        hint="make one with: workbench init, or look at a sample with: workbench demo",
    )


def no_database(layout: Layout) -> WorkspaceMissing:
    """What to raise where there is a manifest and no database."""
    return WorkspaceMissing(
        f"{layout.root} has a manifest but no {layout.database.name}",
        hint="if there was one, put it or a backup back first, with its -wal if it has one; "
        f"only if there was none, lay it out with: {making(layout)}",
    )


def making(layout: Layout) -> str:
    """The command that lays out what is missing of a workspace, ready for a shell."""
    return f"workbench init --root {quote(str(layout.root))}"


def who_may_read(path: Path) -> str:
    """What helps where the system denies a look at `path`: whom to ask, or how to open one's own."""
    closed = next((each for each in (path, *path.parents) if os.path.lexists(each)), path)
    try:
        status = closed.stat()
    except OSError:
        return "check its permissions and those of the folders above it, or name another --root"
    if status.st_uid == os.geteuid():
        is_folder = stat.S_ISDIR(status.st_mode)
        mode = "u+rwx" if is_folder else "u+rw"
        return f"it is yours: open it to yourself with: chmod {mode} {quote(str(closed))}"
    return (
        f"{closed} belongs to {user_named(status.st_uid)}, who may read it: ask them, or name another --root"
    )


def user_named(user: int) -> str:
    """A user as people know them: `ada (user 501)`, or the number where it has no name here."""
    # Here, not above: rarely needed, and not on every system.
    import pwd

    try:
        return f"{pwd.getpwuid(user).pw_name} (user {user})"
    except KeyError:
        return f"user {user}"
