"""Trouble to order: an older database, another program that holds the write lock, and a clock for the UI thread."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import apsw

from workbench.sessions.model import ActorKind, Actum, ActumKind
from workbench.workspace import Workspace
from workbench.workspace.folds import FOLDS

FOURTH = [fold for fold in FOLDS if fold.name in ("memory", "names", "purged_artifacts")]
"""What the fourth schema brought."""

HOLD = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.set_busy_timeout(20000)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
"""
"""Another program that takes the write lock and lets it go when it is told to."""


class LockHolder:
    """The other program; `release` lets the lock go."""

    def __init__(self, database: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(database)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "held\n"

    def release(self) -> None:
        """Let the lock go, and end."""
        if self.process.poll() is None:
            self.process.communicate("\n")


@contextmanager
def locked(root: Path) -> Iterator[LockHolder]:
    """The write lock of a workspace held by another process, until it is released or the block ends."""
    holder = LockHolder(root / "chronicle.db")
    try:
        yield holder
    finally:
        holder.release()


def fill(root: Path, acta: int, session: str = "s1") -> None:
    """Record some acta."""
    with Workspace.open(root) as workspace, workspace.log.transaction():
        for index in range(acta):
            workspace.sessions.record_actum(
                "ada",
                Actum(
                    chronicum_id=session,
                    kind=ActumKind.MESSAGE,
                    actor_kind=ActorKind.HUMAN,
                    actor="ada",
                    content=f"step {index}",
                ),
            )


def make_older(root: Path) -> None:
    """Take from a workspace's database what later schemas brought, as if the first release made it."""
    connection = apsw.Connection(str(root / "chronicle.db"))
    with connection:
        second = ("jobs", "activity_hours", "private_events")
        third = ("filter_versions", "scrub_steps", "log_chain", "redactions")
        fourth = [table for fold in FOURTH for table in fold.tables]
        fifth = ("chronicle_prose", "chronicle_sections", "pin_scratch")
        for table in (*second, *third, *fourth, *fifth):
            connection.execute(f"DROP TABLE {table}")
        later = ("activity", "redactions", *(fold.name for fold in FOURTH))
        connection.executemany("DELETE FROM folds WHERE name = ?", [(name,) for name in later])
        connection.execute("DELETE FROM schema_migrations WHERE version > 1")
        connection.execute("PRAGMA user_version = 1")
    connection.close()


def schema_of(root: Path) -> int:
    """The schema that the file says it has."""
    connection = apsw.Connection(str(root / "chronicle.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        row = connection.execute("PRAGMA user_version").fetchone()
        assert row is not None
        return int(row[0])
    finally:
        connection.close()


class Beats:
    """How late the UI thread was, in seconds; and how late another thread was, for the machine's share."""

    def __init__(self) -> None:
        self.worst = 0.0
        self.machine = 0.0


BEAT_SECONDS = 0.05


@asynccontextmanager
async def heartbeat() -> AsyncIterator[Beats]:
    """Ask the event loop to wake up every 50 ms for the length of the block, and note how late it was.

    A thread of its own does the same: where that is late, too, the machine was busy and not the loop.
    """
    beats = Beats()
    stop = threading.Event()

    async def beat() -> None:
        while not stop.is_set():
            began = time.monotonic()
            await asyncio.sleep(BEAT_SECONDS)
            beats.worst = max(beats.worst, time.monotonic() - began - BEAT_SECONDS)

    def beat_beside() -> None:
        while not stop.is_set():
            began = time.monotonic()
            time.sleep(BEAT_SECONDS)
            beats.machine = max(beats.machine, time.monotonic() - began - BEAT_SECONDS)

    beside = threading.Thread(target=beat_beside, daemon=True)
    beside.start()
    task = asyncio.create_task(beat())
    try:
        yield beats
    finally:
        stop.set()
        await task
        beside.join()


def fill_and_die(root: str) -> None:
    """Record something and end as a killed program does: the write-ahead log stays beside the file."""
    workspace = Workspace.open(root)
    workspace.sessions.record_actum(
        "ada",
        Actum(
            chronicum_id="s1",
            kind=ActumKind.MESSAGE,
            actor_kind=ActorKind.HUMAN,
            actor="ada",
            content="the last word",
        ),
    )
    os._exit(0)
