"""A chronicle of very many sections: what reads of it cost, and what loading it costs beside raw inserts.

`WORKBENCH_BENCH_SECTIONS` says how many sections there are (100,000 unless it is set). Budgets of the
contract: `covering`, a brief of 8,000 characters and a page of the tree p95 5 ms; loading at most ten times
as long as inserting the rows raw, the filter's time apart. Only ratios are asserted: of the times on a small
chronicle and on the large one, and of the two ways to insert.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest

from tests.chronicle.store_cases import STREAM, Said, a_section, open_log, reader_of
from workbench.chronicle import queries
from workbench.chronicle.brief_text import brief_page
from workbench.chronicle.checks import cleaned
from workbench.chronicle.sections import Section
from workbench.chronicle.sqlite import SQLiteChronicleStore
from workbench.chronicle.tables import SECTIONS, TABLES
from workbench.log import EventLog
from workbench.redaction import default_filter

pytestmark = pytest.mark.bench

COUNT = int(os.environ.get("WORKBENCH_BENCH_SECTIONS", "100000"))
SMALL = 1000
EVENTS_EACH = 3
TAIL = 2000
CALLS = 200
WORDS = (
    "agreed proposal round tariff delivery harbour winter contract answer question draft price quantity "
    "reserve deadline signed refused later counsel ledger договор поставка ответ вопрос"
).split()


def sections(count: int) -> list[Section]:
    """So many neighbours of three events each, with about five hundred characters of prose."""
    chance = random.Random(7)
    return [
        a_section(
            EVENTS_EACH * at + 1,
            EVENTS_EACH * (at + 1),
            " ".join(chance.choices(WORDS, k=70)),
            pins=(f"p1:model_call:{at:064x}",),
        )
        for at in range(count)
    ]


def filled(path: Path, count: int) -> EventLog:
    """A log with the events of so many sections, and some behind them."""
    log = open_log(path, default_filter())
    said = Said(content="We agreed on the price of the winter delivery, and nothing else was asked for.")
    left = EVENTS_EACH * count + TAIL
    while left:
        size = min(left, 20_000)
        log.stream(STREAM).append([said] * size)
        left -= size
    return log


class Chronicle(NamedTuple):
    """A log and the store of its stream."""

    log: EventLog
    store: SQLiteChronicleStore


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chronicle]:
    """The large chronicle."""
    with filled(tmp_path_factory.mktemp("large") / "log.db", COUNT) as log:
        store = SQLiteChronicleStore(log, STREAM)
        store.load(sections(COUNT))
        yield Chronicle(log, store)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chronicle]:
    """A small one."""
    with filled(tmp_path_factory.mktemp("small") / "log.db", SMALL) as log:
        store = SQLiteChronicleStore(log, STREAM)
        store.load(sections(SMALL))
        yield Chronicle(log, store)


def p95(call: Callable[[int], object], last: int) -> float:
    """The 95th percentile of the call's milliseconds, at places spread over a chronicle."""
    chance = random.Random(3)
    times: list[float] = []
    for _ in range(CALLS):
        place = chance.randint(1, last)
        began = time.perf_counter()
        call(place)
        times.append((time.perf_counter() - began) * 1000)
    return sorted(times)[int(CALLS * 0.95)]


def brief_of(chronicle: Chronicle) -> Callable[[int], object]:
    reader = reader_of(chronicle.log)
    return lambda _: brief_page(chronicle.store, reader)


READS: dict[str, Callable[[Chronicle], Callable[[int], object]]] = {
    "covering": lambda chronicle: chronicle.store.covering,
    "a page of the tree": lambda chronicle: lambda place: chronicle.store.page(place, 60),
    "a brief of 8,000 characters": brief_of,
    "consolidated_through": lambda chronicle: lambda _: chronicle.store.consolidated_through(),
    "the generations of a range": lambda chronicle: (
        lambda place: chronicle.store.generations(place, place + 2)
    ),
}


@pytest.mark.parametrize("name", READS)
def test_a_read_costs_the_same_however_long_the_chronicle_is(
    small: Chronicle, large: Chronicle, name: str
) -> None:
    times = [
        p95(READS[name](chronicle), EVENTS_EACH * count)
        for chronicle, count in ((small, SMALL), (large, COUNT))
    ]
    print(f"\n{name}: p95 {times[0]:.2f} ms of {SMALL:,} sections, {times[1]:.2f} ms of {COUNT:,}")
    assert times[1] < 4 * times[0] + 1


def test_loading_beside_inserting_the_rows_raw(large: Chronicle, tmp_path: Path) -> None:
    exported = large.store.export()
    began = time.perf_counter()
    clean = cleaned(exported, large.log.redactor)
    filtering = time.perf_counter() - began
    assert clean == exported
    large.store.reset()
    began = time.perf_counter()
    assert large.store.load(exported) == COUNT
    loading = time.perf_counter() - began - filtering
    raw = inserted_raw(exported, tmp_path / "raw.db")
    print(
        f"\n{COUNT:,} sections: load {loading:.2f} s, the filter {filtering:.2f} s besides, "
        f"raw inserts {raw:.2f} s: {loading / raw:.1f} times as long"
    )
    assert loading <= 10 * raw


def inserted_raw(exported: list[Section], path: Path) -> float:
    """Seconds for the bare rows in a table with its indexes, in one transaction."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("CREATE TABLE streams(stream_id INTEGER PRIMARY KEY)")
    connection.execute("INSERT INTO streams VALUES(1)")
    for statement in TABLES:
        connection.execute(statement)
    rows = [(1, *each.anchor, 1, 1, 0, *queries.columns(each)) for each in exported]
    names = (
        "stream_id, section_id, from_seq, to_seq, unit, supersedes, generation, is_current, after_gap, prose, pins, "
        "written_position, written_at, summarizer, summarizer_version"
    )
    began = time.perf_counter()
    with connection:
        connection.executemany(f"INSERT INTO {SECTIONS}({names}) VALUES({', '.join('?' * 15)})", rows)
    took = time.perf_counter() - began
    connection.close()
    return took
