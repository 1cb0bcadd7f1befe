"""What may only be read: a folder, a file, a medium; with and without a log that a program left or is writing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from tests.cli.chronicle_words import rounds
from tests.cli.program import CHECKOUT, Answer
from tests.media import Program, give_away, medium, open_folder, seal
from workbench import Actum
from workbench.workspace import Workspace

READING = (
    ("status",),
    ("sessions", "list"),
    ("sessions", "show", "one"),
    ("timeline",),
    ("doctor",),
    ("export", "jsonl"),
    ("redactions", "list"),
    ("redactions", "rescan"),
    ("chronicle", "status"),
    ("chronicle", "brief", "--session", "one"),
    ("trust", "--show"),
)
RECORD = "sessions record --session one --kind message --actor-kind human --actor ada --content more"
SCRUB = ["redactions", "scrub", "--confirm"]
CONSOLIDATE = ["chronicle", "consolidate"]
PROBE = "tests.cli.test_cli_bad_read_only:why_not"
WRITER = """
import sys
from workbench import Actum
from workbench.workspace import Workspace
with Workspace.open(sys.argv[1]) as workspace:
    workspace.sessions.record_actum("ada", Actum(
        chronicum_id="one", kind="message", actor_kind="human", actor="ada", content="of the writer"))
    print("written", flush=True)
    sys.stdin.readline()
"""


def make(root: Path, *, left_in_wal: bool) -> None:
    """A workspace of three acta, the last of them in the write-ahead log where one is left."""
    with Workspace.create(root, title="Sealed", timezone="UTC", owner="ada") as workspace:
        for number in range(3):
            workspace.sessions.record_actum(
                "ada",
                Actum(
                    chronicum_id="one",
                    kind="message",
                    actor_kind="human",
                    actor="ada",
                    content=f"act {number}",
                ),
            )
            if number == 1:
                with workspace.log.reader() as connection:
                    other = apsw.Connection(str(connection.db_filename("main")))
                    other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                    other.close()
        copies = [
            (path, path.read_bytes()) for path in root.glob("chronicle.db*") if path.suffix != ".db-shm"
        ]
    if left_in_wal:
        for path, content in copies:
            path.write_bytes(content)
        assert (root / "chronicle.db-wal").stat().st_size > 0


def why_not(root: str) -> str:
    """Called in the program's place: why a workspace cannot be written, and what is shown of it."""
    with Workspace.open(root, read_only=True) as workspace:
        return workspace.read_only_reason


@pytest.fixture
def home() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


def everything_is_read(program: Program, root: Path, acta: int) -> None:
    for words in READING:
        answer = program.run(*words, "--root", root)
        assert (answer.code, answer.err) == (0, ""), (words, answer)
    status = program.run("status", "--root", root, "--format", "json").json
    assert status["read_only"] is True
    assert status["summary"]["acta"] == acta
    assert program.run("doctor", "--root", root).out == "everything is well\n"


def writing_is_refused(program: Program, root: Path) -> None:
    for words in (RECORD.split(), ["doctor", "--fix"], ["import", "jsonl", "/dev/null"], SCRUB, CONSOLIDATE):
        answer = program.run(*words, "--root", root)
        assert answer.code == 1, (words, answer)
        error, hint = answer.err.splitlines()
        assert error.startswith("error: ") and error.endswith("cannot be written"), answer
        assert "--read-only" in hint


def looks(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("left_in_wal", [False, True])
def test_a_folder_of_which_the_user_may_only_read(home: Path, left_in_wal: bool) -> None:
    root = home / "w"
    make(root, left_in_wal=left_in_wal)
    give_away(root)
    seal(root)
    before = looks(root)
    with Program(home, unprivileged=True) as program:
        everything_is_read(program, root, 3)
        why = program.run(root, call=PROBE).json
        assert why == "read-only medium: " + (
            "a copy from the time of opening is shown" if left_in_wal else "live refresh is off"
        )
        writing_is_refused(program, root)
    assert looks(root) == before


@pytest.mark.parametrize("left_in_wal", [False, True])
def test_a_medium_that_can_only_be_read(home: Path, left_in_wal: bool) -> None:
    make(home / "made", left_in_wal=left_in_wal)
    with medium(home, 16 * 1024) as (program, place):
        root = place / "w"
        copy(program, home / "made", root)
        program.mount("-o", "remount,ro", place)
        before = looks(program.inside(root))
        everything_is_read(program, root, 3)
        assert program.run(root, call=PROBE).json.startswith("read-only medium")
        writing_is_refused(program, root)
        for words in (("init",), ("demo", "--no-open", "--to", place / "new")):
            answer = program.run(*words, *(() if "demo" in words else ("--root", root)))
            assert answer.code in (1, 2), answer
            assert "cannot be written" in answer.err
        assert looks(program.inside(root)) == before


def test_a_chronicle_recommends_only_what_can_be_done_there(home: Path) -> None:
    root = home / "w"
    with Workspace.create(root, title="Sealed", timezone="UTC", owner="ada") as workspace:
        rounds(workspace, 2, "lunch")
    give_away(root)
    seal(root)
    lunch = ("--stream", "session/lunch", "--root", root)
    with Program(home, unprivileged=True) as program:
        for words in (("status", "--root", root), ("sections", *lunch)):
            answer = program.run("chronicle", *words)
            assert (answer.code, "consolidate" in answer.out) == (0, False), answer
            assert "this workspace cannot be written from here" in answer.out
        refused = program.run("chronicle", "export", *lunch)
        assert (refused.code, "consolidate" in refused.err) == (1, False), refused


def copy(program: Program, source: Path, target: Path) -> None:
    for path in [source, *sorted(source.rglob("*"))]:
        inside = program.inside(target / path.relative_to(source))
        if path.is_dir():
            inside.mkdir(mode=0o700)
        else:
            inside.write_bytes(path.read_bytes())
            inside.chmod(0o600)


def test_a_file_of_which_the_user_may_only_read(home: Path) -> None:
    root = home / "w"
    make(root, left_in_wal=False)
    give_away(root)
    (root / "chronicle.db").chmod(0o400)
    with Program(home, unprivileged=True) as program:
        for words in READING:
            answer = program.run(*words, "--root", root)
            assert (answer.code, answer.err) == (0, ""), (words, answer)
        writing_is_refused(program, root)


@contextmanager
def writer(root: Path) -> Iterator[None]:
    """Another program that has the workspace open and has written to it."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=CHECKOUT,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        assert process.stdout.readline() == "written\n"
        yield
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def test_a_folder_that_another_user_is_writing_to(home: Path) -> None:
    """Where its index may be read the writer is followed; else it is said that a copy is shown."""
    root = home / "w"
    make(root, left_in_wal=False)
    with writer(root), Program(home, unprivileged=True) as program:
        give_away(root)
        seal(root)
        before = sorted(looks(root))
        everything_is_read(program, root, 4)
        assert program.run(root, call=PROBE).json == "opened read-only"
        writing_is_refused(program, root)
        (root / "chronicle.db-shm").chmod(0)
        why = program.run(root, call=PROBE).json
        assert "a copy from the time of opening is shown" in why
        assert program.run("status", "--root", root, "--format", "json").json["summary"]["acta"] == 4
        assert sorted(looks(root)) == before


def test_what_may_not_even_be_read_is_said(home: Path) -> None:
    root = home / "w"
    make(root, left_in_wal=False)
    give_away(root)
    (root / "chronicle.db").chmod(0)
    with Program(home, unprivileged=True) as program:
        for words in (*READING, RECORD.split()):
            answer: Answer = program.run(*words, "--root", root)
            assert answer.code == 1, (words, answer)
            assert "chronicle.db" in answer.err
            assert "unforeseen" not in answer.err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_workspace_that_is_closed_to_this_user_names_who_may_read_it() -> None:
    with open_folder() as folder:
        root, home = folder / "w", folder / "home"
        make(root, left_in_wal=False)
        home.mkdir()
        give_away(home)
        with Program(home, unprivileged=True) as program:
            for words in (("status",), ("sessions", "list"), ("doctor",)):
                answer = program.run(*words, "--root", root)
                assert answer.code == 2
                assert f"{root / 'SSOT_MANIFEST.toml'}: cannot be read: Permission denied" in answer.err
                assert f"hint: {root} belongs to root (user 0), who may read it: ask them" in answer.err
                assert "init" not in answer.err
            give_away(root)
            root.chmod(0o000)
            assert (
                f"it is yours: open it to yourself with: chmod u+rwx {root}"
                in program.run("status", "--root", root).err
            )
