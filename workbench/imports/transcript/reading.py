"""Where reading a file goes on, and how it is cut into transactions."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, NamedTuple

from workbench.imports.transcript.items import ActumItem, Restarted, UnitClosedItem
from workbench.imports.transcript.lines import READ_SIZE, LineReader, digest_prefix
from workbench.imports.transcript.state import STATE_VERSION, FileState

CHECKPOINT_RECORDS = 500
CHECKPOINT_BYTES = 4 * 1024 * 1024
"""A checkpoint stands at least this often: the size of a driver's transaction (contract transcripts)."""
SETTLE_SECONDS = 10.0
"""How long a file must have been left alone before its last message counts as complete."""

CONTENT = (ActumItem, UnitClosedItem)
"""The items that become events of their own."""


class Resumed(NamedTuple):
    """A file that stands where reading goes on."""

    file: BinaryIO
    digest: hashlib._Hash | None
    """Of the bytes before; None at the start."""
    restarted: Restarted | None
    """That the file is another one than the state speaks of, so it is read again from its start."""


def resume(
    opened: ExitStack, path: Path, state: FileState | None, open_file: Callable[[Path], BinaryIO]
) -> Resumed:
    """Open a file behind what `state` says was read, if the bytes before are still the same (SHA-256), else
    at its start. `opened` closes it. Raises `OSError`."""
    file = opened.enter_context(open_file(path))
    if state is None or not (state.offset or state.version != STATE_VERSION):
        return Resumed(file, None, None)
    known = state.version == STATE_VERSION
    digest = digest_prefix(file, state.offset) if known else None
    if digest is not None and digest.hexdigest() == state.digest:
        return Resumed(file, digest, None)
    shrank = known and digest is None
    again = opened.enter_context(open_file(path))
    return Resumed(again, None, Restarted("shrank" if shrank else "changed"))


def open_plain(path: Path) -> BinaryIO:
    """The file's bytes, from its start. Raises `OSError`, also for what is no file: a pipe would block."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return open(descriptor, "rb", buffering=READ_SIZE)  # noqa: PTH123


def lines_from(resumed: Resumed, state: FileState, limit: int) -> LineReader:
    """The lines behind what `state` says was read."""
    return LineReader(
        resumed.file,
        offset=state.offset,
        number=state.line,
        inside_line=state.inside_line,
        inside_long_line=state.inside_long_line,
        digest=resumed.digest,
        limit=limit,
    )


def mark_place(state: FileState, lines: LineReader) -> None:
    """Note that everything before the place of `lines` is done."""
    state.offset, state.line = lines.offset, lines.number
    state.inside_line, state.inside_long_line = lines.inside_line, lines.inside_long_line
    state.digest = lines.digest.hexdigest()


def mark_held(state: FileState, offset: int, number: int, digest: hashlib._Hash) -> None:
    """Note that reading has to resume at the line `number`, which begins at `offset`."""
    state.offset, state.line = offset, number - 1
    state.inside_line = state.inside_long_line = False
    state.digest = digest.hexdigest()


def is_cut_off(data: bytes) -> bool:
    """Whether a last line without a line feed cannot be a whole record."""
    return not data.rstrip(b" \t\r\0").endswith(b"}")


def has_settled(path: Path, now: float) -> bool:
    """Whether a file was left alone for `SETTLE_SECONDS`, at the time `now` (seconds since 1970).

    A file changed far in the future (a clock was set) counts as settled. Raises `OSError`.
    """
    return abs(now - path.stat().st_mtime) >= SETTLE_SECONDS


def readable(name: str) -> str:
    """A path as text that can be stored: bytes that are no UTF-8 become U+FFFD."""
    return os.fsencode(name).decode("utf-8", "replace")
