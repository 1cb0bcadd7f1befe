"""`init` and `status`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import apsw
import pytest

from tests.cli.program import CHECKOUT, Answer, Run
from workbench.sessions.model import Actum
from workbench.storage import fetch
from workbench.workspace import Workspace

INIT_KEYS = ["status", "root", "manifest_path", "db_path", "timezone", "created", "skipped", "next_steps"]
STATUS_KEYS = [
    "root",
    "title",
    "timezone",
    "owner",
    "db_path",
    "exists",
    "schema",
    "summary",
    "read_only",
    "message",
]


def test_init_in_the_current_folder(run: Run, sealed: Path) -> None:
    answer = run("init", "--timezone", "Europe/Lisbon", "--format", "json")
    assert answer.code == 0
    said = answer.json
    assert list(said) == INIT_KEYS
    assert said["root"] == str(sealed)
    assert said["manifest_path"] == str(sealed / "SSOT_MANIFEST.toml")
    assert said["db_path"] == str(sealed / "chronicle.db")
    assert said["timezone"] == "Europe/Lisbon"
    assert {"SSOT_MANIFEST.toml", "chronicle.db", "notes/", "status.md"} <= set(said["created"])
    assert said["skipped"] == []
    assert all(step.startswith("workbench ") for step in said["next_steps"])
    assert (sealed / "chronicle.db").is_file()


def test_init_prefers_root_to_the_variable(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sealed: Path
) -> None:
    monkeypatch.setenv("CHRONICLE_ROOT", str(tmp_path / "named"))
    assert run("init", "--format", "json").json["root"] == str(tmp_path / "named")
    chosen = run("init", "--root", tmp_path / "chosen", "--format", "json")
    assert chosen.json["root"] == str(tmp_path / "chosen")
    assert list(sealed.iterdir()) == []


def test_init_again_overwrites_nothing(run: Run, sealed: Path) -> None:
    run("init")
    (sealed / "status.md").write_text("mine\n")
    answer = run("init", "--format", "json")
    assert answer.json["created"] == []
    assert "status.md" in answer.json["skipped"]
    assert (sealed / "status.md").read_text() == "mine\n"
    assert "status.md" in run("init", "--force", "--format", "json").json["created"]
    assert (sealed / "status.md").read_text() != "mine\n"


def test_init_says_what_it_did(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "odd \x1b[31m name"
    first = run("init", "--root", root)
    assert first.code == 0
    assert "created" in first.out
    assert "kept" not in first.out
    assert "next:" in first.out
    assert "\x1b" not in first.out
    assert "kept" in run("init", "--root", root).out


def test_status_of_a_workspace(run: Run, workspace: Workspace) -> None:
    run(*"sessions record --session s --kind message --actor-kind human --actor ada --content hi".split())
    said = run("status", "--format", "json").json
    assert set(said) == set(STATUS_KEYS)
    assert said["exists"] is True
    assert said["owner"] == "ada"
    assert said["summary"]["events"] == 2
    assert said["summary"]["sessions"] == 1
    assert said["summary"]["acta"] == 1
    assert said["schema"]["pending"] == []
    text = run("status").out
    assert "1 session, 1 actum, 2 events" in text.replace("\u00a0", " ")


def test_status_tells_times_in_the_zone_of_the_workspace(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "kyoto"
    with Workspace.create(root, timezone="Asia/Tokyo", owner="ada") as workspace:
        workspace.sessions.record_actum(
            "ada", Actum(chronicum_id="s", kind="message", actor_kind="human", actor="ada", content="x")
        )
    (last,) = [
        line for line in run("status", "--root", root).out.splitlines() if line.startswith("last event ")
    ]
    assert last.endswith(" +09:00")
    said = run("status", "--root", root, "--format", "json").json["summary"]["last_recorded_at"]
    at = datetime.fromisoformat(last.removeprefix("last event "))
    assert at == datetime.fromisoformat(said).replace(microsecond=0)


def test_status_says_whether_it_could_be_written(
    run: Run, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("status", "--format", "json").json["read_only"] is False
    assert run("status", "--root", tmp_path / "none", "--format", "json").json["read_only"] is False

    # Whoever may do everything may write here too, so the system's answer is given.
    def denied(path: Path, mode: int) -> bool:
        return False

    monkeypatch.setattr("os.access", denied)
    assert run("status", "--format", "json").json["read_only"] is True


def test_status_where_nothing_is_yet(run: Run, tmp_path: Path) -> None:
    answer = run("status", "--root", tmp_path / "none", "--format", "json")
    assert answer.code == 0
    assert list(answer.json) == STATUS_KEYS
    assert answer.json["exists"] is False
    assert answer.json["summary"] is None
    text = run("status", "--root", tmp_path / "none")
    assert text.code == 0
    assert "none yet" in text.out
    assert not (tmp_path / "none").exists()


def test_status_without_a_database(run: Run, workspace: Workspace) -> None:
    workspace.close()
    for path in workspace.root.glob("chronicle.db*"):
        path.unlink()
    answer = run("status", "--format", "json")
    assert answer.code == 0
    assert answer.json["exists"] is False
    assert list(workspace.root.glob("chronicle.db*")) == []


def test_a_database_without_its_manifest_is_said_to_be_there_and_is_left_alone(
    run: Run, workspace: Workspace
) -> None:
    workspace.sessions.record_actum(
        "ada", Actum(chronicum_id="s", kind="message", actor_kind="human", actor="ada", content="kept")
    )
    workspace.close()
    root, database = workspace.root, workspace.layout.database
    (root / "SSOT_MANIFEST.toml").unlink()
    before = database.read_bytes()
    text = run("status")
    assert text.code == 0
    assert "none yet" not in text.out
    assert f"there is no SSOT_MANIFEST.toml at {root}, but chronicle.db is there" in text.out
    assert f"workbench init --root {root}, which leaves the database alone" in text.out
    assert run("status", "--format", "json").json["exists"] is True
    doctor = run("doctor")
    assert doctor.code == 2
    assert "but chronicle.db is there" in doctor.err
    assert (
        f"write a new one with: workbench init --root {root}, which leaves the database alone" in doctor.err
    )
    assert database.read_bytes() == before
    # What the hint promises.
    assert run("init", "--root", root).code == 0
    assert run("status", "--format", "json").json["summary"]["acta"] == 1
    assert run("doctor").code == 0


@pytest.mark.parametrize("words", [("status",), ("doctor",), ("timeline",)])
def test_a_manifest_without_its_database_asks_for_a_copy_first(
    run: Run, workspace: Workspace, words: tuple[str, ...]
) -> None:
    workspace.close()
    for path in workspace.root.glob("chronicle.db*"):
        path.unlink()
    answer = run(*words)
    said = answer.out + answer.err
    assert "has a manifest but no chronicle.db" in said
    assert said.index("put it or a backup back first") < said.index("workbench init --root")


def test_status_of_a_newer_schema_ends_with_3(run: Run, workspace: Workspace) -> None:
    workspace.close()
    connection = apsw.Connection(str(workspace.layout.database))
    target = int(fetch.value(connection, "PRAGMA user_version"))
    connection.execute(f"PRAGMA user_version={target + 2}")
    connection.close()
    answer = run("status", "--format", "json")
    assert answer.code == 3
    assert answer.json["exists"] is True
    assert answer.json["read_only"] is True
    assert answer.json["schema"] == {
        "current_version": target + 2,
        "target_version": target,
        "pending": [],
        "unknown": [target + 1, target + 2],
        "unknown_count": 2,
    }
    assert run("status").code == 3


def test_status_names_a_few_of_many_unknown_steps(run: Run, workspace: Workspace) -> None:
    workspace.close()
    connection = apsw.Connection(str(workspace.layout.database))
    target = int(fetch.value(connection, "PRAGMA user_version"))
    connection.execute(f"PRAGMA user_version={target + 97}")
    connection.close()
    schema = run("status", "--format", "json").json["schema"]
    assert schema["unknown"] == list(range(target + 1, target + 6))
    assert schema["unknown_count"] == 97


@pytest.mark.parametrize(
    ("make", "said"),
    [(Path.touch, "is empty"), (Path.mkdir, "no file but a folder"), (os.mkfifo, "no file but a pipe")],
    ids=["empty", "folder", "pipe"],
)
@pytest.mark.parametrize("words", ["status", "doctor", "timeline", "migrate", "migrate --plan"])
def test_what_is_no_database_file_is_called_so(
    run: Run, workspace: Workspace, make: Callable[[Path], object], said: str, words: str
) -> None:
    workspace.close()
    for path in workspace.root.glob("chronicle.db*"):
        path.unlink()
    make(workspace.layout.database)
    answer = run(*words.split(), "--format", "json")
    assert answer.code == 3
    assert answer.json["error_type"] == "no_database_file"
    assert said in answer.json["error"]
    assert "restore a copy" in answer.json["hint"]
    assert "recover" not in answer.out
    assert "damaged" not in answer.out


@pytest.fixture
def nowhere(tmp_path: Path) -> Callable[..., Answer]:
    """Run the program in a folder that is gone by then."""

    def run(*words: str, **variables: str) -> Answer:
        folder = tmp_path / "gone"
        folder.mkdir()
        code = (
            "import os, pathlib, sys\n"
            "pathlib.Path.cwd().rmdir()\n"
            "from workbench.cli import main\n"
            "sys.exit(main(sys.argv[1:]))\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT), **variables},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return run


@pytest.mark.parametrize(
    ("words", "variables"),
    [
        ((), {}),
        (("--root", "w"), {}),
        ((), {"CHRONICLE_ROOT": "w"}),
        ((), {"CHRONICLE_MANIFEST": "w/SSOT_MANIFEST.toml"}),
    ],
)
def test_a_current_folder_that_is_gone_is_said_in_words(
    nowhere: Callable[..., Answer],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    variables: dict[str, str],
) -> None:
    monkeypatch.delenv("CHRONICLE_ROOT", raising=False)
    monkeypatch.delenv("CHRONICLE_MANIFEST", raising=False)
    answer = nowhere("status", *words, "--format", "json", **variables)
    assert answer.code == 2, answer
    assert answer.json["error_type"] == "configuration"
    assert "the current folder" in answer.json["error"]
    assert "--root" in answer.json["hint"]


def test_a_current_folder_that_is_gone_matters_only_where_it_counts(
    nowhere: Callable[..., Answer], workspace: Workspace
) -> None:
    workspace.close()
    answer = nowhere("status", "--root", str(workspace.root), "--format", "json")
    assert answer.code == 0, answer
    assert answer.json["exists"] is True


def test_a_broken_manifest_names_its_line(run: Run, workspace: Workspace) -> None:
    manifest = workspace.layout.manifest
    manifest.write_text("version = 1\n[settings]\ntimezone = 3\n")
    answer = run("status")
    assert answer.code == 2
    assert f"{manifest}:3: settings.timezone" in answer.err
