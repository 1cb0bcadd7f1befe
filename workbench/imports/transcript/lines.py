"""Whole lines of a growing file, from an offset on, in memory that does not depend on the file's size."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

MAX_LINE = 128 * 1024 * 1024
"""Bytes. A longer line is a problem and is passed over; never more than this is held of it, and once."""
READ_SIZE = 1024 * 1024
PASSING_BYTES = 16 * 1024 * 1024
"""So much is passed over, of a line that is too long or of blank lines, between two signs of it."""
BLANK_LINES = 64
"""After so many blank lines in a row those that follow are passed over at once instead of one by one."""


class Line(msgspec.Struct, frozen=True, gc=False):
    """One line, or a sign that one is still being passed over."""

    number: int
    """From 1, counted from the start of the file."""
    offset: int
    """Where the line begins, in bytes."""
    data: bytes
    """With its line feed; empty for a line longer than the limit."""
    ended: bool = True
    """Whether it ends in a line feed. Only the last line may lack one."""
    passing: bool = False
    """Whether this is no line but a sign that bytes are passed over: of a line that is too long, which comes
    itself later, or blank ones. Whoever reads may stop meanwhile."""


class LineReader:
    """Iterates over the lines of `file` and keeps a running SHA-256 of the bytes it has passed.

    `digest` covers the bytes before the line handed out last until the next one is asked for or
    `close_line` is called; so a reader can note where a line began before taking it into account.
    A last line without a line feed is handed out too: whoever finds it half-written calls
    `decline`, and it counts as not read. One that is too long cannot be declined: whatever is written
    behind it, it stays too long.
    """

    def __init__(
        self,
        file: BinaryIO,
        *,
        offset: int = 0,
        number: int = 0,
        inside_line: bool = False,
        inside_long_line: bool = False,
        digest: hashlib._Hash | None = None,
        limit: int = MAX_LINE,
    ) -> None:
        self._file = file
        self._limit = limit
        self._open_line = b""
        self._before = (number, inside_line)
        self.offset = offset
        """Start of the line handed out last; after `close_line`, its end."""
        self.number = number
        self.inside_line = inside_line
        """Whether `offset` stands behind a last line that had no line feed yet: what follows up to
        the next line feed belongs to the line with the same number."""
        self.inside_long_line = inside_long_line
        """Whether that line was too long and has been handed out as such: the rest of it is passed over."""
        self.digest = digest if digest is not None else hashlib.sha256()
        self.partial = 0
        """Bytes of a last line that was declined."""

    def close_line(self) -> None:
        """Take the line handed out last into `offset` and `digest`."""
        data = self._open_line
        if data:
            self.digest.update(data)
            self.offset += len(data)
            self._open_line = b""

    def decline(self) -> None:
        """Treat the line handed out last as if it had not been read."""
        self.partial = len(self._open_line)
        self._open_line = b""
        self.number, self.inside_line = self._before

    def __iter__(self) -> Iterator[Line]:
        readline = self._file.readline
        first = min(READ_SIZE, self._limit + 1)
        blank = 0
        if self.inside_long_line:
            yield from self._pass_over(self.offset)
        while True:
            data = readline(first)
            self.close_line()
            if data[-1:] != b"\n" and len(data) == first:
                data = self._joined(data)
            if data[-1:] == b"\n":
                self.number += not self.inside_line
                self.inside_line = False
                self._open_line = data
                yield Line(self.number, self.offset, data)
                if len(data) > 1:
                    blank = 0
                elif (blank := blank + 1) >= BLANK_LINES:
                    blank = 0
                    yield from self._pass_over_blank()
            elif len(data) <= self._limit:
                if data:
                    self._before = (self.number, self.inside_line)
                    self.number += not self.inside_line
                    self.inside_line = True
                    self._open_line = data
                    yield Line(self.number, self.offset, data, ended=False)
                    self.close_line()
                return
            else:
                start = self.offset
                self.number += not self.inside_line
                self._take(data)
                # What was held to see how long it is must not stay while the rest goes by.
                data = b""
                yield from self._pass_over(start)
                yield Line(self.number, start, b"", ended=not self.inside_line)

    def _joined(self, data: bytes) -> bytes:
        """A line that begins with `data`, up to its end or to one byte more than the limit."""
        room = self._limit + 1 - len(data)
        # Unlike joining pieces, this holds the bytes once.
        whole = io.BytesIO()
        whole.write(data)
        del data
        while room > 0:
            piece = self._file.readline(min(READ_SIZE, room))
            whole.write(piece)
            room -= len(piece)
            if not piece or piece[-1:] == b"\n":
                break
        return whole.getvalue()

    def _pass_over(self, start: int) -> Iterator[Line]:
        """Read up to the end of a line that is too long, or of the file; a sign now and then."""
        self.inside_line = self.inside_long_line = True
        passed = 0
        while data := self._file.readline(READ_SIZE):
            self._take(data)
            if data[-1:] == b"\n":
                self.inside_line = self.inside_long_line = False
                return
            passed += len(data)
            if passed >= PASSING_BYTES:
                passed = 0
                yield Line(self.number, start, b"", ended=False, passing=True)

    def _pass_over_blank(self) -> Iterator[Line]:
        """Read the blank lines that come next, as far as the file can be looked at ahead; a sign now and
        then."""
        peek = getattr(self._file, "peek", None)
        if peek is None:
            return
        self.close_line()
        passed = 0
        while ready := peek(1):
            blank = len(ready) - len(ready.lstrip(b"\n"))
            self._take(self._file.read(blank))
            self.number += blank
            if blank < len(ready):
                return
            passed += blank
            if passed >= PASSING_BYTES:
                passed = 0
                yield Line(self.number, self.offset, b"", passing=True)

    def _take(self, data: bytes) -> None:
        self.digest.update(data)
        self.offset += len(data)


def digest_prefix(file: BinaryIO, length: int) -> hashlib._Hash | None:
    """SHA-256 of the next `length` bytes, the file left standing behind them; None if there are fewer."""
    digest = hashlib.sha256()
    while length > 0:
        data = file.read(min(READ_SIZE, length))
        if not data:
            return None
        digest.update(data)
        length -= len(data)
    return digest
