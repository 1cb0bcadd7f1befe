"""The fold `activity`: hours of happened time, counted; the same however the events came."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.log.log_cases import new_log, said, stream
from workbench.log import FOLDS, EventLog, PendingEvent
from workbench.log.activity import HOUR, ActivityFold
from workbench.log.inline_rebuild import rebuild
from workbench.log.replay import replay
from workbench.log.times import to_micros
from workbench.storage import fetch

moments = st.none() | st.datetimes(
    min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC)
)
near = st.integers(-(10**7), 10**7).map(lambda s: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=s))
batches = st.lists(
    st.lists(st.tuples(moments | near, st.booleans(), st.sampled_from("ab")), min_size=1, max_size=5),
    max_size=6,
)


def counted_log(path: Path) -> EventLog:
    return new_log(path, folds=(*FOLDS, ActivityFold()))


def hours(log: EventLog) -> list[tuple[int, str, str, int]]:
    with log.reader() as connection:
        return [
            (hour, namespace, name, number)
            for hour, namespace, name, number in fetch.rows(
                connection, "SELECT * FROM activity_hours ORDER BY 1, 2, 3"
            )
        ]


def private(log: EventLog) -> list[int]:
    with log.reader() as connection:
        return [position for (position,) in fetch.rows(connection, "SELECT * FROM private_events ORDER BY 1")]


def write(log: EventLog, given: list[list[tuple[datetime | None, bool, str]]]) -> None:
    for batch in given:
        for name in "ab":
            mine = [
                PendingEvent(
                    payload=said("x"),
                    occurred_at=moment,
                    visibility="private" if hidden else "public",
                )
                for moment, hidden, where in batch
                if where == name
            ]
            if mine:
                log.append(stream(name), mine)


@settings(max_examples=60, deadline=None)
@given(batches=batches)
def test_every_event_is_counted_in_the_hour_in_which_it_happened(
    batches: list[list[tuple[datetime | None, bool, str]]],
) -> None:
    with TemporaryDirectory() as folder, counted_log(Path(folder) / "log.db") as log:
        write(log, batches)
        events = list(log.read())
        expected: Counter[tuple[int, str, str]] = Counter()
        for event in events:
            envelope = event.envelope
            happened = to_micros(envelope.occurred_at or envelope.recorded_at)
            expected[happened // HOUR, envelope.namespace, envelope.type] += 1
        assert hours(log) == sorted((*place, number) for place, number in expected.items())
        assert private(log) == [event.position for event in events if event.envelope.visibility == "private"]


@settings(max_examples=25, deadline=None)
@given(batches=batches)
def test_a_replay_gives_the_same_rows(batches: list[list[tuple[datetime | None, bool, str]]]) -> None:
    with TemporaryDirectory() as folder, counted_log(Path(folder) / "log.db") as log:
        write(log, batches)
        scratch = apsw.Connection(":memory:")
        replay(log.database, [ActivityFold()], log.decoder, scratch)
        assert fetch.rows(scratch, "SELECT * FROM activity_hours ORDER BY 1, 2, 3") == hours(log)
        noted = fetch.rows(scratch, "SELECT position FROM private_events ORDER BY 1")
        assert [position for (position,) in noted] == private(log)


@pytest.mark.parametrize("batch_size", [1, 7, 5000])
def test_a_rebuild_gives_the_same_rows(tmp_path: Path, batch_size: int) -> None:
    with counted_log(tmp_path / "log.db") as log:
        start = datetime(2026, 3, 29, tzinfo=UTC)
        write(log, [[(start + timedelta(minutes=7 * n), n % 5 == 0, "ab"[n % 2]) for n in range(100)]])
        before = hours(log), private(log)
        assert rebuild(log.database, [ActivityFold()], log.decoder, batch_size=batch_size) == 100
        assert (hours(log), private(log)) == before


def test_half_an_hour_before_1970_is_in_the_hour_below(tmp_path: Path) -> None:
    with counted_log(tmp_path / "log.db") as log:
        write(log, [[(datetime(1969, 12, 31, 23, 30, tzinfo=UTC), False, "a")]])
        assert [row[0] for row in hours(log)] == [-1]
