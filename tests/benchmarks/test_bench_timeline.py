"""What a person waits for on the Timeline of a large workspace: first rows, jumps, the activity strip.

Times are printed as they are; what is asserted is how they compare with the same on a small workspace,
or with the least that they could cost on this machine.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from tests.benchmarks.conftest import LARGE
from tests.benchmarks.large_workspace import _acta as acta
from workbench.drawing import number
from workbench.log import FOLDS as LOG_FOLDS
from workbench.log.activity import ActivityFold
from workbench.log.registry import PendingEvent
from workbench.log.streams import session_stream
from workbench.sessions.events import ChronicumCreated
from workbench.tui.timeline.places import find_place, parse_place
from workbench.tui.timeline.source import FIRST_HITS_SECONDS, TimelineSource
from workbench.workspace import Workspace
from workbench.workspace.rows import TimelineFilter, TimelineOrder

pytestmark = pytest.mark.bench

SESSIONS = 500
PAGE = 200
ROUNDS = 5
START = datetime(2023, 6, 1, tzinfo=UTC)
MIDDLE = START + timedelta(days=SESSIONS)

FILTERS = {
    "none": TimelineFilter(),
    "type, common": TimelineFilter(types=("actum.recorded",)),
    "type, rare": TimelineFilter(types=("chronicum.created",)),
    "type, none": TimelineFilter(types=("unit.closed",)),
    "actor, common": TimelineFilter(actors=("coder",)),
    "actor, rare": TimelineFilter(actors=("reviewer",)),
    "actor, none": TimelineFilter(actors=("nobody",)),
    "text, common": TimelineFilter(text="alpha"),
    "text, a letter": TimelineFilter(text="a"),
    "text, rare": TimelineFilter(text="alpha 1234"),
    "text, none": TimelineFilter(text="zzz"),
    "text + actor": TimelineFilter(text="alpha", actors=("coder",)),
    "text + rare actor": TimelineFilter(text="alpha", actors=("reviewer",)),
    "text + type, no hit": TimelineFilter(text="ledger", types=("chronicum.created",)),
    "actors + type": TimelineFilter(actors=("coder", "maya"), types=("actum.recorded",)),
    "private": TimelineFilter(visibility="private"),
    "public + text": TimelineFilter(visibility="public", text="alpha"),
    "private + text": TimelineFilter(visibility="private", text="alpha"),
    "stream": TimelineFilter(streams=("session/load%2F0007",)),
    "stream + text": TimelineFilter(streams=("session/load%2F0007",), text="alpha"),
    "a day": TimelineFilter(since=MIDDLE, until=MIDDLE + timedelta(days=1)),
    "old half": TimelineFilter(until=MIDDLE),
    "old half + actor": TimelineFilter(until=MIDDLE, actors=("maya",)),
    "old half + text": TimelineFilter(until=MIDDLE, text="alpha"),
}
ORDERS: tuple[TimelineOrder, ...] = ("recorded", "happened")


def scatter(root: Path, events: int) -> Path:
    """`events` events in 500 sessions that happened over three years and were recorded in another order."""
    draw = random.Random(7)
    order = list(range(SESSIONS))
    draw.shuffle(order)
    with Workspace.create(root, title="Load", timezone="Europe/Berlin", owner="maya") as workspace:
        for index, day in enumerate(order):
            name = f"load/{index:04}"
            moment = START + timedelta(days=2 * day)
            batch = [PendingEvent(payload=ChronicumCreated(chronicum_id=name, owner_id="maya"))]
            for payload in acta(draw, name, max(1, events // SESSIONS - 1), 40):
                moment += timedelta(seconds=draw.randrange(1, 240))
                hidden = draw.random() < 0.0002
                batch.append(
                    PendingEvent(
                        payload=payload, occurred_at=moment, visibility="private" if hidden else "public"
                    )
                )
            workspace.log.append(session_stream(name), batch)
    return root


@pytest.fixture(scope="module")
def scattered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """`LARGE` events."""
    root = scatter(tmp_path_factory.mktemp("scattered") / "w", LARGE)
    with Workspace.open(root, read_only=True) as workspace:
        yield workspace


@pytest.fixture(scope="module")
def tenth(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A tenth of them."""
    root = scatter(tmp_path_factory.mktemp("tenth") / "w", LARGE // 10)
    with Workspace.open(root, read_only=True) as workspace:
        yield workspace


def milliseconds(call: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The median of several calls."""
    found: list[float] = []
    for _ in range(rounds):
        began = time.perf_counter()
        call()
        found.append((time.perf_counter() - began) * 1e3)
    return statistics.median(found)


def least(workspace: Workspace) -> float:
    """What one walk over an index of every event costs here, in milliseconds: the measure for the rest."""
    with workspace.log.reader() as connection:
        sql = (
            "SELECT count(*) FROM events INDEXED BY events_as_happened "
            "WHERE coalesce(occurred_at, recorded_at) >= 0"
        )
        return milliseconds(lambda: connection.execute(sql).fetchall())


@pytest.mark.parametrize("order", ORDERS)
def test_first_rows_of_any_filter(scattered: Workspace, order: TimelineOrder) -> None:
    reader = scattered.readers.timeline
    walk = least(scattered)
    print(f"\n{number(LARGE)} events as {order}; one walk over an index {walk:.1f} ms")
    slowest = 0.0
    for name, wanted in FILTERS.items():

        def first(wanted: TimelineFilter = wanted) -> int:
            return len(TimelineSource(reader, wanted, order=order).first(PAGE).rows)

        took = milliseconds(first)
        slowest = max(slowest, took)
        print(f"  {name:<20} {took:7.1f} ms  {first():>3} rows")
    # A search gives up waiting for more after a while; before that it costs some walks at most.
    assert slowest <= FIRST_HITS_SECONDS * 1e3 + 10 * max(walk, 5.0)


def test_jumps_do_not_grow_with_the_log(scattered: Workspace, tenth: Workspace) -> None:
    zone, now = UTC, START + timedelta(days=2000)

    def jump(workspace: Workspace, order: TimelineOrder) -> None:
        reader = workspace.readers.timeline
        position = find_place(reader, parse_place("2024-10-12 14:00", zone, now))
        assert TimelineSource(reader, TimelineFilter(), order=order).around(position, PAGE).rows

    for order in ORDERS:
        large = milliseconds(lambda order=order: jump(scattered, order), 15)  # type: ignore[misc]
        small = milliseconds(lambda order=order: jump(tenth, order), 15)  # type: ignore[misc]
        print(f"\njump to a date as {order}: {large:.1f} ms, with a tenth of the events {small:.1f} ms")
        assert large <= 3 * small + 10


def test_the_strip(scattered: Workspace) -> None:
    activity = scattered.readers.timeline.activity
    walk = least(scattered)

    def whole() -> None:
        scale = activity.scale(150)
        assert scale is not None
        counts = activity.whole(scale)
        assert counts is not None
        assert sum(counts) == scattered.readers.timeline.bounds().last

    took = milliseconds(whole)
    scale = activity.scale(150)
    assert scale is not None
    types = milliseconds(lambda: activity.whole(scale, ("actum.recorded",)))
    print(f"\nstrip of all: {took:.1f} ms, of a type {types:.1f} ms; one walk over an index {walk:.1f} ms")
    assert took <= 4 * walk + 30
    for name in ("text, common", "actor, common", "actor, rare", "text + actor", "old half", "public + text"):
        began, first = time.perf_counter(), 0.0

        def go_on(counts: list[int], began: float = began) -> bool:
            nonlocal first
            first = first or time.perf_counter() - began
            return True

        activity.matching(FILTERS[name], scale, go_on)
        whole_time = time.perf_counter() - began
        print(f"  {name:<20} first drawn {first * 1e3:6.1f} ms, counted {whole_time * 1e3:7.1f} ms")
        assert first * 1e3 <= 8 * walk + 60


def test_what_the_fold_costs(tmp_path: Path) -> None:
    """Single events and batches, folded with and without it, on a database in memory."""
    from workbench.log.folds import FoldEvent
    from workbench.sessions.events import EVENT_TYPES

    draw = random.Random(1)
    (event_type,) = [found for found in EVENT_TYPES if found.type == "actum.recorded"]
    events = [
        FoldEvent(at, bytes(16), None, 1, "session/s", at, event_type, False, at * 10**6, None, payload)
        for at, payload in enumerate(acta(draw, "s", 4000, 40), 1)
    ]

    every = (*LOG_FOLDS, ActivityFold())

    def fold(names: set[str], size: int) -> float:
        connection = apsw.Connection(":memory:")
        folds = [made for made in every if made.name in names]
        for made in folds:
            for statement in made.schema:
                connection.execute(statement)
        began = time.perf_counter()
        for start in range(0, len(events), size):
            with connection:
                for made in folds:
                    made.apply(connection, events[start : start + size])
        return (time.perf_counter() - began) / len(events) * 1e6

    others = {made.name for made in LOG_FOLDS}
    for size in (1, 1000):
        without = statistics.median(fold(others, size) for _ in range(ROUNDS))
        alone = statistics.median(fold({ActivityFold.name}, size) for _ in range(ROUNDS))
        print(
            f"\nactivity, {size} at a time: {alone:.1f} µs an event; the log's other folds {without:.1f} µs"
        )
        assert alone <= without
