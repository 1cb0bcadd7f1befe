"""`migrate`, and what the other commands do with a database of an older release."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from tests.cli.program import CHECKOUT, Run
from tests.thorough import kills
from tests.workspace.older_workspace import Unchanged, older_workspace
from workbench.workspace import Workspace
from workbench.workspace.migrations import SCHEMA_VERSION

PLAN_KEYS = {
    "db_path",
    "current",
    "target",
    "pending",
    "folds",
    "retired",
    "events",
    "database_bytes",
    "backup_dir",
    "backup_name",
    "needed",
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of schema 1; for copies."""
    return older_workspace(tmp_path_factory.mktemp("older") / "w")


@pytest.fixture
def old(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace of schema 1, which the program finds by `$CHRONICLE_ROOT`."""
    root = Path(shutil.copytree(prepared, tmp_path / "old"))
    monkeypatch.setenv("CHRONICLE_ROOT", str(root))
    return root


def pragma(root: Path, statement: str) -> None:
    """Change the file's header."""
    connection = apsw.Connection(str(root / "chronicle.db"))
    connection.execute(statement).fetchall()
    connection.close()


def copies(root: Path) -> list[Path]:
    """The copies from before migrations."""
    return list((root / "backups").rglob("*bak-premigrate*"))


def test_migrate(run: Run, old: Path) -> None:
    answer = run("migrate", "--format", "json")
    assert answer.code == 0
    said = answer.json
    assert list(said) == ["db_path", "applied", "folds", "backup_path", "summary"]
    assert said["db_path"] == str(old / "chronicle.db")
    assert [step["version"] for step in said["applied"]] == list(range(2, SCHEMA_VERSION + 1))
    assert all(step["name"] and step["what"] for step in said["applied"])
    assert said["backup_path"] == str(*copies(old))
    assert answer.err == ""
    status = run("status", "--format", "json")
    assert status.code == 0
    assert status.json["schema"]["current_version"] == SCHEMA_VERSION
    assert run("doctor").code == 0
    again = run("migrate", "--format", "json")
    assert again.code == 0
    assert (again.json["applied"], again.json["folds"], again.json["backup_path"]) == ([], [], None)
    assert len(copies(old)) == 1


def test_migrate_says_what_it_did(run: Run, old: Path) -> None:
    answer = run("migrate")
    assert answer.code == 0
    assert "0002 jobs_and_activity: " in answer.out
    assert f"the schema is now {SCHEMA_VERSION}, it was 1" in answer.out
    assert str(*copies(old)) in answer.out
    assert "nothing to do" in run("migrate").out


def test_a_plan_changes_nothing_and_ends_with_0(run: Run, old: Path) -> None:
    before = Unchanged(old)
    answer = run("migrate", "--plan", "--format", "json")
    assert answer.code == 0
    assert set(answer.json) == PLAN_KEYS
    assert answer.json["needed"] is True
    text = run("migrate", "--plan")
    assert text.code == 0
    assert f"schema     1 of {SCHEMA_VERSION}" in text.out
    assert "workbench migrate" in text.out
    before.check()
    run("migrate")
    before = Unchanged(old)
    current = run("migrate", "--plan", "--format", "json")
    assert current.code == 0
    assert (current.json["needed"], current.json["pending"], current.json["folds"]) == (False, [], [])
    assert "nothing to do" in run("migrate", "--plan").out
    before.check()


def test_m14_status_of_an_older_database(run: Run, old: Path) -> None:
    before = Unchanged(old)
    answer = run("status", "--format", "json")
    assert answer.code == 3
    said = answer.json
    assert said["exists"] is True
    assert said["schema"] == {
        "current_version": 1,
        "target_version": SCHEMA_VERSION,
        "pending": list(range(2, SCHEMA_VERSION + 1)),
        "unknown": [],
        "unknown_count": 0,
    }
    assert said["summary"] is None
    assert "workbench migrate" in said["message"]
    assert run("status").code == 3
    before.check()


def test_m14_status_of_no_database(run: Run, old: Path) -> None:
    (old / "chronicle.db").unlink()
    answer = run("status", "--format", "json")
    assert answer.code == 0
    assert answer.json["exists"] is False
    assert not (old / "chronicle.db").exists()


def test_status_of_projections_of_another_release(run: Run, old: Path) -> None:
    run("migrate")
    pragma(old, "UPDATE folds SET version = 0 WHERE name = 'actors'")
    answer = run("status", "--format", "json")
    assert answer.code == 3
    assert answer.json["schema"]["pending"] == []
    assert "actors" in answer.json["message"]
    assert "workbench migrate" in answer.json["message"]


@pytest.mark.parametrize("words", ["status", "migrate", "migrate --plan", "sessions list", "doctor --fix"])
@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (f"PRAGMA user_version={SCHEMA_VERSION + 1}", "schema_ahead_of_code"),
        ("PRAGMA application_id=7", "not_a_workbench_database"),
    ],
    ids=["newer", "foreign"],
)
def test_m15_newer_and_foreign_end_with_3_whatever_is_asked(
    run: Run, old: Path, monkeypatch: pytest.MonkeyPatch, edit: str, code: str, words: str
) -> None:
    monkeypatch.setenv("CHRONICLE_AUTO_MIGRATE", "1")
    pragma(old, edit)
    before = Unchanged(old)
    answer = run("--migrate", *words.split(), "--format", "json")
    assert answer.code == 3
    assert answer.json.get("error_type", code) == code
    before.check()


COMMANDS = [
    ("sessions", "list"),
    ("timeline",),
    ("doctor",),
    ("doctor", "--fix"),
    ("sessions", "close-unit", "plan", "--owner", "ada", "--unit", "x"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_command_upgrades_unasked(run: Run, old: Path, words: tuple[str, ...]) -> None:
    before = Unchanged(old)
    answer = run(*words, "--format", "json")
    assert answer.code == 3
    assert answer.json["error_type"] == "schema_migration_required"
    assert "workbench migrate" in answer.json["hint"]
    before.check()


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("how", ["option", "option first", "variable"])
def test_m17_a_command_upgrades_when_it_is_told_to(
    run: Run, old: Path, monkeypatch: pytest.MonkeyPatch, how: str, words: tuple[str, ...]
) -> None:
    if how == "variable":
        monkeypatch.setenv("CHRONICLE_AUTO_MIGRATE", "yes")
    before = ("--migrate",) if how == "option first" else ()
    after = ("--migrate",) if how == "option" else ()
    answer = run(*before, *words, *after, "--format", "json")
    assert answer.code == 0, answer
    assert isinstance(answer.json, dict)
    (copy,) = copies(old)
    assert str(copy) in answer.err
    again = run(*words, *after, "--format", "json")
    assert again.err == ""
    assert len(copies(old)) == 1


@pytest.mark.parametrize("words", ["status", "migrate --plan"])
def test_looking_never_upgrades(run: Run, old: Path, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    monkeypatch.setenv("CHRONICLE_AUTO_MIGRATE", "1")
    before = Unchanged(old)
    run("--migrate", *words.split())
    before.check()


@pytest.mark.parametrize("command", ["status", "migrate"])
def test_a_command_offers_only_what_it_does(run: Run, old: Path, command: str) -> None:
    assert "--migrate" not in run(command, "--help").out
    assert "--migrate" in run("timeline", "--help").out
    answer = run(command, "--migrate", "--format", "json")
    assert (answer.code, answer.json["error_type"]) == (2, "usage")


@pytest.mark.parametrize("words", [("migrate",), ("timeline", "--migrate")], ids=" ".join)
def test_waiting_for_another_program_is_said_on_a_terminal(old: Path, words: tuple[str, ...]) -> None:
    holder = apsw.Connection(str(old / "chronicle.db"))
    holder.execute("BEGIN IMMEDIATE")
    screen, terminal = os.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "workbench", *words],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.PIPE,
        stderr=terminal,
    )
    os.close(terminal)
    try:
        said = b""
        while said.count(b"waiting for another program that writes to this workspace (") < 2:
            said += os.read(screen, 4096)
        assert b"(1 s)" in said
        assert b"(2 s)" in said
        holder.execute("COMMIT")
        child.communicate(timeout=60)
        assert child.returncode == 0
    finally:
        child.kill()
        child.communicate()
        os.close(screen)
        holder.close()
    assert len(copies(old)) == 1


def test_nothing_is_said_of_waiting_where_no_person_looks(old: Path) -> None:
    holder = apsw.Connection(str(old / "chronicle.db"))
    holder.execute("BEGIN IMMEDIATE")
    code = (
        "import sys\n"
        "from workbench.storage import turns\n"
        "turns.BUSY_TIMEOUT_MS, turns.TOLD_AFTER_SECONDS = 100, 0.01\n"
        "from workbench.cli import main\n"
        "sys.exit(main(['migrate']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    holder.close()
    assert done.returncode == 1
    assert done.stderr.splitlines()[0].endswith("is being written by another program")


def test_a_backups_folder_that_leads_elsewhere_gets_no_copy(run: Run, old: Path, tmp_path: Path) -> None:
    (old / "backups").rename(tmp_path / "elsewhere")
    (old / "backups").symlink_to(tmp_path / "elsewhere")
    answer = run("migrate", "--format", "json")
    assert (answer.code, answer.json["error_type"]) == (1, "migration_backup")
    assert f"{old / 'backups'} is a symbolic link to {tmp_path / 'elsewhere'}" in answer.json["error"]
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_completing_a_word_never_upgrades(process: Run, old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHRONICLE_AUTO_MIGRATE", "1")
    monkeypatch.setenv("_WORKBENCH_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "workbench sessions show ")
    monkeypatch.setenv("COMP_CWORD", "3")
    before = Unchanged(old)
    assert process().code == 0
    before.check()


def test_a_root_that_is_required_and_missing_ends_with_2(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHRONICLE_REQUIRE_ROOT", "1")
    assert run("migrate").code == 2


def test_migrating_nothing_ends_with_2(run: Run, tmp_path: Path) -> None:
    answer = run("migrate", "--root", tmp_path / "none")
    assert answer.code == 2
    assert not (tmp_path / "none").exists()


def test_ctrl_c_leaves_everything_as_it_was(old: Path) -> None:
    content = (old / "chronicle.db").read_bytes()
    # Stopped from inside, at the first word of progress: a person's Ctrl-C comes at such a time.
    code = (
        "import os, signal, sys\n"
        "from workbench.storage import migration_backup\n"
        "from workbench.cli import main\n"
        "whole = migration_backup._check\n"
        "def check(*given):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    return whole(*given)\n"
        "migration_backup._check = check\n"
        "sys.exit(main(['migrate', '--format', 'json']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 130, done
    assert '"error_type":"cancelled"' in done.stdout
    assert (old / "chronicle.db").read_bytes() == content
    assert copies(old) == []


KILLS = kills(20)


def test_killed_anywhere_it_leaves_the_old_database_or_the_new_one(tmp_path: Path) -> None:
    """SIGKILL at points spread over the whole of a migration; each time a later one mends everything."""
    events = 400
    old = older_workspace(tmp_path / "old", events)
    whole = _killed(Path(shutil.copytree(old, tmp_path / "timed")), None)
    outcomes = set()
    for number in range(KILLS):
        root = Path(shutil.copytree(old, tmp_path / f"killed{number}"))
        _killed(root, whole * 1.1 * number / KILLS)
        plan = Workspace.plan_migration(root)
        outcomes.add(plan.current)
        assert plan.current in (1, SCHEMA_VERSION)
        assert plan.needed == (plan.current == 1)
        Workspace.migrate(root)
        assert [each for each in copies(root) if each.name.endswith(".part")] == []
        with Workspace.open(root) as workspace:
            assert workspace.log.last_position() == events
            # Today's filter has not seen the events of then; nothing else is to be said.
            assert [finding.code for finding in workspace.doctor().findings] == ["rescan_due"]
        shutil.rmtree(root)
    assert 1 in outcomes


def _killed(root: Path, after: float | None) -> float:
    """Migrate in a process that is killed so many seconds after it has begun; the seconds that it took."""
    code = (
        "import sys, time\n"
        "import workbench.workspace.migration\n"
        "from workbench.cli import main\n"
        "print('begin', flush=True)\n"
        "started = time.perf_counter()\n"
        "code = main(['migrate', '--root', sys.argv[1], '--format', 'json'])\n"
        "print(time.perf_counter() - started, flush=True)\n"
        "sys.exit(code)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(root)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    with child.stdout:
        assert child.stdout.readline() == "begin\n"
        if after is None:
            taken = float(child.stdout.read().splitlines()[-1])
            assert child.wait() == 0
            return taken
        try:
            child.wait(after)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
        child.wait()
    return after


def test_the_hint_names_the_workspace_that_was_asked_for(run: Run, old: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "an other"
    old.rename(elsewhere)
    answer = run("sessions", "list", "--root", elsewhere, "--format", "json")
    assert answer.code == 3
    assert answer.json["hint"] == f"run: workbench migrate --root '{elsewhere}'"
