"""The Jobs screen at work: live, stopping, examining, exporting, leaving, read-only, and without a stall."""

from __future__ import annotations

import json
import threading
from datetime import UTC, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.widgets import Input

from tests.tui.jobs_probe import (
    NOW,
    JobsApp,
    app_on,
    fill,
    job_ids,
    jobs_page,
    jobs_shown,
    make_workspace,
    pane_text,
)
from tests.tui.shell_probe import screen_lines, until, whole_screen
from tests.workspace.jobs_cases import holding, put
from workbench.tui.dialogs.confirm import ConfirmDialog
from workbench.tui.dialogs.message import MessageDialog
from workbench.tui.document import Document
from workbench.tui.jobs import words
from workbench.tui.jobs.detail import job_blocks
from workbench.tui.present import number
from workbench.tui.sessions.import_job import ImportJob
from workbench.workspace import Workspace
from workbench.workspace.jobs.job import Job
from workbench.workspace.jobs.processes import this_process
from workbench.workspace.jobs.rows import KINDS, JobRow


class Beside:
    """A job of the program itself that goes on until it is told."""

    def __init__(self, workspace: Workspace, kind: str = "import", title: str = "import by hand") -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.job: Job | None = None
        self._workspace = workspace
        self._what = kind, title
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        assert self.begun.wait(20)

    def _run(self) -> None:
        with self._workspace.jobs.run(*self._what) as job:
            self.job = job
            self.begun.set()
            while not self.go_on.wait(0.01) and not job.cancelled():
                pass
            job.finish("so far", stopped=job.cancelled())

    def end(self) -> None:
        self.go_on.set()
        self.thread.join(20)


async def test_jobs_are_listed_and_the_one_under_the_cursor_is_told_whole(tmp_path: Path) -> None:
    app = app_on(fill(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await jobs_shown(pilot, app)
        assert job_ids(page) == [9, 8, 7, 6, 5, 4, 3, 2, 1]
        await pilot.press("j", "j", "j", "j")
        await until(pilot, lambda: page.job is not None and page.job.id == 5)
        text = pane_text(page)
        for said in ("line 12 would not come out", "export it again", "1.0 KB of 80 KB", "4711 on laptop"):
            assert said in text
        assert "2031-05-04 13:30:00 +02:00" in text
        assert "29 min ago" in text


async def test_a_hostile_title_is_drawn_literally(tmp_path: Path) -> None:
    app = app_on(fill(tmp_path / "w"))
    async with app.run_test(size=(200, 60)) as pilot:
        await jobs_shown(pilot, app)
        screen = whole_screen(app)
        assert "[bold]x[/bold]" in screen
        assert not {"\x1b", "\u202e"} & set(screen)


async def test_an_empty_screen_says_what_fills_it(tmp_path: Path) -> None:
    app = app_on(make_workspace(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await jobs_shown(pilot, app)
        screen = whole_screen(app)
        assert "No jobs yet" in screen
        assert "workbench import claude-code" in screen
        assert "workbench.log" in pane_text(page)


async def test_the_digit_opens_it(tmp_path: Path) -> None:
    app = app_on(make_workspace(tmp_path / "w"))
    async with app.run_test(size=(80, 24)) as pilot:
        await jobs_shown(pilot, app)
        await pilot.press("2")
        await until(pilot, lambda: app.page is not None and app.page.NAME == "sessions")
        await pilot.press("0")
        await until(pilot, lambda: app.page is not None and app.page.NAME == "jobs")


async def test_a_job_of_another_program_appears_moves_and_dies_before_ones_eyes(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w")
    app = app_on(root, stopped=False)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await jobs_shown(pilot, app)
        with holding(root, title="an import elsewhere") as holder:
            number = holder.running()
            await until(pilot, lambda: job_ids(page) == [number])
            await until(pilot, lambda: "first step" in whole_screen(app))
            assert "25 %" in whole_screen(app)
            holder.kill()
            await until(pilot, lambda: page.job is not None and page.job.status == "failed")
            assert "ended without a word" in pane_text(page)


async def test_a_job_of_another_program_is_stopped_with_a_key(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w")
    app = app_on(root, stopped=False)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await jobs_shown(pilot, app)
        with holding(root) as holder:
            holder.running()
            await until(pilot, lambda: page.job is not None and page.job.running)
            await pilot.press("x")
            await until(pilot, lambda: page.job is not None and page.job.stop_asked)
            assert words.STOPPING in whole_screen(app)
            answers: list[str] = []
            while not answers or answers[-1] != "asked":
                holder.say("ask")
                answers.append(holder.answer())
            holder.say("stop")
            assert holder.answer() == "ended"
            await until(pilot, lambda: page.job is not None and page.job.status == "stopped")
            assert app.reason_of("jobs.stop") == "this job runs no more: stopped"


async def test_a_job_of_this_program_moves_from_memory(tmp_path: Path) -> None:
    app = app_on(make_workspace(tmp_path / "w"), stopped=False)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await jobs_shown(pilot, app)
        assert app.workspace is not None
        beside = Beside(app.workspace)
        try:
            await until(pilot, lambda: len(job_ids(page)) == 1)
            assert beside.job is not None
            with app.workspace.log.transaction():
                # Nothing can be written, and nothing need be read.
                beside.job.progress(30, 40, "third file")
                await until(pilot, lambda: "75 %" in screen_lines(app)[-1])
                await until(pilot, lambda: "third file" in pane_text(page))
        finally:
            beside.end()
        await until(pilot, lambda: page.job is not None and page.job.status == "done")
        await until(pilot, lambda: "import" not in screen_lines(app)[-1])
        assert page.job is not None
        assert page.job.outcome == "so far"


async def test_leaving_asks_while_a_job_runs_and_stops_it_in_order(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w")
    app = app_on(root, stopped=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await jobs_shown(pilot, app)
        assert app.workspace is not None
        beside = Beside(app.workspace)
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await until(pilot, lambda: "import by hand" in whole_screen(app))
        await pilot.press("n")
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("y")
    beside.thread.join(20)
    with Workspace.open(root, read_only=True) as workspace:
        (row,) = workspace.jobs.page(5)
    assert (row.status, row.outcome) == ("stopped", "so far")


async def test_examining_is_a_job_whose_findings_stand_in_the_detail(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w")
    (root / "chronicle.db").chmod(0o644)
    app = app_on(root, stopped=False)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await jobs_shown(pilot, app)
        await pilot.press("d")
        await until(pilot, lambda: page.job is not None and page.job.status == "done", 30)
        text = pane_text(page)
        assert "finding" in text
        assert "workbench doctor --fix" in text
        assert page.job is not None
        assert page.job.recorded


async def test_a_second_examination_is_refused_in_a_dialog(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w")
    app = app_on(root, stopped=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await jobs_shown(pilot, app)
        with holding(root, "doctor", "examine and mend", "doctor") as holder:
            holder.running()
            await pilot.press("d")
            await until(pilot, lambda: isinstance(app.screen, MessageDialog))
            await until(pilot, lambda: "runs already" in whole_screen(app))
            assert app.unexpected == []


async def test_read_only_shows_why_nothing_is_stopped_and_examines_all_the_same(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w")
    with holding(root) as holder:
        holder.running()
        before = (root / "chronicle.db").read_bytes()
        app = app_on(root, read_only=True, stopped=False)
        async with app.run_test(size=(120, 40)) as pilot:
            page = await jobs_shown(pilot, app)
            assert "read-only" in app.reason_of("jobs.stop")
            await pilot.press("x")
            await pilot.press("d")
            await until(pilot, lambda: page.job is not None and page.job.kind == "doctor", 30)
            await until(pilot, lambda: page.job is not None and page.job.status == "done", 30)
            assert "not recorded" in pane_text(page)
            assert app.reason_of("jobs.stop") == "this job runs no more: done"
        assert (root / "chronicle.db").read_bytes() == before
        holder.say("ask")
        assert holder.answer() == "go on"


async def test_a_job_that_ends_before_its_beginning_was_heard_of_is_shown(tmp_path: Path) -> None:
    app = app_on(make_workspace(tmp_path / "w"), read_only=True)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await jobs_shown(pilot, app)
        assert app.workspace is not None
        # On the thread of the screen: nothing can be handled in between.
        for title in ("the first", "the second"):
            with app.workspace.jobs.run("doctor", title) as job:
                job.finish("everything is well")
        await until(pilot, lambda: page.job is not None and page.job.title == "the second")
        assert len(job_ids(page)) == 2


async def test_exporting_is_a_job(tmp_path: Path) -> None:
    app = app_on(make_workspace(tmp_path / "w"), stopped=False)
    target = tmp_path / "out.jsonl"
    async with app.run_test(size=(120, 40)) as pilot:
        page = await jobs_shown(pilot, app)
        await pilot.press("w")
        await until(pilot, lambda: bool(app.screen.query(Input)))
        app.screen.query_one(Input).value = str(target)
        await pilot.press("enter")
        await until(pilot, lambda: page.job is not None and page.job.status == "done")
        assert str(target) in pane_text(page)
    assert target.exists()


async def test_an_export_that_fails_leaves_its_reason_in_the_list(tmp_path: Path) -> None:
    app = app_on(make_workspace(tmp_path / "w"), stopped=False)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await jobs_shown(pilot, app)
        await pilot.press("w")
        await until(pilot, lambda: bool(app.screen.query(Input)))
        app.screen.query_one(Input).value = str(tmp_path / "no" / "such" / "folder" / "x.jsonl")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, MessageDialog))
        await pilot.press("escape")
        await until(pilot, lambda: page.job is not None and page.job.status == "failed")
        assert "cannot be written" in pane_text(page)
        assert "name another file" in pane_text(page)


async def test_an_import_leads_to_the_session_it_made(tmp_path: Path) -> None:
    from tests.tui.sessions_probe import act, record
    from workbench.sessions.events import ChronicumCreated

    root = make_workspace(tmp_path / "w")
    with Workspace.open(root) as workspace:
        for session in ("s1", "s2"):
            record(workspace, session, ChronicumCreated(chronicum_id=session, owner_id="ada"), act("hello"))
        put(workspace, 1, outcome="1 actum added to 1 session from 1 file\n+1 s1")
        put(workspace, 2, kind="export")
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await jobs_shown(pilot, app)
        assert "made nothing" in app.reason_of("jobs.made")
        await pilot.press("j")
        await until(pilot, lambda: page.job is not None and page.job.id == 1)
        await pilot.press("o")
        await until(pilot, lambda: app.page is not None and app.page.NAME == "sessions")
        sessions = app.page
        await until(pilot, lambda: getattr(getattr(sessions, "detail", None), "session", None) is not None)
        await until(pilot, lambda: sessions.detail.session.id == "s1")  # type: ignore[union-attr]


async def test_an_import_of_the_program_is_a_job_with_its_outcome(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w")
    entry = {
        "type": "user",
        "uuid": "019cad9a-0000-7000-8000-000000000001",
        "sessionId": "019cad9a-0000-7000-8000-000000000002",
        "timestamp": "2026-03-01T10:00:00.000Z",
        "message": {"role": "user", "content": "hello"},
    }
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps(entry) + "\n")
    app = JobsApp(root, screen="sessions")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.workspace is not None)
        assert app.workspace is not None
        job = ImportJob(app, app.workspace, [path])
        job.start()
        await until(pilot, lambda: not job.running)
        await pilot.press("0")
        page = await jobs_shown(pilot, app)
        await until(pilot, lambda: page.job is not None and page.job.status == "done")
        text = pane_text(page)
        assert "import 1 transcript" in text.replace("\u00a0", " ")
        assert "1 actum added to 1 session" in text.replace("\u00a0", " ")
        assert app.reason_of("jobs.made") == ""


async def test_going_to_a_number_and_to_none(tmp_path: Path) -> None:
    app = app_on(fill(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await jobs_shown(pilot, app)
        page.goto("2")
        await until(pilot, lambda: page.job is not None and page.job.id == 2)
        page.goto("77")
        await until(pilot, lambda: "no job 77" in whole_screen(app))


async def test_what_can_be_copied(tmp_path: Path) -> None:
    app = app_on(fill(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await jobs_shown(pilot, app)
        page.goto("5")
        await until(pilot, lambda: page.job is not None and page.job.id == 5)
        choices = {choice.label: choice.resolve() for choice in page.copy_choices()}
        assert choices["error"].startswith("line 12")
        assert json.loads(choices["JSON"])["kind"] == "import jsonl"
        assert choices["number"] == "5"
        assert choices["command"].startswith("workbench jobs show 5 --root ")


async def test_the_cursor_stays_on_its_job_while_others_come_and_end(tmp_path: Path) -> None:
    root = fill(tmp_path / "w")
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await jobs_shown(pilot, app)
        page.goto("3")
        await until(pilot, lambda: page.job is not None and page.job.id == 3)
        with Workspace.open(root) as other, other.jobs.run("import", "another"):
            await until(pilot, lambda: 10 in job_ids(page))
        await until(pilot, lambda: page.jobs.visible_rows[2].status == "done" or job_ids(page)[0] == 9)
        assert page.job is not None
        assert page.job.id == 3


async def test_where_a_person_was_is_remembered(tmp_path: Path) -> None:
    root = fill(tmp_path / "w")
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await jobs_shown(pilot, app)
        page.goto("4")
        await until(pilot, lambda: page.job is not None and page.job.id == 4)
    again = app_on(root)
    async with again.run_test(size=(120, 40)) as pilot:
        page = await jobs_shown(pilot, again)
        assert page.job is not None
        assert page.job.id == 4


async def test_a_thousand_moves_a_second_do_not_flood_the_screen(tmp_path: Path) -> None:
    app = app_on(make_workspace(tmp_path / "w"), stopped=False)
    moved = 0

    class Counting(JobsApp):
        def on_jobs_moved(self, message: object) -> None:
            nonlocal moved
            moved += 1
            super().on_jobs_moved(message)  # type: ignore[arg-type]

    app.__class__ = Counting
    async with app.run_test(size=(120, 40)) as pilot:
        await jobs_shown(pilot, app)
        assert app.workspace is not None
        with app.workspace.jobs.run("import", "import") as job:
            for done in range(1, 3000):
                job.progress(done, 5000, "x")
        await pilot.pause()
        assert jobs_page(app).NAME == "jobs"
    assert moved < 60


# -- words ---------------------------------------------------------------------------------


def row(**given: object) -> JobRow:
    fields: dict[str, object] = {
        "id": 1,
        "kind": "import",
        "title": "import",
        "status": "running",
        "process": this_process().as_text(),
        "started_at": NOW - timedelta(seconds=10),
        "heartbeat_at": NOW,
        **given,
    }
    return JobRow(**fields)  # type: ignore[arg-type]


def test_how_far_how_fast_and_how_long_still() -> None:
    job = row(done=2_000_000, total=8_000_000)
    assert words.percent(job) == "25 %"
    assert words.amount(job) == "2.0 MB of 8.0 MB"
    assert words.pace(job, NOW) == "200 KB/s"
    assert words.left(job, NOW) == "30 s left"
    assert words.took(job, NOW) == "10 s"


def test_nothing_is_said_that_is_not_known() -> None:
    for job in (
        row(),
        row(done=5),
        row(done=5, total=10, started_at=NOW),
        row(kind="doctor", done=5, total=0),
    ):
        assert words.left(job, NOW) == ""
    assert words.percent(row(done=5)) == ""
    assert words.amount(row(kind="doctor", done=620, total=1000)) == ""
    assert words.amount(row(kind="export", done=1200, total=3000)) == "1\u00a0200 of 3\u00a0000 events"
    assert words.pace(row(), NOW) == ""


def test_a_job_that_is_done_is_of_nothing() -> None:
    """It did all there was: what was left when it said so last is no part of it."""
    job = row(status="done", finished_at=NOW, done=930, total=1000)
    for kind, said in (("import", "930 B"), ("export", "930 events"), ("rescan", "")):
        text = Document(
            job_blocks(replace(job, kind=kind), now=NOW, zone=UTC, log_file="log", root=Path("/w"))
        ).plain(10_000)[0]
        assert "%" not in text and " of 1" not in text
        assert said in text


def test_what_helps_after_a_job_is_in_the_programs_words() -> None:
    job = row(status="failed", kind="scrub", error="ended", hint=KINDS["scrub"].again)
    text = Document(job_blocks(job, now=NOW, zone=UTC, log_file="log", root=Path("/w"))).plain(10_000)[0]
    assert "from the Redactions screen" in text and "--confirm" not in text


def test_more_than_the_whole_is_the_whole() -> None:
    assert words.percent(row(done=30, total=20)) == "100 %"
    assert words.share(row(done=-3, total=20)) == 0.0
    assert "".join(span.text for span in words.bar(row(done=30, total=20), 4)) == "████"


def test_the_footer_names_one_job_and_counts_the_others() -> None:
    assert words.footer_text(()) == ""
    assert words.footer_text((row(done=1, total=2),)) == "import 50 %"
    assert words.footer_text((row(stop_asked=True), row()), ["migration"]) == "import stopping and 2 more"


@pytest.mark.parametrize(
    ("given", "mark"),
    [
        ({}, "▸"),
        ({"stop_asked": True}, "▪"),
        ({"status": "done"}, "✓"),
        ({"status": "failed"}, "✕"),
        ({"status": "stopped"}, "■"),
        ({"status": "done", "kind": "doctor", "outcome": "everything is well"}, "✓"),
        ({"status": "done", "kind": "doctor", "outcome": "1 finding, none of them critical"}, "!"),
        ({"status": "done", "kind": "rescan", "outcome": "17 secrets would be removed from 9 places"}, "!"),
        (
            {
                "status": "done",
                "kind": "rescan",
                "outcome": f"{number(1200)} secrets would be removed from 9 places",
            },
            "!",
        ),
        (
            {"status": "done", "kind": "rescan", "outcome": "1 secret would be removed from 1 place\njwt: 1"},
            "!",
        ),
        (
            {
                "status": "done",
                "kind": "rescan",
                "outcome": "nothing would be removed: 9 events looked through",
            },
            "✓",
        ),
        ({"status": "done", "kind": "scrub", "outcome": "2 secrets removed from 1 place\njwt: 2"}, "✓"),
        (
            {
                "status": "done",
                "kind": "scrub",
                "outcome": "2 secrets removed from 1 place\nwarning: backups/a holds some",
            },
            "!",
        ),
        (
            {
                "status": "done",
                "outcome": "1 actum added to 1 session from 1 file, 1 problem\nproblem: a:1: x",
            },
            "!",
        ),
        (
            {"status": "stopped", "kind": "rescan", "outcome": "17 secrets would be removed from 9 places"},
            "■",
        ),
    ],
)
def test_every_state_has_a_mark_of_its_own(given: dict[str, object], mark: str) -> None:
    assert words.mark_of(row(**given)).text == mark
