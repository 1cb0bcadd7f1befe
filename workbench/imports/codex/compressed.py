"""Rollouts as bytes, plain or compressed with Zstandard where that can be read."""

from __future__ import annotations

import errno
import importlib
import importlib.util
import io
from pathlib import Path
from typing import Any, BinaryIO, cast

from workbench.imports.transcript.lines import READ_SIZE
from workbench.imports.transcript.reading import open_plain

SUFFIX = ".jsonl.zst"
MAX_WINDOW = 128 * 1024 * 1024
"""Bytes of memory that a compressed file may ask for; one that asks for more is damaged."""

NOT_READ = (
    "compressed, and the package zstandard is not installed: pip install 'chronicle-workbench[zstd]' reads it"
)
_MIN_INPUT, _MAX_INPUT = 32, 64 * 1024
"""Bytes that are decoded at once. How many depends on what the last ones became: 32 may be 1 MB of text."""
_MUCH_TEXT, _LITTLE_TEXT = 2 * 1024 * 1024, 256 * 1024


def is_compressed(path: Path) -> bool:
    """Whether a file's name says that it is compressed."""
    return path.name.endswith(SUFFIX)


def can_decompress() -> bool:
    """Whether the library for it is installed."""
    return importlib.util.find_spec("zstandard") is not None


def open_rollout(path: Path) -> BinaryIO:
    """The file's text as bytes, from its start. Raises `OSError`, also for a damaged compressed file, then
    and while reading."""
    if not is_compressed(path):
        return open_plain(path)
    if not can_decompress():
        raise OSError(errno.ENOTSUP, NOT_READ, str(path))
    return cast(BinaryIO, io.BufferedReader(_Decompressed(path), READ_SIZE))


def packed_place(file: BinaryIO) -> int | None:
    """How many packed bytes of an open rollout were read so far; None for one that is not packed."""
    raw = getattr(file, "raw", None)
    return raw.packed if isinstance(raw, _Decompressed) else None


class _Decompressed(io.RawIOBase):
    """The text of a compressed file, whose end is an error where its last frame has none."""

    def __init__(self, path: Path) -> None:
        zstandard: Any = importlib.import_module("zstandard")
        self._error: type[Exception] = zstandard.ZstdError
        self._file = open_plain(path)
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW)
        self._frame: Any = None
        """Where the frame is decoded that was begun; None between two frames."""
        self._input = b""
        self._size = _MIN_INPUT
        self._text = memoryview(b"")
        self.packed = 0
        """Bytes of the file that were read."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._text:
            if not self._input:
                self._input = self._file.read(self._size)
                if not self._input:
                    if self._frame is None:
                        return 0
                    raise OSError(errno.EIO, "the compressed file ends too early")
                self.packed += len(self._input)
            if self._frame is None:
                self._frame = self._decompressor.decompressobj()
            try:
                text = self._frame.decompress(self._input)
            except (self._error, MemoryError):
                raise OSError(errno.EIO, "the compressed file is damaged") from None
            self._input = b""
            if self._frame.eof:
                self._input = self._frame.unused_data
                self._frame = None
            if len(text) > _MUCH_TEXT:
                self._size = max(_MIN_INPUT, self._size // 8)
            elif len(text) < _LITTLE_TEXT:
                self._size = min(_MAX_INPUT, self._size * 2)
            self._text = memoryview(text)
        size = min(len(buffer), len(self._text))
        buffer[:size] = self._text[:size]
        self._text = self._text[size:]
        return size

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()
