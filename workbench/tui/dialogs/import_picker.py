"""Choosing transcripts to import, the progress of the import, and what it did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static
from textual.worker import Worker, get_current_worker

from workbench.errors import WorkbenchError
from workbench.tui.dialogs.base import Dialog, key_line
from workbench.tui.document import Blank, Block, Fields, Heading, Paragraph, note
from workbench.tui.failures import failure_of
from workbench.tui.present import Line, Span, counted, literal, number, one_line
from workbench.tui.sessions.found_rows import Found, FoundRows, found_row, in_order, retention
from workbench.tui.sessions.import_job import ImportJob, progress_text, summary
from workbench.tui.widgets.list_messages import Opened
from workbench.tui.widgets.page_source import MemorySource
from workbench.tui.widgets.text_pane import TextPane
from workbench.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from workbench.imports.report import ImportReport
    from workbench.imports.transcript.candidates import Refused
    from workbench.workspace import Workspace
    from workbench.workspace.transcripts import FoundTranscript

_BATCH_SECONDS = 0.2
_TICK_SECONDS = 0.5
"""How often a wait for another program is counted on."""
_WIDE = 64
"""Cells of the panel from which every key is named."""
_PROBLEMS = 1000
"""Problems that are listed; more are counted."""


_PATH_HINT: Line = (Span("/", "accent"), Span(" names another file or folder", "dim"))


class Searched(Message):
    """More was found, or (`ended`) nothing more will be."""

    def __init__(self, search: int, rows: Sequence[Found], kept_days: int, *, ended: bool) -> None:
        super().__init__()
        self.search = search
        self.rows = list(rows)
        self.kept_days = kept_days
        self.ended = ended


class ImportPicker(Dialog[None]):
    """Searches, lets choose, imports and reports; esc closes it at any time, and a running import goes on.

    `begin` starts the import of the chosen files; `job` is one that is running already.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "choose", "choose", show=False),
        Binding("a", "toggle_all", "all or none", show=False),
        Binding("x", "stop", "stop", show=False),
        Binding("r", "again", "try again", show=False),
        Binding("enter", "take", "import", show=False),
        Binding("slash", "edit_path", "path", show=False),
        Binding("j,down", "move('cursor_down', 'scroll_down')", "down", show=False),
        Binding("k,up", "move('cursor_up', 'scroll_up')", "up", show=False),
        Binding("pagedown,full_stop", "move('page_down', 'page_down')", "page down", show=False),
        Binding("pageup,comma", "move('page_up', 'page_up')", "page up", show=False),
        Binding("g,home", "move('first', 'scroll_home')", "first", show=False),
        Binding("G,end", "move('last', 'scroll_end')", "last", show=False),
        Binding("y", "copy", "copy", show=False),
    ]

    DEFAULT_CSS = """
    ImportPicker > .panel { width: 110; height: 90%; }
    ImportPicker VirtualList, ImportPicker TextPane { background: $raised; height: 1fr; }
    ImportPicker #status { height: auto; max-height: 3; margin-bottom: 1; color: $quiet; }
    """

    def __init__(
        self,
        workspace: Workspace,
        begin: Callable[[Sequence[Path]], ImportJob],
        job: ImportJob | None = None,
    ) -> None:
        super().__init__()
        self._workspace = workspace
        self._begin = begin
        self.job = job
        self.found: list[Found] = []
        self.chosen: set[Path] = set()
        self.searching = False
        self._search = 0
        self._stopped = False
        self._kept_days: int | None = None
        self._path = ""

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel") as panel:
            panel.border_title = "Import transcripts"
            yield Input(placeholder="/ a file or folder; empty: the programs' own", id="path")
            yield Static("", id="status", markup=False)
            yield VirtualList(FoundRows(lambda row: row.path in self.chosen, self.app.clock), id="found")
            yield TextPane(id="report")
            yield Static("", classes="keys", markup=False)

    def on_mount(self) -> None:
        """Go on with a running import, or begin to search."""
        self.query_one("#report").display = False
        self.set_interval(_TICK_SECONDS, self._count_wait)
        if self.job is not None:
            self._watch(self.job)
        else:
            self.search("")
        self._list.focus()

    def on_resize(self) -> None:
        """The keys are named as far as there is room."""
        self.call_after_refresh(self._say)

    def on_unmount(self) -> None:
        """Nobody looks any more."""
        if self.job is not None:
            self.job.changed = None

    @property
    def _list(self) -> VirtualList[Found]:
        return self.query_one("#found", VirtualList)

    # Searching

    def search(self, path: str) -> None:
        """Look for transcripts at `path`, or without one where each program keeps its own."""
        self._search += 1
        self._path = path
        self.found, self.chosen = [], set()
        self.searching, self._stopped = True, False
        self._list.set_source(MemorySource((), lambda row: row.path))
        self._say()
        number_of_search, workspace, now = self._search, self._workspace, self.app.clock()

        def work() -> None:
            worker = get_current_worker()
            kept_days = retention()
            rows: list[Found] = []
            told = monotonic()

            def hear(found: FoundTranscript | Refused) -> None:
                nonlocal told
                rows.append(found_row(workspace, found, now, kept_days))
                if monotonic() - told >= _BATCH_SECONDS:
                    tell(ended=False)
                    told = monotonic()

            def tell(*, ended: bool) -> None:
                if not worker.is_cancelled:
                    self.post_message(Searched(number_of_search, rows, kept_days, ended=ended))
                rows.clear()

            places = [Path(path).expanduser()] if path.strip() else []
            workspace.find_transcripts(None, places, heard=hear, cancelled=lambda: worker.is_cancelled)
            tell(ended=True)

        self.run_worker(
            work,
            name="search",
            group="search",
            description="Looking for transcripts",
            exclusive=True,
            exit_on_error=False,
            thread=True,
        )

    def on_searched(self, message: Searched) -> None:
        """Show what was found so far."""
        message.stop()
        if message.search != self._search or self.job is not None:
            return
        self._kept_days = message.kept_days
        self.searching = not message.ended
        self.found = in_order([*self.found, *message.rows])
        self.chosen |= {row.path for row in message.rows if row.fresh}
        rows = self._list
        rows.empty_lines = () if self.searching else self._nothing()
        rows.set_source(MemorySource(tuple(self.found), lambda row: row.path), at=rows.cursor_key)
        self._say()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A search that failed says why."""
        if event.worker.error is not None and event.state.name == "ERROR":
            self.searching = False
            self.app.show_failure(event.worker.error, "The search ended early")

    def _nothing(self) -> tuple[Line, ...]:
        if self._stopped:
            return ((Span("The search was stopped", "text"),), _PATH_HINT)
        if self._path.strip():
            places = [self._path]
        else:
            from workbench.workspace.transcripts import kept_places

            places = [_short(place) for place in kept_places()]
        named = [(Span("  ", "text"), Span(one_line(place, 200), "ink")) for place in places]
        return ((Span("No transcripts in", "text"),), *named, _PATH_HINT)

    # Choosing

    def action_choose(self) -> None:
        """Choose the transcript under the cursor, or no longer."""
        row = self._list.cursor_row
        if self.job is None and row is not None and row.choosable:
            self.chosen ^= {row.path}
            self._list.redraw_rows()
            self._list.action_cursor_down()
            self._say()

    def action_toggle_all(self) -> None:
        """Choose everything that holds something new, or nothing."""
        if self.job is None:
            fresh = {row.path for row in self.found if row.fresh}
            self.chosen = set() if self.chosen >= fresh and self.chosen else fresh
            self._list.redraw_rows()
            self._say()

    def action_edit_path(self) -> None:
        """Name a file or a folder."""
        if self.job is None:
            self.query_one("#path", Input).focus()

    @on(Input.Submitted)
    def _path_given(self, event: Input.Submitted) -> None:
        event.stop()
        self.search(event.value)
        self._list.focus()

    @on(Opened)
    def _row_opened(self, message: Opened) -> None:
        """Two clicks on a transcript choose it."""
        message.stop()
        self.action_choose()

    # Importing

    async def action_take(self) -> None:
        """Import what is chosen; after the import: close."""
        if self.job is not None:
            if not self.job.running:
                self.dismiss(None)
            return
        paths = [row.path for row in self.found if row.path in self.chosen]
        if paths:
            if self.searching:
                self._stop_search()
            self._watch(self._begin(paths))

    def action_stop(self) -> None:
        """Stop the search where it is, or the running import after the transaction that it is in."""
        if self.job is not None and self.job.running:
            self.job.stop()
        elif self.searching:
            self._stop_search()
            self._list.empty_lines = self._nothing()
            self._list.redraw_rows()
            self._say()

    def action_again(self) -> None:
        """Try again what another program, say, was in the way of."""
        if self.job is not None and self._retryable(self.job):
            self.query_one("#report", TextPane).set_blocks(())
            self.job.again()

    @staticmethod
    def _retryable(job: ImportJob) -> bool:
        return not job.running and isinstance(job.error, WorkbenchError) and job.error.retryable

    def _stop_search(self) -> None:
        self.workers.cancel_group(self, "search")
        # What it still has to say is not heard.
        self._search += 1
        self.searching, self._stopped = False, True

    def _watch(self, job: ImportJob) -> None:
        self.job = job
        job.changed = self._say
        self.query_one("#path").display = False
        self._list.display = False
        report = self.query_one("#report", TextPane)
        report.display = True
        report.focus()
        self._say()

    def _show_outcome(self, job: ImportJob) -> None:
        pane = self.query_one("#report", TextPane)
        if pane.blocks:
            return
        if job.report is not None:
            pane.set_blocks(report_blocks(job.report))
        elif job.error is not None:
            failure = failure_of(job.error, "The import ended early", self.app.root)
            hint = [note(failure.hint)] if failure.hint else []
            pane.set_blocks([Heading(failure.title, role="error"), Paragraph(failure.sentence), *hint])

    def action_copy(self) -> None:
        """Copy the report."""
        if self.job is not None and self.job.report is not None:
            self.app.copy(report_text(self.job.report), "the report")

    def action_move(self, in_list: str, in_pane: str) -> None:
        """Move in what is shown."""
        target = self._list if self._list.display else self.query_one("#report", TextPane)
        getattr(target, f"action_{in_list if target is self._list else in_pane}")()

    # Saying what goes on

    def _say(self) -> None:
        if not self.is_mounted or not self.query(".keys"):
            # It is being taken away.
            return
        job = self.job
        keys = self.query_one(".keys", Static)
        status = self.query_one("#status", Static)
        if job is None:
            status.update(literal(self._search_text()))
            wide = self._width >= _WIDE
            taken = [("enter", f"import {number(len(self.chosen))}")] if self.chosen else []
            can_choose = any(row.choosable for row in self.found)
            path = [("/", "path")] if wide or not can_choose else []
            choose = [("space", "choose"), ("a", "all or none" if wide else "all")] if can_choose else []
            stop = [("x", "stop")] if self.searching else []
            keys.update(key_line(*taken, *stop, *choose, *path, ("esc", "close")))
        elif job.running:
            width = max(20, self._width)
            what = self._doing(job, width)
            status.update(Content("\n").join([literal(progress_text(job, width)), literal(what)]))
            keys.update(key_line(("x", "stop"), ("esc", "close; it goes on")))
        else:
            status.update(literal("Done." if job.error is None else "Ended early."))
            if job.report is not None:
                status.update(literal(summary(job.report)))
            self._show_outcome(job)
            again = [("r", "try again")] if self._retryable(job) else []
            copy = [("y", "copy the report")] if job.report is not None else []
            keys.update(key_line(*again, ("enter", "close"), *copy))

    def _doing(self, job: ImportJob, width: int) -> str:
        """What the running import is at; while another program is in its way, that."""
        waiting = self.app.access.waiting
        if job.stopping:
            return one_line(f"Stopping; {waiting}" if waiting else "Stopping …", width)
        return one_line(waiting or job.note, width) or "Reading …"

    def _count_wait(self) -> None:
        if self.job is not None and self.job.running:
            self._say()

    def _search_text(self) -> str:
        transcripts = [row for row in self.found if row.choosable]
        parts = [counted(len(transcripts), "transcript")]
        states = [row.state for row in transcripts]
        counts = [(state, states.count(state)) for state in ("new", "changed", "known")]
        parts += [f"{number(count)} {state}" for state, count in counts if count]
        refused = len(self.found) - len(transcripts)
        if refused:
            parts.append(f"{number(refused)} refused")
        text = " · ".join(parts)
        if self.searching:
            return f"Searching … found {text}"
        if self._stopped:
            return f"Search stopped · {text}"
        if self._kept_days is not None and any(row.days_left is not None for row in transcripts):
            kept = f" · Claude Code deletes a file after {counted(self._kept_days, 'day')}"
            if len(text) + len(kept) <= self._width:
                text += kept
        return text

    @property
    def _width(self) -> int:
        return self.query_one(".panel").content_size.width


def _short(place: Path) -> str:
    """A path as people write it."""
    return f"~/{place.relative_to(Path.home())}" if place.is_relative_to(Path.home()) else str(place)


def report_blocks(report: ImportReport) -> list[Block]:
    """What an import did, as a document."""
    blocks: list[Block] = []
    fed = [each for each in report.sessions if each.acta_added]
    if fed:
        blocks.append(Heading("Added"))
        rows: list[tuple[str, str | Line]] = [
            (f"+{number(each.acta_added)}", f"{each.id}  ({number(each.acta_total)} in all)") for each in fed
        ]
        blocks += [Fields(rows, indent=1), Blank()]
    problems = [problem for each in report.sessions for problem in each.problems]
    in_all = max(report.totals["problems"], len(problems))
    if problems:
        blocks.append(Heading("Problems", number(in_all), "warning"))
        for problem in problems[:_PROBLEMS]:
            place = f"{problem.file}:{problem.line}" if problem.line else problem.file
            blocks.append(Paragraph(f"{place}  {problem.reason}", Span("!", "warning"), 1))
        if len(problems) > _PROBLEMS:
            blocks.append(note(f"and {number(in_all - _PROBLEMS)} more", 1))
        blocks.append(Blank())
    unchanged = sum(1 for each in report.sessions if each.unchanged)
    waiting = sum(1 for each in report.sessions if each.waiting)
    messages = sum(each.waiting_messages for each in report.sessions)
    facts: list[tuple[str, str | Line]] = [
        ("duplicates", number(report.totals["duplicates"])),
        ("files", number(report.totals["files"])),
    ]
    if unchanged:
        facts.append(("unchanged", counted(unchanged, "file")))
    if unread := report.totals.get("unread_before"):
        facts.append(("missing", f"{counted(unread, 'line')} that earlier imports could not read, and named"))
    if waiting:
        facts.append(("waiting", f"{counted(waiting, 'half-written last line')}, for the next import"))
    if messages:
        facts.append(
            ("waiting", f"{counted(messages, 'message')} of a file being written, for the next import")
        )
    facts += [(kind, number(count)) for kind, count in sorted(report.ignored.items())]
    blocks += [Heading("Read", "and what of it is no act"), Fields(facts, indent=1)]
    return blocks


def report_text(report: ImportReport) -> str:
    """The same as plain text, for the clipboard."""
    lines = [summary(report)]
    lines += [f"+{each.acta_added} {each.id}" for each in report.sessions if each.acta_added]
    for each in report.sessions:
        lines += [f"{problem.file}:{problem.line}: {problem.reason}" for problem in each.problems]
        if each.problems_more:
            lines.append(f"and {counted(each.problems_more, 'more problem')} in {each.id}")
    return "\n".join(lines) + "\n"
