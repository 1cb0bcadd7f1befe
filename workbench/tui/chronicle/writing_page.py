"""Writing chronicles from the screen: consolidate, write again, rebuild, and files in and out."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError
from workbench.tui.chronicle.copies import replay_command
from workbench.tui.chronicle.hints import hint_with_keys
from workbench.tui.chronicle.leading_page import ChronicleLeadingPage
from workbench.tui.chronicle.messages import BriefMade, JobSaid
from workbench.tui.chronicle.nodes import Node, RangeNode, StreamNode
from workbench.tui.chronicle.page_actions import JOB
from workbench.tui.chronicle.words import range_words
from workbench.tui.document import Block, Paragraph, note
from workbench.tui.jobs.running import run_beside
from workbench.tui.present import Span, counted, number
from workbench.workspace.errors import Cancelled

if TYPE_CHECKING:
    from workbench.workspace import Workspace
    from workbench.workspace.jobs.job import Job
    from workbench.workspace.layout import Layout

_NAME_CHARS = 60
_NAMED = 5
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
SUFFIX = ".chronicle.jsonl"
AGAIN = (
    "The prose that is there stays, and can be read and compared. But the log knows nothing of the new one: "
    "whoever read the old prose diverges when their run is replayed, and a rebuild drops the new section. "
    "An export keeps both."
)


class ChronicleWritingPage(ChronicleLeadingPage):
    """The tree with all that writes to it; every piece of work runs beside the screen."""

    def __init__(self) -> None:
        super().__init__()
        self._stop = threading.Event()
        """Set: what was begun here and runs is to stop."""

    # Consolidating

    def action_consolidate(self) -> None:
        """Write up what is closed of the stream under the cursor."""
        node, stop = self.cursor_node, self._begin()
        if node is None:
            return
        stream, called = node.stream, node.named

        def work(workspace: Workspace) -> str:
            written = workspace.chronicle(stream).consolidate(cancelled=stop.is_set)
            if not written:
                return "Nothing is closed that is in no section yet."
            return f"{counted(len(written), 'section')} written, up to event {written[-1].to_seq}."

        self._write(work, "Consolidating", called)

    def action_consolidate_all(self) -> None:
        """Write up what is closed in every stream that lags."""
        stop = self._begin()

        def work(workspace: Workspace) -> str:
            done = workspace.chronicles.consolidate(cancelled=stop.is_set)
            written = done.written
            sections = sum(map(len, written.values()))
            errors = [*(each.error for each in done.failures), *(each.error for each in done.unknown)]
            if errors:
                raise with_the_rest(errors, sections)
            if not sections:
                return "Nothing is closed anywhere that is in no section yet."
            return f"{counted(sections, 'section')} written in {counted(len(written), 'stream')}."

        self._write(work, "Consolidating", "Consolidate all")

    def action_write_again(self) -> None:
        """Ask, and write the section under the cursor again."""
        from workbench.tui.dialogs.confirm import ConfirmDialog

        node = self.cursor_node
        if not isinstance(node, RangeNode):
            return
        stream, called, anchor = node.stream, node.named, node.row.anchor
        named = f"events {range_words(anchor.from_seq, anchor.to_seq)} of {called}"

        def answered(sure: bool | None) -> None:
            if not sure:
                return
            stop = self._begin()

            def work(workspace: Workspace) -> str:
                chronicle = workspace.chronicle(stream)
                made = chronicle.reconsolidate(anchor.section_id, cancelled=stop.is_set)
                return f"Section {made.anchor.section_id} written. A rebuild drops it; an export keeps it."

            self._write(work, "Writing a section again", called)

        question = f"Write {named} again?"
        self.app.push_screen(ConfirmDialog(question, AGAIN, yes="write it again", no="leave it"), answered)

    def action_rebuild(self) -> None:
        """Say what is lost, and write the chronicle anew once that was typed."""
        from workbench.tui.dialogs.typed_confirm import TypedConfirmDialog

        node = self.cursor_node
        if node is None:
            return
        stream, called = node.stream, node.named

        def answered(sure: bool | None) -> None:
            if not sure:
                return
            stop = self._begin()

            def work(workspace: Workspace) -> str:
                chronicle = workspace.chronicle(stream)
                rebuilt = chronicle.rebuild(discard_generated=True, cancelled=stop.is_set)
                if rebuilt is None:
                    return "Stopped: the chronicle is what it was."
                return f"{counted(len(rebuilt.sections), 'section')} written anew."

            self._write(work, "Rebuilding a chronicle", called)

        blocks = rebuild_blocks(node, self.app.keymap.shown("chronicle.export"), self.app.root)
        self.app.push_screen(TypedConfirmDialog("Rebuild a chronicle", blocks, "rebuild"), answered)

    def action_stop_job(self) -> None:
        """Stop what writes chronicles here; what was written stays."""
        workspace = self._workspace
        if workspace is None:
            return
        self._stop.set()
        jobs = workspace.jobs
        running = [row.id for row in jobs.live() if row.kind == JOB]

        def work() -> None:
            for job in running:
                jobs.stop(job)

        self.in_thread(work, "stop", "Stopping the writing of chronicles")

    # Files

    def action_export(self) -> None:
        """Ask where to, and write every section of the stream into a file."""
        from workbench.tui.dialogs.prompt import PromptDialog

        workspace, node = self._workspace, self.cursor_node
        if workspace is None or node is None:
            return
        stream, called = node.stream, node.named

        def begin(text: str | None) -> None:
            if not text or not text.strip():
                return
            path = Path(text.strip()).expanduser().absolute()

            def work(job: Job) -> str:
                chronicle = workspace.chronicle(stream)
                count = chronicle.export(path, progress=job.progress, cancelled=job.cancelled)
                if count is None:
                    raise Cancelled("the export was stopped; no file was written")
                return f"{counted(count, 'section')} written to {path}"

            self._run("export", f"export the chronicle of {called}", work)

        name = _UNSAFE.sub("-", called).strip("-.")[:_NAME_CHARS] or "chronicle"
        hint = f"every section of {called}, superseded ones too; an earlier export of that name is replaced"
        asked = str(Path.home() / f"{name}{SUFFIX}")
        layout = workspace.layout
        self.app.push_screen(
            PromptDialog("Export to", hint, asked, check=lambda text: unfit(text, layout)), begin
        )

    def action_load(self) -> None:
        """Ask for a file, and read its sections into the stream."""
        from workbench.tui.dialogs.prompt import PromptDialog

        node = self.cursor_node
        if node is None:
            return
        stream, called = node.stream, node.named

        def begin(text: str | None) -> None:
            if not text:
                return
            path, stop = Path(text.strip()).expanduser().absolute(), self._begin()

            def work(workspace: Workspace) -> str:
                found = workspace.chronicle(stream).load(path, cancelled=stop.is_set)
                if found is None:
                    return "Stopped: nothing of the file was kept."
                there = found.sections - found.landed
                rest = f"; {number(there)} were there already" if there else ""
                return f"{counted(found.landed, 'section')} loaded{rest}.{other_words(found.other_words)}"

            self._write(work, "Loading sections", called)

        hint = f"a file that an export of {called} wrote; all of it is kept or nothing"
        self.app.push_screen(PromptDialog("Load from", hint, "", check=readable), begin)

    # The brief

    def action_copy_brief(self) -> None:
        """Copy what an agent is told of the stream."""
        workspace, node = self._workspace, self.cursor_node
        if workspace is None or node is None:
            return
        stream, called = node.stream, node.named
        self.in_thread(
            lambda: self.post_message(BriefMade(workspace.chronicle(stream).brief().text, called)),
            "brief",
            "Making a brief",
        )

    def on_brief_made(self, message: BriefMade) -> None:
        """Copy it."""
        with self.app.showing_failures():
            self.app.copy(message.text, f"the brief of {message.stream}")

    # Working

    def _begin(self) -> threading.Event:
        if self._stop.is_set():
            # What was stopped goes on to stop; what begins now is another matter.
            self._stop = threading.Event()
        return self._stop

    def _write(self, work: Callable[[Workspace], str], description: str, title: str) -> None:
        """Run what is a job by itself on a thread of its own."""
        workspace = self._workspace
        if workspace is None:
            return

        def run() -> None:
            try:
                said = work(workspace)
            except Cancelled as error:
                said = error.message
            except WorkbenchError as error:
                error.hint = hint_with_keys(error.hint, self.app.keymap.shown)
                raise
            self.post_message(JobSaid(said, title))

        self.app.run_worker(
            run,
            name=JOB,
            group="chronicle-writing",
            description=description,
            exit_on_error=False,
            thread=True,
        )

    def _run(self, kind: str, title: str, work: Callable[[Job], str]) -> None:
        """Run as a job what is none by itself."""
        workspace = self._workspace
        if workspace is not None:
            run_beside(
                self.app, workspace, kind, title, work, lambda said: self.post_message(JobSaid(said, title))
            )

    def on_job_said(self, message: JobSaid) -> None:
        """Say what became of it, and show what is there now."""
        self.app.notify(message.text, title=message.title)
        if self.as_of is None:
            self.on_committed()


def readable(text: str) -> str:
    """Why a file cannot be loaded; "" where it may be."""
    path = Path(text.strip()).expanduser()
    if not text.strip():
        return "a file has to be named"
    return "" if path.is_file() else "there is no such file"


def with_the_rest(errors: Sequence[WorkbenchError], sections: int) -> WorkbenchError:
    """The first of what failed, with what else did and what was written all the same in its hint."""
    first, more = errors[0], len(errors) - 1
    others = f"{counted(more, 'other stream or kind of stream', 'others')} failed too" if more else ""
    kept = f"{counted(sections, 'section')} of other streams were written" if sections else ""
    first.hint = "; ".join(filter(None, (first.hint, others, kept)))
    return first


def other_words(names: Sequence[str]) -> str:
    """A sentence about sections of a file that are here with other words; "" for none."""
    if not names:
        return ""
    more = f" and {number(len(names) - _NAMED)} more" if len(names) > _NAMED else ""
    says = "says" if len(names) == 1 else "say"
    return f" The file's {', '.join(names[:_NAMED])}{more} {says} something else than here, and stayed out."


def unfit(text: str, layout: Layout) -> str:
    """Why no export may be written there; "" where it may: whatever is no export stays."""
    from workbench.workspace.chronicle.files import refuse_other
    from workbench.workspace.own_files import refuse_own

    if not text.strip():
        return ""
    try:
        path = Path(text.strip()).expanduser().absolute()
        refuse_own(path, layout)
        refuse_other(path)
    except WorkbenchError as error:
        return error.message
    except (OSError, RuntimeError, ValueError) as error:
        return f"no file can be written there: {getattr(error, 'strerror', '') or error}"
    return ""


def rebuild_blocks(node: Node, export_key: str, root: Path) -> list[Block]:
    """What a rebuild of a row's chronicle does, and what keeps what it throws away."""
    known = node.row.sections if isinstance(node, StreamNode) else 0
    sections = counted(known, "section") if known else "every section"
    return [
        Paragraph(f"This throws away {sections} of {node.named} and has all written anew."),
        Paragraph("Gone for good are:"),
        Paragraph("prose that was written again, by hand, or came from a file", mark=Span("•", "warning")),
        Paragraph("every word that is there now: a model may tell it otherwise", mark=Span("•", "warning")),
        Paragraph("The events stay as they are. If it fails or is stopped, nothing changes."),
        Paragraph((Span(export_key, "accent"), Span(" exports the sections first.", "text"))),
        note("To have it as it was drawn before, without asking anybody, enter in a shell instead:"),
        Paragraph((Span(replay_command(node, root), "ink"),), indent=2),
    ]
