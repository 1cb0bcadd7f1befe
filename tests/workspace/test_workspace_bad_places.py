"""Folders that vanish, are something else, have odd names, or are not there at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.imports.claude_code_records import SESSION, write
from tests.imports.driver_log import talk
from workbench import Actum
from workbench.errors import WorkbenchError
from workbench.evidence import EvidenceError
from workbench.storage.errors import StorageError
from workbench.workspace import Workspace


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
