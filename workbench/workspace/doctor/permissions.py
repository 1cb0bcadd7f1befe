"""Whether the workspace is its owner's alone: files 0600, folders 0700 (DESIGN §4)."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from workbench.workspace.doctor.report import Commands, Finding, Noted
from workbench.workspace.doctor.stages import Watch
from workbench.workspace.layout import FOLDERS, Layout
from workbench.workspace.missing import user_named

_OTHERS = 0o077
_PATHS = 100
"""How many paths a command names."""
_WHOLE = ("artifacts", "backups", "logs")
"""Folders that hold only what the program put there; in the others a person keeps their own files."""


class Loose(NamedTuple):
    """A file or folder with other permissions than it should have."""

    path: Path
    mode: int
    """What it should have."""
    locked: bool
    """Whether it is not too open but closed to its owner."""
    owner: int
    """Whose it is: the user's number."""


def loose(layout: Layout) -> Iterator[Loose]:
    """What others may read or write, and what its owner may not; links are left alone.

    The root is closed like the rest, so that nobody else sees even what a person put there.
    """
    for path in (layout.root, layout.manifest):
        yield from _look(path, _OTHERS)
    database = layout.database
    for suffix in ("", "-wal", "-shm"):
        yield from _look(database.with_name(database.name + suffix), _OTHERS)
    for name in FOLDERS:
        yield from _look(layout.root / name, _OTHERS)
        if name in _WHOLE:
            yield from _below(layout.root / name)


def _below(folder: Path) -> Iterator[Loose]:
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    yield from _look(Path(entry.path), _OTHERS)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
        except OSError:
            continue


def _look(path: Path, forbidden: int) -> Iterator[Loose]:
    try:
        status = path.lstat()
    except OSError:
        return
    mode = status.st_mode
    if stat.S_ISDIR(mode):
        needed, given = 0o500, 0o700
    elif stat.S_ISREG(mode):
        needed, given = 0o400, 0o600
    else:
        return
    bits = stat.S_IMODE(mode)
    locked = bits & needed != needed
    if bits & forbidden or locked:
        yield Loose(path, (bits | given if locked else bits) & ~forbidden, locked, status.st_uid)


def permissions(
    layout: Layout, command: Commands, watch: Watch, *, user: int | None = None
) -> Iterator[Finding]:
    """What is too open, and what is closed to its owner; of that what `user` may not change is told apart.

    `user` is the number of the one who would mend it, by default of the one whose process this is.
    """
    user = os.geteuid() if user is None else user
    opened, locked, others = Noted(), Noted(), Noted()
    of_another = _owner_of(layout.root) not in (user, None)
    theirs: list[Path] = []
    owner = 0
    for number, each in enumerate(loose(layout)):
        if user not in (0, each.owner):
            # The superuser may change everybody's.
            if not others:
                owner = each.owner
            others.add(_shown(layout, each.path))
            if len(theirs) < _PATHS:
                theirs.append(each.path)
            continue
        (locked if each.locked else opened).add(_shown(layout, each.path))
        if number % 1000 == 0:
            watch.step(1, 1)
    if opened:
        yield Finding(
            "warning",
            "permissions_open",
            f"Other users of this machine may read or change what is the owner's alone: {opened}.",
            command.fix,
        )
    if others:
        said = (
            "Permissions are not as they should be, and --fix cannot change them, for the owner is "
            f"{user_named(owner)}: {others}"
        )
        if of_another:
            # Taking a workspace from the one whose it is, is no advice.
            yield Finding(
                "warning",
                "permissions_open",
                f"{said}; the workspace is not yours: ask its owner to run the command, look at it with: "
                f"workbench --read-only --root {shlex.quote(str(layout.root))}, or copy the folder and work "
                "in the copy.",
                command.fix,
            )
        else:
            paths = " ".join(shlex.quote(str(path)) for path in theirs)
            yield Finding(
                "warning",
                "permissions_open",
                f"{said}; make them yours, then mend.",
                f"sudo chown -- {user} {paths} && {command.fix}",
            )
    if locked:
        yield Finding(
            "critical", "permissions_locked", f"The owner may not read what is theirs: {locked}.", command.fix
        )


def mend_permissions(layout: Layout) -> None:
    """Give each file and folder the permissions it should have, where this user may.

    A folder that could not be looked into may turn out to hold more, hence the second round.
    """
    for _ in range(2):
        for each in list(loose(layout)):
            try:
                each.path.chmod(each.mode)
            except OSError:
                continue


def _owner_of(path: Path) -> int | None:
    try:
        return path.stat().st_uid
    except OSError:
        return None


def _shown(layout: Layout, path: Path) -> str:
    try:
        shown = str(path.relative_to(layout.root))
    except ValueError:
        return str(path)
    return "the workspace's folder" if shown == "." else shown
