"""Sample workspaces that ship with the program, and how one becomes a workspace of its own.

A sample is a folder of text files: a manifest, notes, evidence, the log as JSON lines, and maybe a folder
of chronicles as they were exported, one file for each stream. A copy has the database that is made from the
log and the chronicles in the place of these files.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from workbench.chronicle.export_file import load_export, stream_of
from workbench.chronicle.sqlite import SQLiteChronicleStore
from workbench.data import data_folder as shipped
from workbench.imports.workspace_jsonl import load_jsonl, newest
from workbench.log.event_log import EventLog
from workbench.log.times import Clock
from workbench.storage.errors import is_full, no_room
from workbench.workspace.errors import ConfigurationError
from workbench.workspace.layout import MANIFEST_NAME
from workbench.workspace.manifest import read_manifest
from workbench.workspace.root import data_folder
from workbench.workspace.workspace import Workspace

LOG_NAME = "log.jsonl"
CHRONICLES = "chronicle"
DEFAULT = "atlas-handoff"
NEWEST_AGE = timedelta(minutes=5)
"""How old the newest event of a fresh copy is."""


class UnknownSample(ConfigurationError):
    """No sample has this name."""

    code = "unknown_sample"


class TargetNotEmpty(ConfigurationError):
    """A sample is only laid out where nothing is yet."""

    code = "target_not_empty"


class Sample(NamedTuple):
    """A sample by name, and the title in its manifest."""

    name: str
    title: str


class Materialised(NamedTuple):
    """A sample that became a workspace."""

    root: Path
    sample: str
    events: int
    moved_from: datetime | None = None
    """When its newest event happened before times were moved to now; its texts still tell of those days."""


def samples(folder: Path | None = None) -> list[Sample]:
    """The samples in a folder (default: those that ship with the program), by name."""
    return [
        Sample(place.name, read_manifest(place / MANIFEST_NAME).title)
        for place in sorted((folder or shipped("sample_workspaces")).iterdir())
        if _is_sample(place)
    ]


def materialise(
    name: str = DEFAULT,
    to: Path | None = None,
    *,
    keep_times: bool = False,
    folder: Path | None = None,
    clock: Clock | None = None,
) -> Materialised:
    """Make a workspace from a sample in `to`, which must be missing or empty.

    Without `to`, in a new folder of the user's data directory. Times are shifted so that the newest is
    `NEWEST_AGE` old, unless `keep_times`. A new folder is there whole or not at all; in one that was there
    before, what a failure left is removed.

    Raises `UnknownSample`, `TargetNotEmpty`, `ConfigurationError` for a folder that cannot be written,
    `DiskFull`, and what loading raises.
    """
    source = _find(name, folder or shipped("sample_workspaces"))
    try:
        root, is_new = _fresh(name) if to is None else _claimed(to.expanduser().absolute())
        try:
            place = Path(tempfile.mkdtemp(prefix=f".{root.name[:80]}-", dir=root.parent)) if is_new else root
            events = _lay_out(source, place, is_new, keep_times=keep_times, clock=clock)
            if is_new:
                place.rename(root)
        except BaseException:
            _clear(root, remove=is_new)
            raise
    except OSError as error:
        if is_full(error):
            raise no_room(error.filename or to or "the sample") from error
        raise ConfigurationError(
            f"{error.filename or to} cannot be written: {error.strerror or error}",
            hint="name another with --to",
        ) from error
    return Materialised(root, name, events, None if keep_times else newest(_lines(source / LOG_NAME)))


def _lay_out(source: Path, place: Path, is_new: bool, *, keep_times: bool, clock: Clock | None) -> int:
    """Fill a folder; how many events there are. After a failure it is as it was, or gone if it was new."""
    try:
        _copy(source, place)
        shift = timedelta() if keep_times else _shift(source / LOG_NAME, clock)
        with Workspace.create(place) as workspace:
            count = load_jsonl(workspace.log, _lines(source / LOG_NAME), shift=shift)
            _load_chronicles(workspace.log, source / CHRONICLES, shift)
            return count
    except BaseException:
        _clear(place, remove=is_new)
        raise


def _load_chronicles(log: EventLog, folder: Path, shift: timedelta) -> None:
    for place in sorted(folder.glob("*.jsonl")):
        if place.is_symlink():
            continue
        with place.open("rb") as file:
            stream = stream_of(file)
            file.seek(0)
            load_export(SQLiteChronicleStore(log, stream), file, shift=shift // timedelta(microseconds=1))


def _is_sample(place: Path) -> bool:
    return (place / LOG_NAME).is_file() and (place / MANIFEST_NAME).is_file()


def _find(name: str, folder: Path) -> Path:
    # Compared with what is there, so that no name leads out of the folder.
    found = {place.name: place for place in folder.iterdir() if _is_sample(place)}
    if name not in found:
        raise UnknownSample(
            f"there is no sample {name!r}", hint=f"the samples are: {', '.join(sorted(found)) or 'none'}"
        )
    return found[name]


def _fresh(name: str) -> tuple[Path, bool]:
    """A new folder `<name>-N` in the user's data directory; two programs never get the same one."""
    parent = data_folder() / "demo"
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    number = 1
    while True:
        root = parent / f"{name}-{number}"
        try:
            root.mkdir(mode=0o700)
        except FileExistsError:
            number += 1
            continue
        return root, True


def _claimed(root: Path) -> tuple[Path, bool]:
    try:
        root.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        if not root.is_dir() or any(root.iterdir()):
            raise TargetNotEmpty(
                f"{root} is not an empty folder", hint="name a folder that is empty or does not exist"
            ) from None
        return root, False
    return root, True


def _copy(source: Path, root: Path) -> None:
    for place in sorted(source.rglob("*")):
        target = root / place.relative_to(source)
        if place.is_symlink() or place.relative_to(source).parts[0] in (LOG_NAME, CHRONICLES):
            continue
        if place.is_dir():
            target.mkdir(mode=0o700, parents=True, exist_ok=True)
        elif place.is_file():
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            target.touch(mode=0o600)
            target.write_bytes(place.read_bytes())


def _clear(root: Path, *, remove: bool) -> None:
    if remove:
        shutil.rmtree(root, ignore_errors=True)
        return
    for place in root.iterdir():
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place, ignore_errors=True)
        else:
            place.unlink(missing_ok=True)


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def _shift(path: Path, clock: Clock | None) -> timedelta:
    latest = newest(_lines(path))
    now = datetime.now(UTC) if clock is None else clock()
    return timedelta() if latest is None else now - NEWEST_AGE - latest
