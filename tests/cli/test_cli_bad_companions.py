"""Places that hold something else than the file that belongs there: the very place is named, with what helps."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from tests.cli.program import Run
from tests.media import Program, give_away, open_folder
from tests.workspace.older_workspace import older_workspace
from workbench import Actum
from workbench.workspace import Workspace

RECORD = "sessions record --session one --kind message --actor-kind human --actor ada --content more".split()


def filled(root: Path) -> Path:
    """A workspace of three events with its write-ahead log beside it, as a killed program leaves it."""
    with Workspace.create(root.with_name("live"), title="Trial", timezone="UTC", owner="ada") as workspace:
        for number in range(2):
            act = Actum(
                chronicum_id="one", kind="message", actor_kind="human", actor="ada", content=f"act {number}"
            )
            workspace.sessions.record_actum("ada", act)
        shutil.copytree(workspace.root, root)
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return filled(tmp_path / "w")


def change(root: Path, statement: str) -> None:
    connection = apsw.Connection(str(root / "chronicle.db"))
    connection.execute(statement).fetchall()
    connection.close()


# -- the database and the files beside it ------------------------------------------------------


@pytest.fixture
def home() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


@pytest.mark.parametrize("name", ["chronicle.db", "chronicle.db-wal", "chronicle.db-shm"])
def test_the_file_that_may_not_be_read_is_named(home: Path, name: str) -> None:
    root = filled(home / "w")
    give_away(home)
    (root / name).chmod(0)
    with Program(home, unprivileged=True) as program:
        for words in (["status"], ["sessions", "list"], RECORD, ["doctor"], ["export", "jsonl"]):
            answer = program.run(*words, "--root", root)
            assert answer.code != 0
            assert answer.err.startswith(f"error: {root / name} may not be read by this user\n"), answer
            assert "check the permissions of that file" in answer.err


def _folder(path: Path) -> None:
    path.mkdir()


def _link(path: Path) -> None:
    path.symlink_to("/nowhere/at/all")


@pytest.mark.parametrize(("make", "what"), [(_folder, "a folder"), (_link, "a link")])
def test_what_stands_in_the_log_s_place_is_named(
    run: Run, root: Path, make: Callable[[Path], None], what: str
) -> None:
    for path in root.glob("chronicle.db-*"):
        path.unlink()
    make(root / "chronicle.db-wal")
    for words in (["sessions", "list"], RECORD):
        answer = run(*words, "--root", root)
        assert answer.code != 0
        assert f"{root / 'chronicle.db-wal'} is {what}" in answer.err
        assert "move it away" in answer.err


def test_a_folder_in_the_index_s_place_is_named_by_what_writes(run: Run, root: Path) -> None:
    change(root, "PRAGMA wal_checkpoint(TRUNCATE)")
    for path in root.glob("chronicle.db-*"):
        path.unlink()
    (root / "chronicle.db-shm").mkdir()
    answer = run(*RECORD, "--root", root)
    assert answer.code != 0
    assert f"{root / 'chronicle.db-shm'} is a folder" in answer.err


def test_a_column_too_many_is_damage(run: Run, root: Path) -> None:
    change(root, "ALTER TABLE events ADD COLUMN z TEXT")
    answer = run(*RECORD, "--root", root, "--format", "json")
    assert (answer.code, answer.json["error_type"]) == (3, "db_damaged")
    assert "workbench doctor" in answer.json["hint"]


# -- the manifest ------------------------------------------------------------------------------


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _circle(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize(
    ("make", "what"), [(_pipe, "a named pipe"), (_folder, "a folder"), (_circle, "leads in a circle")]
)
def test_what_stands_in_the_manifest_s_place_is_said(
    process: Run, root: Path, make: Callable[[Path], None], what: str
) -> None:
    manifest = root / "SSOT_MANIFEST.toml"
    manifest.unlink()
    make(manifest)
    answer = process("status", "--root", root)
    assert answer.code == 2
    assert f"error: {manifest} is " in answer.err
    assert what in answer.err
    assert f"or make a new one with: workbench init --root {root}" in answer.err
    manifest.rmdir() if manifest.is_dir() else manifest.unlink()
    assert process("init", "--root", root).code == 0
    assert "3 events" in process("status", "--root", root).out.replace("\u00a0", " ")


# -- exports -----------------------------------------------------------------------------------


def test_an_event_that_is_no_text_is_named_by_its_position(run: Run, root: Path) -> None:
    change(root, "UPDATE events SET payload = CAST(x'7b2261223a22ff227d' AS TEXT) WHERE position = 2")
    answer = run("export", "jsonl", "--root", root, "--to", root / "out.jsonl")
    assert answer.code == 3
    assert "position 2 " in answer.err
    assert f"workbench doctor --root {root}" in answer.err
    assert not (root / "out.jsonl").exists()


@pytest.mark.parametrize("words", [("export", "jsonl", "--to", "f"), ("import", "jsonl", "f")])
def test_a_file_s_name_in_a_folder_that_is_gone(
    run: Run, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    answer = run(*words, "--root", root)
    assert answer.code == 2
    assert "the current folder cannot be told" in answer.err
    assert "write the file's whole path" in answer.err


def test_a_link_that_leads_nowhere_is_not_followed(run: Run, root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    answer = run("export", "jsonl", "--to", tmp_path / "link", "--root", root)
    assert answer.code == 2
    assert "is a symbolic link that leads to no file" in answer.err
    assert not (tmp_path / "elsewhere").exists()
    (tmp_path / "elsewhere").touch()
    assert run("export", "jsonl", "--to", tmp_path / "link", "--root", root).code == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "elsewhere").read_bytes().count(b"\n") == 3


def test_an_empty_file_is_replaced_as_the_help_says(run: Run, root: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert run("export", "jsonl", "--to", tmp_path / "empty", "--root", root).code == 0
    assert (tmp_path / "empty").read_bytes().count(b"\n") == 3
    assert "so is an empty file" in " ".join(run("export", "jsonl", "--help").out.split())


@pytest.mark.parametrize("make", [_pipe, _folder])
def test_what_is_no_file_is_not_imported(process: Run, tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "odd")
    Workspace.create(tmp_path / "new", title="New", timezone="UTC", owner="ada").close()
    answer = process("import", "jsonl", tmp_path / "odd", "--root", tmp_path / "new")
    assert answer.code == 2
    assert f"{tmp_path / 'odd'} cannot be read: not a regular file" in answer.err


# -- migrations and imports --------------------------------------------------------------------


def test_commands_in_answers_name_the_workspace(run: Run, tmp_path: Path) -> None:
    root = older_workspace(tmp_path / "old")
    command = f"workbench migrate --root {root}\n"
    assert run("migrate", "--plan", "--root", root).out.endswith(f"do it with: {command}")
    assert f"run {command}" in run("status", "--root", root).out


def test_the_rest_of_very_many_problems_is_counted(run: Run, root: Path, tmp_path: Path) -> None:
    first = '{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"hi"}}\n'
    (tmp_path / "s.jsonl").write_text(first + '{"n":1}\n' + "{\n" * 1200)
    words = ("import", "claude-code", tmp_path / "s.jsonl", "--dry-run", "--root", root)
    out = run(*words).out.replace("\u00a0", " ")
    assert "and 1 180 more problems; --format json names the first 1 000 of each file\n" in out
    assert "ignored: a record without a type 1\n" in out
    report = run(*words, "--format", "json").json
    assert report["totals"]["problems"] == 1200
    assert (len(report["sessions"][0]["problems"]), report["sessions"][0]["problems_more"]) == (1000, 200)
