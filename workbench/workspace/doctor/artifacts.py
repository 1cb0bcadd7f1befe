"""Whether the evidence that events name is there and is what it was, and what else lies beside it."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import apsw

from workbench.evidence.places import STAGING, leftovers
from workbench.storage import fetch
from workbench.workspace.doctor.report import Commands, Finding, Noted
from workbench.workspace.doctor.stages import Watch

_CHUNK = 1024 * 1024
_DIGEST = re.compile(r"[0-9a-f]{64}")


class NamedEvidence:
    """The digests that events name, and those that were purged: tables of their own, on the disk once they
    are large."""

    def __init__(self, scratch: apsw.Connection) -> None:
        self._connection = scratch
        self.upto = 0
        """The position up to which events were looked through."""
        scratch.execute(
            "CREATE TABLE named(digest BLOB PRIMARY KEY, position INTEGER NOT NULL, last INTEGER NOT NULL) "
            "STRICT, WITHOUT ROWID"
        )
        scratch.execute(
            "CREATE TABLE purged(digest BLOB PRIMARY KEY, position INTEGER NOT NULL) STRICT, WITHOUT ROWID"
        )

    def add(self, digest: str, position: int) -> None:
        """An event names it; what is no digest was never kept, and is passed over."""
        if _DIGEST.fullmatch(digest):
            self._connection.execute(
                "INSERT INTO named VALUES(?1, ?2, ?2) ON CONFLICT(digest) DO UPDATE SET last = excluded.last",
                (bytes.fromhex(digest), position),
            )

    def purge(self, digest: str, position: int) -> None:
        """An event says that it was removed."""
        if _DIGEST.fullmatch(digest):
            self._connection.execute(
                "INSERT OR REPLACE INTO purged VALUES(?, ?)",
                (bytes.fromhex(digest), position),
            )

    def __contains__(self, digest: str) -> bool:
        sql = "SELECT 1 FROM named WHERE digest = ?"
        return fetch.value(self._connection, sql, (bytes.fromhex(digest),)) is not None

    def purged_at(self, digest: str) -> int | None:
        """The position of its purge; None if there was none, or an event has named it since."""
        sql = (
            "SELECT p.position FROM purged p LEFT JOIN named n USING(digest) "
            "WHERE p.digest = ? AND coalesce(n.last, 0) < p.position"
        )
        found: int | None = fetch.value(self._connection, sql, (bytes.fromhex(digest),))
        return found

    def all(self) -> Iterator[tuple[str, int]]:
        """Each digest that should be there, and the position of the first event that names it."""
        for digest, position in self._connection.execute(
            "SELECT n.digest, n.position FROM named n LEFT JOIN purged p USING(digest) "
            "WHERE p.digest IS NULL OR n.last > p.position"
        ):
            yield digest.hex(), position

    def all_purged(self) -> Iterator[tuple[str, int]]:
        """Each digest that should be gone, and the position of the event that says so, in that order."""
        for digest, position in self._connection.execute(
            "SELECT p.digest, p.position FROM purged p LEFT JOIN named n USING(digest) "
            "WHERE coalesce(n.last, 0) < p.position ORDER BY p.position"
        ):
            yield digest.hex(), position


class _File(NamedTuple):
    path: Path
    size: int
    digest: str
    """Empty for a file that is no artifact."""


def artifacts(
    folder: Path, evidence: NamedEvidence | None, command: Commands, watch: Watch
) -> Iterator[Finding]:
    """Every artifact against its name and against the events; without `evidence`, its name only."""
    kind = _in_its_place(folder)
    if kind:
        yield Finding(
            "critical",
            "artifact_unreadable",
            f"In the place of the folder {folder.name} stands {kind}, so that no evidence can be kept or "
            "read: move it away, and put the folder back, or a copy of it.",
            f"ls -ld {command.artifacts}",
        )
        return
    damaged, unreadable, stray = Noted(), Noted(), Noted()
    orphaned = Noted()
    total = sum(file.size for file in _files(folder))
    done = 0
    for file in _files(folder):
        if not file.digest:
            stray.add(_shown(folder, file.path))
            continue
        try:
            found = _hashed(file, watch, done, total)
        except OSError:
            unreadable.add(_shown(folder, file.path))
            continue
        finally:
            done += file.size
        if found != file.digest:
            damaged.add(_shown(folder, file.path))
        if evidence is not None and file.digest not in evidence and not evidence.purged_at(file.digest):
            orphaned.add(_shown(folder, file.path))
    if damaged:
        yield Finding(
            "critical",
            "artifact_damaged",
            f"Artifacts no longer hold what was kept, and only a copy can bring it back: {damaged}.",
            f"ls -l {command.artifacts}",
        )
    if unreadable:
        yield Finding(
            "critical", "artifact_unreadable", f"Artifacts cannot be read: {unreadable}.", command.fix
        )
    if evidence is not None:
        yield from _missing(folder, evidence, command, watch)
        yield from _purged(folder, evidence, command)
    if orphaned:
        yield Finding(
            "info",
            "artifact_orphaned",
            "Artifacts are there that no event names, as after an import that was stopped; where a program "
            f"may be about to name them they stay for an hour: {orphaned}.",
            command.fix,
        )
    left = Noted()
    for path in leftovers(folder):
        left.add(_shown(folder, path))
    if left:
        yield Finding(
            "info",
            "staging_leftovers",
            f"Copies of source files lie there, as after a program that was killed: {left}.",
            command.fix,
        )
    if stray:
        yield Finding(
            "info",
            "artifact_stray",
            f"Files lie among the artifacts that are none, as after a write that was stopped: {stray}.",
            f"ls -lAR {command.artifacts}",
        )


def _missing(folder: Path, evidence: NamedEvidence, command: Commands, watch: Watch) -> Iterator[Finding]:
    missing = Noted()
    for number, (digest, position) in enumerate(evidence.all()):
        if not (folder / digest[:2] / digest[2:4] / digest).exists():
            missing.add(f"{digest[:12]}… of event {position:,}")
        if number % 1000 == 0:
            watch.step(1, 1)
    if missing:
        yield Finding(
            "warning",
            "artifact_missing",
            f"Evidence that events name is gone, and only a copy can bring it back: {missing}.",
            f"ls -l {command.artifacts}",
        )


def _purged(folder: Path, evidence: NamedEvidence, command: Commands) -> Iterator[Finding]:
    gone, there = Noted(), Noted()
    for digest, position in evidence.all_purged():
        noted = there if (folder / digest[:2] / digest[2:4] / digest).exists() else gone
        noted.add(f"{digest[:12]}… by event {position:,}")
    if there:
        yield Finding(
            "warning",
            "artifact_purge_unfinished",
            "Artifacts were purged and their bytes are still there, as after a purge that was stopped: "
            f"{there}.",
            command.fix,
        )
    if gone:
        yield Finding(
            "info",
            "artifact_purged",
            f"Evidence was purged by a person, so that nothing is missing: {gone}.",
            command.purged,
        )


_KINDS = {stat.S_IFREG: "a file", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


def _in_its_place(folder: Path) -> str:
    """What stands there that is no folder; empty for a folder, and for nothing at all."""
    try:
        mode = folder.stat().st_mode
    except FileNotFoundError:
        return "a symbolic link that leads nowhere" if folder.is_symlink() else ""
    except OSError as error:
        return f"what cannot be looked at ({error.strerror})"
    return "" if stat.S_ISDIR(mode) else _KINDS.get(stat.S_IFMT(mode), "a device")


def _files(folder: Path) -> Iterator[_File]:
    """Everything below the folder that is no folder; links are not followed."""
    waiting = [folder]
    while waiting:
        place = waiting.pop()
        try:
            with os.scandir(place) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            path = Path(entry.path)
            try:
                if entry.is_dir(follow_symlinks=False):
                    # What is on its way is nobody's yet.
                    if path != folder / STAGING:
                        waiting.append(path)
                    continue
                is_file = entry.is_file(follow_symlinks=False)
                size = entry.stat(follow_symlinks=False).st_size if is_file else 0
            except OSError:
                continue
            name = entry.name
            own = folder / name[:2] / name[2:4] / name
            digest = name if is_file and _DIGEST.fullmatch(name) and path == own else ""
            yield _File(path, size if digest else 0, digest)


def _hashed(file: _File, watch: Watch, done: int, total: int) -> str:
    digest = hashlib.sha256()
    with file.path.open("rb") as opened:
        while chunk := opened.read(_CHUNK):
            digest.update(chunk)
            done += len(chunk)
            watch.step(done, total)
    return digest.hexdigest()


def digests_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """Each artifact's digest and path."""
    for file in _files(folder):
        if file.digest:
            yield file.digest, file.path


def _shown(folder: Path, path: Path) -> str:
    return str(path.relative_to(folder.parent))
