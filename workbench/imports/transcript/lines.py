"""Whole lines of a growing file, from an offset on, in memory that does not depend on the file's size."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

MAX_LINE = 256 * 1024 * 1024
"""A longer line is a problem and is passed over; it is never held in memory whole."""
READ_SIZE = 1024 * 1024


class Line(msgspec.Struct, frozen=True, gc=False):
    """One line."""

    number: int
    """From 1, counted from the start of the file."""
    offset: int
    """Where the line begins, in bytes."""
    data: bytes
    """With its line feed; empty for a line longer than the limit."""
    ended: bool = True
    """Whether it ends in a line feed. Only the last line may lack one."""


class LineReader:
    """Iterates over the lines of `file` and keeps a running SHA-256 of the bytes it has passed.

    `digest` covers the bytes before the line handed out last until the next one is asked for or
    `close_line` is called; so a reader can note where a line began before taking it into account.
    A last line without a line feed is handed out too: whoever finds it half-written calls
    `decline`, and it counts as not read.
    """

    def __init__(
        self,
        file: BinaryIO,
        *,
        offset: int = 0,
        number: int = 0,
        inside_line: bool = False,
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
        limit = self._limit
        while True:
            data = readline(limit + 1)
            self.close_line()
            if data[-1:] == b"\n":
                self.number += not self.inside_line
                self.inside_line = False
                self._open_line = data
                yield Line(self.number, self.offset, data)
            elif len(data) <= limit:
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
                if not self._pass_over(data):
                    return
                self.number += not self.inside_line
                self.inside_line = False
                yield Line(self.number, start, b"")

    def _pass_over(self, data: bytes) -> bool:
        """Skip the rest of a line that is too long; False if the file ends before the line does."""
        digest = self.digest.copy()
        length = 0
        while data:
            digest.update(data)
            length += len(data)
            if data.endswith(b"\n"):
                self.digest = digest
                self.offset += length
                return True
            data = self._file.readline(READ_SIZE)
        self.partial = length
        return False


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
