"""From the second schema: the list of what was removed is built from the receipts that were there before."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest

from tests.workspace.older_workspace import Ticking, fill, layout_of, rows_of
from tests.workspace.redaction_cases import act, codes, token
from workbench.log import EventLog
from workbench.log.streams import session_stream
from workbench.redaction import default_filter
from workbench.storage.errors import SchemaMigrationRequired
from workbench.storage.history import History, statements
from workbench.workspace import Workspace
from workbench.workspace.folds import FOLDS, event_types
from workbench.workspace.layout import Layout, scaffold
from workbench.workspace.migrations import HISTORY, SCHEMA_VERSION
from workbench.workspace.redactions.versions import rescan_state
from workbench.workspace.rows import RedactionFilter

SECOND_LAYOUT = Path(__file__).with_name("schema_2.sql")
SECOND_FOLDS = ("sessions", "session_counts", "fulltext", "actors", "activity")


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CHRONICLE_AUTO_MIGRATE", "CHRONICLE_DB"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A workspace of schema 2, in which the filter has removed something."""
    layout = Layout(tmp_path / "w")
    scaffold(layout, title="Old", timezone="UTC", owner="ada")
    os.close(os.open(layout.database, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    connection = apsw.Connection(str(layout.database))
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    with connection:
        for statement in statements(SECOND_LAYOUT.read_text()):
            connection.execute(statement).fetchall()
    connection.close()
    folds = [fold for fold in FOLDS if fold.name in SECOND_FOLDS]
    with EventLog.open(
        layout.database,
        folds,
        event_types(),
        redactor=default_filter(),
        clock=Ticking(),
        synchronous="OFF",
        history=History(HISTORY.migrations[:2]),
    ) as log:
        fill(log, 40)
        log.append(
            session_stream("plan"),
            [act("plan", 100, f"one {token(1)} two {token(2)}", metadata={"env": {"A": token(3)}})],
        )
    return layout.root


def test_it_is_refused_until_it_is_migrated(old: Path) -> None:
    with pytest.raises(SchemaMigrationRequired):
        Workspace.open(old)


def test_what_had_been_removed_is_listed_afterwards(old: Path) -> None:
    before = rows_of(old / "chronicle.db", "events", "streams", "jobs", "activity_hours", "import_sources")
    plan = Workspace.plan_migration(old)
    assert [step.version for step in plan.pending] == list(range(3, SCHEMA_VERSION + 1))
    assert "redactions" in plan.folds
    done = Workspace.migrate(old)
    assert (done.folds, done.applied[0].name) == (plan.folds, "redactions")
    after = rows_of(old / "chronicle.db", "events", "streams", "activity_hours", "import_sources")
    assert after == {name: before[name] for name in after}
    with Workspace.open(old) as workspace:
        assert workspace.schema_version == SCHEMA_VERSION
        rows = workspace.readers.redactions.page(RedactionFilter(), 10)
        assert [(row.position, row.field, row.count) for row in rows] == [
            (41, "metadata.env.A", 1),
            (41, "content", 2),
        ]
        assert rescan_state(workspace.log).unseen == 41
        workspace.rescan()
    assert set(codes(old)) <= {"recorded_in_future"}


def test_a_migrated_layout_is_that_of_a_new_file(old: Path, tmp_path: Path) -> None:
    Workspace.migrate(old)
    Workspace.create(tmp_path / "new", timezone="UTC", owner="ada").close()
    assert layout_of(old / "chronicle.db") == layout_of(tmp_path / "new" / "chronicle.db")


def test_a_migrated_workspace_can_be_scrubbed(old: Path) -> None:
    connection = apsw.Connection(str(old / "chronicle.db"))
    connection.execute(
        "UPDATE events SET payload = replace(payload, 'ledger3', ?) WHERE position = 10", (token(9),)
    )
    connection.close()
    Workspace.migrate(old)
    with Workspace.open(old) as workspace:
        found = workspace.rescan()
        report = workspace.scrub()
        assert report.secrets == found.secrets
        # The copy from before the migration keeps what it held.
        (copy,) = report.backups
        assert copy.holds is bool(found.found)
    assert set(codes(old)) <= {"recorded_in_future"}
