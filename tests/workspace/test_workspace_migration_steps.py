"""Steps that the product has not needed yet, by a later schema of the tests' own on real workspaces."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tests.log.log_cases import TallyFold
from tests.workspace.older_workspace import older_workspace
from workbench.log.fulltext import FullTextFold, match_expression
from workbench.storage import fetch
from workbench.storage.errors import DatabaseDamaged, SchemaAheadOfCode, SchemaError
from workbench.storage.history import History, Migration
from workbench.workspace import migrations
from workbench.workspace.folds import FOLDS, TABLES
from workbench.workspace.layout import Layout
from workbench.workspace.migration import PRODUCT, Schema, migrate, plan_migration
from workbench.workspace.migrations import RETIRED, SCHEMA_VERSION

NEXT = SCHEMA_VERSION + 1

OBSERVATIONS = """\
-- Gives every act an observation of its own, and vectors a key that names their model.
CREATE TABLE old_observations(
  observation_id TEXT PRIMARY KEY, event_id BLOB NOT NULL UNIQUE, task TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO old_observations
  SELECT lower(hex(event_id)), event_id, payload ->> '$.chronicum_id' FROM events
  WHERE type_id = (SELECT type_id FROM event_types WHERE type = 'actum.recorded');
CREATE TABLE vectors_anew(
  position INTEGER NOT NULL, model TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY(position, model)
) STRICT, WITHOUT ROWID;
INSERT INTO vectors_anew SELECT position, model, vector FROM vectors WHERE position IN (SELECT position FROM events);
DROP TABLE vectors;
ALTER TABLE vectors_anew RENAME TO vectors;
"""
SLOTS = """\
-- Leaves one active value in each slot, the newest, and keeps it so.
CREATE TABLE retirements(fact_id TEXT PRIMARY KEY, by_fact TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO retirements
  SELECT fact_id, newest FROM (
    SELECT fact_id, active, first_value(fact_id) OVER (
      PARTITION BY subject, attribute, coalesce(nullif(parts, '[null,null]'), '')
      ORDER BY made DESC, fact_id DESC) AS newest
    FROM old_facts WHERE active = 1)
  WHERE fact_id <> newest;
UPDATE old_facts SET active = 0 WHERE fact_id IN (SELECT fact_id FROM retirements);
CREATE UNIQUE INDEX one_active_fact
  ON old_facts(subject, attribute, coalesce(nullif(parts, '[null,null]'), '')) WHERE active = 1;
"""
FACTS = (
    "CREATE TABLE old_facts(fact_id TEXT PRIMARY KEY, subject TEXT NOT NULL, attribute TEXT NOT NULL, "
    "parts TEXT, made INTEGER NOT NULL, active INTEGER NOT NULL) STRICT, WITHOUT ROWID"
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of schema 1; for copies."""
    return older_workspace(tmp_path_factory.mktemp("steps") / "w")


@pytest.fixture
def layout(prepared: Path, tmp_path: Path) -> Layout:
    """A workspace of schema 1."""
    return Layout(Path(shutil.copytree(prepared, tmp_path / "w")))


@pytest.fixture
def edited(layout: Layout) -> Iterator[apsw.Connection]:
    """A connection that may do anything to the database."""
    connection = apsw.Connection(str(layout.database))
    yield connection
    connection.close()


def later(folder: Path, script: str, *, tables: tuple[str, ...] = ()) -> Schema:
    """The product with one step more."""
    steps = folder / "steps"
    steps.mkdir()
    for step in Path(migrations.__file__).parent.glob("*.sql"):
        shutil.copy(step, steps)
    (steps / f"{NEXT:04}_later.sql").write_text(script)
    return Schema(History.load(steps), FOLDS, (*TABLES, *tables), RETIRED)


def found(connection: apsw.Connection, text: str) -> list[int]:
    """Positions of the events that full text finds."""
    sql = "SELECT rowid FROM fulltext WHERE fulltext MATCH ? ORDER BY rowid"
    return [position for (position,) in fetch.rows(connection, sql, (match_expression(text),))]


def test_m09_existing_rows_are_folded_again(layout: Layout, edited: apsw.Connection) -> None:
    # As an earlier release might have kept it: of sessions' names alone.
    edited.execute("DROP TABLE fulltext")
    for statement in FullTextFold.schema:
        edited.execute(statement)
    edited.execute("INSERT INTO fulltext(rowid, title, body) SELECT position, 'session plan', '' FROM events")
    edited.execute("UPDATE folds SET version = 0 WHERE name = 'fulltext'")
    assert len(found(edited, "session")) == 40
    assert found(edited, "отчет") == []

    plan = plan_migration(layout)
    assert "fulltext" in plan.folds
    done = migrate(layout)
    assert done.folds == plan.folds
    # The acts, and the description of the session of that name.
    assert len(found(edited, "отчет")) == 36
    assert found(edited, "отчет") == found(edited, "отчёт")
    assert found(edited, "session") == []


def test_m10_each_act_gets_its_observation_and_orphaned_vectors_go(
    layout: Layout, edited: apsw.Connection, tmp_path: Path
) -> None:
    edited.execute("CREATE TABLE vectors(position INTEGER, model TEXT, vector BLOB)")
    edited.execute(
        "INSERT INTO vectors VALUES(5, 'small', x'00'), (5, 'large', x'01'), (999, 'small', x'02')"
    )
    done = migrate(layout, product=later(tmp_path, OBSERVATIONS))
    assert [step.version for step in done.applied] == list(range(2, NEXT + 1))
    assert done.applied[-1].what.startswith("Gives every act an observation")
    acts = fetch.rows(
        edited,
        "SELECT lower(hex(e.event_id)), e.event_id, substr(s.name, 9) FROM events e JOIN streams s USING(stream_id) "
        "JOIN event_types t USING(type_id) WHERE t.type = 'actum.recorded' AND s.name = 'session/plan'",
    )
    assert len(acts) == 18
    sql = "SELECT * FROM old_observations WHERE task = 'plan' ORDER BY observation_id"
    assert fetch.rows(edited, sql) == sorted(acts)
    assert fetch.value(edited, "SELECT count(*) FROM old_observations") == 35
    assert fetch.rows(edited, "SELECT position, model FROM vectors ORDER BY 1, 2") == [
        (5, "large"),
        (5, "small"),
    ]


def test_m11_of_duplicates_the_newest_in_each_slot_stays(
    layout: Layout, edited: apsw.Connection, tmp_path: Path
) -> None:
    edited.execute(FACTS)
    edited.executemany(
        "INSERT INTO old_facts VALUES(?, ?, 'state', ?, ?, 1)",
        [
            ("f1", "importer", None, 1),
            ("f2", "importer", "[null,null]", 2),
            ("f3", "exporter", '["eu",null]', 5),
            ("f4", "exporter", '["eu",null]', 6),
            ("f5", "exporter", None, 3),
        ],
    )
    migrate(layout, product=later(tmp_path, SLOTS))
    active = fetch.rows(edited, "SELECT fact_id FROM old_facts WHERE active = 1 ORDER BY 1")
    assert active == [("f2",), ("f4",), ("f5",)]
    assert fetch.rows(edited, "SELECT * FROM retirements ORDER BY 1") == [("f1", "f2"), ("f3", "f4")]


def test_m12_a_second_active_value_of_a_slot_is_refused(
    layout: Layout, edited: apsw.Connection, tmp_path: Path
) -> None:
    edited.execute(FACTS)
    edited.execute("INSERT INTO old_facts VALUES('f1', 'importer', 'state', NULL, 1, 1)")
    migrate(layout, product=later(tmp_path, SLOTS))
    edited.execute("INSERT INTO old_facts VALUES('f2', 'importer', 'state', '[null,null]', 2, 0)")
    with pytest.raises(apsw.ConstraintError, match="UNIQUE"):
        edited.execute("INSERT INTO old_facts VALUES('f3', 'importer', 'state', '[null,null]', 3, 1)")


def test_m18_eight_thousand_facts_in_half_as_many_slots(
    layout: Layout, edited: apsw.Connection, tmp_path: Path
) -> None:
    edited.execute(FACTS)
    with edited:
        edited.executemany(
            "INSERT INTO old_facts VALUES(?, ?, 'state', NULL, ?, 1)",
            [(f"f{number:05}", f"thing{number % 4000}", number) for number in range(8000)],
        )
    began = time.perf_counter()
    migrate(layout, product=later(tmp_path, SLOTS))
    assert time.perf_counter() - began < 3
    assert fetch.value(edited, "SELECT min(fact_id) FROM old_facts WHERE active = 1") == "f04000"
    assert fetch.value(edited, "SELECT count(*) FROM retirements") == 4000


def test_a_projection_that_is_gone_goes_with_its_tables(layout: Layout, edited: apsw.Connection) -> None:
    edited.execute("CREATE TABLE tally(stream_id INTEGER PRIMARY KEY, events INTEGER NOT NULL) STRICT")
    edited.execute("CREATE TABLE tally_details(x)")
    edited.execute("INSERT INTO folds VALUES('tally', 3, 40)")
    with pytest.raises(SchemaAheadOfCode, match="tally"):
        plan_migration(layout)
    product = PRODUCT._replace(retired={"tally": ("tally", "tally_details", "tally_never_was")})
    assert plan_migration(layout, product).retired == ("tally",)
    migrate(layout, product=product)
    assert fetch.rows(edited, "SELECT name FROM sqlite_schema WHERE name LIKE 'tally%'") == []
    assert fetch.rows(edited, "SELECT name FROM folds WHERE name = 'tally'") == []


def test_a_projection_of_another_version_loses_the_tables_it_had(
    layout: Layout, edited: apsw.Connection
) -> None:
    tally = TallyFold(version=2)
    edited.execute("CREATE TABLE tally(something_else)")
    edited.execute("CREATE TABLE tally_details(x)")
    edited.execute("INSERT INTO folds VALUES('tally', 1, 40)")
    product = PRODUCT._replace(folds=(*FOLDS, tally), retired={"tally": ("tally_details", "actors")})
    done = migrate(layout, product=product)
    assert "tally" in done.folds
    assert fetch.rows(edited, "SELECT count(*), sum(events) FROM tally") == [(2, 40)]
    assert fetch.rows(edited, "SELECT name FROM sqlite_schema WHERE name = 'tally_details'") == []
    # A table that another projection has by now is not taken from it.
    assert fetch.value(edited, "SELECT count(*) FROM actors") > 0


def test_a_step_that_takes_a_table_which_this_release_needs_is_undone(
    layout: Layout, edited: apsw.Connection, tmp_path: Path
) -> None:
    edited.close()
    content = layout.database.read_bytes()
    for number, script in enumerate(
        ("DROP TABLE import_sources;", "DELETE FROM streams WHERE stream_id = 1;")
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        with pytest.raises(SchemaError, match=r"import_sources|streams|no stream"):
            migrate(layout, product=later(folder, script))
        assert layout.database.read_bytes() == content
        assert not (layout.root / "backups" / "migrations").exists()


# -- a look while another program writes -------------------------------------------------------


class Disturbed(History):
    """Steps at which somebody looks while others write to the file."""

    def __init__(self, database: Path, *, writes: bool) -> None:
        super().__init__(PRODUCT.history.migrations)
        self.database = database
        self.writes = writes
        self.looks = 0

    def after(self, version: int) -> tuple[Migration, ...]:
        """As any history's; the first look finds the file torn."""
        self.looks += 1
        if self.looks > 1:
            return super().after(version)
        if self.writes:
            other = apsw.Connection(str(self.database))
            other.execute("PRAGMA user_version=1")
            other.close()
        raise DatabaseDamaged("malformed, it seems")


def test_what_only_seems_damaged_while_others_write_is_looked_at_again(layout: Layout) -> None:
    disturbed = Disturbed(layout.database, writes=True)
    assert plan_migration(layout, PRODUCT._replace(history=disturbed)).needed
    assert disturbed.looks == 2


def test_what_is_damaged_while_nobody_writes_is_so(layout: Layout) -> None:
    disturbed = Disturbed(layout.database, writes=False)
    with pytest.raises(DatabaseDamaged):
        plan_migration(layout, PRODUCT._replace(history=disturbed))
    assert disturbed.looks == 1
