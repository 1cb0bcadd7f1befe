"""A rescan or a scrub while it runs, and what came out of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from workbench.tui.dialogs.base import Dialog, key_line
from workbench.tui.document import Block, Heading, Paragraph, note
from workbench.tui.failures import failure_of
from workbench.tui.present import Span, capital, literal_lines, one_line
from workbench.tui.redactions.report_blocks import report_blocks, report_text
from workbench.tui.widgets.text_pane import TextPane
from workbench.workspace.errors import Cancelled

if TYPE_CHECKING:
    from workbench.tui.redactions.look_job import LookJob
    from workbench.workspace import Workspace

_NOTES = {
    "artifacts": "looking at artifacts",
    "events": "looking at events",
    "old text": "clearing away old text",
    "files": "looking at exports and logs",
    "backups": "looking at backups",
}


class LookDialog(Dialog[Literal["scrub"]]):
    """Ends with "scrub" where a rescan's report is answered by one; esc closes it, and a job goes on.

    `no_scrub` returns why a scrub cannot be begun now, "" where it can.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "stop", "stop", show=False),
        Binding("X", "scrub", "scrub", show=False),
        Binding("y", "copy", "copy", show=False),
        Binding("enter", "close", "close", show=False),
        Binding("j,down", "move('scroll_down')", "down", show=False),
        Binding("k,up", "move('scroll_up')", "up", show=False),
        Binding("pagedown,full_stop", "move('page_down')", "page down", show=False),
        Binding("pageup,comma", "move('page_up')", "page up", show=False),
        Binding("g,home", "move('scroll_home')", "top", show=False),
        Binding("G,end", "move('scroll_end')", "end", show=False),
    ]

    DEFAULT_CSS = """
    LookDialog > .panel { width: 110; height: 90%; }
    LookDialog.-running > .panel { height: auto; width: 76; }
    LookDialog TextPane { background: $raised; height: 1fr; }
    LookDialog.-running TextPane { display: none; }
    LookDialog #status { height: auto; display: none; }
    LookDialog.-running #status { display: block; }
    """

    def __init__(self, workspace: Workspace, job: LookJob, no_scrub: Callable[[], str]) -> None:
        super().__init__()
        self._workspace = workspace
        self._no_scrub = no_scrub
        self.job = job

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel") as panel:
            panel.border_title = "Rescan" if self.job.kind == "rescan" else "Scrub"
            yield Static("", id="status", markup=False)
            yield TextPane(id="report")
            yield Static("", classes="keys", markup=False)

    def on_mount(self) -> None:
        """Watch the job."""
        self.job.changed = self._say
        self._say()

    def on_unmount(self) -> None:
        """Nobody looks any more."""
        self.job.changed = None

    def on_resize(self) -> None:
        """The bar is as wide as the panel."""
        self.call_after_refresh(self._say)

    @property
    def _pane(self) -> TextPane:
        return self.query_one(TextPane)

    def _offers_scrub(self) -> bool:
        job = self.job
        return (
            job.kind == "rescan" and job.report is not None and job.report.found > 0 and not self._no_scrub()
        )

    def action_stop(self) -> None:
        """Ask the job to stop."""
        if self.job.running:
            self.job.stop()

    def action_scrub(self) -> None:
        """Answer the report by a scrub."""
        if not self.job.running and self._offers_scrub():
            self.dismiss("scrub")

    def action_close(self) -> None:
        """Close what has been read; a running job is not closed by accident."""
        if not self.job.running:
            self.dismiss(None)

    def action_copy(self) -> None:
        """Copy the report."""
        if self.job.report is not None:
            self.app.copy(report_text(self.job.report, self._workspace.root), "the report")

    def action_move(self, how: str) -> None:
        """Scroll the report."""
        getattr(self._pane, f"action_{how}")()

    def _say(self) -> None:
        if not self.is_mounted or not self.query(".keys"):
            # It is being taken away.
            return
        job, keys = self.job, self.query_one(".keys", Static)
        self.set_class(job.running, "-running")
        if job.running:
            width = max(20, self.query_one(".panel").content_size.width)
            self.query_one("#status", Static).update(literal_lines(progress_text(job, width)))
            stop = [] if job.stopping else [("x", "stop")]
            keys.update(key_line(*stop, ("esc", "close; it goes on")))
            return
        if not self._pane.blocks:
            self._pane.set_blocks(self._outcome())
            self._pane.focus()
        scrub = [("X", "scrub")] if self._offers_scrub() else []
        copy = [("y", "copy")] if job.report is not None else []
        keys.update(key_line(*scrub, *copy, ("enter", "close")))

    def _outcome(self) -> list[Block]:
        job = self.job
        if job.report is not None:
            blocks = report_blocks(job.report, self._workspace.root)
            if job.kind == "rescan" and job.report.found:
                reason = self._no_scrub()
                if reason:
                    offer: Block = note(f"A scrub is not possible now: {reason}.", indent=2)
                else:
                    offer = Paragraph(
                        (
                            Span("X", "accent"),
                            Span(" takes it out." if job.report.found == 1 else " takes them out.", "text"),
                        ),
                        indent=2,
                    )
                blocks.insert(2, offer)
            return blocks
        return error_blocks(job, self._workspace.root)


def error_blocks(job: LookJob, root: Path) -> list[Block]:
    """Why a job on the workspace at `root` came to no end."""
    if isinstance(job.error, Cancelled):
        return [Heading("Stopped", role="warning"), Paragraph(f"{capital(job.error.message)}.")]
    if job.error is None:
        return []
    failure = failure_of(job.error, f"The {job.kind} ended early", root)
    hint = [note(failure.hint)] if failure.hint else []
    return [Heading(failure.title, role="error"), Paragraph(failure.sentence), *hint]


def progress_text(job: LookJob, width: int) -> str:
    """A bar and, below it, what is being looked at; lines of at most `width` cells."""
    share = min(1.0, job.done / job.total) if job.total else 0.0
    room = max(8, min(40, width - 8))
    filled = round(share * room)
    bar = "█" * filled + "░" * (room - filled)
    if job.stopping:
        what = "stopping …" if job.kind != "scrub" else "stopping, unless it has begun to write …"
    else:
        what = _NOTES.get(job.note, job.note) or "beginning …"
    return f"{bar} {round(share * 100):>3} %\n{one_line(what, width)}"
