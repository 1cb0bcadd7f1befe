"""What the activity strip draws: cells over happened time whose sums are the counts of the log."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thorough import examples
from tests.workspace.workspace_cases import START, actum, begin, open_log, opened
from workbench.log import EventLog
from workbench.log.activity import HOUR
from workbench.log.streams import session_stream
from workbench.log.times import to_micros
from workbench.workspace.readers import Readers, timeline_walks
from workbench.workspace.readers.timeline_activity import Scale
from workbench.workspace.readers.timeline_queries import place_of
from workbench.workspace.rows import TimelineFilter

DAY = timedelta(days=1)


def fill(log: EventLog, moments: Sequence[datetime | None], actor: str = "ann") -> None:
    log.append(
        session_stream("s"),
        [
            actum("s", content="fig" if n % 3 else "plum", actor=actor, occurred_at=moment)
            for n, moment in enumerate(moments)
        ],
    )


def happened(log: EventLog) -> list[int]:
    return [place_of(row).happened for row in Readers(log).timeline.page(TimelineFilter(), 10_000)]


spread = st.sampled_from([timedelta(seconds=1), timedelta(hours=1), timedelta(days=1), timedelta(days=90)])
offsets = st.lists(st.integers(-300, 300), min_size=1, max_size=40)
odd = st.lists(
    st.sampled_from(
        [datetime(1, 1, 2, tzinfo=UTC), datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)]
    ),
    max_size=2,
)


@settings(max_examples=examples(120), deadline=None)
@given(offsets=offsets, unit=spread, odd=odd, cells=st.integers(1, 130))
def test_cells_hold_every_event_once(
    offsets: list[int], unit: timedelta, odd: list[datetime], cells: int
) -> None:
    with TemporaryDirectory() as folder, open_log(Path(folder) / "log.db") as log:
        begin(log, "s")
        fill(log, [*(START + unit * n for n in offsets), *odd, None])
        activity = Readers(log).timeline.activity
        scale = activity.scale(cells)
        assert scale is not None
        assert 1 <= scale.cells <= cells
        times = happened(log)
        expected = [0] * scale.cells
        for micros in times:
            expected[scale.cell_of(micros)] += 1
        assert activity.whole(scale) == expected
        assert activity.matching(TimelineFilter(), scale) == expected
        assert sum(expected) == len(times)
        assert scale.earlier == sum(micros < scale.start for micros in times)
        assert scale.later == sum(micros >= scale.end for micros in times)
        narrowed = TimelineFilter(text="plum", types=("actum.recorded",))
        rows = Readers(log).timeline.page(narrowed, 10_000)
        wanted = [0] * scale.cells
        for row in rows:
            wanted[scale.cell_of(place_of(row).happened)] += 1
        assert activity.matching(narrowed, scale) == wanted
        by_type = activity.whole(scale, ("actum.recorded",))
        if by_type is None:
            assert scale.width % HOUR or scale.start % HOUR
        else:
            assert sum(by_type) == len(times) - 1
            assert by_type == activity.matching(TimelineFilter(types=("actum.recorded",)), scale)


@settings(max_examples=60, deadline=None)
@given(
    offsets=offsets,
    unit=spread,
    cells=st.integers(1, 80),
    first=st.integers(-300, 300),
    length=st.integers(1, 200),
)
def test_a_range_has_cells_of_its_own(
    offsets: list[int], unit: timedelta, cells: int, first: int, length: int
) -> None:
    with TemporaryDirectory() as folder, open_log(Path(folder) / "log.db") as log:
        begin(log, "s")
        fill(log, [START + unit * n for n in offsets])
        since, until = START + unit * first, START + unit * (first + length)
        activity = Readers(log).timeline.activity
        scale = activity.scale(cells, to_micros(since), to_micros(until))
        assert scale is not None
        assert scale.start <= to_micros(since)
        assert scale.end >= to_micros(until)
        within = TimelineFilter(since=since, until=until)
        assert sum(activity.matching(within, scale)) == Readers(log).timeline.count(within)
        assert (scale.earlier, scale.later) == (0, 0)


@pytest.mark.parametrize(
    "astray",
    [
        [datetime(1, 1, 2, tzinfo=UTC)],
        [datetime(9999, 12, 30, tzinfo=UTC)],
        [datetime(1970, 1, 1, tzinfo=UTC), datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)],
    ],
)
def test_clocks_that_were_wrong_do_not_stretch_the_strip(tmp_path: Path, astray: list[datetime]) -> None:
    with opened(tmp_path / "log.db") as (log, readers):
        begin(log, "s")
        fill(log, [START + DAY * n for n in range(200)])
        fill(log, astray)
        scale = readers.timeline.activity.scale(100)
        assert scale is not None
        assert scale.end - scale.start <= 210 * 24 * HOUR
        assert scale.earlier + scale.later == len(astray)
        whole = readers.timeline.activity.whole(scale)
        assert whole is not None
        assert sum(whole) == 201 + len(astray)
        assert scale.bounds(0)[0] is None or not scale.earlier
        assert scale.bounds(scale.cells - 1)[1] is None or not scale.later


def test_old_events_that_are_many_are_no_mistake(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as (log, readers):
        begin(log, "s")
        fill(log, [START - DAY * 4000 + DAY * n for n in range(50)])
        fill(log, [START + DAY * n for n in range(50)])
        scale = readers.timeline.activity.scale(100)
        assert scale is not None
        assert (scale.earlier, scale.later) == (0, 0)
        assert scale.start <= to_micros(START - DAY * 4000)


def test_an_empty_log_has_no_activity(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as (_, readers):
        assert readers.timeline.activity.scale(100) is None
        assert readers.timeline.place_of_rank(0) is None
        assert readers.timeline.happened_at(0) is None


def test_counting_tells_and_can_be_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline_walks, "_WINDOW", 10)
    monkeypatch.setattr(timeline_walks, "_WIDEST_WINDOW", 10)
    with opened(tmp_path / "log.db") as (log, readers):
        begin(log, "s")
        fill(log, [START + timedelta(minutes=n) for n in range(99)])
        activity = readers.timeline.activity
        scale = activity.scale(20)
        assert scale is not None
        sums: list[int] = []

        def go_on(counts: list[int]) -> bool:
            sums.append(sum(counts))
            return len(sums) < 3

        wanted = TimelineFilter(actors=("ann",))
        assert sum(activity.matching(wanted, scale, go_on)) == 30
        assert sums == [10, 20, 30]
        # What was recorded last was counted first, and a part of the log can be counted alone.
        assert sum(activity.matching(wanted, scale, after=90)) == 10
        assert sum(activity.matching(wanted, scale, after=90, upto=95)) == 5


def test_cells_and_their_bounds() -> None:
    scale = Scale(1000, 10, 5, earlier=1)
    assert [scale.cell_of(at) for at in (-5, 1000, 1009, 1010, 1049, 1050, 9999)] == [0, 0, 0, 1, 4, 4, 4]
    assert scale.bounds(0) == (None, 1010)
    assert scale.bounds(4) == (1040, 1050)
    assert scale._replace(later=2).bounds(4) == (1040, None)
