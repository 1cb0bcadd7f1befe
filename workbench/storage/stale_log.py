"""Whether a write-ahead log belongs to the file that it lies beside (DESIGN §4).

SQLite takes whatever `-wal` it finds for the file's own. Where somebody put a copy back over a database
whose program had been killed, that log speaks of other pages: folded in, it would tear the copy apart. No
mark of SQLite's says which belong together; ours does (`log_chain`). Where nobody has written one, page
counts and change counters tell most of it.
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
from workbench.storage.log_chain import MAGIC, NONE_BEFORE, Mark, mark_in

HEADER_BYTES = 100
"""The header of a database file."""

_LOG_HEADER_BYTES = 32
_FRAME_HEADER_BYTES = 24
WRITTEN_AHEAD = b"\2\2"
"""What the header of a database says that is written ahead."""

_TRIES = 5


class _Frame(NamedTuple):
    page: int
    size: int
    """The file's pages after the commit that this frame ends; 0 in the middle of one."""
    header: bytes
    """What the file's header becomes, of a first page; else empty."""
    mark: Mark | None
    """Of the page that holds the log's mark."""


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
        tied = _is_tied(real, log)
        fits = _belongs(header, log) if tied is None else tied
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
    # SQLite itself takes a file of one byte for an empty one.
    return _read(path, min(count, path.stat().st_size), 0)


def _read(path: Path, count: int, at: int) -> bytes:
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0])
    try:
        return file.xRead(count, at)
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


def _is_tied(path: Path, log: Path) -> bool | None:
    """Whether the file's mark is the one that the log goes on from, or one of those in the log.

    None where that cannot be told by marks: what wrote the log knows of none, or it holds the whole file.
    """
    first: Mark | None = None
    own: Mark | None = None
    held, size = set(), 0
    for frame in _frames(log):
        held.add(frame.page)
        size = frame.size or size
        if frame.mark is None:
            continue
        if first is None:
            first, own = frame.mark, mark_in(_page(path, frame.page))
        if own is not None and own.current in frame.mark:
            return True
    if first is None:
        return None
    if own is not None:
        return False
    # The first mark of all is in this log; or a vacuum, which moves pages, and then all of the file is in it.
    return None if first.previous == NONE_BEFORE or held.issuperset(range(1, size + 1)) else False


def _page(path: Path, number: int) -> bytes:
    """A page of a file, read by SQLite; empty where the file is shorter."""
    size = marks_of(read_header(path, HEADER_BYTES)).page_bytes
    if size <= 0 or number * size > path.stat().st_size:
        return b""
    return _read(path, size, (number - 1) * size)


class Marks(NamedTuple):
    """What the header of a file says of how far it has come."""

    changes: int
    pages: int
    layouts: int
    """Raised by each change of the layout, and by each vacuum."""
    page_bytes: int

    @property
    def octets(self) -> int:
        """How long the file is."""
        return self.pages * self.page_bytes


def marks_of(header: bytes) -> Marks:
    """What a file's header of `HEADER_BYTES` says; zeros for a shorter one."""
    if len(header) < HEADER_BYTES:
        return Marks(0, 0, 0, 0)
    changes, pages, _, _, layouts = struct.unpack_from(">5I", header, 24)
    # 65,536 does not fit into the two bytes and is written as 1.
    size = int.from_bytes(header[16:18], "big")
    return Marks(changes, pages, layouts, 65536 if size == 1 else size)


def _belongs(header: bytes, log: Path) -> bool:
    """Whether a file with this header is what the log started from, or was folded into in part."""
    before = marks_of(header)
    held: set[int] = set()
    written: Marks | None = None
    told = False
    for frame in _frames(log):
        if frame.header == header:
            return True
        if told:
            continue
        held.add(frame.page)
        if frame.header:
            written = marks_of(frame.header)
        if not frame.size:
            continue
        if written is not None:
            told = True
            if header[18:20] == WRITTEN_AHEAD and _follows(before, written, frame.size, held):
                return True
        elif frame.size != before.pages:
            # A commit that leaves the first page alone neither grows nor shrinks the file.
            told = True
        held.clear()
    return not told


def _follows(before: Marks, after: Marks, pages: int, held: set[int]) -> bool:
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
                marked = content.find(MAGIC, begin, begin + page_bytes) >= 0
                mark = mark_in(content[begin : begin + page_bytes]) if marked else None
                pending.append(_Frame(page, size, head, mark))
                if size:
                    yield from pending
                    pending.clear()
    finally:
        os.close(descriptor)
