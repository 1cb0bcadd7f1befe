"""What recording and reading sessions costs, beside the least that it could cost."""

from __future__ import annotations

import itertools
import os
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import msgspec
import pytest

from tests.benchmarks.large_workspace import BIG_SESSION
from workbench.log.event_log import EventLog
from workbench.redaction import default_filter
from workbench.sessions import ActorKind, Actum, ActumKind, Chronicarius
from workbench.sessions.facets import facets
from workbench.sessions.queries import last_acta, stream_of
from workbench.sessions.stores.sqlite import SQLiteStore
from workbench.storage.connection import Synchronous
from workbench.workspace import Workspace
from workbench.workspace.folds import FOLDS, TABLES, event_types

pytestmark = pytest.mark.bench

Combination = tuple[tuple[str, ...], tuple[str, ...]]

RECORDS = 400
ROUNDS = 5


def combinations() -> Iterator[Combination]:
    """The 105 filters: every choice of kinds with every choice of actor kinds."""
    kinds = [kind.value for kind in ActumKind]
    actors = [kind.value for kind in ActorKind]
    for some in range(1, len(kinds) + 1):
        for chosen in itertools.combinations(kinds, some):
            for few in range(1, len(actors) + 1):
                yield from ((chosen, who) for who in itertools.combinations(actors, few))


def example(number: int) -> Actum:
    """An actum of about 700 bytes as a payload row."""
    words = " ".join(f"importer{(number * 31 + i) % 977} flag{i}" for i in range(30))
    return Actum(
        chronicum_id="bench",
        kind="message",
        actor_kind="agent",
        actor="coder",
        content=f"{number} {words}",
        metadata={"model": "example-1", "message_id": f"m{number}"},
    )


def seconds_per(call: Callable[[int], object], numbers: range) -> float:
    """Seconds per call."""
    began = time.perf_counter()
    for number in numbers:
        call(number)
    return (time.perf_counter() - began) / len(numbers)


@pytest.mark.parametrize("synchronous", ["FULL", "OFF"])
def test_recording_beside_raw_inserts(tmp_path: Path, synchronous: Synchronous) -> None:
    log = EventLog.open(
        tmp_path / "log.db",
        FOLDS,
        event_types(),
        redactor=default_filter(),
        synchronous=synchronous,
        tables=TABLES,
    )
    sessions = Chronicarius(SQLiteStore(log))
    raw = apsw.Connection(str(tmp_path / "raw.db"))
    raw.execute("PRAGMA journal_mode=WAL").fetchall()
    raw.execute(f"PRAGMA synchronous={synchronous}")
    raw.execute("CREATE TABLE rows(position INTEGER PRIMARY KEY, payload TEXT NOT NULL) STRICT")
    payload = msgspec.json.encode(sessions.record_actum("maya", example(0))).decode()
    ours: list[float] = []
    theirs: list[float] = []
    for turn in range(ROUNDS):
        numbers = range(turn * RECORDS, (turn + 1) * RECORDS)
        theirs.append(
            seconds_per(lambda _: raw.execute("INSERT INTO rows(payload) VALUES(?)", (payload,)), numbers)
        )
        ours.append(seconds_per(lambda n: sessions.record_actum("maya", example(n)), numbers))
    log.close()
    raw.close()
    ratio = statistics.median(theirs) / statistics.median(ours)
    print(
        f"\nrecord_actum, synchronous={synchronous}: {statistics.median(ours) * 1e6:.0f} µs, "
        f"raw insert {statistics.median(theirs) * 1e6:.0f} µs, ratio {ratio:.2f}, "
        f"fsync alone {fsync_micros(tmp_path):.0f} µs"
    )
    if synchronous == "FULL":
        assert ratio >= 0.20


def fsync_micros(folder: Path) -> float:
    """What a 4 KB write with fsync costs on this disk, in microseconds."""
    descriptor = os.open(folder / "fsync", os.O_CREAT | os.O_WRONLY)
    try:
        began = time.perf_counter()
        for _ in range(200):
            os.write(descriptor, b"x" * 4096)
            os.fsync(descriptor)
        return (time.perf_counter() - began) / 200 * 1e6
    finally:
        os.close(descriptor)


def timed(workspace: Workspace, query: Combination, times: int) -> list[float]:
    """Sorted seconds of `get_acta(last_n=20)`."""
    found: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        workspace.sessions.get_acta(
            "maya", BIG_SESSION, last_n=20, actum_kinds=query[0], actor_kinds=query[1]
        )
        found.append(time.perf_counter() - began)
    return sorted(found)


def test_filters_beside_no_filter(large: Path) -> None:
    with Workspace.open(large, read_only=True) as workspace:
        timed(workspace, ((), ()), 50)
        plain: list[float] = []
        filtered: dict[Combination, list[float]] = {query: [] for query in combinations()}
        # In turns, so that both see the same machine.
        for _ in range(5):
            plain += timed(workspace, ((), ()), 40)
            for query, found in filtered.items():
                found += timed(workspace, query, 20)
        base = statistics.median(plain)
        base_p95 = sorted(plain)[int(0.95 * len(plain))]
        slowest = max(filtered, key=lambda query: statistics.median(filtered[query]))
        every = sorted(itertools.chain.from_iterable(filtered.values()))
        median = statistics.median(filtered[slowest]) / base
        p95 = every[int(0.95 * len(every))] / base_p95
    print(
        f"\nget_acta(last_n=20): {base * 1e6:.0f} µs without filters; slowest of 105 filters "
        f"{median:.2f} × in the median ({'+'.join(slowest[0])} by {'+'.join(slowest[1])}), p95 {p95:.2f} ×"
    )
    assert median <= 3
    assert p95 <= 6


def test_steps_do_not_follow_the_length_of_a_session(small: Path, large: Path) -> None:
    few, many = steps(small), steps(large)
    worst = max(many[query] / few[query] for query in many)
    print(f"\nvirtual-machine steps, large to small: at most {worst:.2f} × ({max(many.values())} steps)")
    assert worst <= 1.2


def steps(root: Path) -> dict[Combination, int]:
    """Virtual-machine steps of each filter on one workspace."""
    found: dict[Combination, int] = {}
    with Workspace.open(root, read_only=True) as workspace, workspace.log.reader() as connection:
        stream = stream_of(connection, BIG_SESSION)
        assert stream is not None
        total = 0

        def count(trace: dict[str, dict[str, int]]) -> None:
            nonlocal total
            total += trace["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]

        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, count)
        for query in combinations():
            total = 0
            acta = last_acta(connection, stream, facets(*query), 20)
            assert len(acta) == 20
            found[query] = total
        connection.trace_v2(0, None)
    return found
