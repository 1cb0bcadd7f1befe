"""What recording an observation costs, beside the least that it could cost, and as the log grows."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from tests.benchmarks.conftest import LARGE
from tests.benchmarks.large_memory import REGISTRY, fill
from workbench.log.event_log import EventLog
from workbench.log.fulltext import FullTextFold
from workbench.log.replay import replay
from workbench.memory.memory import Memory
from workbench.redaction import default_filter
from workbench.storage.connection import Synchronous
from workbench.workspace.folds import FOLDS, TABLES, event_types

pytestmark = pytest.mark.bench

RECORDS = 200
ROUNDS = 5
LEAST = 0.08
"""Of the rate of raw inserts."""
GROWTH = 1.5


def opened(path: Path, synchronous: Synchronous) -> EventLog:
    return EventLog.open(
        path, FOLDS, event_types(), redactor=default_filter(), synchronous=synchronous, tables=TABLES
    )


def record(memory: Memory, number: int) -> None:
    """An observation with a reason and a fact of its own slot."""
    words = " ".join(f"importer{(number * 31 + i) % 977} flag{i}" for i in range(30))
    memory.record_event(
        f"{number} {words}",
        why="the nightly run showed it twice, and the ledger agrees",
        project=f"bench {number % 7}",
        task_id=f"load {number % 50}",
        agent="coder",
        category="implementation",
        fact={"slot": f"slot.{number}", "value": f"{number} of them", "kind": "observed"},
    )


def seconds_per(call: Callable[[int], object], numbers: range) -> float:
    """Seconds per call."""
    began = time.perf_counter()
    for number in numbers:
        call(number)
    return (time.perf_counter() - began) / len(numbers)


@pytest.mark.parametrize("synchronous", ["FULL", "OFF"])
def test_recording_beside_raw_inserts(tmp_path: Path, synchronous: Synchronous) -> None:
    raw = apsw.Connection(str(tmp_path / "raw.db"))
    raw.execute("PRAGMA journal_mode=WAL").fetchall()
    raw.execute(f"PRAGMA synchronous={synchronous}")
    raw.execute("CREATE TABLE rows(position INTEGER PRIMARY KEY, payload TEXT NOT NULL) STRICT")
    ours: list[float] = []
    theirs: list[float] = []
    with opened(tmp_path / "log.db", synchronous) as log:
        memory = Memory(log, lambda: REGISTRY)
        record(memory, 1_000_000)
        stored = log.event(1)
        assert stored is not None
        payload = str(stored.payload)
        for turn in range(ROUNDS):
            numbers = range(turn * RECORDS, (turn + 1) * RECORDS)
            theirs.append(
                seconds_per(lambda _: raw.execute("INSERT INTO rows(payload) VALUES(?)", (payload,)), numbers)
            )
            ours.append(seconds_per(lambda n: record(memory, n), numbers))
    raw.close()
    ratio = statistics.median(t / o for t, o in zip(theirs, ours, strict=True))
    print(
        f"\nsynchronous={synchronous}: record_event {statistics.median(ours) * 1e6:.0f} µs, "
        f"raw insert {statistics.median(theirs) * 1e6:.0f} µs, ratio {ratio:.3f}"
    )
    if synchronous == "FULL":
        assert ratio >= LEAST


def test_the_millionth_costs_what_the_thousandth_costs(tmp_path: Path) -> None:
    fill(tmp_path / "large.db", LARGE).close()
    fill(tmp_path / "small.db", 1000).close()
    pairs: list[tuple[float, float]] = []
    with opened(tmp_path / "large.db", "FULL") as large, opened(tmp_path / "small.db", "FULL") as small:
        memories = [Memory(log, lambda: REGISTRY) for log in (small, large)]
        for memory in memories:
            seconds_per(lambda n, memory=memory: record(memory, n), range(50))  # type: ignore[misc]
        for turn in range(ROUNDS):
            numbers = range(100 + turn * RECORDS, 100 + (turn + 1) * RECORDS)
            few, many = (
                seconds_per(lambda n, memory=memory: record(memory, n), numbers)  # type: ignore[misc]
                for memory in memories
            )
            pairs.append((few, many))
    ratio = statistics.median(many / few for few, many in pairs)
    few, many = (statistics.median(pair[side] for pair in pairs) * 1e6 for side in (0, 1))
    print(f"\nthe {LARGE:,}th: {many:.0f} µs, the 1,000th: {few:.0f} µs, ratio {ratio:.2f}")
    assert ratio <= GROWTH


@pytest.fixture(scope="module")
def memory_log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EventLog]:
    """A fifth of `LARGE` events of shared memory alone."""
    with fill(tmp_path_factory.mktemp("memory") / "log.db", LARGE // 5) as log:
        yield log


@pytest.mark.parametrize(("full_text", "least"), [(False, 10_000), (True, 5_000)])
def test_replay_of_a_shared_memory(memory_log: EventLog, full_text: bool, least: int) -> None:
    folds = [fold for fold in FOLDS if full_text or not isinstance(fold, FullTextFold)]
    # As doctor has it: a file of SQLite's own, whose pages are written only when the cache is full.
    scratch = apsw.Connection("")
    for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-32768"):
        scratch.execute(f"PRAGMA {pragma}").fetchall()
    began = time.perf_counter()
    events = replay(memory_log.database, folds, memory_log.decoder, scratch)
    spent = time.perf_counter() - began
    scratch.close()
    said = "with" if full_text else "without"
    print(f"\nreplay of {events:,} memory events {said} full text: {events / spent:,.0f} events/s")
    assert events / spent >= least
