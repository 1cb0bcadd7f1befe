"""What exporting and importing a log cost, beside a plain loop over rows and lines."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import apsw
import msgspec
import pytest

from tests.benchmarks.large_workspace import fill
from workbench.log import sqlite
from workbench.workspace import Workspace
from workbench.workspace.layout import Layout
from workbench.workspace.transfer import export_file, import_file

pytestmark = pytest.mark.bench

EVENTS = int(os.environ.get("WORKBENCH_BENCH_TRANSFER", "100000"))
ROUNDS = 3
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def made(root: Path, events: int) -> Path:
    """A workspace of `events` events in a hundred sessions."""
    with Workspace.create(root, title="Bench", timezone="UTC", owner="maya") as workspace:
        fill(workspace, events, sessions=100)
    return root


def _time(micros: int | None) -> str | None:
    return None if micros is None else (_EPOCH + timedelta(microseconds=micros)).isoformat()


def _id(data: bytes | None) -> str | None:
    return None if data is None else str(UUID(bytes=data))


def plain_export(root: Path, target: Path) -> float:
    """Read each row and write it with `json.dumps`."""
    connection = apsw.Connection(str(Layout(root).database))
    began = time.perf_counter()
    with target.open("w", encoding="utf-8") as file:
        for row in connection.execute(f"{sqlite.FROM_EVENTS} ORDER BY e.position"):
            value = {
                "position": row[0],
                "stream": row[1],
                "seq": row[2],
                "namespace": row[3],
                "type": row[4],
                "schema_version": row[5],
                "event_id": _id(row[6]),
                "causation_id": _id(row[7]),
                "correlation_id": _id(row[8]),
                "visibility": "private" if row[9] else "public",
                "recorded_at": _time(row[10]),
                "occurred_at": _time(row[11]),
                "payload": json.loads(row[12]),
            }
            file.write(json.dumps(value, ensure_ascii=False) + "\n")
    spent = time.perf_counter() - began
    connection.close()
    return spent


_PLAIN_TABLE = (
    "CREATE TABLE events("
    "position INTEGER PRIMARY KEY, stream TEXT NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL, "
    "event_id TEXT NOT NULL, recorded_at TEXT NOT NULL, occurred_at TEXT, line TEXT NOT NULL) STRICT"
)


def plain_import(source: Path, database: Path) -> float:
    """Parse each line and insert it raw into one table, all in one transaction."""
    connection = apsw.Connection(str(database))
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute(_PLAIN_TABLE)
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    began = time.perf_counter()
    connection.execute("BEGIN IMMEDIATE")
    with source.open(encoding="utf-8") as file:
        for line in file:
            value = decode(line)
            connection.execute(
                "INSERT INTO events VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    value["position"],
                    value["stream"],
                    value["seq"],
                    value["type"],
                    value["event_id"],
                    value["recorded_at"],
                    value["occurred_at"],
                    line,
                ),
            )
    connection.execute("COMMIT")
    spent = time.perf_counter() - began
    connection.close()
    return spent


def our_export(root: Path, target: Path) -> float:
    """`export jsonl --to`."""
    with Workspace.open(root, read_only=True) as workspace:
        began = time.perf_counter()
        export_file(workspace.log, target)
        return time.perf_counter() - began


def our_import(source: Path, root: Path) -> float:
    """`import jsonl` into a fresh workspace."""
    with Workspace.create(root, title="Bench", timezone="UTC", owner="maya") as workspace:
        began = time.perf_counter()
        assert import_file(workspace.log, source).events == EVENTS
        return time.perf_counter() - began


def test_transfer_beside_plain_loops(tmp_path: Path) -> None:
    root = made(tmp_path / "w", EVENTS)
    source = tmp_path / "ours.jsonl"
    out: list[float] = []
    plain_out: list[float] = []
    into: list[float] = []
    plain_into: list[float] = []
    for turn in range(ROUNDS):
        out.append(our_export(root, source))
        plain_out.append(plain_export(root, tmp_path / "plain.jsonl"))
        into.append(our_import(source, tmp_path / f"into{turn}"))
        plain_into.append(plain_import(source, tmp_path / f"plain{turn}.db"))
    our_export(tmp_path / "into0", tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == source.read_bytes()
    ratios = []
    for name, ours, theirs in (("export", out, plain_out), ("import", into, plain_into)):
        mine, plain = statistics.median(ours), statistics.median(theirs)
        ratios.append(plain / mine)
        print(
            f"\n{name}: {EVENTS / mine:,.0f} events/s ({mine / EVENTS * 1e6:.1f} µs each), plain "
            f"{EVENTS / plain:,.0f} events/s ({plain / EVENTS * 1e6:.1f} µs each), ratio {plain / mine:.2f}"
        )
    assert ratios[0] >= 0.3
    assert ratios[1] >= 0.1


_TRANSFER = """
import sys
from pathlib import Path
from workbench.workspace import Workspace
from workbench.workspace.transfer import export_file, import_file
source, target, root = map(Path, sys.argv[1:])
with Workspace.open(source, read_only=True) as workspace:
    export_file(workspace.log, target)
with Workspace.create(root, title="Bench", timezone="UTC", owner="maya") as workspace:
    import_file(workspace.log, target)
# Not `ru_maxrss`: that begins with what the parent process had.
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def peak_megabytes(source: Path, place: Path) -> float:
    """Peak resident memory of a process that exports a workspace and imports the file into another."""
    done = subprocess.run(
        [sys.executable, "-c", _TRANSFER, str(source), str(place / "x.jsonl"), str(place / "new")],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout) / 1024


def test_memory_does_not_follow_the_number_of_events(tmp_path: Path) -> None:
    peaks = []
    # Below the first number the connections' caches are not full yet.
    sizes = EVENTS, 3 * EVENTS
    for events in sizes:
        place = tmp_path / str(events)
        place.mkdir()
        peaks.append(peak_megabytes(made(place / "w", events), place))
    few, many = peaks
    print(f"\ntransfer: peak {few:.0f} MB for {sizes[0]:,} events, {many:.0f} MB for {sizes[1]:,}")
    assert many <= few * 1.25
