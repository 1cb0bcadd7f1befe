"""Which files of a workspace a scrub is about: those it cleans, and those it can only name.

Whatever the program keeps or may have left is one or the other. A person's own files are let alone, but for
exports of the log, which are cleaned, and exports of chronicles and recordings, which are named, wherever
they lie.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from workbench.storage.replacing import UNFINISHED
from workbench.workspace.layout import Layout

MARK = ".workbench-scrub-"
"""Begins the names of files that a scrub writes, until they take their place."""
OWN_FOLDERS = ("logs", "exports")
"""Folders of the root whose texts are cleaned, whatever they are."""
COMPANIONS = ("-wal", "-shm", "-journal")
"""How the names of SQLite's own files beside a database end."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_ELSEWHERE = frozenset({"artifacts", "backups", *OWN_FOLDERS})
_TEMPORARY = (UNFINISHED, ".export-", ".backup-", MARK)


class Walk:
    """Goes through folders and keeps what it could not look into. Links are not followed."""

    def __init__(self) -> None:
        self.closed: list[Path] = []
        """Folders that could not be read, and files that could not be looked at."""

    def files(
        self, folder: Path, without: frozenset[str] = frozenset(), *, deep: bool = True
    ) -> Iterator[Path]:
        """The regular files below a folder, in order; hidden folders are left out, and those of the folder
        itself that are named in `without`. A folder that is not there has none."""
        for place, folders, names in os.walk(folder, onerror=self._note):
            top = Path(place) == folder
            folders[:] = sorted(
                name
                for name in folders
                if deep
                and not name.startswith(".")
                and not (top and name in without)
                and not Path(place, name).is_symlink()
            )
            for name in sorted(names):
                path = Path(place, name)
                try:
                    if path.is_file() and not path.is_symlink():
                        yield path
                except OSError:
                    self.closed.append(path)

    def below(self, folder: Path) -> Iterator[Path]:
        """The regular files below a folder, hidden ones and those of hidden folders too."""
        for place, _, names in os.walk(folder, onerror=self._note):
            for name in sorted(names):
                path = Path(place, name)
                try:
                    if path.is_file() and not path.is_symlink():
                        yield path
                except OSError:
                    self.closed.append(path)

    def artifacts(self, folder: Path) -> Iterator[tuple[str, Path]]:
        """Digest and path of each artifact."""
        for path in self.files(folder):
            if is_artifact(folder, path):
                yield path.name, path

    def _note(self, error: OSError) -> None:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            self.closed.append(Path(os.fsdecode(error.filename)))


def is_artifact(folder: Path, path: Path) -> bool:
    """Whether a file stands where its digest puts it."""
    digest = path.name
    return bool(_DIGEST.fullmatch(digest)) and path == folder / digest[:2] / digest[2:4] / digest


def own_texts(layout: Layout, walk: Walk) -> Iterator[Path]:
    """What the program wrote into folders of its own: logs, exports, and among the artifacts what is none."""
    for name in OWN_FOLDERS:
        yield from walk.below(layout.root / name)
    yield from (path for path in walk.files(layout.artifacts) if not is_artifact(layout.artifacts, path))


def others(layout: Layout, walk: Walk) -> Iterator[Path]:
    """Every other file of the workspace but its backups and the database itself."""
    # A rollback journal is none of them: it holds old pages, and nobody empties it.
    own = {layout.database.name, *(f"{layout.database.name}{end}" for end in ("-wal", "-shm"))}
    for path in walk.files(layout.root, without=_ELSEWHERE):
        if not (path.name in own and path.parent == layout.database.parent):
            yield path
    if layout.database.parent != layout.root:
        yield from (path for path in walk.files(layout.database.parent, deep=False) if path.name not in own)


def is_programs(layout: Layout, path: Path) -> bool:
    """Whether the program, or what it told a person to do, put a file where it lies: a temporary file, or one
    that is named for the database."""
    name = path.name
    if path.parent == layout.database.parent and name.startswith(layout.database.name):
        return True
    return path.parent in (layout.root, layout.root / "notes") and (
        name.startswith(_TEMPORARY) or name.endswith(".part")
    )
