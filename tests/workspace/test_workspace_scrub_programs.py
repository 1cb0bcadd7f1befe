"""A scrub and the other programs on its workspace: who waits, who is refused, and who is named."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.workspace.jobs_cases import CHECKOUT, holding
from tests.workspace.redaction_cases import act, begin, codes, holders, new_root, token, unfiltered
from workbench.log.streams import session_stream
from workbench.storage import turns
from workbench.workspace import Workspace
from workbench.workspace.errors import Cancelled
from workbench.workspace.jobs.errors import JobRunning
from workbench.workspace.redactions import LEASE
from workbench.workspace.redactions.programs import programs_with

PROGRAM = """
import sys
from pathlib import Path
from workbench.sessions import Actum
from workbench.workspace import Workspace

with Workspace.open(Path(sys.argv[1])) as workspace, workspace.data_version_poller() as poller:
    number = 0
    for line in sys.stdin:
        word = line.strip()
        if word == "hold":
            lent = workspace.log.reader()
            connection = lent.__enter__()
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM events").fetchall()
        elif word == "let go":
            connection.execute("ROLLBACK")
            lent.__exit__(None, None, None)
        elif word == "write":
            number += 1
            workspace.sessions.record_actum(
                "ada",
                Actum(chronicum_id="theirs", kind="message", actor_kind="agent", actor="it", content=str(number)),
            )
        elif word == "look":
            poller.poll()
            print(workspace.sessions.get_acta("ada", "s")[0].content, flush=True)
            continue
        print(word, flush=True)
"""
"""Keeps a workspace open and does what its input says."""


class Program:
    """Another program on a workspace."""

    def __init__(self, root: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        )

    def say(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def do(self, word: str) -> str:
        self.say(word)
        return self.answer()


@contextmanager
def program(root: Path) -> Iterator[Program]:
    other = Program(root)
    try:
        yield other
    finally:
        assert other.process.stdin is not None and other.process.stdout is not None
        other.process.stdin.close()
        code = other.process.wait(20)
        other.process.stdout.close()
    assert code == 0


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CHRONICLE_AUTO_MIGRATE", "CHRONICLE_DB"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with a key in it."""
    path = new_root(tmp_path / "w")
    with unfiltered(path) as log:
        begin(log, "s")
        log.append(session_stream("s"), [act("s", 1, f"key {token(1)}")])
        log.append(session_stream("s"), [act("s", n, f"word{n} " * 60) for n in range(2, 300)])
    return path


def test_a_scrub_is_refused_while_a_job_runs_and_names_it(root: Path) -> None:
    with Workspace.open(root) as workspace, holding(root, "import", "import a lot") as holder:
        number = holder.running()
        with (
            pytest.raises(JobRunning, match=r"“import a lot” runs, since .* needs the workspace") as caught,
            workspace.jobs.run("scrub", "scrub", lease=LEASE),
        ):
            pytest.fail("it ran")
        assert f"jobs stop {number}" in caught.value.hint
        assert holder.end() == "ended"
        with workspace.jobs.run("scrub", "scrub", lease=LEASE):
            assert workspace.scrub().rewritten == 1


@pytest.mark.parametrize(("kind", "lease"), [("import", None), ("doctor", "doctor"), ("scrub", LEASE)])
def test_no_job_begins_while_a_scrub_runs(root: Path, kind: str, lease: str | None) -> None:
    with Workspace.open(root) as workspace, holding(root, "scrub", "scrub", LEASE) as holder:
        holder.running()
        assert workspace.jobs.being_scrubbed()
        said = "runs already" if kind == "scrub" else "the workspace is being scrubbed, since "
        with pytest.raises(JobRunning, match=said), workspace.jobs.run(kind, "mine", lease=lease):
            pytest.fail("it ran")
        assert [row.title for row in workspace.jobs.page(10)] == ["scrub"]
        holder.end()
        assert not workspace.jobs.being_scrubbed()
        with workspace.jobs.run(kind, "mine", lease=lease) as job:
            job.finish("done")


def test_a_killed_scrub_holds_nobody_up(root: Path) -> None:
    with Workspace.open(root) as workspace, holding(root, "scrub", "scrub", LEASE) as holder:
        holder.running()
        holder.kill()
        assert not workspace.jobs.being_scrubbed()
        with workspace.jobs.run("import", "mine") as job:
            job.finish("done")
        assert [row.status for row in workspace.jobs.page(10)] == ["done", "failed"]


def test_a_job_that_cannot_be_noted_does_not_begin_beside_a_scrub(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of the transaction the list of jobs cannot take another one; it can be read."""
    monkeypatch.setattr(turns, "BUSY_TIMEOUT_MS", 100)
    with Workspace.open(root) as workspace, Workspace.open(root) as scrubbing:
        inside, over = threading.Event(), threading.Event()

        def scrub() -> None:
            with scrubbing.jobs.run("scrub", "scrub", lease=LEASE), scrubbing.log.transaction():
                inside.set()
                over.wait(20)

        thread = threading.Thread(target=scrub)
        thread.start()
        try:
            assert inside.wait(20)
            with pytest.raises(JobRunning, match="being scrubbed"), workspace.jobs.run("import", "mine"):
                pytest.fail("it ran")
        finally:
            over.set()
            thread.join(20)


def test_an_open_program_reads_and_writes_through_a_scrub(root: Path) -> None:
    with program(root) as other:
        assert other.do("look") == f"key {token(1)}"
        assert other.do("write") == "write"
        with Workspace.open(root) as workspace:
            said: list[str] = []

            def progress(done: int, total: int | None, note: str) -> None:
                if len(said) < 40:
                    said.append("write")
                    # It waits where the transaction has the lock, and goes on after it.
                    other.say("write")

            report = workspace.scrub(progress=progress)
            assert report.emptied
            assert [other.answer() for _ in said] == said
            assert other.do("look") == "key [REDACTED:anthropic_key]"
            assert other.do("write") == "write"
            stored = workspace.sessions.get_acta("ada", "theirs")
            assert [actum.content for actum in stored] == [str(n) for n in range(1, len(said) + 3)]
        assert holders(root, 1) == []
    assert codes(root) == []


def test_a_reader_keeps_the_log_from_being_emptied_and_is_named(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "BUSY_TIMEOUT_MS", 200)
    with program(root) as other:
        assert other.do("hold") == "hold"
        with Workspace.open(root) as workspace:
            report = workspace.scrub()
            assert not report.emptied
            assert any(f"(process {other.process.pid})" in name for name in report.readers)
            assert holders(root, 1) != []
            assert codes(root) == ["scrub_unfinished"]
            assert other.do("let go") == "let go"
            again = workspace.scrub()
            assert (again.resumed, again.emptied, again.readers) == (True, True, [])
            assert holders(root, 1) == []
            assert codes(root) == []


def test_a_scrub_that_is_stopped_changed_nothing(root: Path) -> None:
    with Workspace.open(root) as workspace:
        before = [event.payload for event in workspace.log.read()]
        notes: list[str] = []

        def progress(done: int, total: int | None, note: str) -> None:
            notes.append(note)

        asked = iter(range(1000))
        with pytest.raises(Cancelled, match="nothing was changed"):
            workspace.scrub(progress=progress, cancelled=lambda: next(asked) > 2)
        assert [event.payload for event in workspace.log.read()] == before
        assert notes[-1] == "events"
        # What is asked too late is not heard: it is gone through with.
        committed = False

        def note(done: int, total: int | None, name: str) -> None:
            nonlocal committed
            committed = committed or name == "old text"

        report = workspace.scrub(progress=note, cancelled=lambda: committed)
        assert committed and report.rewritten == 1 and report.emptied
    assert holders(root, 1) == []


def test_a_stopped_scrub_leaves_no_artifact_of_its_own(tmp_path: Path) -> None:
    from tests.workspace.redaction_cases import keep

    root = new_root(tmp_path / "w")
    digest = keep(root, f"key {token(1)}\n".encode())
    with unfiltered(root) as log:
        begin(log, "s")
        log.append(session_stream("s"), [act("s", 1, "x", metadata={"evidence": [digest]})])
    with Workspace.open(root) as workspace:
        stopped = False

        def note(done: int, total: int | None, name: str) -> None:
            nonlocal stopped
            stopped = name == "events"

        with pytest.raises(Cancelled):
            workspace.scrub(progress=note, cancelled=lambda: stopped)
    assert [path.name for path in (root / "artifacts").rglob("*") if path.is_file()] == [digest]
    assert codes(root) == []


def test_programs_with_a_file_are_told_by_name(root: Path) -> None:
    with program(root) as other:
        assert other.do("write") == "write"
        (name,) = programs_with(root / "chronicle.db")
        assert name.endswith(f"(process {other.process.pid})")
    assert programs_with(root / "chronicle.db") == []
    assert programs_with(root / "nothing") == []
