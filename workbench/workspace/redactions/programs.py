"""Which programs have a file open, as far as the system tells: whom a person may ask to let go of it."""

from __future__ import annotations

import os
from pathlib import Path

_MOST = 10


def programs_with(path: Path) -> list[str]:
    """Other processes that hold `path` or its write-ahead log open, as `name (process 123)`; [] if unknown.

    Only those of the same user can be told, and only where the system lists open files below `/proc`.
    """
    try:
        found = path.stat()
        processes = [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    except OSError:
        return []
    told: list[str] = []
    for number in processes:
        if int(number) != os.getpid() and _holds(Path("/proc", number, "fd"), found):
            told.append(f"{_name(Path('/proc', number, 'comm'))} (process {number})")
            if len(told) == _MOST:
                break
    return told


def _holds(folder: Path, wanted: os.stat_result) -> bool:
    try:
        for entry in folder.iterdir():
            try:
                found = entry.stat()
            except OSError:
                continue
            if (found.st_ino, found.st_dev) == (wanted.st_ino, wanted.st_dev):
                return True
    except OSError:
        return False
    return False


def _name(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace").strip() or "a program"
    except OSError:
        return "a program"
