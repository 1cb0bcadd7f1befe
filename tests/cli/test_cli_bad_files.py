"""Databases that are cut, flipped, foreign, or no files at all: an answer, or one sentence, and never a hang."""

from __future__ import annotations

import os
import random
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.program import Answer, Run
from workbench import Actum
from workbench.workspace import Workspace

ACTA = 60
TRIES = int(os.environ.get("WORKBENCH_TEST_DAMAGES", "100"))

READING = (
    ("status",),
    ("sessions", "list"),
    ("sessions", "show", "one"),
    ("timeline",),
    ("doctor",),
)


def act(workspace: Workspace, number: int) -> None:
    words = f"{number} " + "words that are looked for " * 12
    workspace.sessions.record_actum(
        "ada",
        Actum(chronicum_id="one", kind="message", actor_kind="human", actor="ada", content=words),
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A closed workspace."""
    with Workspace.create(tmp_path / "w", title="Trial", timezone="UTC", owner="ada") as workspace:
        for number in range(ACTA):
            act(workspace, number)
    return tmp_path / "w"


@pytest.fixture
def killed(root: Path, tmp_path: Path) -> Path:
    """The same as a killed program leaves it: half of its acta in the write-ahead log alone."""
    with Workspace.open(root) as workspace:
        for number in range(ACTA, 2 * ACTA):
            act(workspace, number)
        shutil.copytree(root, tmp_path / "killed")
    return tmp_path / "killed"


def damage_is_said(run: Run, root: Path, state: Path) -> set[str]:
    """Every command answers rightly as far as anybody can tell, or says what is wrong; what was said."""
    said: set[str] = set()
    for words in READING:
        answer = run(*words, "--root", root, "--format", "json")
        assert answer.err == ""
        code = answer.json.get("error_type", "")
        said.add(code)
        assert code != "internal", answer
        if words == ("doctor",):
            # What it finds in a file that can be opened is no error.
            assert answer.code in (0, 1) if code == "" else answer.code == 3, answer
        elif words == ("status",) and code == "":
            # A file that seems to be of another release has a status.
            assert answer.code in (0, 3)
        else:
            assert answer.code == (0 if code == "" else 1 if code == "chronicum_not_found" else 3), answer
    assert not list(state.rglob("workbench.log"))
    return said


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def replaced(root: Path, content: bytes) -> None:
    for path in root.glob("chronicle.db-*"):
        path.unlink()
    (root / "chronicle.db").write_bytes(content)


def test_cut_anywhere(run: Run, root: Path, state: Path) -> None:
    whole = (root / "chronicle.db").read_bytes()
    chance = random.Random(5)
    said: set[str] = set()
    for _ in range(TRIES):
        replaced(root, whole[: chance.randrange(len(whole))])
        said |= damage_is_said(run, root, state)
    assert "db_damaged" in said


def test_flipped_anywhere(run: Run, root: Path, state: Path) -> None:
    whole = (root / "chronicle.db").read_bytes()
    chance = random.Random(6)
    said: set[str] = set()
    for turn in range(TRIES):
        content = bytearray(whole)
        for _ in range((1, 3, 30)[turn % 3]):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        replaced(root, bytes(content))
        said |= damage_is_said(run, root, state)
    assert {"", "db_damaged"} <= said


def contents(run: Run, root: Path) -> list[str] | None:
    """What the session holds, None where the database is refused."""
    answer = run("sessions", "show", "one", "--root", root, "--format", "json", "--limit", "1000")
    if answer.code == 0:
        return [each["content"].split()[0] for each in answer.json["acta"]]
    assert answer.json["error_type"] == "db_damaged"
    return None


def test_a_log_cut_or_flipped_anywhere_ends_with_a_whole_transaction(run: Run, killed: Path) -> None:
    wal = killed / "chronicle.db-wal"
    shm = killed / "chronicle.db-shm"
    whole, file = wal.read_bytes(), (killed / "chronicle.db").read_bytes()
    everything = [str(number) for number in range(2 * ACTA)]
    chance = random.Random(7)
    lengths = set()
    for turn in range(20):
        content = bytearray(whole[: chance.randrange(len(whole))] if turn % 2 else whole)
        if turn % 2 == 0:
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        shm.unlink(missing_ok=True)
        wal.write_bytes(content)
        (killed / "chronicle.db").write_bytes(file)
        found = contents(run, killed)
        assert found is not None
        assert found == everything[: len(found)]
        assert len(found) >= ACTA
        lengths.add(len(found))
        doctor = run("doctor", "--root", killed, "--format", "json")
        assert (doctor.code, doctor.json["findings"]) == (0, [])
    assert len(lengths) > 5


def test_a_log_that_is_gone_costs_what_was_in_it_and_no_more(run: Run, killed: Path) -> None:
    for path in killed.glob("chronicle.db-*"):
        path.unlink()
    assert contents(run, killed) == [str(number) for number in range(ACTA)]
    assert run("doctor", "--root", killed).code == 0


@pytest.mark.parametrize("kind", ["empty", "zeros", "ones", "noise", "short"])
def test_a_broken_index_of_the_log_is_made_again(run: Run, killed: Path, kind: str) -> None:
    garbage = {
        "empty": b"",
        "zeros": bytes(32768),
        "ones": b"\xff" * 32768,
        "noise": random.Random(8).randbytes(32768),
        "short": b"x" * 100,
    }
    (killed / "chronicle.db-shm").write_bytes(garbage[kind])
    assert contents(run, killed) == [str(number) for number in range(2 * ACTA)]
    assert run("doctor", "--root", killed).code == 0


@pytest.mark.parametrize("kind", ["another workspace's", "garbage", "a folder"])
def test_a_log_of_another_file(run: Run, root: Path, killed: Path, state: Path, kind: str) -> None:
    wal = root / "chronicle.db-wal"
    if kind == "garbage":
        wal.write_bytes(os.urandom(100_000))
    elif kind == "a folder":
        wal.mkdir()
    else:
        other = root.parent / "other"
        with Workspace.create(other, timezone="UTC", owner="eve") as workspace:
            for number in range(5):
                act(workspace, number)
            shutil.copyfile(other / "chronicle.db-wal", wal)
    for words in READING:
        answer = run(*words, "--root", root, "--format", "json")
        assert answer.json.get("error_type") != "internal", answer
        assert answer.code in (0, 1, 3)
    assert not list(state.rglob("workbench.log"))


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@contextmanager
def _short(folder: Path) -> Iterator[None]:
    """A socket's name may not be long: it is bound relative to its folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@pytest.mark.parametrize("make", [_pipe, _folder, _socket, _device])
def test_what_is_no_file_is_refused_at_once(process: Run, root: Path, make: Callable[[Path], None]) -> None:
    for path in root.glob("chronicle.db*"):
        path.unlink()
    with _short(root):
        make(Path("chronicle.db"))
    for words in (("status",), ("init",), ("doctor",), ("import", "jsonl", "/dev/null")):
        answer: Answer = process(*words, "--root", root)
        assert answer.code in (1, 3), answer
        assert "no file" in answer.err + answer.out
        assert "Traceback" not in answer.err


@pytest.mark.parametrize("make", [_pipe, _folder, _device])
def test_a_named_database_that_is_no_file(
    process: Run, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "named")
    monkeypatch.setenv("CHRONICLE_DB", str(tmp_path / "named"))
    for words in (("status",), ("init",)):
        answer = process(*words, "--root", root)
        assert answer.code == 3
        assert "no file" in answer.err


def test_an_error_log_that_is_a_pipe_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.error_log import write_details

    monkeypatch.setenv("WORKBENCH_STATE_DIR", str(tmp_path / "kept"))
    (tmp_path / "kept").mkdir()
    os.mkfifo(tmp_path / "kept" / "workbench.log")
    assert "could not be written" in write_details(ValueError())
    reading = os.open(tmp_path / "kept" / "workbench.log", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert "it is no file" in write_details(ValueError())
    finally:
        os.close(reading)
