"""What a rescan finds, what is noted of it, and when doctor asks for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspace.older_workspace import older_workspace
from tests.workspace.redaction_cases import (
    act,
    begin,
    codes,
    holders,
    keep,
    new_root,
    soiled,
    token,
    unfiltered,
)
from workbench.log.streams import session_stream
from workbench.redaction import SecretFilter, default_filter
from workbench.storage import fetch
from workbench.workspace import Workspace
from workbench.workspace.errors import Cancelled
from workbench.workspace.redactions.report import KEPT, Rescan
from workbench.workspace.redactions.scan import Hit
from workbench.workspace.redactions.versions import note_rescan, note_version, rescan_state


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CHRONICLE_AUTO_MIGRATE", "CHRONICLE_DB"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return new_root(tmp_path / "w")


def fill(root: Path, content: str = "nothing") -> None:
    with unfiltered(root) as log:
        begin(log, "s")
        log.append(session_stream("s"), [act("s", 1, content)])


def upgrade_rules(monkeypatch: pytest.MonkeyPatch, version: str = "9-newer") -> None:
    """From here on the filter says that its rules are others."""
    monkeypatch.setitem(default_filter().__dict__, "version", version)


def other_version(root: Path, version: str) -> None:
    """Open the workspace once with a filter of that version."""
    with Workspace.open(root) as workspace:
        workspace.log.redactor = _Versioned(version)
        note_version(workspace.log, 1)


class _Versioned(SecretFilter):
    def __init__(self, version: str) -> None:
        super().__init__()
        self.__dict__["version"] = version


# -- what is found -------------------------------------------------------------------------


def test_it_finds_every_place_and_changes_none(tmp_path: Path) -> None:
    root = soiled(tmp_path / "w")
    with Workspace.open(root) as workspace:
        before = workspace.log.last_position()
        words: list[tuple[int, int | None, str]] = []
        report = workspace.rescan(progress=lambda *word: words.append(word))
        assert workspace.log.last_position() == before == report.events
        places = {hit.place.split(" ")[0] for hit in report.hits}
        (digest,) = (p.name for p in (root / "artifacts").rglob("*") if p.is_file())
        assert places == {
            "event",
            "import_sources",
            "jobs",
            f"artifacts/{digest}",
            "before.jsonl",
            ".export-x.part",
            "deep/down/moved.txt",
            "logs/run.log",
        }
        assert report.secrets == {"anthropic_key": report.found}
        assert report.places == len(report.hits)
        assert [done for done, _, _ in words] == sorted(done for done, _, _ in words)
        assert words[-1][:2] == (1000, 1000)
    assert "secrets_stored" in codes(root)


def test_it_works_on_a_workspace_open_for_reading_and_notes_nothing(root: Path) -> None:
    fill(root, f"key {token(1)}")
    with Workspace.open(root, read_only=True) as workspace:
        assert workspace.rescan().found == 1
        assert rescan_state(workspace.log).found == 0


def test_an_event_that_cannot_be_read_is_counted_and_left_alone(root: Path) -> None:
    fill(root)
    broken = f'["{token(1)}"]'
    with unfiltered(root) as log, log.database.transaction() as connection:
        connection.execute("UPDATE events SET payload = ? WHERE position = 2", (broken,))
    with Workspace.open(root) as workspace:
        for report in (workspace.rescan(), workspace.scrub()):
            assert (report.unreadable, report.found) == (1, 0)
        with workspace.log.reader() as connection:
            sql = "SELECT payload FROM events WHERE position = 2"
            assert fetch.value(connection, sql) == broken


def test_files_that_are_no_text_stay_byte_for_byte(root: Path) -> None:
    binary = bytes(range(256)) * 8 + token(1).encode()
    digest = keep(root, binary)
    with Workspace.open(root) as workspace:
        assert workspace.rescan().found == 0
        workspace.scrub()
        assert workspace.evidence.get(digest) == binary


def test_links_are_not_followed(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.log"
    outside.write_text(f"key {token(1)}\n")
    (root / "logs" / "link.log").symlink_to(outside)
    (root / "linked").symlink_to(tmp_path)
    with Workspace.open(root) as workspace:
        assert workspace.scrub().found == 0
    assert token(1) in outside.read_text()


def test_notes_and_other_files_of_a_person_are_left_alone(root: Path) -> None:
    note = root / "notes" / "mine.md"
    note.write_text(f"my key {token(1)}\n")
    with Workspace.open(root) as workspace:
        assert workspace.scrub().found == 0
    assert token(1) in note.read_text()


def test_it_can_be_stopped(root: Path) -> None:
    fill(root)
    with Workspace.open(root) as workspace, pytest.raises(Cancelled, match="nothing was changed"):
        workspace.rescan(cancelled=lambda: True)


def test_a_report_counts_what_it_does_not_keep() -> None:
    report = Rescan(filter_version="1")
    report.add(Hit(f"event {n}", n, "content", "jwt", 2) for n in range(KEPT + 5))
    assert (len(report.hits), report.places, report.found) == (KEPT, KEPT + 5, 2 * KEPT + 10)


# -- when it is due ------------------------------------------------------------------------


def test_a_new_workspace_needs_none(root: Path) -> None:
    with Workspace.open(root) as workspace:
        assert rescan_state(workspace.log) == (default_filter().version, 0, 0)
        assert not rescan_state(workspace.log).due
    fill(root)
    with Workspace.open(root) as workspace:
        assert not rescan_state(workspace.log).due
    assert codes(root) == []


def test_after_an_upgrade_of_the_rules_one_is_due_until_it_is_done(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(root)
    upgrade_rules(monkeypatch)
    # A workspace that is only read has not noted it yet; it is due all the same.
    assert codes(root) == ["rescan_due"]
    with Workspace.open(root) as workspace:
        assert rescan_state(workspace.log) == ("9-newer", 2, 0)
        begin(workspace.log, "later")
        assert rescan_state(workspace.log).unseen == 2
        (finding,) = workspace.doctor().findings
        assert finding.severity == "warning"
        assert finding.command == f"workbench redactions rescan --root {root}"
        assert "9-newer" in finding.meaning and "2 events" in finding.meaning
        workspace.rescan()
        assert not rescan_state(workspace.log).due
    assert codes(root) == []


def test_a_scrub_is_a_rescan_too(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(root, f"key {token(1)}")
    upgrade_rules(monkeypatch)
    with Workspace.open(root) as workspace:
        assert rescan_state(workspace.log).due
        workspace.scrub()
        assert rescan_state(workspace.log)[1:] == (0, 0)
    assert codes(root) == []


def test_what_a_rescan_found_stays_said_until_it_is_scrubbed(root: Path) -> None:
    fill(root, f"key {token(1)}")
    with Workspace.open(root) as workspace:
        workspace.rescan()
        (finding,) = workspace.doctor().findings
        assert (finding.code, finding.severity) == ("secrets_stored", "warning")
        assert "1 secret " in finding.meaning
        assert finding.command == f"workbench redactions scrub --confirm --root {root}"
        workspace.scrub()
    assert codes(root) == []


def test_events_of_an_older_program_in_between_are_unseen_again(root: Path) -> None:
    with Workspace.open(root) as workspace:
        begin(workspace.log, "one")
        workspace.rescan()
    other_version(root, "0-older")
    with unfiltered(root) as log:
        begin(log, "two")
    with Workspace.open(root) as workspace:
        state = rescan_state(workspace.log)
        assert (state.unseen, state.found) == (2, 0)
        workspace.rescan()
        assert not rescan_state(workspace.log).due
    with Workspace.open(root) as workspace:
        assert not rescan_state(workspace.log).due


def test_versions_are_told_apart_though_the_clock_stands(root: Path) -> None:
    for version in ("1-a", "1-b", "1-a", "1-c"):
        other_version(root, version)
    with Workspace.open(root) as workspace, workspace.log.reader() as connection:
        rows = fetch.rows(connection, "SELECT version FROM filter_versions ORDER BY noted_at")
        times = fetch.rows(connection, "SELECT DISTINCT noted_at FROM filter_versions")
    assert [version for (version,) in rows][-1] == default_filter().version
    assert [version for (version,) in rows if version.startswith("1-")] == ["1-b", "1-a", "1-c"]
    assert len(times) == len(rows)


def test_noting_again_writes_nothing(root: Path) -> None:
    with Workspace.open(root) as workspace, workspace.data_version_poller() as poller:
        before = poller.poll()
        note_version(workspace.log, 5)
        Workspace.open(root).close()
        assert poller.poll() == before


def test_a_rescan_notes_the_version_where_nobody_did(root: Path) -> None:
    fill(root)
    with Workspace.open(root) as workspace:
        workspace.log.redactor = _Versioned("9-else")
        note_rescan(workspace.log, 2, 3, 10)
        assert rescan_state(workspace.log) == ("9-else", 0, 3)


def test_an_upgraded_workspace_is_to_be_looked_through(tmp_path: Path) -> None:
    root = older_workspace(tmp_path / "old")
    Workspace.migrate(root)
    assert "rescan_due" in codes(root)
    with Workspace.open(root) as workspace:
        assert rescan_state(workspace.log).unseen == 40
        assert workspace.rescan().found == 0
    assert "rescan_due" not in codes(root)


def test_a_locked_workspace_opens_and_the_next_one_notes_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.storage import turns

    fill(root)
    upgrade_rules(monkeypatch)
    monkeypatch.setattr(turns, "BUSY_TIMEOUT_MS", 50)
    with unfiltered(root) as log:
        with log.database.transaction(), Workspace.open(root) as workspace:
            assert rescan_state(workspace.log).due
        with Workspace.open(root) as workspace, workspace.log.reader() as connection:
            sql = "SELECT from_position FROM filter_versions WHERE version = '9-newer'"
            assert fetch.value(connection, sql) == 3


def test_an_unfinished_scrub_is_critical(root: Path) -> None:
    with Workspace.open(root) as workspace:
        with workspace.log.database.transaction() as connection:
            connection.execute("INSERT INTO scrub_steps VALUES('compact', '', '')")
        report = workspace.doctor()
        (finding,) = report.findings
        assert (finding.code, finding.severity, report.ok) == ("scrub_unfinished", "critical", False)
        assert finding.command == f"workbench redactions scrub --confirm --root {root}"
        done = workspace.scrub()
        assert (done.resumed, done.found) == (True, 0)
    assert codes(root) == []
    assert holders(root, 1) == []
