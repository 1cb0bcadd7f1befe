"""Whether a write-ahead log belongs to the file that it lies beside (DESIGN §4).

SQLite takes whatever `-wal` it finds for the file's own. Where somebody put a copy back over a database
whose program had been killed, that log speaks of other pages: folded in, it would tear the copy apart. No
mark in either says which belong together, but their page counts and change counters do.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import apsw

from workbench.storage.errors import DatabaseDamaged

HEADER_BYTES = 100
"""The header of a database file."""

_LOG_HEADER_BYTES = 32
_FRAME_HEADER_BYTES = 24
_WRITTEN_AHEAD = b"\2\2"
_TRIES = 5


class _Frame(NamedTuple):
    page: int
    size: int
    """The file's pages after the commit that this frame ends; 0 in the middle of one."""
    header: bytes
    """What the file's header becomes, of a first page; else empty."""


def refuse_stale_log(path: Path) -> None:
    """Refuse a file beside which lies the write-ahead log of another one, before SQLite folds it in.

    A file that is missing or no database passes, and so does whatever changes while it is looked at:
    the program that writes it noticed long ago if it were not its own. Raises `DatabaseDamaged`;
    `OSError` and `apsw.Error` where a file cannot be read.
    """
    real = path.resolve()
    log = real.with_name(f"{real.name}-wal")
    if (
        not log.is_file()
        or log.stat().st_size <= _LOG_HEADER_BYTES + _FRAME_HEADER_BYTES
        or not real.is_file()
    ):
        return
    for _ in range(_TRIES):
        header = read_header(real, HEADER_BYTES)
        if len(header) < HEADER_BYTES:
            return
        start = _start(log)
        fits = _belongs(header, log)
        if header == read_header(real, HEADER_BYTES) and start == _start(log):
            if not fits:
                raise DatabaseDamaged(
                    f"{log.name} beside {path} is the write-ahead log of another file: "
                    "one of the two was put in its place later",
                    hint=f"if {path.name} is the right one, move {log.name} (and {path.name}-shm) away; "
                    "else put the file back that they belong to; nothing was changed",
                )
            return


def read_header(path: Path, count: int) -> bytes:
    """The first bytes of a file, up to `count`.

    SQLite reads them: closing a file otherwise drops the locks that the process holds on it.
    """
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0])
    try:
        # SQLite itself takes a file of one byte for an empty one.
        return file.xRead(min(count, path.stat().st_size), 0)
    finally:
        file.xClose()


def _start(log: Path) -> bytes:
    """The log's own header: other random numbers each time it starts anew."""
    try:
        with log.open("rb") as file:
            return file.read(_LOG_HEADER_BYTES)
    except FileNotFoundError:
        # The last program closed the file and folded it in.
        return b""


class _Marks(NamedTuple):
    """What the header of a file says of how far it has come."""

    changes: int
    pages: int
    layouts: int
    """Raised by each change of the layout."""


def _marks(header: bytes) -> _Marks:
    changes, pages, _, _, layouts = struct.unpack_from(">5I", header, 24)
    return _Marks(changes, pages, layouts)


def _belongs(header: bytes, log: Path) -> bool:
    """Whether a file with this header is what the log started from, or was folded into in part."""
    before = _marks(header)
    held: set[int] = set()
    written: _Marks | None = None
    told = False
    for frame in _frames(log):
        if frame.header == header:
            return True
        if told:
            continue
        held.add(frame.page)
        if frame.header:
            written = _marks(frame.header)
        if not frame.size:
            continue
        if written is not None:
            told = True
            if header[18:20] == _WRITTEN_AHEAD and _follows(before, written, frame.size, held):
                return True
        elif frame.size != before.pages:
            # A commit that leaves the first page alone neither grows nor shrinks the file.
            told = True
        held.clear()
    return not told


def _follows(before: _Marks, after: _Marks, pages: int, held: set[int]) -> bool:
    """Whether a commit to `pages` pages, the first that writes the first page, can follow `before`."""
    # A connection that wrote before may count from what it had read first.
    if after.changes - before.changes not in (0, 1):
        return False
    if pages < before.pages:
        # Only a vacuum makes the file smaller: it writes all of it, as a new layout.
        return after.layouts == before.layouts + 1 and held.issuperset(range(1, pages + 1))
    return after.layouts >= before.layouts and held.issuperset(range(before.pages + 1, pages + 1))


def _frames(log: Path) -> Iterator[_Frame]:
    """The frames of the log's present turn, in order, up to its last commit."""
    try:
        descriptor = os.open(log, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        length = os.fstat(descriptor).st_size
        if length <= _LOG_HEADER_BYTES:
            return
        with mmap.mmap(descriptor, length, access=mmap.ACCESS_READ) as content:
            page_bytes = int.from_bytes(content[8:12], "big")
            salts = content[16:24]
            step = page_bytes + _FRAME_HEADER_BYTES
            pending: list[_Frame] = []
            for at in range(_LOG_HEADER_BYTES, length - step + 1, step):
                page, size, salt = struct.unpack_from(">II8s", content, at)
                if salt != salts:
                    return
                begin = at + _FRAME_HEADER_BYTES
                head = content[begin : begin + HEADER_BYTES] if page == 1 else b""
                pending.append(_Frame(page, size, head))
                if size:
                    yield from pending
                    pending.clear()
    finally:
        os.close(descriptor)
