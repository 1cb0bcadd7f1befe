"""Files that no export may replace: a workspace's own ones, and those of any other workspace."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.storage.errors import StorageError
from workbench.workspace.errors import ConfigurationError
from workbench.workspace.layout import FOLDERS, MANIFEST_NAME, Layout

_SQLITE = b"SQLite format 3\x00"
_BESIDE = ("", "-wal", "-shm", "-journal")
_EXPORTS_BEGIN = b"{"
"""Every export of ours is JSON lines; of what else lies in a workspace nothing that is kept begins so."""
_NEVER = ("artifacts",)
_STARTERS = ("status.md", ".gitignore")


class OwnFile(ConfigurationError):
    """A file was to be written where a workspace keeps something of its own."""

    code = "own_file"


def refuse_own(path: Path, layout: Layout | None = None) -> None:
    """Raise `OwnFile` where writing to `path` would put a file in the place of a workspace's own.

    That is, of the workspace of `layout` and of every other one: a manifest, a database of SQLite and the
    files beside it, whether or not these are there just now, everything under artifacts, and what lies in
    the workspace's other folders and is no export. Links, also hard ones, are followed to what they lead to.
    A place that cannot be looked at is left to whoever writes to it.
    """
    target = Path(os.path.realpath(path))
    what = _whose(target, layout)
    if what:
        raise OwnFile(
            f"{path} is {what}; nothing was written",
            hint="name another file with --to, best one outside of any workspace",
        )


def _whose(target: Path, layout: Layout | None) -> str:
    if layout is not None:
        for own, what in _own(layout):
            if _same(target, own):
                return f"this workspace's {what}"
        found = _inside(target, Path(os.path.realpath(layout.root)), "this workspace's")
        if found:
            return found
    if target.name == MANIFEST_NAME:
        return "the manifest of a workspace"
    if _begins(target, _SQLITE):
        return "a database"
    for suffix in _BESIDE[1:]:
        if target.name.endswith(suffix) and _begins(target.with_name(target.name[: -len(suffix)]), _SQLITE):
            return f"part of a database, its “{suffix}”"
    for folder in target.parents:
        if _exists(folder / MANIFEST_NAME):
            return _inside(target, folder, "another workspace's")
    return ""


def _own(layout: Layout) -> list[tuple[Path, str]]:
    own = [(layout.manifest, "manifest")]
    try:
        database = layout.database
    except (ConfigurationError, StorageError):
        return own
    return own + [(Path(f"{database}{suffix}"), f"database{suffix}") for suffix in _BESIDE]


def _inside(target: Path, root: Path, whose: str) -> str:
    """What a file is in the workspace whose folder is `root`; "" for none of its own."""
    if not target.is_relative_to(root):
        for name in _NEVER:
            # The folder itself may be a link.
            if target.is_relative_to(os.path.realpath(root / name)):
                return f"in {whose} folder {name}"
        return ""
    first = target.relative_to(root).parts[:1]
    if not first:
        return ""
    if first[0] in _NEVER:
        return f"in {whose} folder {first[0]}"
    if first[0] in FOLDERS and _filled(target):
        return f"a file of {whose} folder {first[0]}"
    if target.parent == root and first[0] in _STARTERS and _filled(target):
        return f"{whose} {first[0]}"
    return ""


def _filled(target: Path) -> bool:
    """Whether there is a file that is neither empty nor an export."""
    return _exists(target) and not _begins(target, b"") and not _begins(target, _EXPORTS_BEGIN)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _same(one: Path, other: Path) -> bool:
    if str(one) == os.path.realpath(other):
        return True
    try:
        return one.samefile(other)
    except OSError:
        return False


def _begins(path: Path, wanted: bytes) -> bool:
    """Whether a regular file begins with these bytes; with none of them, whether it is empty."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(wanted) or 1) == wanted
    except OSError:
        return False
