"""What importing transcripts costs, beside parsing each line and inserting it raw."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest

from tests.benchmarks.large_transcript import write_transcript
from workbench.workspace import Workspace

pytestmark = pytest.mark.bench

SIZE = 24 * 1024 * 1024
ROUNDS = 3


def raw_seconds(source: Path, database: Path) -> float:
    """Parse each line and insert it raw, all in one transaction."""
    connection = apsw.Connection(str(database))
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE lines(line TEXT NOT NULL) STRICT")
    began = time.perf_counter()
    connection.execute("BEGIN IMMEDIATE")
    with source.open(encoding="utf-8") as file:
        for line in file:
            json.loads(line)
            connection.execute("INSERT INTO lines VALUES(?)", (line,))
    connection.execute("COMMIT")
    spent = time.perf_counter() - began
    connection.close()
    return spent


def import_seconds(source: Path, root: Path) -> float:
    """Import the file into a fresh workspace."""
    with Workspace.create(root, title="Bench", timezone="UTC", owner="maya") as workspace:
        began = time.perf_counter()
        report = workspace.import_claude_code([source])
        spent = time.perf_counter() - began
        assert report.totals["problems"] == 0
    return spent


def test_importing_beside_raw_inserts(tmp_path: Path) -> None:
    source = tmp_path / "session.jsonl"
    lines = write_transcript(source, SIZE)
    ours: list[float] = []
    theirs: list[float] = []
    for turn in range(ROUNDS):
        theirs.append(raw_seconds(source, tmp_path / f"raw{turn}.db"))
        ours.append(import_seconds(source, tmp_path / f"w{turn}"))
    ratio = statistics.median(theirs) / statistics.median(ours)
    print(
        f"\nimport: {SIZE / statistics.median(ours) / 1e6:.1f} MB/s "
        f"({statistics.median(ours) / lines * 1e6:.0f} µs a line), raw "
        f"{SIZE / statistics.median(theirs) / 1e6:.1f} MB/s "
        f"({statistics.median(theirs) / lines * 1e6:.0f} µs a line), ratio {ratio:.2f}"
    )
    # With the whole secret filter on.
    assert ratio >= 0.10


_IMPORT = """
import resource, sys
from pathlib import Path
from workbench.workspace import Workspace
with Workspace.create(Path(sys.argv[2]), title="Bench", timezone="UTC", owner="maya") as workspace:
    workspace.import_claude_code([Path(sys.argv[1])])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak_megabytes(source: Path, root: Path) -> float:
    """Peak resident memory of a process that imports the file."""
    done = subprocess.run(
        [sys.executable, "-c", _IMPORT, str(source), str(root)], capture_output=True, text=True, check=True
    )
    return int(done.stdout) / 1024


def test_memory_does_not_follow_the_size_of_the_file(tmp_path: Path) -> None:
    small, large = tmp_path / "small.jsonl", tmp_path / "large.jsonl"
    write_transcript(small, 32 * 1024 * 1024)
    write_transcript(large, 1024 * 1024 * 1024)
    few = peak_megabytes(small, tmp_path / "small")
    many = peak_megabytes(large, tmp_path / "large")
    print(f"\nimport: peak {few:.0f} MB for 32 MB, {many:.0f} MB for 1 GB")
    assert many <= few * 1.25
