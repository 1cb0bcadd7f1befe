"""Which process runs a job, and whether it is still there."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

SILENT_MICROS = 120 * 1_000_000
"""After so long without a word a job of another machine, whose processes cannot be seen, counts as dead.

A word that is so far ahead of the clock counts for nothing: whoever still works says another one soon.
"""

_MOST_ANCESTORS = 1000
_START_FIELD = 19
"""The start's place in `/proc/<pid>/stat`, counted from the state behind the name."""


class Process(NamedTuple):
    """A process of some machine; a pid alone may be given to another one."""

    host: str
    pid: int
    start: str
    """When it began, as its system says it; empty where that is not known."""
    space: str
    """The process numbers that its pid is one of: containers of one host have their own."""

    def as_text(self) -> str:
        """The form in the table."""
        return f"{self.host}/{self.pid}/{self.start}/{self.space}"

    @classmethod
    def from_text(cls, text: str) -> Process | None:
        """The process that `as_text` wrote down; None for anything else."""
        host, *rest = text.rsplit("/", 3)
        if len(rest) != 3 or not rest[0].isdecimal() or len(rest[0]) > 9:
            return None
        return cls(host, int(rest[0]), rest[1], rest[2])


def this_process() -> Process:
    """The process that asks. A fork is a process of its own."""
    return _process(os.getpid())


@lru_cache(1)
def _process(pid: int) -> Process:
    host = socket.gethostname().encode("utf-8", "replace").decode()
    return Process(host, pid, _start_of(pid) or "", _space())


def is_gone(text: str, heartbeat_at: int, now: int) -> bool:
    """Whether the process of a job has ended without a word.

    On this machine its process is asked after, on another one its last word counts. One from the future
    (a clock that was wrong, or was set back since) would otherwise hold its place until that day comes.
    Times in microseconds.
    """
    process = Process.from_text(text)
    if process == this_process():
        return False
    if process is None or not is_visible(process):
        return abs(now - heartbeat_at) > SILENT_MICROS
    start = _start_of(process.pid)
    return start is None or bool(process.start and start and start != process.start)


def is_visible(process: Process | None) -> bool:
    """Whether it is, or was, a process of this machine, whose end can be seen from here."""
    here = this_process()
    return process is not None and (process.host, process.space) == (here.host, here.space)


def last_heard(started_at: int, heartbeat_at: int, now: int) -> int:
    """When a job that ended without a word was last heard of; its start, for a word from the future."""
    return max(started_at, started_at if heartbeat_at > now + SILENT_MICROS else heartbeat_at)


def ancestors() -> Iterator[int]:
    """The numbers of the processes that this one descends from, the nearest first; where the system does not
    tell, its parent alone."""
    pid, seen = os.getppid(), 0
    while pid > 0 and seen < _MOST_ANCESTORS:
        yield pid
        seen += 1
        try:
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
            pid = int(fields[1])
        except (OSError, IndexError, ValueError):
            return


def _space() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink()).strip("pid:[]")
    except OSError:
        return ""


def _start_of(pid: int) -> str | None:
    """When a process of this machine began; "" where that cannot be told; None if there is no such."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return None
    except OSError:
        pass  # It is another user's.
    if Path("/proc/self/stat").exists():
        try:
            # The name may hold anything, a closing bracket among it.
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        except FileNotFoundError:
            return None
        except OSError:
            return ""
        if fields[:1] == [b"Z"]:
            return None
        return fields[_START_FIELD].decode() if len(fields) > _START_FIELD else ""
    try:
        said = subprocess.run(
            ["/bin/ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, check=False, timeout=2
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return " ".join(said.stdout.decode("utf-8", "replace").split()).replace("/", "-")
