"""Rollouts as bytes, plain or compressed with Zstandard where that can be read."""

from __future__ import annotations

import errno
import importlib
import importlib.util
import io
from pathlib import Path
from typing import Any, BinaryIO, cast

from workbench.imports.claude_code.lines import READ_SIZE

SUFFIX = ".jsonl.zst"
MAX_WINDOW = 128 * 1024 * 1024
"""Bytes of memory that a compressed file may ask for; one that asks for more is damaged."""


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
        return path.open("rb", buffering=READ_SIZE)
    if not can_decompress():
        raise OSError(errno.ENOTSUP, "compressed, and the package zstandard is not installed", str(path))
    return cast(BinaryIO, io.BufferedReader(_Decompressed(path), READ_SIZE))


class _Decompressed(io.RawIOBase):
    def __init__(self, path: Path) -> None:
        zstandard: Any = importlib.import_module("zstandard")
        self._error: type[Exception] = zstandard.ZstdError
        self._file = path.open("rb")
        decompressor = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW)
        self._stream = decompressor.stream_reader(self._file, read_across_frames=True)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return int(self._stream.readinto(buffer))
        except (self._error, MemoryError):
            raise OSError(errno.EIO, "the compressed file is damaged") from None

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()
