"""`doctor` over the layout: what is missing of it is found and built anew, what is none of ours is named."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest

from workbench import Actum
from workbench.storage import fetch
from workbench.storage.errors import DatabaseDamaged
from workbench.workspace import Workspace
from workbench.workspace.doctor import DoctorReport, doctor_of_refused
from workbench.workspace.doctor.objects import laid_out
from workbench.workspace.folds import FOLDS
from workbench.workspace.layout import Layout

CLEAN = DoctorReport([], [], True)
LAID = laid_out()
FOLDED = {table for fold in FOLDS for table in fold.tables}
INDEXES = sorted(each.name for each in LAID if each.kind == "index")
TEXTS = tuple(f"{each.name}_" for each in LAID if each.sql.startswith("CREATE VIRTUAL"))
TABLES = sorted(
    each.name
    for each in LAID
    if each.kind == "table" and (each.name in FOLDED or not each.name.startswith(TEXTS))
)
NEEDED = {"events", "streams", "event_types", "schema_migrations"}
"""Tables of what nothing else can bring back."""


def record(workspace: Workspace, number: int) -> None:
    """One act."""
    workspace.sessions.record_actum(
        "ada",
        Actum(
            chronicum_id=("one", "two")[number % 3 == 0],
            kind="message",
            actor_kind="human",
            actor="ada",
            content=f"words{number} common",
        ),
    )


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A healthy workspace that no test changes, with a job."""
    root = tmp_path_factory.mktemp("laid") / "w"
    with Workspace.create(root, timezone="UTC", owner="ada") as workspace:
        for number in range(30):
            record(workspace, number)
        with workspace.jobs.run("export", "export") as job:
            job.finish("done")
    return root


@pytest.fixture
def root(healthy: Path, tmp_path: Path) -> Path:
    """A copy of it to break."""
    shutil.copytree(healthy, tmp_path / "w")
    return tmp_path / "w"


def edit(root: Path, *statements: str) -> None:
    """Change the database file as nobody should."""
    connection = apsw.Connection(str(root / "chronicle.db"))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def look(root: Path, *, fix: bool = False) -> DoctorReport:
    """What `doctor` says, whether or not the workspace can be opened."""
    try:
        workspace = Workspace.open(root, read_only=not fix)
    except DatabaseDamaged as error:
        return doctor_of_refused(Layout(root), error, fix=fix)
    with workspace:
        return workspace.doctor(fix=fix)


def codes(report: DoctorReport) -> list[str]:
    """The codes of what is wrong."""
    return [finding.code for finding in report.findings]


def layout(root: Path) -> list[Any]:
    """What the file's layout holds, by name."""
    connection = apsw.Connection(str(root / "chronicle.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return fetch.rows(connection, "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")
    finally:
        connection.close()


def check_works(root: Path) -> None:
    """What needs each index and table: lists in both orders, words, and new acts and jobs."""
    with Workspace.open(root) as workspace:
        record(workspace, 1000)
        with workspace.jobs.run("import", "import", lease="import") as job:
            job.finish("done")
        assert workspace.jobs.page(10)
        assert workspace.readers.totals()[2] == 31
    # Without its versions nobody knows what the filter has seen.
    assert codes(look(root)) in ([], ["rescan_due"])


def test_the_layout_is_taken_from_what_a_new_file_gets(root: Path) -> None:
    there = {name for _, name, _ in layout(root) if not name.startswith("sqlite_")}
    assert there == {each.name for each in LAID}


@pytest.mark.parametrize("name", INDEXES)
def test_an_index_that_is_missing_is_found_and_built(healthy: Path, root: Path, name: str) -> None:
    edit(root, f"DROP INDEX {name}")
    report = look(root)
    assert codes(report) == ["index_missing"]
    [finding] = report.findings
    assert f" {name} " in finding.meaning
    assert (finding.severity, report.ok) == ("critical", False)
    assert "doctor --fix" in finding.command
    assert look(root, fix=True) == DoctorReport([], report.findings, True)
    assert layout(root) == layout(healthy)
    check_works(root)


@pytest.mark.parametrize("name", INDEXES)
def test_an_index_over_something_else_is_built_anew(healthy: Path, root: Path, name: str) -> None:
    [table] = [each.table for each in LAID if each.name == name]
    column = fetch.value(
        apsw.Connection(str(root / "chronicle.db")), f"SELECT name FROM pragma_table_info('{table}')"
    )
    edit(root, f"DROP INDEX {name}", f"CREATE INDEX {name} ON {table}({column} DESC)")
    report = look(root)
    assert codes(report) == ["index_differs"]
    assert look(root, fix=True) == DoctorReport([], report.findings, True)
    assert layout(root) == layout(healthy)


def test_blanks_and_quotes_make_no_difference(root: Path) -> None:
    edit(root, "DROP INDEX jobs_by_status", 'create index "jobs_by_status"\n on "jobs" ( status ,job_id )')
    assert look(root) == CLEAN


def test_an_index_that_cannot_be_built_says_why(root: Path) -> None:
    edit(
        root,
        "DROP INDEX events_by_id",
        "UPDATE events SET event_id = (SELECT event_id FROM events WHERE position = 4) WHERE position = 9",
    )
    for fix in (False, True, False):
        report = look(root, fix=fix)
        assert codes(report) == ["index_missing"]
        assert report.mended == []
        assert "cannot be built again: rows of events have the same event_id" in report.findings[0].meaning
        shown, connection = (
            shlex.split(report.findings[0].command)[-1],
            apsw.Connection(str(root / "chronicle.db")),
        )
        assert fetch.rows(connection, shown) == [("4,9",)]
        connection.close()
        assert not report.ok


@pytest.mark.parametrize("name", [name for name in TABLES if name not in NEEDED])
def test_a_table_that_is_missing_is_found_and_made(healthy: Path, root: Path, name: str) -> None:
    edit(root, f"DROP TABLE {name}")
    report = look(root)
    assert codes(report) == ["table_missing"]
    assert f" {name} " in report.findings[0].meaning
    assert "doctor --fix" in report.findings[0].command
    assert not report.ok
    assert look(root, fix=True) == DoctorReport([], report.findings, True)
    assert layout(root) == layout(healthy)
    check_works(root)


@pytest.mark.parametrize("name", [name for name in TABLES if name not in NEEDED])
def test_a_view_in_a_tables_place_is_found_and_replaced(healthy: Path, root: Path, name: str) -> None:
    edit(root, f"DROP TABLE {name}", f"CREATE VIEW {name} AS SELECT 1 AS x")
    report = look(root)
    assert codes(report) == ["table_differs"]
    assert look(root, fix=True) == DoctorReport([], report.findings, True)
    assert layout(root) == layout(healthy)


@pytest.mark.parametrize("name", sorted(NEEDED))
def test_a_table_that_nothing_brings_back_is_never_made(root: Path, name: str) -> None:
    edit(root, "PRAGMA foreign_keys=OFF", f"DROP TABLE {name}")
    before = layout(root)
    for fix in (False, True):
        report = look(root, fix=fix)
        assert codes(report) == ["db_damaged"]
        assert name in report.findings[0].meaning
        assert ".recover" in report.findings[0].command
    assert layout(root) == before


def test_a_projections_table_of_another_shape_is_built_again(healthy: Path, root: Path) -> None:
    edit(root, "ALTER TABLE chronica ADD COLUMN more TEXT")
    report = look(root)
    assert codes(report) == ["table_differs"]
    assert look(root, fix=True) == DoctorReport([], report.findings, True)
    assert layout(root) == layout(healthy)
    check_works(root)


def test_a_list_of_jobs_of_another_shape_is_laid_out_anew(healthy: Path, root: Path) -> None:
    edit(root, "ALTER TABLE jobs ADD COLUMN more TEXT NOT NULL DEFAULT ''")
    report = look(root)
    assert codes(report) == ["table_differs"]
    assert "earlier jobs" in report.findings[0].meaning
    assert look(root, fix=True) == DoctorReport([], report.findings, True)
    assert layout(root) == layout(healthy)
    check_works(root)


def test_events_of_another_shape_are_never_touched(root: Path) -> None:
    edit(root, "ALTER TABLE events ADD COLUMN more TEXT", "DROP INDEX jobs_by_status")
    before = layout(root)
    for fix in (False, True):
        report = look(root, fix=fix)
        assert "table_differs" in codes(report)
        assert not report.ok
    assert layout(root) == before


def test_everything_that_can_be_lost_comes_back_together(healthy: Path, root: Path) -> None:
    lost = [name for name in TABLES if name not in NEEDED]
    edit(root, *(f"DROP TABLE {name}" for name in lost), "DROP INDEX events_as_happened")
    # Twenty of a kind are named, the others counted together.
    assert len(lost) > 20
    assert len(look(root).findings) == 20 + 1 + 1
    assert look(root, fix=True).ok
    assert layout(root) == layout(healthy)
    check_works(root)


# -- what is none of ours ----------------------------------------------------------------------


def test_triggers_on_our_tables_are_found_and_dropped(healthy: Path, root: Path) -> None:
    edit(
        root,
        "CREATE TRIGGER eater AFTER INSERT ON events BEGIN DELETE FROM events; END",
        "CREATE TRIGGER refuser BEFORE INSERT ON jobs BEGIN SELECT raise(ABORT, 'no'); END",
        "CREATE TRIGGER spoiler AFTER INSERT ON chronica BEGIN UPDATE chronica SET owner_id = 'eve'; END",
    )
    report = look(root)
    assert codes(report) == ["foreign_trigger"] * 3
    assert not report.ok
    after = look(root, fix=True)
    assert after.findings == []
    assert [each.meaning for each in after.mended] == [
        f"The trigger {name} on {table}, which was none of ours, is dropped; it was made with "
        f"(CREATE TRIGGER {name} {body} END)."
        for name, table, body in (
            ("eater", "events", "AFTER INSERT ON events BEGIN DELETE FROM events;"),
            ("refuser", "jobs", "BEFORE INSERT ON jobs BEGIN SELECT raise(ABORT, 'no');"),
            ("spoiler", "chronica", "AFTER INSERT ON chronica BEGIN UPDATE chronica SET owner_id = 'eve';"),
        )
    ]
    assert layout(root) == layout(healthy)
    check_works(root)


def test_a_triggers_name_is_a_strangers_text(root: Path) -> None:
    name = 'a"; DROP TABLE events; --\n\x1b[31m' + "x" * 5000
    edit(
        root,
        f'CREATE TRIGGER "{name.replace(chr(34), chr(34) * 2)}" AFTER INSERT ON jobs BEGIN SELECT 1; END',
    )
    report = look(root)
    [finding] = report.findings
    assert finding.code == "foreign_trigger"
    assert len(finding.meaning) < 300
    assert "\n" not in finding.meaning
    after = look(root, fix=True)
    assert after.findings == []
    assert len(after.mended[0].meaning) < 800
    assert "\n" not in after.mended[0].meaning
    check_works(root)


def test_many_triggers_are_named_and_counted(root: Path) -> None:
    edit(root, *(f"CREATE TRIGGER t{n} AFTER INSERT ON jobs BEGIN SELECT 1; END" for n in range(200)))
    report = look(root)
    assert set(codes(report)) == {"foreign_trigger"}
    assert len(report.findings) == 21
    assert "180 more" in report.findings[-1].meaning
    assert look(root, fix=True).findings == []
    assert look(root) == CLEAN


def test_a_strangers_tables_and_views_are_named_and_left_alone(root: Path) -> None:
    edit(
        root,
        "CREATE TABLE strange(x)",
        "INSERT INTO strange VALUES('mine')",
        "CREATE INDEX strange_by_x ON strange(x)",
        "CREATE VIEW broken AS SELECT * FROM nowhere",
    )
    before = layout(root)
    for fix in (False, True):
        report = look(root, fix=fix)
        assert sorted(codes(report)) == ["foreign_table", "foreign_view"]
        assert {each.severity for each in report.findings} == {"warning"}
        assert report.ok
    assert layout(root) == before


def test_a_trigger_on_a_strangers_table_is_for_its_owner_to_drop(root: Path) -> None:
    edit(
        root,
        "CREATE TABLE strange(x)",
        "CREATE TRIGGER theirs AFTER INSERT ON strange BEGIN DELETE FROM events; END",
    )
    before = layout(root)
    report = look(root, fix=True)
    assert codes(report) == ["foreign_trigger", "foreign_table"]
    assert report.ok
    assert 'DROP TRIGGER "theirs"' in report.findings[0].command
    assert layout(root) == before


def test_an_index_that_refuses_what_is_written_is_dropped(healthy: Path, root: Path) -> None:
    edit(root, "CREATE UNIQUE INDEX refuser ON events(position > 40) WHERE position > 40")
    report = look(root)
    assert codes(report) == ["foreign_index"]
    after = look(root, fix=True)
    assert after.ok
    assert "CREATE UNIQUE INDEX refuser ON events(position > 40)" in after.mended[0].meaning
    assert layout(root) == layout(healthy)
    check_works(root)


def test_a_column_that_is_none_of_ours_is_for_whoever_added_it(healthy: Path, root: Path) -> None:
    edit(root, "ALTER TABLE events ADD COLUMN more TEXT")
    for fix in (False, True):
        report = look(root, fix=fix)
        assert codes(report) == ["table_differs"]
        [finding] = report.findings
        assert "columns that are none of ours" in finding.meaning
        assert "--fix" not in finding.command
    edit(root, shlex.split(finding.command)[-1])
    assert look(root) == CLEAN
    assert layout(root) == layout(healthy)


def test_a_projection_is_mended_under_a_trigger_and_a_broken_view(root: Path) -> None:
    edit(
        root,
        "CREATE VIEW broken AS SELECT * FROM nowhere",
        "CREATE TRIGGER spoiler AFTER INSERT ON chronica BEGIN UPDATE chronica SET owner_id = 'eve'; END",
        "DELETE FROM chronica",
        "DROP TABLE fulltext",
    )
    assert codes(look(root, fix=True)) == ["foreign_view"]


def test_parts_of_a_full_text_that_is_gone_stand_in_nobodys_way(healthy: Path, root: Path) -> None:
    edit(root, "PRAGMA writable_schema=ON", "DELETE FROM sqlite_schema WHERE name = 'fulltext'")
    report = look(root)
    assert codes(report) == ["table_missing"]
    assert look(root, fix=True) == DoctorReport([], report.findings, True)
    assert layout(root) == layout(healthy)
    check_works(root)


@pytest.mark.parametrize("part", ["fulltext_data", "fulltext_config"])
def test_a_part_of_full_text_that_is_missing_is_made_with_the_whole(
    healthy: Path, root: Path, part: str
) -> None:
    edit(root, f"DROP TABLE {part}")
    assert "table_missing" in codes(look(root))
    assert look(root, fix=True).findings == []
    assert layout(root) == layout(healthy)
    check_works(root)


def test_a_trigger_whose_name_is_no_text_is_found(root: Path) -> None:
    edit(
        root,
        "CREATE TRIGGER zzz AFTER INSERT ON jobs BEGIN SELECT 1; END",
        "PRAGMA writable_schema=ON",
        "UPDATE sqlite_schema SET name = CAST(x'ff41' AS TEXT), "
        "sql = CAST(replace(sql, 'zzz', CAST(x'22ff4122' AS TEXT)) AS TEXT) WHERE name = 'zzz'",
    )
    for fix in (False, True):
        report = look(root, fix=fix)
        assert codes(report) == ["foreign_trigger"]
        assert "\\xffA" in report.findings[0].meaning
        assert not report.ok
    assert ".schema" in report.findings[0].command
