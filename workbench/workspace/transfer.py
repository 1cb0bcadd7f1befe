"""The log out of a workspace as a file of JSON lines, and such a file into an empty one (contract surfaces).

The file holds the events with every field and nothing else: what is folded from them is made anew, and
evidence travels by backup.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec

from workbench.errors import WorkbenchError
from workbench.imports.transcript.reading import open_plain
from workbench.imports.workspace_jsonl import (
    InvalidLine,
    LogNotEmpty,
    load_jsonl,
    position_written,
    stored_line,
)
from workbench.log import sqlite
from workbench.log.door import MAX_PAYLOAD_BYTES
from workbench.log.event_log import EventLog
from workbench.log.times import from_micros
from workbench.storage import fetch
from workbench.storage.replacing import replacing
from workbench.workspace.errors import Cancelled, ConfigurationError
from workbench.workspace.layout import Layout, place_of
from workbench.workspace.own_files import refuse_own

PAGE_ROWS = 256
PAGE_BYTES = 4 * 1024 * 1024
MAX_LINE_BYTES = 2 * MAX_PAYLOAD_BYTES
"""What no line of an export is longer than; a file without line ends is not read into memory."""

_FIRST_BYTES = b'{"causation_id":'
_CHECK_EVERY = 100
_FIRST_READ = 1024 * 1024
"""So much of a line is read before it is looked at whether it is one of an export."""

_OTHER_FILES = (
    (b"\x1f\x8b", "the file is packed (gzip)", "unpack it, and import what comes out"),
    (b"\x28\xb5\x2f\xfd", "the file is packed (zstd)", "unpack it, and import what comes out"),
    (
        b"SQLite format 3",
        "the file is a database",
        "import an export of it: workbench export jsonl --to FILE",
    ),
    (b"\xef\xbb\xbf", "the file begins with a byte order mark, which no export has", ""),
    (b"\xff\xfe", "the file is UTF-16 text, and an export is UTF-8", ""),
    (b"\xfe\xff", "the file is UTF-16 text, and an export is UTF-8", ""),
)
"""By its first bytes what a file is that is often taken for an export: what to say, and a hint."""

Progress = Callable[[int, int | None, str], None]
"""Takes (done, total or None, what is being worked on)."""


class UnreadableEvent(WorkbenchError):
    """An event of the log is damaged, so that what was exported could not be imported."""

    code = "unreadable_event"
    exit_code = 3


class FileFailed(ConfigurationError):
    """The file cannot be written or read."""

    code = "file_failed"


class TransferStopped(Cancelled):
    """The person stopped an export or an import; nothing of it was kept."""

    exit_code = 130


class Imported(NamedTuple):
    """What an import stored."""

    events: int
    redactions: dict[str, int]
    """Secrets that were taken out, by kind."""


def export_jsonl(
    log: EventLog,
    write: Callable[[bytes], object],
    *,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> int:
    """Hand every event of now to `write`, in chunks of whole lines, ascending; how many there were.

    What is appended meanwhile is left out. `progress` counts events; `cancelled()` is asked between
    chunks. Raises `UnreadableEvent` for a gap or a damaged row, `TransferStopped`, and what `write` raises.
    """
    total = log.last_position()
    done = 0
    while done < total:
        if cancelled is not None and cancelled():
            raise TransferStopped("stopped before everything was exported")
        rows = _page(log, done, total)
        lines = []
        for row in rows:
            done += 1
            lines.append(_line(row, done))
        if not rows:
            raise _unreadable(done + 1, _why_unread(log, done + 1))
        write(b"".join(lines))
        if progress is not None:
            progress(done, total, "exporting events")
    return total


def export_file(
    log: EventLog,
    path: Path,
    *,
    layout: Layout | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> int:
    """`export_jsonl` into a file that only its owner may read; how many events there were.

    The file appears, or an earlier export or an empty file is replaced, when everything is written and on
    the disk; after any error it is as it was. Raises `FileFailed` for a place that cannot be written or
    holds something that is no whole export, or a link that leads nowhere, `OwnFile` for a workspace's own
    file, and what `export_jsonl` raises.
    """
    place = _place(path)
    refuse_own(place, layout)
    # A link stays a link: what it leads to is replaced.
    target = Path(os.path.realpath(place))
    try:
        if place.is_symlink() and not target.exists():
            raise FileFailed(
                f"{path} is a symbolic link that leads to no file",
                hint="name another file with --to; the link was not touched",
            )
        _refuse_others(target, path)
        with replacing(target) as file:
            return export_jsonl(log, file.write, progress=progress, cancelled=cancelled)
    except OSError as error:
        raise FileFailed(
            f"{path} cannot be written: {error.strerror or error}", hint="name another file with --to"
        ) from error


def import_file(
    log: EventLog,
    path: Path,
    *,
    redact: bool = False,
    future: bool = False,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Imported:
    """Load an exported file into an empty log, all of it or nothing.

    Exporting again then gives the same bytes. A text that the filter would change is refused, or with
    `redact` stored filtered; an event that was recorded over a day after the log's clock is refused, unless
    `future`. It is one transaction: other programs go on reading, and cannot write.
    `progress` counts bytes; `cancelled()` is asked between events.

    Raises `FileFailed`, also for a file without events and for what is no regular file, `TransferStopped`,
    and what `load_jsonl` raises: `InvalidLine`, whose hint names the file, and `LogNotEmpty`, which names the
    workspace.
    """
    removed: dict[str, int] = {}
    try:
        with open_plain(_place(path)) as file:
            _refuse_empty(file, path)
            lines = _lines(file, progress, cancelled)
            latest = None if future else _tomorrow(log)
            events = load_jsonl(log, lines, exact=True, removed=removed if redact else None, latest=latest)
    except InvalidLine as error:
        hint = error.hint or "import the file as it was exported"
        raise InvalidLine(error.message, hint=f"{hint}; nothing of {path} was imported") from error
    except LogNotEmpty as error:
        raise LogNotEmpty(
            f"the workspace at {log.path.parent} holds events already, and {path} was not imported into it",
            hint=error.hint,
        ) from error
    except OSError as error:
        raise FileFailed(
            f"{path} cannot be read: {error.strerror or error}", hint="nothing was imported"
        ) from error
    return Imported(events, removed)


def _tomorrow(log: EventLog) -> datetime | None:
    try:
        return from_micros(log.now()) + timedelta(days=1)
    except OverflowError:
        # There is no later time that a file could hold.
        return None


def _place(path: Path) -> Path:
    """Where a file is. Raises `FileFailed` where its name means no place."""
    try:
        return place_of(path)
    except ConfigurationError as error:
        raise FileFailed(
            error.message, hint="write the file's whole path, or go to a folder that is there"
        ) from error


# -- out -----------------------------------------------------------------------------------


def _page(log: EventLog, since: int, upto: int) -> list[tuple[Any, ...]]:
    """Some rows behind `since`; none where the first of them is missing or holds what is no text."""
    rows: list[tuple[Any, ...]] = []
    size = 0
    with log.reader() as connection:
        try:
            for row in connection.execute(sqlite.BY_POSITION, (since, upto, PAGE_ROWS)):
                rows.append(row)
                size += len(row[-1])
                if size >= PAGE_BYTES:
                    break
        except UnicodeDecodeError:
            # The rows in front of it are whole; the next page begins with it, so that it can be named.
            return rows
    return rows


def _why_unread(log: EventLog, position: int) -> str:
    with log.reader() as connection:
        there = fetch.value(connection, "SELECT 1 FROM events WHERE position = ?", (position,))
        if there is None:
            return "it is missing"
        try:
            if fetch.row(connection, sqlite.ONE, (position,)) is None:
                return "its stream or its type is missing"
        except UnicodeDecodeError as error:
            return f"it is not UTF-8 text ({error.reason})"
    return "it could not be read"


_decode_payload = msgspec.json.Decoder(dict[str, Any]).decode


def _line(row: tuple[Any, ...], expected: int) -> bytes:
    if row[0] != expected:
        raise _unreadable(expected, "it is missing")
    payload: str = row[-1]
    try:
        _decode_payload(payload)
        line = stored_line(row)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError) as error:
        raise _unreadable(expected, str(error)) from None
    if "\n" in payload:
        raise _unreadable(expected, "its payload was not written by this program")
    return line


def _unreadable(position: int, reason: str) -> UnreadableEvent:
    return UnreadableEvent(
        f"the event at position {position} cannot be exported: {reason}",
        hint="the database is damaged; look closer with: workbench doctor",
    )


def _refuse_others(target: Path, named: Path) -> None:
    if not target.exists():
        return
    if not target.is_file():
        raise FileFailed(f"{named} is no file", hint="name another with --to")
    with target.open("rb") as file:
        wrong = _unlike_export(file)
    if wrong:
        raise FileFailed(
            f"{named} exists and {wrong}", hint="name another file with --to; this one was not touched"
        )


def _unlike_export(file: IO[bytes]) -> str:
    """What an open file has that no export has; empty for a whole export and for a file without a byte, which
    is what a workspace without events exports.

    An export appears when it is whole, so each of its lines is an event and the last one has their number.
    """
    line = file.readline(_FIRST_READ)
    if not line:
        return ""
    if not line.startswith(_FIRST_BYTES):
        return "is no export"
    lines = 0
    while line:
        lines += 1
        if not line.startswith(_FIRST_BYTES):
            return f"is no export: line {lines} is no event"
        pieces = [line]
        size = len(line)
        while pieces[-1][-1:] != b"\n" and size <= MAX_LINE_BYTES:
            piece = file.readline(_FIRST_READ)
            if not piece:
                return "is no whole export: its last line has no end"
            pieces.append(piece)
            size += len(piece)
        following = file.readline(_FIRST_READ)
        if (lines == 1 or not following) and position_written(b"".join(pieces)) != lines:
            return f"is no whole export: line {lines} is not the event of that number"
        line = following
    return ""


# -- in ------------------------------------------------------------------------------------


def _refuse_empty(file: IO[bytes], path: Path) -> None:
    """Raise `FileFailed` if an open file holds nothing but blanks; else it stands at its start again."""
    while piece := file.read(_FIRST_READ):
        if not piece.isspace():
            file.seek(0)
            return
    raise FileFailed(
        f"{path} is empty: there is no event in it, and nothing was imported",
        hint="name a file that “export jsonl --to FILE” wrote; a workspace without events makes an empty one",
    )


def _lines(
    file: IO[bytes], progress: Progress | None, cancelled: Callable[[], bool] | None
) -> Iterator[bytes]:
    total = os.fstat(file.fileno()).st_size or None
    done = number = 0
    while line := _line_of(file, number + 1):
        number += 1
        done += len(line)
        yield line
        if number % _CHECK_EVERY == 0:
            if progress is not None:
                progress(done, total, "importing events")
            if cancelled is not None and cancelled():
                raise TransferStopped("stopped; nothing was imported")


def _line_of(file: IO[bytes], number: int) -> bytes:
    """The next line, its end included; empty at the end of the file."""
    limit = MAX_LINE_BYTES + 1
    line = file.readline(min(_FIRST_READ, limit))
    if number == 1:
        for first, reason, hint in _OTHER_FILES:
            if line.startswith(first):
                raise InvalidLine.at(1, reason, hint=hint)
    if len(line) == _FIRST_READ and not line.endswith(b"\n"):
        if not line.startswith(_FIRST_BYTES):
            raise InvalidLine.at(number, "not an event, and longer than most files")
        line += file.readline(limit - len(line))
    if len(line) >= limit:
        raise InvalidLine.at(number, "longer than any event can be")
    return line
