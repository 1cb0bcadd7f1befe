"""How fast a large log is folded again, and what a writer beside a rebuild keeps of its own speed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest

from tests.benchmarks.conftest import LARGE
from workbench.log.fulltext import FullTextFold
from workbench.log.inline_rebuild import rebuild
from workbench.log.replay import replay
from workbench.workspace import Workspace
from workbench.workspace.folds import FOLDS

pytestmark = pytest.mark.bench

ALONE_SECONDS = float(os.environ.get("WORKBENCH_BENCH_ALONE", "5"))
"""How long the writer is measured by itself, before the rebuild and after it."""


@pytest.mark.parametrize(("full_text", "least"), [(False, 20_000), (True, 8_000)])
def test_replay_of_everything(large: Path, tmp_path: Path, full_text: bool, least: int) -> None:
    folds = [fold for fold in FOLDS if full_text or not isinstance(fold, FullTextFold)]
    scratch = apsw.Connection(str(tmp_path / "scratch.db"))
    for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-32768"):
        scratch.execute(f"PRAGMA {pragma}").fetchall()
    with Workspace.open(large, read_only=True) as workspace:
        began = time.perf_counter()
        events = replay(workspace.log.database, folds, workspace.log.decoder, scratch)
        spent = time.perf_counter() - began
    scratch.close()
    said = "with" if full_text else "without"
    print(f"\nreplay of {events:,} events {said} full text: {events / spent:,.0f} events/s")
    assert events / spent >= least


_WRITER = """
import json, sys, time
from pathlib import Path
from workbench.log.streams import session_stream
from workbench.sessions.events import ActumRecorded, ChronicumCreated
from workbench.workspace import Workspace
root, size, stop = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
name = f"beside/{size}"
stream = session_stream(name)
commits = []
with Workspace.open(root) as workspace:
    workspace.log.append(stream, [ChronicumCreated(chronicum_id=name, owner_id="maya")])
    print("ready", flush=True)
    number = 0
    while not stop.exists():
        batch = []
        for _ in range(size):
            number += 1
            batch.append(ActumRecorded(id=f"{size}-{number}", chronicum_id=name, kind="message",
                actor_kind="agent", actor="planner", metadata={},
                content="patch review window reader ledger margin harbour signal draft queue " * 4))
        began = time.monotonic()
        workspace.log.append(stream, batch)
        commits.append((began, time.monotonic()))
print(json.dumps(commits), flush=True)
"""


class Pace(NamedTuple):
    """Commits of a writer within a stretch of time."""

    rate: float
    """Commits per second."""
    longest: float
    """Seconds that the slowest one took."""


class Writer:
    """A process that records as fast as it can, until it is asked what it did."""

    def __init__(self, root: Path, size: int, stop: Path) -> None:
        self._stop = stop
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(root), str(size), str(stop)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def commits(self) -> list[tuple[float, float]]:
        """When each commit began and ended; the process ends."""
        self._stop.touch()
        out, _ = self._process.communicate(timeout=60)
        assert self._process.returncode == 0
        return [(began, ended) for began, ended in json.loads(out)]

    def kill(self) -> None:
        """End it, whatever happened."""
        self._process.kill()
        self._process.wait()


@contextmanager
def writing(root: Path, size: int, stop: Path) -> Iterator[Writer]:
    """A writer in a process of its own, `size` events to a commit."""
    writer = Writer(root, size, stop)
    try:
        yield writer
    finally:
        writer.kill()


def pace(commits: list[tuple[float, float]], *stretches: tuple[float, float]) -> Pace:
    """How it went in some stretches of time together."""
    within = [
        (began, ended)
        for began, ended in commits
        if any(since <= ended and began <= upto for since, upto in stretches)
    ]
    seconds = sum(upto - since for since, upto in stretches)
    return Pace(len(within) / seconds, max(ended - began for began, ended in within))


@pytest.mark.parametrize("size", [1, 1000])
def test_a_writer_beside_a_rebuild(large: Path, tmp_path: Path, size: int) -> None:
    root = tmp_path / "w"
    shutil.copytree(large, root)
    with Workspace.open(root) as workspace, writing(root, size, tmp_path / "stop") as writer:
        first = time.monotonic()
        # The measurement itself, not a wait for something.
        time.sleep(ALONE_SECONDS)
        began = passed = time.monotonic()

        def note(position: int, end: int) -> None:
            nonlocal passed
            if position <= LARGE:
                passed = time.monotonic()

        reached = rebuild(workspace.log.database, FOLDS, workspace.log.decoder, progress=note)
        ended = time.monotonic()
        time.sleep(ALONE_SECONDS)
        last = time.monotonic()
        commits = writer.commits()
    alone = pace(commits, (first, began), (ended, last))
    beside, whole = pace(commits, (began, passed)), pace(commits, (began, ended))
    ratio = beside.rate / alone.rate
    print(
        f"\nrebuild beside a writer of {size:,} to a commit: {LARGE:,} events at "
        f"{LARGE / (passed - began):,.0f} events/s; the writer made {alone.rate * size:,.0f} events/s alone "
        f"(longest commit {alone.longest * 1000:.0f} ms), {beside.rate * size:,.0f} beside it "
        f"(longest {beside.longest * 1000:.0f} ms): ratio {ratio:.2f}\n"
        f"until it had caught up with that writer, at {reached:,} events after {ended - began:.0f} s: "
        f"{whole.rate * size:,.0f} events/s (longest {whole.longest * 1000:.0f} ms): "
        f"ratio {whole.rate / alone.rate:.2f}"
    )
    assert ratio >= 0.5
    assert LARGE / (passed - began) >= 8_000
    assert beside.longest < max(1.0, 2 * alone.longest)
    if reached < 2 * LARGE:
        # Else the log has grown to several times its size while it was caught up with.
        assert whole.longest < max(1.0, 2 * alone.longest)
