"""The Jobs screen: long calls of every program on the workspace, running and ended, and the one under the
cursor."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.message import Message

from workbench import locations
from workbench.tui.copying import CopyChoice
from workbench.tui.destinations import ToSession
from workbench.tui.document import Blank, Block, Heading, Paragraph
from workbench.tui.hints import tui_hint
from workbench.tui.in_shell import filling_blocks, filling_lines
from workbench.tui.jobs.detail import job_blocks
from workbench.tui.jobs.job_actions import ACTIONS, NAME
from workbench.tui.jobs.job_rows import JobRows
from workbench.tui.jobs.job_source import JobSource
from workbench.tui.jobs.running import examine, export, run_beside
from workbench.tui.jobs.words import STOPPING
from workbench.tui.page import Page
from workbench.tui.present import Line, Span
from workbench.tui.widgets.list_messages import Highlighted, StatusChanged
from workbench.tui.widgets.text_pane import TextPane
from workbench.tui.widgets.virtual_list import VirtualList
from workbench.workspace.jobs.errors import JobNotFound
from workbench.workspace.jobs.outcomes import session_made
from workbench.workspace.jobs.rows import JobRow

if TYPE_CHECKING:
    from workbench.tui.state import ScreenState
    from workbench.workspace import Workspace

FILLING = (
    ("workbench import claude-code", "imports transcripts"),
    ("workbench doctor --fix", "examines and mends the workspace"),
    ("workbench import jsonl FILE", "loads an exported log"),
)
"""The commands that fill an empty screen, and what each does."""
_TICK_SECONDS = 1.0
_AGES_SECONDS = 30.0


class _Found(Message):
    """A job that was asked for is there."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class _Said(Message):
    """A job of this screen says what became of it."""

    def __init__(self, text: str, title: str) -> None:
        super().__init__()
        self.text = text
        self.title = title


class JobsPage(Page):
    """Jobs in a list; the detail has progress, outcome, error and hint."""

    NAME, TITLE, NUMBER = NAME, "Jobs", 0
    LIST_SHARE = 55
    OFFERS = frozenset({"page.goto", "page.copy"})
    GOTO_HINT = "the number of a job"
    NOWHERE = frozenset({JobNotFound.code})
    ACTIONS = ACTIONS

    def __init__(self) -> None:
        super().__init__()
        self._workspace: Workspace | None = None
        self._moment: datetime | None = None
        """From which every age in the list is counted, so that none is newer than its neighbours."""
        self.jobs: VirtualList[JobRow] = VirtualList(JobRows(self._now, self._fresh), id="jobs")
        """The list."""
        self.pane = TextPane(id="job")
        """The detail."""
        self.job: JobRow | None = None
        """The job under the cursor, as it is now."""
        self._selected: int | None = None
        self._latest: int | None = None
        self._turns = 0
        """What of this program's jobs the list has been told of."""
        self._aged = 0.0

    def compose_list(self) -> ComposeResult:
        yield self.jobs

    def compose_detail(self) -> ComposeResult:
        yield self.pane

    # The workspace

    def on_workspace_ready(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._renew_ages()
        self.jobs.empty_lines = self._nothing()
        self._latest, self._turns = workspace.jobs.latest, workspace.jobs.turns
        self.jobs.set_source(JobSource(workspace.jobs), at=self._selected)
        self._show()
        self.set_interval(_TICK_SECONDS, self._tick)

    def on_committed(self) -> None:
        self._renew_ages()
        self.jobs.refresh_live()

    def jobs_moved(self) -> None:
        """A job of this program began, moved or ended: draw it from memory."""
        workspace = self._workspace
        if workspace is None or not self.is_mounted:
            return
        latest, turns = workspace.jobs.latest, workspace.jobs.turns
        begun, changed = latest != self._latest, turns != self._turns
        self._latest, self._turns = latest, turns
        self._moment = self.app.clock()
        self.jobs.redraw_rows()
        if begun and latest is not None and self.app.page is self:
            # Who begins a job here wants to see it.
            self.jobs.go_to(latest)
        elif changed:
            self.jobs.refresh_live()
        if self.job is not None:
            self._show()

    def _tick(self) -> None:
        if self.app.page is not self or self._workspace is None:
            return
        running = [row for row in self.jobs.visible_rows if self._fresh(row).running]
        if running or monotonic() - self._aged >= _AGES_SECONDS:
            self._renew_ages()
            self._show()
        if any(not row.mine for row in running):
            # One whose program was killed says nothing any more: ask.
            self.jobs.refresh_live()

    def on_screen_resume(self) -> None:
        """What was not shown has not aged."""
        if self._workspace is not None:
            self._renew_ages()

    def _renew_ages(self) -> None:
        self._aged = monotonic()
        self._moment = self.app.clock()
        self.jobs.redraw_rows()

    def _now(self) -> datetime:
        return self._moment or self.app.clock()

    def _fresh(self, row: JobRow) -> JobRow:
        return row if self._workspace is None else self._workspace.jobs.fresh(row)

    # Showing

    @on(Highlighted, "#jobs")
    def _job_changed(self, message: Highlighted) -> None:
        """Show the job under the cursor."""
        row: JobRow | None = message.row
        same = self.job is not None and row is not None and row.id == self.job.id
        self.job = row
        # Whoever was at the top wants to see the newest job next time, too.
        seen = self.jobs.visible_rows
        # Where the terminal has no room for a row none is seen.
        at_top = row is None or row.id < 0 or not seen or row.id == seen[0].id
        self._selected = None if at_top or row is None else row.id
        self._show(keep_place=same)

    @on(StatusChanged, "#jobs")
    def _list_read(self, message: StatusChanged) -> None:
        """A list without a job has no row that could be shown."""
        if self.job is None:
            self._show()

    def _show(self, *, keep_place: bool = True) -> None:
        if self.job is None:
            self.pane.set_blocks(self._guidance() if not self.jobs.status.loading else ())
            return
        before, self.job = self.job, self._fresh(self.job)
        zone = UTC if self._workspace is None else ZoneInfo(self._workspace.timezone)
        blocks = job_blocks(
            self.job, now=self._now(), zone=zone, log_file=self.log_file(), root=self.app.root
        )
        self.pane.set_blocks(blocks, keep_place=keep_place)
        if (before.status, before.stop_asked) != (self.job.status, self.job.stop_asked):
            self.update_footer()

    def log_file(self) -> str:
        """Where the program writes down unforeseen errors."""
        path = locations.log_file()
        try:
            return str(Path("~") / path.relative_to(Path.home()))
        except (ValueError, RuntimeError):
            return str(path)

    def _nothing(self) -> Sequence[Line]:
        key = self.app.keymap.shown("jobs.examine")
        lines: list[Line] = [
            (Span("  No jobs yet", "strong"),),
            (),
            (Span(f"  {key}", "accent"), Span("  examines the workspace", "text")),
            (),
        ]
        return (*lines, *filling_lines(FILLING, self.app.root))

    def _guidance(self) -> list[Block]:
        """What the detail says while there is no job."""
        return [
            Heading("Nothing here yet", role="strong"),
            Blank(),
            Paragraph(
                "Whatever takes long is a job: it shows how far it is, whichever program runs it, can be "
                "stopped, and leaves its outcome here."
            ),
            Blank(),
            Heading("What fills it"),
            *filling_blocks(FILLING, self.app.root),
            Blank(),
            Paragraph((Span(f"Unforeseen errors are written down in {self.log_file()}", "dim"),)),
        ]

    # State

    def restore(self, state: ScreenState) -> None:
        self._selected = int(state.selected) if state.selected.isdecimal() else None

    def remember(self, state: ScreenState) -> None:
        state.selected = "" if self._selected is None else str(self._selected)

    def goto(self, text: str) -> None:
        """Go to a job; raises `JobNotFound` for what is no number of one."""
        workspace = self._workspace
        wanted = text.strip()
        if workspace is None:
            return
        if not wanted.isdecimal() or len(wanted) > 18:
            raise JobNotFound("a job is named by its number", hint="its detail shows it")

        def work() -> None:
            if workspace.jobs.get(int(wanted)) is None:
                raise JobNotFound(f"there is no job {wanted}", hint="old jobs are forgotten")
            self.post_message(_Found(int(wanted)))

        self._in_thread(work, "goto", "Looking for a job")

    @on(_Found)
    def _go(self, message: _Found) -> None:
        self.jobs.go_to(message.number)

    # Actions

    def action_stop_job(self) -> None:
        """Stop the job under the cursor."""
        workspace, row = self._workspace, self.job
        if workspace is None or row is None:
            return
        number, title = row.id, row.title

        def work() -> None:
            workspace.jobs.stop(number)
            self.post_message(_Said(STOPPING, title))

        self._in_thread(work, "stop", "Stopping a job")

    async def action_open_made(self) -> None:
        """Show the session that an import added to, or all of them."""
        row = self.job
        if row is None:
            return
        session = session_made(row.outcome)
        if session is None:
            await self.app.action_open_screen("sessions")
        else:
            await self.app.lead_to(ToSession(session))

    def action_examine(self) -> None:
        """Examine the workspace as a job."""
        workspace = self._workspace
        if workspace is None:
            return
        title = "examine the workspace"
        run_beside(
            self.app,
            workspace,
            "doctor",
            title,
            lambda job: examine(workspace, job),
            lambda text: self.post_message(_Said(text, title)),
            lease="doctor",
        )

    def action_export(self) -> None:
        """Ask where to, and export as a job."""
        from workbench.tui.dialogs.prompt import PromptDialog

        workspace = self._workspace
        if workspace is None:
            return

        def begin(text: str | None) -> None:
            if not text or not text.strip():
                return
            path = Path(text.strip()).expanduser().absolute()
            title = f"export events to {path}"
            run_beside(
                self.app,
                workspace,
                "export",
                title,
                lambda job: export(workspace, path, job),
                lambda said: self.post_message(_Said(said, "export")),
            )

        hint = "a file; an earlier export of that name is replaced, any other file is left alone"
        suggested = str(Path.home() / f"{self.app.root.name or 'workspace'}.jsonl")
        self.app.push_screen(PromptDialog("Export every event to", hint, suggested), begin)

    @on(_Said)
    def _say(self, message: _Said) -> None:
        self.app.notify(message.text, title=message.title)

    # Copying

    def copy_choices(self) -> list[CopyChoice]:
        """The forms of the job under the cursor."""
        row = self.job
        if row is None:
            return []
        root = shlex.quote(str(self.app.root))
        texts = [
            ("outcome", row.outcome),
            ("error", "\n".join(part for part in (row.error, tui_hint(row.hint, self.app.root)) if part)),
            ("what it is", row.title),
            ("JSON", msgspec.json.format(msgspec.json.encode(row)).decode()),
            ("number", str(row.id) if row.recorded else ""),
            ("command", f"workbench jobs show {row.id} --root {root}" if row.recorded else ""),
            ("path of the log file", str(locations.log_file())),
        ]
        return [CopyChoice(label, text) for label, text in texts if text]

    # Working

    def _in_thread(self, work: Callable[[], object], group: str, description: str) -> None:
        self.run_worker(
            work,
            group=f"jobs-{group}",
            description=description,
            exclusive=True,
            exit_on_error=False,
            thread=True,
        )


PAGE = JobsPage
