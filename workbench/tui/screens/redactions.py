"""The Redactions screen: what the secret filter took out, and what can be done about what is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.present import capital
from workbench.tui.redactions.hints import HintLine, StoredState, hint_text, scrub_blocks
from workbench.tui.redactions.list_page import GOTO_HINT, RedactionListPage
from workbench.tui.redactions.look_job import LookJob, LookKind
from workbench.tui.redactions.messages import ScrubOffered, StateRead
from workbench.tui.redactions.page_actions import NAME, REDACTION_ACTIONS
from workbench.tui.redactions.redaction_pane import LookedInto, list_copies
from workbench.tui.redactions.report_blocks import headline
from workbench.workspace.errors import Cancelled

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from workbench.workspace import Workspace


class RedactionsPage(RedactionListPage):
    """The list and its detail; the filter tried on a text; rescan, scrub, and a look into the backups."""

    NAME, TITLE, NUMBER = NAME, "Redactions", 7
    LIST_SHARE = 55
    OFFERS = frozenset({"page.filter", "page.goto", "page.copy", "page.next_tab", "page.previous_tab"})
    GOTO_HINT = GOTO_HINT
    ACTIONS = REDACTION_ACTIONS

    def __init__(self) -> None:
        super().__init__()
        self.job: LookJob | None = None
        """What was looked through or scrubbed last, or is now."""
        self.reported: LookJob | None = None
        """The last rescan or scrub that came to a report."""
        self.stored: StoredState | None = None
        """What of the stored text needs a person."""
        self.hint = HintLine(css_id="redactions-hint")
        self._looked: LookedInto | None = None

    def compose_list(self) -> ComposeResult:
        yield self.hint
        yield from super().compose_list()

    def count_again(self) -> None:
        super().count_again()
        self._read_state()

    def _read_state(self) -> None:
        workspace = self._workspace
        if workspace is not None:
            self.in_thread(
                lambda: self.post_message(StateRead(read_state(workspace))),
                "state",
                "Reading the filter's state",
            )

    def on_state_read(self, message: StateRead) -> None:
        """Say what needs a person."""
        self.stored = message.state
        self._say_hint()

    def _say_hint(self) -> None:
        keymap, writes = self.app.keymap, not self.app.access.write_refusal
        busy = self.job is not None and self.job.running
        rescan = "" if busy else keymap.shown("redactions.rescan")
        scrub = keymap.shown("redactions.scrub") if writes and not busy else ""
        self.hint.show(hint_text(self.stored, rescan, scrub))

    # The filter and what is stored

    def action_pad(self) -> None:
        """Try the filter on a text."""
        from workbench.tui.redactions.scratch_pad import ScratchPad

        self.app.push_screen(ScratchPad())

    def action_rescan(self) -> None:
        """Look through what is stored, or show the look that goes on."""
        if self.job is None or not self.job.running:
            self._begin("rescan")
        self._show_job(self.job)

    def action_report(self) -> None:
        """Show the last report again."""
        self._show_job(self.reported)

    def action_look_into_backups(self) -> None:
        """Look whether the backups hold what the filter takes out."""
        self._begin("look into backups")
        if self.pane.side != "backups":
            self.pane.show_side("backups")
        self.show_detail(focus=False)

    def action_stop_job(self) -> None:
        """Ask what runs to stop."""
        if self.job is not None and self.job.running:
            self.job.stop()
            self.update_footer()

    def action_scrub(self) -> None:
        """Say what a scrub does, and do it once its name was typed; or show the one that goes on."""
        workspace = self._workspace
        if self.job is not None and self.job.running:
            self._show_job(self.job)
        elif workspace is not None:
            self.in_thread(
                lambda: self.post_message(ScrubOffered(list_copies(workspace), read_state(workspace))),
                "scrub",
                "Reading what a scrub would do",
            )

    def on_scrub_offered(self, message: ScrubOffered) -> None:
        """Ask."""
        from workbench.tui.dialogs.typed_confirm import TypedConfirmDialog

        def scrub(sure: bool | None) -> None:
            if sure:
                self._begin("scrub")
                self._show_job(self.job)

        known = {} if self._looked is None else {each.path: each.holds for each in self._looked.states}
        blocks = scrub_blocks(message.files, message.state, known, self.app.root)
        self.app.push_screen(TypedConfirmDialog("Take secrets out of what is stored", blocks, "scrub"), scrub)

    def _begin(self, kind: LookKind) -> None:
        workspace = self._workspace
        if workspace is None or (self.job is not None and self.job.running):
            return
        self.job = LookJob(self.app, workspace, kind, self._job_ended)
        self.job.start()
        self._say_hint()

    def _show_job(self, job: LookJob | None) -> None:
        from workbench.tui.redactions.look_dialog import LookDialog

        workspace = self._workspace
        if workspace is None or job is None:
            return

        def answer(what: str | None) -> None:
            job.watched = False
            if what == "scrub":
                self.action_scrub()

        def no_scrub() -> str:
            return self.app.registry["redactions.scrub"].reason(self.app)

        job.watched = True
        self.app.push_screen(LookDialog(workspace, job, no_scrub), answer)

    def jobs_moved(self) -> None:
        """How far a look into the backups is stands beside them."""
        job = self.job
        if job is not None and job.kind == "look into backups" and job.running and self.is_mounted:
            share = round(100 * job.done / job.total) if job.total else 0
            self.pane.show_backups(self._looked, f"looking … {share} %")

    async def _job_ended(self, job: LookJob) -> None:
        """Keep what came out, and say it where nobody looks."""
        if not self.is_attached:
            return
        if job.backups is not None:
            self._looked = LookedInto(tuple(job.backups), self.app.clock())
        if job.report is not None:
            self.reported = job
        self.pane.show_backups(self._looked)
        self._read_state()
        self._say_hint()
        self.update_footer()
        if job.kind == "scrub" and job.report is not None:
            self.on_committed()
            await self.app.begin_others_afresh(self)
        if job.watched:
            return
        if isinstance(job.error, Cancelled):
            self.app.notify(f"{capital(job.error.message)}.")
        elif job.error is not None:
            self.app.show_failure(job.error, f"The {job.kind} ended early")
        elif job.report is not None:
            key = self.app.keymap.shown("redactions.report")
            said = "".join(span.text for span in headline(job.report))
            self.app.notify(f"{said} {key} on the Redactions screen shows the report.")


def read_state(workspace: Workspace) -> StoredState:
    """Whether a rescan is due, what the last one found, and whether a scrub was cut short."""
    from workbench.workspace.redactions.scrub import unfinished
    from workbench.workspace.redactions.versions import rescan_state

    state = rescan_state(workspace.log)
    return StoredState(state.unseen, state.found, unfinished(workspace.log))


PAGE = RedactionsPage
