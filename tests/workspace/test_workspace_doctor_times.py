"""`doctor` over times that no datetime can be: each event is named, and they spread nowhere."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.laid_out import laid_out_once
from workbench import Actum
from workbench.log.times import UnreadableInstant, from_micros
from workbench.storage import fetch
from workbench.workspace import Workspace
from workbench.workspace.doctor import DoctorReport
from workbench.workspace.doctor.order import EARLIEST, LATEST

BEYOND = (2**63 - 1, -(2**63), LATEST + 1, EARLIEST - 1)


@laid_out_once
def healthy(root: Path) -> Path:
    """A healthy workspace of forty-two events."""
    with Workspace.create(root, timezone="UTC", owner="ada") as workspace:
        for number in range(40):
            workspace.sessions.record_actum(
                "ada",
                Actum(
                    chronicum_id=("one", "two")[number % 3 == 0],
                    kind="message",
                    actor_kind="human",
                    actor="ada",
                    content=f"words{number}",
                ),
            )
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return healthy(tmp_path / "w")


def edit(root: Path, *statements: str) -> None:
    """Change the database file as nobody should."""
    connection = apsw.Connection(str(root / "chronicle.db"))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def look(root: Path, *, fix: bool = False) -> DoctorReport:
    """What `doctor` says."""
    with Workspace.open(root, read_only=not fix) as workspace:
        return workspace.doctor(fix=fix)


def meaning(report: DoctorReport, code: str) -> str:
    """The sentence of the one finding of that code."""
    [finding] = [each for each in report.findings if each.code == code]
    return finding.meaning


def codes(report: DoctorReport) -> list[str]:
    """The codes of what is wrong."""
    return [finding.code for finding in report.findings]


def folded(root: Path) -> list[object]:
    """What projections say of times."""
    connection = apsw.Connection(str(root / "chronicle.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return [
            fetch.rows(connection, f"SELECT * FROM {table} ORDER BY 1, 2")
            for table in ("chronica", "activity_hours", "session_activity")
        ]
    finally:
        connection.close()


@pytest.mark.parametrize("column", ["recorded_at", "occurred_at"])
@pytest.mark.parametrize("moment", BEYOND)
@pytest.mark.parametrize("position", [1, 17, 42])
def test_an_impossible_time_is_named_and_never_passes(
    root: Path, column: str, moment: int, position: int
) -> None:
    edit(root, f"UPDATE events SET {column} = {moment} WHERE position = {position}")
    before = folded(root)
    for fix in (False, True):
        report = look(root, fix=fix)
        assert meaning(report, "event_unreadable").endswith(f"at {position}.")
        assert set(codes(report)) <= {"event_unreadable", "fold_differs"}
        assert not report.ok
    # What projections still know of that event is not given up for it.
    assert folded(root) == before


def test_each_of_them_is_counted(root: Path) -> None:
    edit(root, f"UPDATE events SET occurred_at = {2**63 - 1} WHERE position % 10 = 3")
    assert meaning(look(root), "event_unreadable").endswith("at 3, 13, 23 and 1 more.")


@pytest.mark.parametrize("column", ["recorded_at", "occurred_at"])
@pytest.mark.parametrize("value", ["'x'", "x'00'", "1.5", "NULL"])
def test_a_time_of_another_kind_is_named(root: Path, column: str, value: str) -> None:
    if (column, value) == ("occurred_at", "NULL"):
        column, value = "payload", "NULL"
    loose = "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = replace(replace(sql, {}, {}), {}, {}) WHERE name = 'events'"
    edit(root, loose.format("' STRICT'", "''", "' NOT NULL'", "''"))
    edit(root, f"UPDATE events SET {column} = {value} WHERE position = 9")
    report = look(root)
    assert meaning(report, "event_unreadable").endswith("at 9.")
    assert "recorded_at_falls" not in codes(report)
    assert not look(root, fix=True).ok


def test_other_projections_are_compared_and_mended_all_the_same(root: Path) -> None:
    edit(root, f"UPDATE events SET occurred_at = {2**63 - 1} WHERE position = 3", "DELETE FROM actors")
    report = look(root)
    assert codes(report).count("fold_differs") == 2
    after = look(root, fix=True)
    assert [each.code for each in after.mended] == ["fold_differs"]
    assert "actors" in after.mended[0].meaning
    [kept] = [each for each in after.findings if each.code == "fold_differs"]
    assert "activity" in kept.meaning
    assert "backups" in kept.command
    assert not after.ok


@pytest.mark.parametrize("moment", BEYOND)
def test_an_impossible_last_time_says_nothing_of_the_clock(root: Path, moment: int) -> None:
    edit(root, f"UPDATE events SET recorded_at = {moment} WHERE position = 42")
    assert "recorded_in_future" not in codes(look(root))


def test_a_last_time_in_future_is_told_behind_an_impossible_one(root: Path) -> None:
    edit(
        root,
        f"UPDATE events SET recorded_at = {2**63 - 1} WHERE position = 3",
        f"UPDATE events SET recorded_at = {LATEST} WHERE position = 42",
    )
    report = look(root)
    assert {"recorded_in_future", "event_unreadable"} <= set(codes(report))
    assert "recorded_at_falls" not in codes(report)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("recorded_at = 5 WHERE position = 12", "at 12."),
        (f"recorded_at = {LATEST} WHERE position = 12", "at 12."),
        ("recorded_at = recorded_at - 3600000000 WHERE position >= 12", "at 12."),
        (f"recorded_at = {LATEST} WHERE position IN (12, 20)", "at 12, 20."),
    ],
)
def test_a_time_out_of_order_is_named_where_it_stands(root: Path, change: str, named: str) -> None:
    edit(root, f"UPDATE events SET {change}")
    assert meaning(look(root), "recorded_at_falls").endswith(named)


def test_times_before_1970_are_times(root: Path) -> None:
    edit(root, f"UPDATE events SET occurred_at = {EARLIEST} WHERE position = 3")
    assert codes(look(root)) == ["fold_differs"]
    assert look(root, fix=True).ok
    assert look(root) == DoctorReport([], [], True)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    moment=st.integers(-(2**63), 2**63 - 1)
    | st.integers(EARLIEST - 2, EARLIEST + 2)
    | st.integers(LATEST - 2, LATEST + 2)
)
def test_what_is_named_is_what_cannot_be_read(root: Path, moment: int) -> None:
    edit(root, f"UPDATE events SET occurred_at = {moment} WHERE position = 5")
    try:
        from_micros(moment)
    except UnreadableInstant:
        assert "event_unreadable" in codes(look(root))
    else:
        assert "event_unreadable" not in codes(look(root))
