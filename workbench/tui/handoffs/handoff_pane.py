"""The detail of the Handoffs screen: the five sides of a task."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.strip import Strip

from workbench.errors import WorkbenchError
from workbench.memory.handoff_views import CheckpointDetail, Handoff, PastCheckpoint, TaskFile
from workbench.memory.views import BriefBundle, Comparison
from workbench.tui.failures import failure_of
from workbench.tui.handoffs.checkpoint_side import checkpoint_rows
from workbench.tui.handoffs.desk_rows import CheckpointPick, DeskList, DeskRow, Pick
from workbench.tui.handoffs.handoff_rows import name_line
from workbench.tui.handoffs.history_side import comparison_rows, history_rows
from workbench.tui.handoffs.messages import SideRead
from workbench.tui.handoffs.other_sides import Served, evidence_rows, next_blocks, since_rows
from workbench.tui.widgets.drawn import DrawnWidget
from workbench.tui.widgets.tab_line import Tab, TabLine
from workbench.tui.widgets.text_pane import TextPane
from workbench.workspace.readers.handoff_queries import MOST_HISTORY

if TYPE_CHECKING:
    from textual.worker import Worker

    from workbench.tui.shell import Shell
    from workbench.workspace import Workspace

CHECKPOINT, SINCE, EVIDENCE, HISTORY, NEXT = "checkpoint", "since", "evidence", "history", "next"
SIDES = (CHECKPOINT, SINCE, EVIDENCE, HISTORY, NEXT)
TITLES = (
    ("Checkpoint", "Since last review", "Evidence", "History", "For the next agent"),
    ("Checkpoint", "Since review", "Evidence", "History", "Next"),
    ("Check", "Since", "Files", "Past", "Next"),
)
"""The names of the sides, the fullest first; the first that fit are shown."""


class Compared(NamedTuple):
    """Two checkpoints of a task."""

    change: Comparison
    older: PastCheckpoint
    newer: PastCheckpoint


class TaskLine(DrawnWidget):
    """The task of the detail, where the list does not name it whole beside it."""

    DEFAULT_CSS = "TaskLine { height: 1; }"

    def __init__(self) -> None:
        super().__init__(id="handoff-task")
        self.row: Handoff | None = None

    def show(self, row: Handoff | None) -> None:
        """Name this task."""
        if row != self.row:
            self.row = row
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The project and the task, cut where they do not fit."""
        row, width = self.row, self.size.width
        line = () if row is None else name_line(row.project, row.task_id, width, strong=True)
        return self.strip(line, width)


class HandoffPane(Vertical):
    """Shows a task at once as the list knows it, and the rest when it is read."""

    DEFAULT_CSS = """
    HandoffPane { height: 1fr; width: 1fr; }
    HandoffPane TabLine { margin: 0 0 1 0; }
    HandoffPane TaskLine { display: none; }
    HandoffPane.-named TaskLine { display: block; }
    HandoffPane TextPane { display: none; }
    HandoffPane.-text TextPane { display: block; }
    HandoffPane.-text DeskList { display: none; }
    """

    app: Shell

    def __init__(self, now: Callable[[], datetime], *, css_id: str) -> None:
        super().__init__(id=css_id)
        self._now = now
        self._workspace: Workspace | None = None
        self.as_of: datetime | int | None = None
        """The moment that is shown; None: now."""
        self._row: Handoff | None = None
        self._read_of: dict[str, Any] = {}
        """By side what was read of the row."""
        self._marked = ""
        self._compared: Compared | None = None
        # Kept, not looked for: what still comes in while the program ends finds no widgets.
        self.task_line = TaskLine()
        self.tabs = TabLine(_tabs(0), css_id="handoff-tabs")
        self.lines = DeskList(css_id="handoff-lines")
        self.text = TextPane(id="handoff-text")

    def compose(self) -> ComposeResult:
        yield self.task_line
        yield self.tabs
        yield self.lines
        yield self.text

    def open(self, workspace: Workspace) -> None:
        """Read from this workspace from now on."""
        self._workspace = workspace

    # What the page asks and tells

    def name_task(self, named: bool) -> None:
        """Name the task here even beside the list, which cuts its name."""
        self.set_class(named, "-named")

    @property
    def side(self) -> str:
        """Which side is shown."""
        return self.tabs.active

    @property
    def row(self) -> Handoff | None:
        """The task that is shown."""
        return self._row

    @property
    def detail(self) -> CheckpointDetail | None:
        """Its checkpoint in full; None while it is read."""
        found: CheckpointDetail | None = self._read_of.get(CHECKPOINT)
        return found

    @property
    def ready(self) -> bool:
        """Whether what the side shows was read."""
        return self._row is None or self._row.unreadable != "" or self.side in self._read_of

    @property
    def comparing(self) -> bool:
        """Whether two checkpoints are being compared."""
        return self.side == HISTORY and self._compared is not None

    @property
    def pick(self) -> Pick | None:
        """What the line under the cursor stands for."""
        return None if self.side == NEXT or self._row is None else self.lines.pick

    def data(self, side: str) -> Any:
        """What was read for a side; None while it was not."""
        return self._read_of.get(side)

    def show(self, row: Handoff | None, *, read: bool = True) -> None:
        """Show this task; the one that is shown stays as it is. Without `read` only what the list knows."""
        same = row is not None and self._row is not None and row.key == self._row.key
        if row == self._row and (not read or self.ready):
            return
        if not same:
            self._read_of, self._marked, self._compared = {}, "", None
        elif row != self._row:
            self._forget_other_sides()
        changed = row != self._row
        self._row = row
        self.task_line.show(row)
        if changed or not self.ready:
            self._draw(keep_place=same)
        if read:
            self.read()

    def read(self) -> None:
        """Read the side that is shown, anew where it was read before."""
        row, side, workspace = self._row, self.side, self._workspace
        if row is None or row.unreadable or workspace is None:
            return
        as_of = self.as_of

        def work() -> None:
            self.post_message(SideRead(row, side, _read_side(workspace, row, side, as_of)))

        self._in_thread(work, "side", "Reading a hand-off")

    def renew(self) -> None:
        """Something came into the log: read what is shown again, and the other sides when they are shown."""
        self._forget_other_sides()
        self.read()

    def look_at(self, as_of: datetime | int | None) -> None:
        """Show another moment from now on; what was read at this one says nothing about it."""
        if as_of != self.as_of:
            self.as_of = as_of
            self._row, self._read_of, self._marked, self._compared = None, {}, "", None
            self.task_line.show(None)

    def _forget_other_sides(self) -> None:
        self._read_of = {side: data for side, data in self._read_of.items() if side == self.side}

    def show_side(self, name: str) -> None:
        """Show another side."""
        if name not in SIDES or name == self.side:
            return
        had_keys = self.lines.has_focus or self.text.has_focus
        self._compared = None
        self.tabs.show(name)
        self.set_class(name == NEXT, "-text")
        self._draw()
        if not self.ready:
            self.read()
        if had_keys:
            (self.text if name == NEXT else self.lines).focus()

    def turn(self, sides: int) -> None:
        """Show the side so many further on."""
        self.show_side(SIDES[(SIDES.index(self.side) + sides) % len(SIDES)])

    def mark(self) -> None:
        """Mark the checkpoint under the cursor to be compared, or no longer."""
        pick = self.pick
        if isinstance(pick, CheckpointPick):
            self._marked = "" if self._marked == pick.checkpoint_id else pick.checkpoint_id
            self._draw(keep_place=True)

    def compare(self) -> str:
        """Compare the checkpoint under the cursor with the marked one, else with the one before.

        Returns why that is not possible, "" where it is begun.
        """
        pick, found, workspace = self.pick, self._read_of.get(HISTORY), self._workspace
        if not isinstance(pick, CheckpointPick) or not found or workspace is None or self._row is None:
            return "there is no checkpoint here"
        by_id: dict[str, PastCheckpoint] = {each.id: each for each in found}
        one = by_id[pick.checkpoint_id]
        other = by_id.get(self._marked)
        if other is None or other.id == one.id:
            other = next((each for each in found if each.position < one.position), None)
        if other is None:
            return "this is the first checkpoint: there is none before it"
        older, newer = sorted((one, other), key=lambda each: each.position)
        row, as_of = self._row, self.as_of

        def work() -> None:
            change = workspace.readers.handoffs.compare(older.id, newer.id, as_of=as_of)
            self.post_message(SideRead(row, "compared", Compared(change, older, newer)))

        self._in_thread(work, "compare", "Comparing two checkpoints")
        return ""

    def leave_comparison(self) -> bool:
        """Go back to the list of checkpoints; whether two were being compared."""
        if not self.comparing:
            return False
        self._compared = None
        self._draw()
        return True

    def redraw(self) -> None:
        """Ages have passed."""
        if self.side != NEXT:
            self._draw(keep_place=True)

    # Messages

    def on_tab_line_chosen(self, message: TabLine.Chosen) -> None:
        """A side was clicked."""
        message.stop()
        self.show_side(message.name)

    def on_side_read(self, message: SideRead) -> None:
        """Show what was read, if it is still wanted."""
        row = self._row
        if row is None or message.row != row:
            return
        if message.side == "compared":
            self._compared = message.data
            self._draw()
            return
        again = message.side in self._read_of
        if again and self._read_of[message.side] == message.data:
            return
        self._read_of[message.side] = message.data
        if message.side == self.side and not self.comparing:
            self._draw(keep_place=again or message.side == CHECKPOINT)

    def on_resize(self, event: events.Resize) -> None:
        """The names of the sides are as long as there is room."""
        for number in range(len(TITLES)):
            tabs = _tabs(number)
            if sum(len(tab.title) + 3 for tab in tabs) + 1 <= event.size.width or number == len(TITLES) - 1:
                self.tabs.tabs = tabs
                self.tabs.refresh()
                return

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """What was asked for could not be read: say so, and go on."""
        if event.worker.error is not None and event.state.name == "ERROR":
            self.app.show_failure(event.worker.error)

    # Drawing

    def _draw(self, *, keep_place: bool = False) -> None:
        if not self.is_attached:
            return
        if self.side == NEXT:
            served: Served | None = self._read_of.get(NEXT)
            shown = () if served is None or self._row is None else next_blocks(served)
            self.text.set_blocks(shown, keep_place=keep_place)
            return
        self.lines.set_rows([] if self._row is None else self._rows(self._row), keep_place=keep_place)

    def _rows(self, row: Handoff) -> list[DeskRow]:
        now, found = self._now(), self._read_of.get(self.side)
        if self.side == CHECKPOINT or row.unreadable:
            return checkpoint_rows(row, found if self.side == CHECKPOINT else None, now, self.app.root)
        if found is None:
            return []
        if self.side == SINCE:
            return since_rows(row, found, now)
        if self.side == EVIDENCE:
            return evidence_rows(found, row.position, now)
        if self._compared is not None:
            return comparison_rows(self._compared.change, self._compared.older, self._compared.newer, now)
        return history_rows(found, self._marked, now, most=MOST_HISTORY)

    def _in_thread(self, work: Callable[[], None], group: str, description: str) -> None:
        self.run_worker(
            work,
            group=f"handoff-{group}",
            description=description,
            exclusive=True,
            exit_on_error=False,
            thread=True,
        )


def _tabs(number: int) -> tuple[Tab, ...]:
    return tuple(Tab(name, title) for name, title in zip(SIDES, TITLES[number], strict=True))


def _read_side(workspace: Workspace, row: Handoff, side: str, as_of: datetime | int | None) -> Any:
    reader = workspace.readers.handoffs
    if side == CHECKPOINT:
        return reader.checkpoint(row.position, as_of=as_of)
    if side == SINCE:
        return reader.since_review(row, as_of=as_of)
    if side == EVIDENCE:
        return [_with_size(workspace, each) for each in reader.files(row.position, as_of=as_of)]
    if side == HISTORY:
        return reader.history(row.position, as_of=as_of)
    return _served(workspace, row, as_of)


def _with_size(workspace: Workspace, file: TaskFile) -> TaskFile:
    """With the size of its copy: a record knows only that of the file, from which secrets were taken out."""
    item = file.evidence
    archived = item.status == "archived" and isinstance(item.sha256, str)
    return file._replace(kept=workspace.evidence.size(str(item.sha256))) if archived else file


def _served(workspace: Workspace, row: Handoff, as_of: datetime | int | None) -> Served:
    """What an agent that begins with the task would get."""
    command = startup_command(row, workspace.root)
    memory = workspace.memory
    try:
        bundle = memory.startup_bundle(
            domain=row.domain, project=row.project, task_id=row.task_id, as_of=as_of
        )
        page = memory.brief(project=row.project, as_of=as_of)
    except WorkbenchError as error:
        return Served(command, "", 0, "", failure_of(error, root=workspace.root))
    assert not isinstance(bundle, BriefBundle)
    encoded = msgspec.json.encode(bundle).decode()
    return Served(command, msgspec.json.format(encoded, indent=2), len(encoded), page.text)


def startup_command(row: Handoff, root: Path) -> str:
    """The command that begins a session with the task."""
    parts = ["workbench", "startup", "--root", str(root), "--project", row.project, "--task-id", row.task_id]
    if row.domain != "global":
        parts += ["--domain", row.domain]
    return shlex.join(parts)
