"""Files below the places that a search was given, and what their first and last bytes say."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from workbench.imports.transcript.candidates import Discovery
from workbench.imports.transcript.lines import Line, LineReader
from workbench.imports.transcript.placed import what_failed

MAX_HEAD_LINE = 64 * 1024 * 1024
"""Bytes of a line that is read to tell what a file is; a longer one is passed over, whatever it holds."""
MAX_PASSED_OVER = 4
"""Lines of that kind behind which nothing more is looked for."""
MAX_PASSED_BYTES = 256 * 1024 * 1024
"""Nor is it behind so many bytes of such lines."""
TAIL_BYTES = 64 * 1024
TIMELESS_RECORDS = 10_000
TIMELESS_BYTES = 16 * 1024 * 1024
"""How far the first time of a file is looked for."""


def program_folder(variable: str, name: str, environment: Mapping[str, str] | None) -> Path:
    """Where a program keeps its files: where `variable` points, else the folder `name` at home."""
    named = (os.environ if environment is None else environment).get(variable, "")
    return Path(named).expanduser() if named else Path.home() / name


def files_at(
    path: Path, found: Discovery, suffixes: tuple[str, ...], is_passed_over: Callable[[Path], bool]
) -> Iterator[Path]:
    """The file at `path`, or the files below it whose names end so, at any depth and in order.

    What cannot be read, leads elsewhere or is no file goes to `found.refused`. Ends early where the search
    is cancelled. Never raises.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        found.refuse(path, "not found")
        return
    except (OSError, ValueError) as problem:
        found.refuse(path, getattr(problem, "strerror", None) or "not a path")
        return
    if stat.S_ISREG(mode):
        yield path
        return
    if not stat.S_ISDIR(mode):
        found.refuse(path, "not a regular file")
        return

    def unreadable(problem: OSError) -> None:
        found.refuse(Path(problem.filename) if problem.filename else path, what_failed(problem))

    for place, folders, names in os.walk(path, onerror=unreadable, followlinks=False):
        if found.watch.cancelled:
            return
        folders.sort()
        for name in sorted(names):
            file = Path(place) / name
            if not name.endswith(suffixes) or is_passed_over(file):
                continue
            if is_inside(file, path):
                yield file
            else:
                outside = file.is_symlink()
                found.refuse(file, "a link out of its folder" if outside else "not a regular file")


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a path is a regular file that leads nowhere outside `folder`."""
    try:
        return path.is_file() and (not path.is_symlink() or path.resolve().is_relative_to(folder.resolve()))
    except (OSError, RuntimeError):
        return False


class Head:
    """Iterates over the first lines of `file`: at most `records` lines and about `size` bytes.

    A line longer than `limit` is handed out empty, is never held in memory, and does not count: what tells
    whose file it is may stand behind it.
    """

    def __init__(self, file: BinaryIO, *, records: int, size: int, limit: int | None = None) -> None:
        self._lines = LineReader(file, limit=MAX_HEAD_LINE if limit is None else limit)
        self._records = records
        self._size = size
        self.passed_over = 0
        """Lines that were too long."""

    def __iter__(self) -> Iterator[Line]:
        lines = self._lines
        looked_at = seen = 0
        for line in lines:
            if line.passing:
                if lines.offset >= MAX_PASSED_BYTES:
                    self.passed_over += 1
                    return
                continue
            seen += 1
            yield line
            if line.data:
                looked_at += len(line.data)
            else:
                self.passed_over += 1
            if seen >= self._records or looked_at >= self._size or self.passed_over >= MAX_PASSED_OVER:
                return


def nothing_readable(path: Path, opened: Callable[[Path], BinaryIO]) -> str:
    """Why a file without a single record gives nothing."""
    try:
        with opened(path) as file:
            return "not JSON lines" if file.read(4096).strip(b" \t\r\n\0") else "empty"
    except OSError as problem:
        return what_failed(problem)


def first_moment(
    path: Path, opened: Callable[[Path], BinaryIO], moment_of: Callable[[bytes], datetime | None]
) -> datetime | None:
    """The time of the first record that claims one, within `TIMELESS_RECORDS` and `TIMELESS_BYTES`. Never
    raises."""
    try:
        with opened(path) as file:
            for line in Head(file, records=TIMELESS_RECORDS, size=TIMELESS_BYTES):
                if (at := moment_of(line.data)) is not None:
                    return at
    except OSError:
        # Reading will say so.
        pass
    return None


def last_moment(path: Path, size: int, moment_of: Callable[[bytes], datetime | None]) -> datetime | None:
    """The time of the last record that claims one, within the last `TAIL_BYTES`."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, size - TAIL_BYTES))
            lines = file.read(TAIL_BYTES).split(b"\n")
    except OSError:
        return None
    for line in reversed(lines):
        if line.strip() and (at := moment_of(line)) is not None:
            return at
    return None
