"""Jobs of one program and of several: recorded, stopped, alone on a lease, and found dead."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.workspace.jobs_cases import OTHER_MACHINE, Holder, holding, new_root, put
from workbench.log.times import from_micros, now_micros
from workbench.storage import fetch
from workbench.storage.errors import DatabaseLocked, DatabaseReadOnly
from workbench.workspace import Workspace
from workbench.workspace.errors import Cancelled, ConfigurationError
from workbench.workspace.jobs import job as job_module
from workbench.workspace.jobs.errors import JobEnded, JobNotFound, JobRunning
from workbench.workspace.jobs.jobs import KEPT
from workbench.workspace.jobs.outcomes import doctor_outcome, session_made
from workbench.workspace.jobs.processes import SILENT_MICROS, Process, is_gone, this_process
from workbench.workspace.jobs.rows import ENDED_SILENTLY, JobRow


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return new_root(tmp_path / "w")


@pytest.fixture
def workspace(root: Path) -> Iterator[Workspace]:
    with Workspace.open(root) as opened:
        yield opened


def only(workspace: Workspace) -> JobRow:
    (row,) = workspace.jobs.page(10)
    return row


def stored(workspace: Workspace) -> JobRow:
    """The one job as another program reads it."""
    with Workspace.open(workspace.root, read_only=True) as other:
        return only(other)


# -- one program ---------------------------------------------------------------------------


def test_a_job_is_there_while_it_runs_and_afterwards(workspace: Workspace) -> None:
    with workspace.jobs.run("import", "import a folder") as job:
        running = stored(workspace)
        assert (running.status, running.finished_at, running.id) == ("running", None, job.id)
        job.progress(3, 10, "a.jsonl")
        assert (stored(workspace).done, stored(workspace).total, stored(workspace).note) == (3, 10, "a.jsonl")
        job.finish("7 acta added\n+7 s1")
    ended = stored(workspace)
    assert (ended.status, ended.outcome, ended.summary) == ("done", "7 acta added\n+7 s1", "7 acta added")
    assert ended.finished_at is not None
    assert ended.finished_at >= ended.started_at
    assert session_made(ended.outcome) == "s1"


def test_progress_is_noted_at_most_once_a_second(workspace: Workspace) -> None:
    with workspace.jobs.run("import", "import") as job:
        for done in range(500):
            job.progress(done, 500, "x")
        assert stored(workspace).done == 0, "what came within a second of the first note"
        assert job.row().done == 499, "this program knows better"


@pytest.mark.parametrize(
    ("error", "status", "said", "hint"),
    [
        (
            ConfigurationError("the file is no export", hint="name another"),
            "failed",
            "the file is no export",
            "name another",
        ),
        (
            ValueError("a secret in a message"),
            "failed",
            "an unforeseen ValueError stopped it",
            "the log file has the details",
        ),
        (Cancelled("stopped; nothing was changed"), "stopped", "", ""),
        (KeyboardInterrupt(), "stopped", "", ""),
    ],
)
def test_an_error_passes_on_and_is_noted_in_words(
    workspace: Workspace, error: BaseException, status: str, said: str, hint: str
) -> None:
    with pytest.raises(type(error)) as raised, workspace.jobs.run("doctor", "examine"):
        raise error
    assert raised.value is error
    row = stored(workspace)
    assert (row.status, row.error, row.hint) == (status, said, hint)
    assert "Traceback" not in repr(row)
    assert "secret" not in repr(row)


def test_whoever_stops_in_order_is_stopped_and_says_what_it_did(workspace: Workspace) -> None:
    with workspace.jobs.run("import", "import") as job:
        workspace.jobs.stop(job.id)
        assert job.cancelled()
        assert stored(workspace).stop_asked
        job.finish("3 acta added", stopped=True)
    assert (stored(workspace).status, stored(workspace).outcome) == ("stopped", "3 acta added")


def test_the_callers_own_progress_and_stop_are_asked_too(workspace: Workspace) -> None:
    seen: list[tuple[int, int | None, str]] = []
    asked = False
    with workspace.jobs.run(
        "import", "import", progress=lambda *place: seen.append(place), cancelled=lambda: asked
    ) as job:
        job.progress(1, 2, "x")
        assert not job.cancelled()
        asked = True
        assert job.cancelled()
    assert seen == [(1, 2, "x")]


def test_all_text_is_filtered_before_it_is_stored(workspace: Workspace) -> None:
    key = "sk-ant-api03-" + "A1b2C3d4E5f6G7h8" * 5 + "abcdefghijklm-AA"
    title = f"import {key}"
    with pytest.raises(ConfigurationError), workspace.jobs.run("import", title) as job:
        job.progress(1, 2, f"reading {key}")
        job.finish(f"done with {key}")
        raise ConfigurationError(f"no {key}", hint=f"use {key}")
    row = stored(workspace)
    for text in (row.title, row.note, row.outcome, row.error, row.hint):
        assert "REDACTED" in text
    raw = (workspace.root / "chronicle.db").read_bytes() + (workspace.root / "chronicle.db-wal").read_bytes()
    assert key.encode() not in raw


@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=200) | st.text(alphabet="\x00\x1b\ud800\udfff\u202e[]\n", max_size=40))
def test_any_text_can_be_a_title_a_note_and_an_outcome(text: str) -> None:
    with (
        Workspace.create(_scratch(), timezone="UTC", owner="ada") as workspace,
        workspace.jobs.run("import", text) as job,
    ):
        job.progress(1, None, text)
        job.finish(text)
    with Workspace.open(_scratch(), read_only=True) as other:
        row = other.jobs.page(1)[0]
    assert row.status == "done"
    assert "\n" not in row.title
    row.outcome.encode()


def _scratch() -> Path:
    return Path(os.environ["PYTEST_JOBS_SCRATCH"])


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_JOBS_SCRATCH", str(tmp_path / "scratch"))


def test_long_texts_are_cut(workspace: Workspace) -> None:
    with workspace.jobs.run("import", "t" * 10_000) as job:
        job.finish("o" * 1_000_000)
    row = stored(workspace)
    assert len(row.title) == 500
    assert len(row.outcome) == 20_000
    assert row.outcome.endswith("…")


def test_old_jobs_are_forgotten_and_running_ones_are_not(workspace: Workspace) -> None:
    put(workspace, 1, status="running", process=this_process().as_text())
    for number in range(2, KEPT + 20):
        put(workspace, number)
    with workspace.jobs.run("import", "the newest"):
        rows = workspace.jobs.page(2 * KEPT)
    assert len(rows) == KEPT + 2
    assert {rows[0].title, rows[1].title} == {"the newest", "job 1"}
    assert rows[-1].id == 20
    assert workspace.jobs.count() == KEPT + 2


def test_a_read_only_workspace_runs_the_work_unrecorded(root: Path) -> None:
    before = (root / "chronicle.db").read_bytes()
    with Workspace.open(root, read_only=True) as workspace:
        with workspace.jobs.run("doctor", "examine", lease="doctor") as job:
            job.progress(1, 2, "x")
            assert not job.cancelled()
            assert [row.id for row in workspace.jobs.page(5)] == [job.id]
            job.finish(doctor_outcome(workspace.doctor(progress=job.progress, cancelled=job.cancelled)))
        row = only(workspace)
        assert (row.status, row.outcome, row.recorded) == ("done", "everything is well", False)
        assert workspace.jobs.get(job.id) == row
    assert (root / "chronicle.db").read_bytes() == before


def test_what_ended_before_the_list_was_there_is_noted(root: Path, workspace: Workspace) -> None:
    began = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert workspace.jobs.note_ended("migrate", "migrate to schema 2", began=began, outcome="done")
    row = only(workspace)
    assert (row.status, row.started_at, row.outcome) == ("done", began, "done")
    assert row.finished_at is not None
    with Workspace.open(root, read_only=True) as other:
        assert not other.jobs.note_ended("migrate", "again", began=began, outcome="")


def test_stopping_what_does_not_run_is_refused_in_words(workspace: Workspace) -> None:
    with pytest.raises(JobNotFound):
        workspace.jobs.stop(7)
    put(workspace, 1)
    with pytest.raises(JobEnded, match="done"):
        workspace.jobs.stop(1)


def test_a_read_only_workspace_cannot_stop_jobs_of_others(root: Path) -> None:
    with holding(root) as holder:
        number = holder.running()
        with Workspace.open(root, read_only=True) as workspace, pytest.raises(DatabaseReadOnly):
            workspace.jobs.stop(number)
        assert holder.end() == "ended"


def test_whoever_listens_hears_of_the_beginning_the_moves_and_the_end(workspace: Workspace) -> None:
    heard: list[list[tuple[int, str]]] = []
    workspace.jobs.listen(lambda: heard.append([(row.done, row.status) for row in workspace.jobs.live()]))
    with workspace.jobs.run("import", "import") as job:
        for done in range(1000):
            job.progress(done, 5000, "x")
    assert heard[0] == [(0, "running")]
    assert heard[-1] == []
    assert len(heard) < 100, "ten times a second at most"


def test_leaving_asks_the_running_jobs_to_stop_and_waits_for_their_last_word(workspace: Workspace) -> None:
    begun = threading.Event()

    def work() -> None:
        with workspace.jobs.run("import", "import") as job:
            begun.set()
            while not job.cancelled():
                pass
            job.finish("so far", stopped=True)

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    workspace.jobs.leave(20)
    row = stored(workspace)
    thread.join()
    assert (row.status, row.outcome) == ("stopped", "so far")


# -- locks and full disks ------------------------------------------------------------------


def test_a_locked_database_neither_delays_nor_fails_progress(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_module, "WRITE_SECONDS", 0.0)
    with workspace.jobs.run("import", "import") as job:
        job.progress(1, 9, "before")
        other = apsw.Connection(str(workspace.root / "chronicle.db"))
        other.execute("BEGIN IMMEDIATE")
        job.progress(2, 9, "locked")
        assert not job.cancelled()
        other.execute("ROLLBACK")
        other.close()
        assert stored(workspace).note == "before"
        monkeypatch.setattr(job, "_write_at", 0.0)
        job.progress(3, 9, "after")
        assert stored(workspace).note == "after"


def test_a_lock_that_never_ends_fails_neither_the_beginning_nor_the_end(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.storage.turns.BUSY_TIMEOUT_MS", 50)
    other = apsw.Connection(str(workspace.root / "chronicle.db"))
    other.execute("BEGIN IMMEDIATE")
    with workspace.jobs.run("export", "export") as job:
        job.finish("all written")
    assert "being written by another program" in job.remark
    assert only(workspace).outcome == "all written"
    other.execute("ROLLBACK")
    with workspace.jobs.run("export", "export again") as job:
        other.execute("BEGIN IMMEDIATE")
        job.finish("written again")
    assert "could not be noted" in job.remark
    assert workspace.jobs.fresh(stored(workspace)).status == "done", "this program knows how it ended"
    other.execute("ROLLBACK")
    other.close()
    with workspace.jobs.run("export", "the next"):
        pass
    with Workspace.open(workspace.root, read_only=True) as elsewhere:
        assert [row.status for row in elsewhere.jobs.page(9)] == ["done", "done"], "the next job settles it"


def test_a_lease_is_not_taken_blindly(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.storage.turns.BUSY_TIMEOUT_MS", 50)
    other = apsw.Connection(str(workspace.root / "chronicle.db"))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseLocked), workspace.jobs.run("backup", "backup", lease="backup"):
        raise AssertionError("nothing may be begun")
    other.close()


def test_a_full_disk_loses_no_work(workspace: Workspace) -> None:
    with workspace.log.database.transaction() as connection:
        connection.execute(f"PRAGMA max_page_count={connection.execute('PRAGMA page_count').fetchone()[0]}")  # type: ignore[index]
    with workspace.jobs.run("export", "x" * 400) as job:
        job.progress(1, 2, "n" * 400)
        job.finish("o" * 19_000)
    assert job.status == "done"
    assert "no room left" in job.remark
    assert only(workspace).outcome == "o" * 19_000


def test_a_database_that_has_gone_is_not_made_anew_for_a_note(workspace: Workspace, tmp_path: Path) -> None:
    path = workspace.root / "chronicle.db"
    with workspace.jobs.run("import", "import") as job:
        path.rename(tmp_path / "moved.db")
        job.progress(1, 2, "x")
        assert not path.exists()
        (tmp_path / "moved.db").rename(path)


def test_progress_inside_the_works_own_transaction_waits_for_nobody(workspace: Workspace) -> None:
    with workspace.jobs.run("import jsonl", "import") as job:
        with workspace.log.transaction():
            job.progress(5, 10, "inside")
            assert not job.cancelled()
        assert job.row().done == 5


# -- several programs ----------------------------------------------------------------------


def test_a_job_of_a_killed_program_is_seen_as_failed_and_then_marked(
    root: Path, workspace: Workspace
) -> None:
    with holding(root, "import", "import claude-code", "import") as holder:
        number = holder.running()
        assert only(workspace).status == "running"
        holder.kill()
        row = only(workspace)
        assert (row.status, row.error) == ("failed", ENDED_SILENTLY)
        assert "import again" in row.hint
        assert row.finished_at is not None
        assert _raw_status(workspace, number) == "running", "reading marks nothing"
        with pytest.raises(JobEnded):
            workspace.jobs.stop(number)
        with workspace.jobs.run("import", "import again", lease="import"):
            assert _raw_status(workspace, number) == "failed", "its lease is free"
        assert workspace.jobs.get(number) == row


def _raw_status(workspace: Workspace, number: int) -> str:
    with workspace.log.reader() as connection:
        (status,) = connection.execute("SELECT status FROM jobs WHERE job_id = ?", (number,)).fetchone() or (
            "",
        )
    return str(status)


def test_a_second_job_of_a_lease_is_told_who_holds_it(root: Path, workspace: Workspace) -> None:
    with holding(root, "backup", "the nightly backup", "backup") as holder:
        number = holder.running()
        with pytest.raises(JobRunning) as refused, workspace.jobs.run("backup", "mine", lease="backup"):
            raise AssertionError("it must not begin")
        error = refused.value
        assert "the nightly backup" in error.message
        assert str(holder.process.pid) in error.message
        assert error.hint.endswith(f"jobs stop {number}"), "its end would be seen from here"
        with workspace.jobs.run("notes", "another lease", lease="notes"):
            pass
        assert holder.end() == "ended"
    with workspace.jobs.run("backup", "mine", lease="backup"):
        pass


def test_of_two_programs_that_race_for_a_lease_exactly_one_wins(root: Path) -> None:
    for round_ in range(5):
        holders = [Holder(root, "backup", f"backup {side}", "backup") for side in "ab"]
        answers = [holder.answer() for holder in holders]
        assert sorted(answer.split(" ")[0] for answer in answers) == ["job_running", "running"], round_
        for holder in holders:
            holder.close()


def test_a_job_is_stopped_from_another_program(root: Path, workspace: Workspace) -> None:
    with holding(root) as holder:
        number = holder.running()
        holder.say("ask")
        assert holder.answer() == "go on"
        assert workspace.jobs.stop(number).stop_asked
        workspace.jobs.stop(number)
        answers: list[str] = []
        while not answers or answers[-1] == "go on":
            holder.say("ask")
            answers.append(holder.answer())
        assert answers[-1] == "asked"
        holder.say("stop")
        assert holder.answer() == "ended"
        row = only(workspace)
        assert (row.status, row.outcome) == ("stopped", "stopped in time")


def test_this_program_sees_how_far_another_one_is(root: Path, workspace: Workspace) -> None:
    with holding(root) as holder:
        holder.running()
        row = only(workspace)
        assert (row.done, row.total, row.note, row.mine) == (1, 4, "first step", False)


# -- which process it is -------------------------------------------------------------------


def test_this_process_is_there_and_its_pid_of_another_time_is_not() -> None:
    here = this_process()
    assert Process.from_text(here.as_text()) == here
    assert not is_gone(here.as_text(), 0, 2**60)
    assert is_gone(here._replace(start="1").as_text(), 0, 0)


def test_a_process_of_another_machine_is_judged_by_its_last_word() -> None:
    for text in (OTHER_MACHINE, this_process()._replace(space="7").as_text(), "no process at all", ""):
        assert not is_gone(text, 1_000, 1_000 + SILENT_MICROS)
        assert is_gone(text, 1_000, 1_001 + SILENT_MICROS)
        # Clocks differ a little; a word from far ahead is none.
        assert not is_gone(text, 1_000 + SILENT_MICROS, 1_000)
        assert is_gone(text, 1_001 + SILENT_MICROS, 1_000)


@pytest.mark.parametrize("ahead", [SILENT_MICROS + 10_000_000, 10 * 365 * 86_400_000_000, 2**62])
def test_a_word_from_the_future_holds_a_lease_for_nobody(workspace: Workspace, ahead: int) -> None:
    now = now_micros()
    put(
        workspace,
        7,
        status="running",
        kind="doctor",
        lease="doctor",
        started_at=now - 5_000_000,
        heartbeat_at=min(now + ahead, 2**62),
    )
    with workspace.jobs.run("doctor", "mine", lease="doctor") as job:
        assert job.recorded
    assert _raw_status(workspace, 7) == "failed"
    with workspace.log.reader() as connection:
        assert fetch.value(connection, "SELECT finished_at FROM jobs WHERE job_id = 7") == now - 5_000_000


def test_a_job_with_a_word_from_the_future_is_shown_as_ended_when_it_began(workspace: Workspace) -> None:
    now = now_micros()
    put(workspace, 7, status="running", started_at=now - 5_000_000, heartbeat_at=now + 2 * SILENT_MICROS)
    row = only(workspace)
    assert (row.status, row.error, row.finished_at) == ("failed", ENDED_SILENTLY, row.started_at)
    with pytest.raises(JobEnded):
        workspace.jobs.stop(7)


def test_a_lease_of_another_machine_names_it_and_when_its_place_is_free(workspace: Workspace) -> None:
    now = now_micros()
    number = put(
        workspace, 7, status="running", lease="doctor", started_at=now, heartbeat_at=now + SILENT_MICROS // 2
    )
    with pytest.raises(JobRunning) as refused, workspace.jobs.run("doctor", "mine", lease="doctor"):
        raise AssertionError("it must not begin")
    assert "in process 4711 on laptop" in refused.value.message
    free = from_micros(now + SILENT_MICROS // 2 + SILENT_MICROS).strftime("%Y-%m-%d %H:%M:%S UTC")
    assert f"jobs stop {number}" in refused.value.hint
    assert f"nothing on laptop runs it any more, try again after {free}" in refused.value.hint


@given(
    host=st.text(max_size=20),
    pid=st.integers(1, 2**29),
    start=st.text(alphabet="0123456789 :ABC", max_size=12),
    space=st.text(alphabet="0123456789", max_size=10),
)
def test_a_process_is_read_as_it_was_written(host: str, pid: int, start: str, space: str) -> None:
    process = Process(host, pid, start, space)
    assert Process.from_text(process.as_text()) == process


@given(text=st.text(max_size=60) | st.text(alphabet="/0123456789٣", max_size=30))
def test_no_text_is_too_strange_to_be_looked_at(text: str) -> None:
    assert isinstance(is_gone(text, 0, SILENT_MICROS + 1), bool)


# -- pages ---------------------------------------------------------------------------------


def test_running_jobs_stand_first_and_pages_join_up(workspace: Workspace) -> None:
    mine = this_process().as_text()
    for number in range(1, 41):
        if number in (3, 17, 38):
            put(workspace, number, status="running", process=mine)
        elif number == 20:
            put(workspace, number, status="running", started_at=0, heartbeat_at=0)
        else:
            put(workspace, number, status=("done", "failed", "stopped")[number % 3])
    expected = [38, 17, 3, *(number for number in range(40, 0, -1) if number not in (3, 17, 38))]
    whole = workspace.jobs.page(100)
    assert [row.id for row in whole] == expected
    assert {row.status for row in whole if row.id == 20} == {"failed"}
    for limit in (1, 2, 3, 7, 40):
        forwards: list[JobRow] = workspace.jobs.page(limit)
        while page := workspace.jobs.page(limit, after=forwards[-1]):
            forwards += page
        assert forwards == whole
        backwards: list[JobRow] = [whole[-1]]
        while page := workspace.jobs.page(limit, before=backwards[0]):
            backwards = page + backwards
        assert backwards == whole
    assert [workspace.jobs.rank(row) for row in whole] == list(range(40))


def test_a_page_goes_on_behind_a_job_that_has_ended_meanwhile(workspace: Workspace) -> None:
    for number in range(1, 4):
        put(workspace, number)
    with workspace.jobs.run("import", "import"):
        (top,) = workspace.jobs.page(1)
    assert [row.id for row in workspace.jobs.page(9, after=top)] == [4, 3, 2, 1]


def test_there_is_nothing_to_list_at_first(workspace: Workspace) -> None:
    assert workspace.jobs.page(10) == []
    assert workspace.jobs.get(1) is None
    assert workspace.jobs.count() == 0
    assert workspace.jobs.live() == ()
