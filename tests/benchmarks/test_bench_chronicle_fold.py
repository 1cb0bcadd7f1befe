"""How fast a long stream is folded into sections, and what a writer beside a slow summarizer keeps."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from tests.chronicle.fold_cases import CLOSES, STREAM, LooksAtAll, consolidator_of, event, open_log
from workbench.chronicle.sections import Consolidation
from workbench.log import EventLog, StoredEvent

pytestmark = pytest.mark.bench

EVENTS = int(os.environ.get("WORKBENCH_BENCH_EVENTS", "1000000"))
BESIDE_SECONDS = float(os.environ.get("WORKBENCH_BENCH_BESIDE", "5"))


def _nothing(events: Sequence[StoredEvent]) -> Consolidation:
    return Consolidation("prose")


def _long(path: Path, events: int, every: int) -> EventLog:
    """A log of one stream with a closing event at every so many."""
    log = open_log(path)
    said, closed = event("S", "some words that were said at length " * 6), event("C")
    with log.transaction():
        for first in range(0, events, 1000):
            batch = [closed if (first + at + 1) % every == 0 else said for at in range(1000)]
            log.append(STREAM, batch)
    return log


@pytest.mark.parametrize("every", [10, 20, 100, 1000])
def test_folding_a_long_stream(tmp_path: Path, every: int) -> None:
    with _long(tmp_path / "log.db", EVENTS, every) as log:
        consolidator = consolidator_of(log, _nothing, draw_seconds=1.0)
        began = time.perf_counter()
        sections = len(consolidator.consolidate())
        spent = time.perf_counter() - began
        began = time.perf_counter()
        lag = consolidator.lag()
        asked = time.perf_counter() - began
    print(
        f"\n{EVENTS:,} events into {sections:,} sections: {EVENTS / spent:,.0f} events/s; "
        f"lag after it in {asked * 1000:.2f} ms"
    )
    assert (sections, lag.due) == (EVENTS // every, False)


def test_events_that_close_nothing_are_passed_over(tmp_path: Path) -> None:
    with _long(tmp_path / "log.db", EVENTS // 10, EVENTS) as log:
        spent = {}
        for name, boundary in (("every event", LooksAtAll()), ("one type", CLOSES)):
            consolidator = consolidator_of(log, _nothing, boundary=boundary, name=name)
            began = time.perf_counter()
            assert consolidator.consolidate() == []
            spent[name] = time.perf_counter() - began
    ratio = spent["every event"] / spent["one type"]
    print(f"\nreading {EVENTS // 10:,} events that close nothing: by type {ratio:.0f} times faster")
    assert ratio >= 5


def _passed(until: float) -> bool:
    return time.monotonic() >= until


_WRITER = """
import json, sys, time
from pathlib import Path
from tests.chronicle.fold_cases import event, open_log, stream
log, stop = open_log(Path(sys.argv[1])), Path(sys.argv[2])
commits = []
print("ready", flush=True)
while not stop.exists():
    log.append(stream("beside"), [event("S")])
    commits.append(time.monotonic())
print(json.dumps(commits), flush=True)
log.close()
"""


def test_a_writer_beside_a_slow_summarizer(tmp_path: Path) -> None:
    path, stop = tmp_path / "log.db", tmp_path / "stop"
    over = threading.Event()
    with _long(path, 10_000, 20) as log:

        def slow(events: Sequence[StoredEvent]) -> Consolidation:
            # What is measured is what happens meanwhile.
            over.wait(BESIDE_SECONDS / 5)
            return Consolidation("prose")

        writer = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(path), str(stop)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        try:
            assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
            times = [time.monotonic()]
            for consolidating in (False, True, False, True):
                until = times[-1] + BESIDE_SECONDS
                if consolidating:
                    passed = partial(_passed, until)
                    consolidator_of(log, slow, draw_seconds=1.0).consolidate(cancelled=passed)
                else:
                    over.wait(BESIDE_SECONDS)
                times.append(time.monotonic())
            stop.touch()
            out, _ = writer.communicate(timeout=60)
        finally:
            writer.kill()
            writer.wait()
    commits = json.loads(out)
    rates = [
        sum(began <= commit < ended for commit in commits) / (ended - began)
        for began, ended in pairwise(times)
    ]
    alone, beside = rates[0] + rates[2], rates[1] + rates[3]
    print(f"\nappends by another program beside a sleeping summarizer: {beside / alone:.2f} of alone")
    assert beside / alone >= 0.9
