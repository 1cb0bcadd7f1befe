"""Sections in a workspace: a scrub goes through what they say, doctor and rebuilds leave them alone."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from tests.chronicle.store_cases import a_section
from tests.workspace.redaction_cases import begin, codes, holders, new_root, token, unfiltered
from workbench.chronicle.sections import Written
from workbench.chronicle.sqlite import SQLiteChronicleStore
from workbench.log.inline_rebuild import rebuild
from workbench.log.streams import session_stream
from workbench.sessions.events import UnitClosed
from workbench.storage.errors import DatabaseDamaged
from workbench.workspace import Workspace
from workbench.workspace.doctor import doctor_of_refused
from workbench.workspace.folds import FOLDS
from workbench.workspace.layout import Layout

STREAM = session_stream("plan")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with sections and a drawn result that an older filter let through."""
    root = new_root(tmp_path / "w")
    with unfiltered(root) as log:
        begin(log, "plan")
        log.append(STREAM, [UnitClosed(chronicum_id="plan", unit="week")] * 5)
        store = SQLiteChronicleStore(log, STREAM.name)
        store.append(a_section(1, 2, f"The key was {token(1)} and the lamp was green"))
        store.append(a_section(3, 3, "A clean one", pins=("p1:a:1",)))
        store.append(
            a_section(
                3, 3, "Another", generation=2, pins=(token(2),), written=Written(3, 4, token(3), token(4))
            )
        )
        with log.transaction() as transaction:
            transaction.connection.execute(
                "INSERT INTO pin_scratch VALUES('u', 'p1:model_call:1', 'model_call', ?, 1, 5)",
                (f'{{"text":"{token(5)}"}}',),
            )
    return root


def test_a_scrub_leaves_no_byte_of_a_secret_in_sections_or_drawn_results(root: Path) -> None:
    for seed in range(1, 6):
        assert holders(root, seed) != []
    with Workspace.open(root) as workspace:
        assert workspace.rescan().found == 5
        workspace.scrub()
        store = SQLiteChronicleStore(workspace.log, STREAM.name)
        first, clean, last = store.export()
        assert first.prose == "The key was [REDACTED:anthropic_key] and the lamp was green"
        assert (clean.prose, clean.pins) == ("A clean one", ("p1:a:1",))
        assert last.pins == ("[REDACTED:anthropic_key]",)
        assert last.written[:2] == (3, 4)
        assert store.ranked("lamp green") == ["1-2"]
        assert store.ranked("another") == ["3-3#2"]
        assert workspace.rescan().found == 0
        with workspace.log.reader() as connection:
            [(result,)] = connection.execute("SELECT result FROM pin_scratch")
        assert result == '{"text":"[REDACTED:anthropic_key]"}'
    assert holders(root, *range(1, 6)) == []
    assert codes(root) == []


def test_doctor_and_a_rebuild_of_every_projection_leave_sections_alone(root: Path) -> None:
    with Workspace.open(root) as workspace:
        workspace.scrub()
        store = SQLiteChronicleStore(workspace.log, STREAM.name)
        before = store.export()
        rebuild(workspace.log.database, FOLDS, workspace.log.decoder)
        workspace.doctor(fix=True)
        assert store.export() == before
        assert store.ranked("lamp") == ["1-2"]
    assert codes(root) == []


def test_lost_words_are_read_in_again_by_doctor(root: Path) -> None:
    with Workspace.open(root) as workspace:
        workspace.scrub()
        before = SQLiteChronicleStore(workspace.log, STREAM.name).export()
    connection = apsw.Connection(str(root / "chronicle.db"))
    connection.execute("DROP TABLE chronicle_prose")
    connection.close()
    with pytest.raises(DatabaseDamaged) as refused:
        Workspace.open(root)
    report = doctor_of_refused(Layout(root), refused.value, fix=True)
    assert [finding.code for finding in report.mended] == ["table_missing"]
    assert report.findings == []
    with Workspace.open(root) as workspace:
        store = SQLiteChronicleStore(workspace.log, STREAM.name)
        assert store.export() == before
        assert store.ranked("lamp") == ["1-2"]
        assert store.ranked("another") == ["3-3#2"]
