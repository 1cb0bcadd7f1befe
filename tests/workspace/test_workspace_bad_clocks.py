"""Clocks that step back, leap, or stand in another century: the log goes on and its times never fall."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from itertools import chain, repeat
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench import Actum
from workbench.log.times import UnreadableInstant, from_micros, now_micros, to_micros
from workbench.storage.errors import DatabaseDamaged
from workbench.workspace import Workspace

FIRST = datetime.min.replace(tzinfo=UTC)
LAST = datetime.max.replace(tzinfo=UTC)
NOON = datetime(2031, 5, 4, 12, tzinfo=UTC)


class Clock:
    """A clock that says one given time after the other, and the last one for ever."""

    def __init__(self, times: Iterable[datetime]) -> None:
        given = list(times)
        self._times: Iterator[datetime] = chain(given, repeat(given[-1]))

    def __call__(self) -> datetime:
        return next(self._times)


def act(workspace: Workspace, words: str) -> None:
    workspace.sessions.record_actum(
        "ada",
        Actum(chronicum_id="one", kind="message", actor_kind="human", actor="ada", content=words),
    )


def recorded(root: Path, times: list[datetime], acta: int = 6) -> list[datetime]:
    """When a log says its events were recorded, written under such a clock; everything in it is readable."""
    with Workspace.create(root, timezone="UTC", owner="ada", clock=Clock(times)) as workspace:
        for number in range(acta):
            act(workspace, f"act {number}")
        found = [event.envelope.recorded_at for event in workspace.log.read()]
        assert len(found) == acta + 1
        assert [actum.content for actum in workspace.sessions.get_acta("ada", "one")] == [
            f"act {number}" for number in range(acta)
        ]
        assert found == sorted(found)
        assert workspace.status()["summary"]["events"] == acta + 1
    return found


@pytest.mark.parametrize(
    "times",
    [
        [NOON, NOON - timedelta(hours=1), NOON - timedelta(days=400)],
        [NOON, datetime(2099, 1, 1, tzinfo=UTC), NOON],
        [NOON, LAST, NOON],
        [FIRST, FIRST, NOON],
        [datetime(1969, 7, 20, tzinfo=UTC)],
        [FIRST],
        [LAST],
    ],
    ids=[
        "back",
        "far and back",
        "the end and back",
        "year 1",
        "before 1970",
        "always year 1",
        "always the end",
    ],
)
def test_recorded_times_never_fall(tmp_path: Path, times: list[datetime]) -> None:
    found = recorded(tmp_path / "w", times)
    assert found[-1] >= max(found)
    # The next program goes on from there, whatever its clock says.
    with Workspace.open(tmp_path / "w", clock=Clock([NOON])) as workspace:
        act(workspace, "later")
        last = list(workspace.log.read())[-1]
        assert last.envelope.recorded_at == max(found[-1], NOON)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.datetimes(timezones=st.just(UTC)), min_size=1, max_size=6))
def test_any_clock(tmp_path_factory: pytest.TempPathFactory, times: list[datetime]) -> None:
    recorded(tmp_path_factory.mktemp("any") / "w", times, acta=4)


def test_the_hour_that_comes_twice(tmp_path: Path) -> None:
    """A clock with a zone of its own: order is that of instants, not of what the wall says."""
    berlin = ZoneInfo("Europe/Berlin")
    first = datetime(2031, 10, 26, 2, 50, tzinfo=berlin)
    second = datetime(2031, 10, 26, 2, 10, tzinfo=berlin, fold=1)
    found = recorded(tmp_path / "w", [first, second, second + timedelta(minutes=1)])
    assert {moment.utcoffset() for moment in found} == {timedelta()}
    assert found[-1] - found[0] <= timedelta(minutes=21)
    assert to_micros(second) - to_micros(first) == 20 * 60 * 10**6


def test_doctor_says_that_the_last_event_is_later_than_now(tmp_path: Path) -> None:
    recorded(tmp_path / "w", [NOON, LAST])
    with Workspace.open(tmp_path / "w", read_only=True, clock=Clock([NOON])) as workspace:
        report = workspace.doctor()
    [finding] = report.findings
    assert (finding.severity, finding.code) == ("warning", "recorded_in_future")
    assert report.ok


@given(
    st.datetimes(min_value=datetime(1, 1, 2), timezones=st.sampled_from([UTC, timezone(timedelta(hours=14))]))
)
def test_every_instant_comes_back(moment: datetime) -> None:
    assert from_micros(to_micros(moment)) == moment


@pytest.mark.parametrize("stored", [2**62, -(2**62), to_micros(LAST) + 1, to_micros(FIRST) - 1, "noon", None])
def test_what_no_clock_could_have_said_is_damage(stored: object) -> None:
    with pytest.raises(UnreadableInstant) as caught:
        from_micros(stored)  # type: ignore[arg-type]
    assert isinstance(caught.value, DatabaseDamaged)
    assert (caught.value.code, caught.value.exit_code) == ("db_damaged", 3)


def test_now_is_now() -> None:
    assert abs(now_micros() - to_micros(datetime.now(UTC))) < 60 * 10**6
