"""Folders that vanish, are something else, have odd names, or are not there at all."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.imports.claude_code_records import SESSION, write
from tests.imports.driver_log import talk
from workbench import Actum
from workbench.errors import WorkbenchError
from workbench.evidence import EvidenceError
from workbench.storage.errors import DatabaseDamaged, StorageError
from workbench.workspace import Workspace
from workbench.workspace.errors import ConfigurationError
from workbench.workspace.opening import NoDatabaseFile
from workbench.workspace.root import resolve_root


def make(root: Path) -> Workspace:
    return Workspace.create(root, title="Odd", timezone="UTC", owner="ada")


def act(workspace: Workspace, words: str = "words") -> None:
    workspace.sessions.record_actum(
        "ada",
        Actum(chronicum_id="one", kind="message", actor_kind="human", actor="ada", content=words),
    )


def clean(root: Path) -> None:
    with Workspace.open(root) as workspace:
        assert workspace.doctor().findings == []


# -- what is imported -------------------------------------------------------------------------------


@pytest.mark.parametrize("vanish", ["folder", "files", "emptied", "unreadable name"])
def test_transcripts_that_vanish_during_their_import(tmp_path: Path, vanish: str) -> None:
    source = tmp_path / "source"
    names = [SESSION[:-1] + str(number) for number in range(6)]

    def fill() -> None:
        for number, name in enumerate(names):
            first = 300 * number
            write(source / "project" / f"{name}.jsonl", talk(range(first, first + 300), name))

    fill()
    seen: list[int] = []

    def told(done: int, total: int | None, note: str) -> None:
        seen.append(done)
        if len(seen) != 1:
            return
        if vanish == "folder":
            shutil.rmtree(source)
        elif vanish == "unreadable name":
            source.rename(tmp_path / "elsewhere")
        else:
            for path in source.rglob("*.jsonl"):
                if vanish == "files":
                    path.unlink()
                else:
                    path.write_bytes(b"")

    with make(tmp_path / "w") as workspace:
        report = workspace.import_claude_code([source], progress=told)
        assert seen
        assert not report.cancelled
        assert [event.position for event in workspace.log.read()] == list(
            range(1, workspace.log.last_position() + 1)
        )
        # The source comes back, and the import goes on to its end.
        fill()
        workspace.import_claude_code([source])
        assert workspace.status()["summary"]["acta"] == len(names) * 450
    clean(tmp_path / "w")


# -- evidence -----------------------------------------------------------------------------------------


def _file(artifacts: Path) -> None:
    artifacts.write_text("a file")


def _dangling(artifacts: Path) -> None:
    artifacts.symlink_to("/nowhere/at/all")


def _loop(artifacts: Path) -> None:
    artifacts.symlink_to(artifacts)


@pytest.mark.parametrize("replace", [_file, _dangling, _loop])
def test_an_evidence_folder_that_is_none(tmp_path: Path, replace: Callable[[Path], None]) -> None:
    with make(tmp_path / "w") as workspace:
        digest = workspace.evidence.put(b"picture")
        shutil.rmtree(workspace.layout.artifacts)
        replace(workspace.layout.artifacts)
        with pytest.raises(EvidenceError) as caught:
            workspace.evidence.put(b"another")
        assert caught.value.hint
        with pytest.raises(EvidenceError):
            workspace.evidence.get(digest)
        # Sessions do not depend on it.
        act(workspace)
        workspace.doctor()


def test_an_evidence_folder_on_another_disk_is_followed(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir(mode=0o700)
    with make(tmp_path / "w") as workspace:
        workspace.layout.artifacts.rmdir()
        workspace.layout.artifacts.symlink_to(tmp_path / "disk")
        assert workspace.evidence.get(workspace.evidence.put(b"picture")) == b"picture"
        assert len([path for path in (tmp_path / "disk").rglob("*") if path.is_file()]) == 1


def test_evidence_that_became_a_pipe_holds_nobody_up(tmp_path: Path) -> None:
    with make(tmp_path / "w") as workspace:
        digest = workspace.evidence.put(b"picture")
        path = workspace.evidence.path(digest)
        path.unlink()
        os.mkfifo(path)
        with pytest.raises(EvidenceError, match="missing"):
            workspace.evidence.get(digest)


# -- the workspace's own folders ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["notes", "logs", "backups", "daybooks", "artifacts"])
def test_a_folder_that_is_missing_is_made_by_init_and_missed_by_nobody(tmp_path: Path, name: str) -> None:
    make(tmp_path / "w").close()
    shutil.rmtree(tmp_path / "w" / name)
    with Workspace.open(tmp_path / "w") as workspace:
        act(workspace)
        assert workspace.status()["summary"]["acta"] == 1
        assert workspace.doctor().ok
    make(tmp_path / "w").close()
    assert (tmp_path / "w" / name).is_dir()
    clean(tmp_path / "w")


def test_a_root_that_is_a_link(tmp_path: Path) -> None:
    make(tmp_path / "real").close()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with Workspace.open(tmp_path / "link") as by_link, Workspace.open(tmp_path / "real") as directly:
        act(by_link, "first")
        act(directly, "second")
        act(by_link, "third")
        assert [actum.content for actum in directly.sessions.get_acta("ada", "one")] == [
            "first",
            "second",
            "third",
        ]
    clean(tmp_path / "link")


@pytest.mark.parametrize(
    "name",
    [
        "line\nbreak",
        "tab\there",
        "  blanks  ",
        "quote'\"`$HOME",
        "?mode=ro&immutable=1#x",
        "%41%00",
        "мир 🌍",
        "-root",
    ],
)
def test_a_root_with_an_odd_name(tmp_path: Path, name: str) -> None:
    root = tmp_path / name
    with make(root) as workspace:
        act(workspace)
        assert workspace.evidence.get(workspace.evidence.put(b"x")) == b"x"
    with Workspace.open(root, read_only=True) as workspace:
        assert workspace.status()["summary"]["acta"] == 1
        assert [finding.code for finding in workspace.doctor().findings] == ["artifact_orphaned"]


def test_a_root_whose_name_is_no_text_is_refused_in_words(tmp_path: Path) -> None:
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd-\xff"))
    with pytest.raises(StorageError, match="UTF-8") as caught:
        make(root).close()
    assert caught.value.hint
    assert not root.exists()


@pytest.mark.parametrize("length", [400, 1000, 5000])
def test_a_root_far_down(tmp_path: Path, length: int) -> None:
    """As deep as SQLite follows it works; deeper it is refused in words."""
    root = tmp_path
    while len(str(root)) < length:
        root = root / ("d" * 100)
    try:
        with make(root) as workspace:
            act(workspace)
    except WorkbenchError as error:
        assert length > 400
        assert error.message and error.hint
    else:
        clean(root)


@pytest.mark.parametrize("length", [400, 5000])
def test_a_database_far_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    make(tmp_path / "w").close()
    place = tmp_path
    while len(str(place)) < length:
        place = place / ("d" * 100)
    monkeypatch.setenv("CHRONICLE_DB", str(place / "chronicle.db"))
    for attempt in (Workspace.open, Workspace.plan_migration, Workspace.migrate):
        with pytest.raises(ConfigurationError) as caught:
            attempt(tmp_path / "w")
        assert str(place / "chronicle.db") in caught.value.message or length == 400
        assert caught.value.hint


def test_a_home_that_nobody_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "w").close()
    with pytest.raises(ConfigurationError, match="no such home"):
        resolve_root("~nobody at all/w")
    monkeypatch.setenv("CHRONICLE_DB", "~nobody at all/chronicle.db")
    with pytest.raises(ConfigurationError, match="no such home"):
        Workspace.open(tmp_path / "w")


def test_a_database_named_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHRONICLE_DB", "elsewhere.db")
    with make(tmp_path / "w") as workspace:
        assert workspace.layout.database == tmp_path / "elsewhere.db"
        act(workspace)
    assert (tmp_path / "elsewhere.db").is_file()


# -- what stands in the database's place --------------------------------------------------------------


def _link_to_it(database: Path) -> None:
    real = database.with_name("real.db")
    database.rename(real)
    database.symlink_to(real.name)


def _link_to_nothing(database: Path) -> None:
    database.unlink()
    database.symlink_to("nothing.db")


def _link_to_itself(database: Path) -> None:
    database.unlink()
    database.symlink_to(database.name)


def _folder(database: Path) -> None:
    database.unlink()
    database.mkdir()


def _pipe(database: Path) -> None:
    database.unlink()
    os.mkfifo(database)


def _socket(database: Path) -> None:
    database.unlink()
    # Its whole name may be longer than a socket's can be.
    with contextlib.chdir(database.parent), socket.socket(socket.AF_UNIX) as place:
        place.bind(database.name)


@pytest.mark.parametrize(
    ("odd", "said", "helps"),
    [
        (_link_to_it, "is a symbolic link to", "CHRONICLE_DB="),
        (_link_to_nothing, "leads to no file", "remove the link"),
        (_link_to_itself, "leads to no file", "remove the link"),
        (_folder, "no file but a folder", "move the folder away"),
        (_pipe, "no file but a pipe", "remove the pipe"),
        (_socket, "no file but a socket", "remove the socket"),
    ],
)
def test_no_file_of_its_own_in_the_databases_place(
    tmp_path: Path, odd: Callable[[Path], None], said: str, helps: str
) -> None:
    root = tmp_path / "w"
    make(root).close()
    (root / "status.md").unlink()
    odd(root / "chronicle.db")
    before = sorted(path.name for path in root.iterdir())
    for attempt in (Workspace.open, Workspace.create, Workspace.plan_migration, Workspace.migrate):
        with pytest.raises(NoDatabaseFile, match=said) as caught:
            attempt(root)
        assert str(root / "chronicle.db") in caught.value.message
        assert helps in caught.value.hint
        assert "damaged" not in caught.value.message
    assert sorted(path.name for path in root.iterdir()) == before


def test_what_a_link_leads_to_opens_by_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "w"
    with make(root) as workspace:
        act(workspace)
    _link_to_it(root / "chronicle.db")
    with pytest.raises(NoDatabaseFile) as caught:
        Workspace.open(root)
    named = caught.value.hint.rpartition("CHRONICLE_DB=")[2]
    monkeypatch.setenv("CHRONICLE_DB", shlex.split(named)[0])
    with Workspace.open(root) as workspace:
        act(workspace, "more")
        assert workspace.status()["summary"]["acta"] == 2


def test_an_empty_file_beside_a_log_that_holds_something_is_left_to_a_person(tmp_path: Path) -> None:
    root = tmp_path / "w"
    make(root).close()
    database, log = root / "chronicle.db", root / "chronicle.db-wal"
    database.write_bytes(b"")
    log.write_bytes(b"what was committed last")
    for attempt in (Workspace.open, Workspace.create, Workspace.migrate):
        with pytest.raises(DatabaseDamaged, match=r"is empty, but chronicle\.db-wal beside it"):
            attempt(root)
    assert (database.read_bytes(), log.read_bytes()) == (b"", b"what was committed last")


def test_an_empty_file_is_laid_out_by_init_alone(tmp_path: Path) -> None:
    root = tmp_path / "w"
    make(root).close()
    (root / "chronicle.db").write_bytes(b"")
    with pytest.raises(NoDatabaseFile, match="is empty") as caught:
        Workspace.open(root)
    assert f"workbench init --root {root}" in caught.value.hint
    make(root).close()
    clean(root)


def test_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME"):
        monkeypatch.delenv(name, raising=False)
    with Workspace.create(tmp_path / "w", timezone="UTC") as workspace:
        assert workspace.owner


@pytest.mark.parametrize("place", ["/nowhere/at/all", "/proc", "/dev/null"])
def test_without_a_place_for_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("TMPDIR", place)
    monkeypatch.setenv("SQLITE_TMPDIR", place)
    monkeypatch.setattr(tempfile, "tempdir", None)
    with make(tmp_path / "w") as workspace:
        act(workspace)
        assert workspace.doctor().findings == []
    clean(tmp_path / "w")


def test_a_workspace_removed_while_it_is_open(tmp_path: Path) -> None:
    with make(tmp_path / "w") as workspace:
        act(workspace)
        shutil.rmtree(tmp_path / "w")
        for attempt in (lambda: act(workspace), workspace.status, workspace.doctor):
            with pytest.raises(StorageError) as caught:
                attempt()
            assert caught.value.code in ("db_replaced", "db_missing")
    assert not (tmp_path / "w").exists()
