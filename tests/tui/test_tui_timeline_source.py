"""The timeline as a source of rows: the same rows as the log has, whichever way they are asked for."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tui.timeline_probe import append_elsewhere, entry, make_long, make_workspace
from workbench.log import PendingEvent
from workbench.log.streams import session_stream
from workbench.tui.timeline import source as source_module
from workbench.tui.timeline.source import Looked, TimelineSource
from workbench.workspace import Workspace
from workbench.workspace.readers import timeline_parts, timeline_walks
from workbench.workspace.readers.timeline_queries import place_of
from workbench.workspace.rows import EventRow, TimelineFilter, TimelineOrder

SIZE = 450
FILTERS = (
    TimelineFilter(),
    TimelineFilter(text="comet"),
    TimelineFilter(actors=("maya",)),
    TimelineFilter(text="comet", actors=("maya",)),
    TimelineFilter(text="fl", actors=("planner", "maya"), types=("actum.recorded",)),
    TimelineFilter(text="nothing"),
    TimelineFilter(types=("unknown.type",)),
)


ORDERS: tuple[TimelineOrder, ...] = ("recorded", "happened")


@pytest.fixture(scope="module")
def scattered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """What was recorded in another order than it happened, much of it at one moment."""
    root = make_workspace(tmp_path_factory.mktemp("scattered") / "w")
    chance = random.Random(3)
    with Workspace.open(root) as workspace:
        workspace.log.append(
            session_stream("s1"),
            [
                PendingEvent(
                    payload=entry(f"entry about a {'comet' if at % 9 == 0 else 'flag'}"),
                    occurred_at=None
                    if at % 7 == 0
                    else datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=chance.randrange(40)),
                )
                for at in range(SIZE)
            ],
        )
    with Workspace.open(root, read_only=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with Workspace.open(make_long(tmp_path_factory.mktemp("long") / "w", SIZE), read_only=True) as opened:
        yield opened


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches take many steps and give up early, as they do on a log of millions."""
    monkeypatch.setattr(timeline_parts, "FEW", 1)
    monkeypatch.setattr(timeline_walks, "FEW", 1)
    monkeypatch.setattr(timeline_walks, "_STRETCH", 5)
    monkeypatch.setattr(timeline_walks, "_WINDOW", 7)
    monkeypatch.setattr(timeline_walks, "_WIDEST_WINDOW", 13)
    monkeypatch.setattr(source_module, "FIRST_HITS_SECONDS", -1.0)


def expected(workspace: Workspace, wanted: TimelineFilter) -> list[int]:
    return [row.position for row in reversed(workspace.readers.timeline.page(wanted, SIZE, after=0))]


def positions(rows: object) -> list[int]:
    assert isinstance(rows, list | tuple)
    return [row.position for row in rows]


@pytest.mark.parametrize("wanted", FILTERS)
@pytest.mark.parametrize("limit", [1, 3, 50, 1000])
def test_paging_from_either_end_gives_every_row_once(
    workspace: Workspace, wanted: TimelineFilter, limit: int
) -> None:
    every = expected(workspace, wanted)
    source = TimelineSource(workspace.readers.timeline, wanted)

    page = source.first(limit)
    assert page.at_start
    seen = positions(page.rows)
    while not page.at_end:
        page = source.after(page.rows[-1], limit)
        assert page.rows or page.at_end
        seen += positions(page.rows)
        if not page.rows:
            break
    assert seen == every

    page = source.last(limit)
    assert page.at_end
    seen = positions(page.rows)
    while not page.at_start:
        page = source.before(page.rows[0], limit)
        assert page.rows or page.at_start
        seen = positions(page.rows) + seen
        if not page.rows:
            break
    assert seen == every


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    place=st.integers(-5, SIZE + 20),
    limit=st.integers(1, 60),
    wanted=st.sampled_from(FILTERS),
)
def test_around_a_place_stands_the_nearest_row(
    workspace: Workspace, place: int, limit: int, wanted: TimelineFilter
) -> None:
    every = expected(workspace, wanted)
    page = TimelineSource(workspace.readers.timeline, wanted).around(place, limit)
    seen = positions(page.rows)
    if not every:
        assert (seen, page.focus) == ([], None)
        return
    start = every.index(seen[0])
    assert seen == every[start : start + len(seen)]
    assert page.focus is not None
    at_or_below = [position for position in every if position <= place]
    above = [position for position in every if position > place]
    assert seen[page.focus] in (at_or_below[:1] or above[-1:]) + above[-1:]
    if place in every:
        assert seen[page.focus] == place
    assert not page.at_start or seen[0] == every[0]
    assert not page.at_end or seen[-1] == every[-1]


@pytest.mark.parametrize("wanted", FILTERS[:3])
@pytest.mark.parametrize("limit", [3, 50, 1000])
def test_as_it_happened_every_row_comes_once_in_order(
    scattered: Workspace, wanted: TimelineFilter, limit: int
) -> None:
    reader = scattered.readers.timeline
    every = positions(sorted(reader.page(wanted, SIZE, after=0), key=place_of, reverse=True))
    source = TimelineSource(reader, wanted, order="happened")
    page = source.first(limit)
    seen = positions(page.rows)
    while not page.at_end:
        page = source.after(page.rows[-1], limit)
        seen += positions(page.rows)
        if not page.rows:
            break
    assert seen == every
    page = source.last(limit)
    seen = positions(page.rows)
    while not page.at_start:
        page = source.before(page.rows[0], limit)
        seen = positions(page.rows) + seen
        if not page.rows:
            break
    assert seen == every
    if every:
        for place in (every[0], every[len(every) // 2], every[-1]):
            page = source.around(place, limit)
            assert page.focus is not None
            assert positions(page.rows)[page.focus] == place
            start = every.index(positions(page.rows)[0])
            assert positions(page.rows) == every[start : start + len(page.rows)]


def test_the_two_orders_hold_the_same_rows(scattered: Workspace) -> None:
    reader = scattered.readers.timeline
    found = {
        order: positions(TimelineSource(reader, TimelineFilter(), order=order).first(SIZE).rows)
        for order in ORDERS
    }
    assert found["recorded"] != found["happened"]
    assert sorted(found["recorded"]) == sorted(found["happened"])
    source = TimelineSource(reader, TimelineFilter(), order="happened")
    rows = source.first(SIZE).rows
    assert [source.position(row) for row in rows] == list(range(1, SIZE + 1))
    assert (source.fraction(rows[0]), source.fraction(rows[-1])) == (0.0, 1.0)
    for fraction in (0.0, 0.25, 1.0):
        page = source.seek(fraction, 9)
        assert page.focus is not None
        assert page.rows[page.focus].position == rows[round(fraction * (SIZE - 1))].position


@pytest.mark.parametrize("wanted", FILTERS)
def test_the_count_is_exact(workspace: Workspace, wanted: TimelineFilter) -> None:
    source = TimelineSource(workspace.readers.timeline, wanted)
    progress: list[int] = []
    if source.total() is None:
        assert wanted
        source.count(lambda: False, progress.append)
    assert source.total() == len(expected(workspace, wanted))
    assert progress == sorted(progress)


def test_a_number_is_a_place_in_the_list(workspace: Workspace) -> None:
    source = TimelineSource(workspace.readers.timeline, TimelineFilter())
    first, last = source.first(1).rows[0], source.last(1).rows[0]
    assert (source.position(first), source.position(last)) == (1, SIZE)
    assert (source.fraction(first), source.fraction(last)) == (0.0, 1.0)
    filtered = TimelineSource(workspace.readers.timeline, FILTERS[1])
    assert filtered.position(first) is None
    middle = filtered.seek(0.5, 9)
    assert middle.focus is not None
    assert abs(middle.rows[middle.focus].position - SIZE / 2) <= 100


def test_what_comes_later_is_counted_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_long(tmp_path / "w", 300)
    with Workspace.open(root) as workspace:
        source = TimelineSource(workspace.readers.timeline, TimelineFilter(text="comet", actors=("maya",)))
        assert source.count(lambda: False, lambda number: None) == 3
        append_elsewhere(root, entry("a comet"), entry("no such thing"), entry("another comet"))
        assert source.total() is None
        looked: list[int] = []
        count = workspace.readers.timeline.count

        def counting(*given: object, **named: object) -> int:
            looked.append(int(named["after"]))  # type: ignore[call-overload]
            return count(*given, **named)  # type: ignore[arg-type]

        monkeypatch.setattr(workspace.readers.timeline, "count", counting)
        assert source.count(lambda: False, lambda number: None) == 5
        assert looked == [300]
        assert source.total() == 5


def test_a_long_search_says_how_far_it_has_come(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_module, "SAY_SECONDS", 0.0)
    told: list[Looked | None] = []
    source = TimelineSource(
        workspace.readers.timeline,
        TimelineFilter(text="comet", actors=("planner",)),
        lambda teller, looked: told.append(looked),
    )
    assert source.first(5).rows == []
    assert told[-1] is None
    steps = [looked for looked in told if isinstance(looked, int)]
    assert len(steps) > 20
    assert steps == sorted(steps, reverse=True)
    assert steps[-1] == 1


def test_a_closed_source_stops_searching(workspace: Workspace) -> None:
    told: list[Looked | None] = []
    source = TimelineSource(
        workspace.readers.timeline,
        TimelineFilter(text="comet", actors=("planner",)),
        lambda teller, looked: told.append(looked),
    )
    source.close()
    page = source.first(5)
    assert (page.rows, page.at_end) == ([], False)
    assert source.count(lambda: False, lambda number: None) == 0
    assert source.total() is None
    assert told == []


def test_long_payloads_come_clipped(tmp_path: Path) -> None:
    root = make_long(tmp_path / "w", 3)
    append_elsewhere(root, entry("x" * 3_000_000))
    with Workspace.open(root, read_only=True) as workspace:
        row: EventRow = TimelineSource(workspace.readers.timeline, TimelineFilter()).first(1).rows[0]
        assert not row.whole
        assert row.payload_bytes > 3_000_000
        assert len(row.payload["content"]) < 5000
