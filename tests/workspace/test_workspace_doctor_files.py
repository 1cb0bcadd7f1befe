"""`doctor` over database files that a disk, a copy or a stranger has changed: a finding, or a clear error."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.thorough import examples
from workbench import Actum
from workbench.errors import WorkbenchError
from workbench.storage import fetch
from workbench.storage.errors import (
    DatabaseDamaged,
    NotAWorkbenchDatabase,
    SchemaAheadOfCode,
    SchemaError,
)
from workbench.workspace import Workspace
from workbench.workspace.doctor import DoctorReport
from workbench.workspace.errors import WorkspaceMissing
from workbench.workspace.folds import FOLDS

CLEAN = DoctorReport([], [], True)


def fill(workspace: Workspace, acta: int) -> None:
    """Two sessions, one act of which names evidence."""
    digest = workspace.evidence.put(b"a picture")
    for number in range(acta):
        workspace.sessions.record_actum(
            "ada",
            Actum(
                chronicum_id=("one", "two")[number % 3 == 0],
                kind="message",
                actor_kind="human",
                actor="ada",
                content=f"words{number} common",
                metadata={"call_id": f"c{number}", "evidence": [digest] if number == 4 else []},
            ),
        )


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A healthy workspace that no test changes, all of it in one file."""
    root = tmp_path_factory.mktemp("healthy") / "w"
    with Workspace.create(root, timezone="UTC", owner="ada") as workspace:
        fill(workspace, 120)
    connection = apsw.Connection(str(root / "chronicle.db"))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    assert not (root / "chronicle.db-wal").exists()
    return root


@pytest.fixture
def root(healthy: Path, tmp_path: Path) -> Path:
    """A copy of it to break."""
    shutil.copytree(healthy, tmp_path / "w")
    return tmp_path / "w"


def replace(root: Path, data: bytes) -> None:
    """Put a database file in the place of the one that is there."""
    for name in ("chronicle.db-wal", "chronicle.db-shm"):
        (root / name).unlink(missing_ok=True)
    (root / "chronicle.db").write_bytes(data)


def said(root: Path, *, fix: bool = False) -> DoctorReport | WorkbenchError:
    """What `doctor` finds, or why it could not begin; any other exception fails the test."""
    try:
        with Workspace.open(root, read_only=not fix) as workspace:
            report = workspace.doctor(fix=fix)
    except WorkbenchError as error:
        assert error.message
        assert error.hint
        return error
    for finding in report.findings:
        assert finding.meaning.endswith(".")
        assert "\n" not in finding.meaning
        assert finding.command
    return report


def seen(root: Path) -> dict[str, list[tuple[Any, ...]]]:
    """What SQLite's check or a replay would notice a change of: indexed columns of events, and all of folds."""
    connection = apsw.Connection(str(root / "chronicle.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        rows = {
            "events": fetch.rows(
                connection,
                "SELECT position, stream_id, seq, type_id, schema_version, event_id, "
                "coalesce(occurred_at, recorded_at) FROM events ORDER BY position",
            )
        }
        for fold in FOLDS:
            for table in fold.tables:
                if table != "fulltext":
                    rows[table] = fetch.rows(connection, f'SELECT * FROM "{table}"')
        for word in ("common", "words7", "words119"):
            rows[word] = fetch.rows(
                connection, "SELECT rowid FROM fulltext WHERE fulltext MATCH ? ORDER BY rowid", (word,)
            )
        return rows
    finally:
        connection.close()


# -- bits ------------------------------------------------------------------------------------


@settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(at=st.floats(0, 1, exclude_max=True) | st.floats(0, 0.0005), bit=st.integers(0, 7))
@example(at=0.0, bit=0)
@example(at=0.00024, bit=6)
def test_a_bit_that_turned_over(healthy: Path, root: Path, at: float, bit: int) -> None:
    """It is a finding or a clear error, or it changed nothing that a check or a replay can see."""
    data = bytearray((healthy / "chronicle.db").read_bytes())
    data[int(at * len(data))] ^= 1 << bit
    replace(root, bytes(data))
    answer = said(root)
    if answer == CLEAN:
        assert seen(root) == seen(healthy)
    replace(root, bytes(data))
    said(root, fix=True)


def pages(root: Path) -> list[bytes]:
    """The pages of a database file."""
    data = (root / "chronicle.db").read_bytes()
    size = int.from_bytes(data[16:18], "big")
    return [data[start : start + size] for start in range(0, len(data), size)]


@pytest.mark.parametrize("filler", [b"\0", b"\xaa", b"\xff"])
def test_a_page_that_was_overwritten(healthy: Path, root: Path, filler: bytes) -> None:
    whole = pages(healthy)
    for number, page in enumerate(whole):
        replace(root, b"".join([*whole[:number], filler * len(page), *whole[number + 1 :]]))
        answer = said(root)
        if answer == CLEAN:
            # Not in use: pages of tables without rows look like that already, or the check passes over it.
            assert seen(root) == seen(healthy), number


def test_two_pages_that_changed_places(healthy: Path, root: Path) -> None:
    whole = pages(healthy)
    for number in range(len(whole) - 1):
        swapped = [*whole[:number], whole[number + 1], whole[number], *whole[number + 2 :]]
        replace(root, b"".join(swapped))
        if said(root) == CLEAN:
            assert seen(root) == seen(healthy), number


# -- the whole file --------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [0.0, 0.0001, 0.001, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.9999])
def test_a_file_that_was_cut(healthy: Path, root: Path, kept: float) -> None:
    data = (healthy / "chronicle.db").read_bytes()
    cut = data[: int(kept * len(data))]
    replace(root, cut)
    answer = said(root)
    assert answer != CLEAN
    if isinstance(answer, WorkbenchError):
        assert isinstance(answer, SchemaError)
    else:
        assert not answer.ok
        assert answer.findings
    assert (root / "chronicle.db").read_bytes() == cut


def test_a_file_that_is_gone(root: Path) -> None:
    (root / "chronicle.db").unlink()
    assert isinstance(said(root), WorkspaceMissing)
    assert not (root / "chronicle.db").exists()


def _strangers(path: Path) -> None:
    path.unlink()
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE notes(text TEXT); INSERT INTO notes VALUES('mine')")
    connection.close()


def _version(number: int) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        connection = apsw.Connection(str(path))
        connection.execute(f"PRAGMA user_version={number}")
        connection.close()

    return change


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (_strangers, NotAWorkbenchDatabase),
        (lambda path: path.write_bytes(b"no database at all" * 500), NotAWorkbenchDatabase),
        (_version(999), SchemaAheadOfCode),
        (_version(0), DatabaseDamaged),
    ],
)
def test_a_file_of_something_else(
    root: Path, change: Callable[[Path], None], error: type[SchemaError]
) -> None:
    change(root / "chronicle.db")
    before = (root / "chronicle.db").read_bytes()
    for fix in (False, True):
        assert type(said(root, fix=fix)) is error
    assert (root / "chronicle.db").read_bytes() == before


def _events(root: Path) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(root / "chronicle.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return fetch.rows(connection, "SELECT * FROM events ORDER BY position")
    finally:
        connection.close()


@pytest.mark.parametrize("kept", [None, 0, 0.3, 0.7, 0.999])
def test_a_write_ahead_log_that_was_lost_or_cut(root: Path, tmp_path: Path, kept: float | None) -> None:
    """What was only there is gone, and the rest is a state that was: events up to some moment."""
    child = os.fork()
    if child == 0:
        try:
            workspace = Workspace.open(root)
            fill(workspace, 30)
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    log = root / "chronicle.db-wal"
    data = log.read_bytes()
    copy = tmp_path / "whole"
    shutil.copytree(root, copy)
    everything = _events(copy)
    log.unlink()
    (root / "chronicle.db-shm").unlink()
    if kept is not None:
        log.write_bytes(data[: int(kept * len(data))])
        log.chmod(0o600)
    assert said(root) == CLEAN
    left = _events(root)
    assert left == everything[: len(left)]
    assert len(left) < len(everything)


# -- values that no table of ours can hold ---------------------------------------------------


@pytest.mark.parametrize(
    "column", ["recorded_at", "occurred_at", "seq", "stream_id", "schema_version", "private"]
)
@pytest.mark.parametrize("value", ["'x'", "x'00'", "1.5"])
def test_a_column_of_another_kind(root: Path, column: str, value: str) -> None:
    path = str(root / "chronicle.db")
    strict = (
        "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = replace(sql, {}, {}) WHERE name = 'events'"
    )
    connection = apsw.Connection(path)
    connection.execute(strict.format("' STRICT'", "''"))
    connection.close()
    connection = apsw.Connection(path)
    connection.execute(f"UPDATE events SET {column} = {value} WHERE position = 9")
    connection.execute(f"{strict} AND sql NOT LIKE '%STRICT'".format("'NOT NULL)'", "'NOT NULL) STRICT'"))
    connection.close()
    report = said(root)
    assert isinstance(report, DoctorReport)
    assert not report.ok
    assert "db_damaged" in [finding.code for finding in report.findings]


@pytest.mark.parametrize(
    "change",
    [
        "json_set(payload, '$.kind', 'iessage')",
        "json_set(payload, '$.metadata', 7)",
    ],
)
def test_a_value_that_folds_do_not_know(root: Path, change: str) -> None:
    connection = apsw.Connection(str(root / "chronicle.db"))
    connection.execute(f"UPDATE events SET payload = {change} WHERE position = 77")
    connection.close()
    report = said(root)
    assert isinstance(report, DoctorReport)
    [finding] = [finding for finding in report.findings if finding.code == "replay_failed"]
    assert "event 77" in finding.meaning
