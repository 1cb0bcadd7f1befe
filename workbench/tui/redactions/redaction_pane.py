"""The detail of the Redactions screen: what stands around a redaction, kinds over time, backups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message

from workbench.tui.document import Block
from workbench.tui.present import ago
from workbench.tui.redactions.detail import (
    CONTEXTS,
    CopyFile,
    backups_blocks,
    kinds_blocks,
    redaction_blocks,
)
from workbench.tui.redactions.over_time import OverTime
from workbench.tui.widgets.tab_line import Tab, TabLine
from workbench.tui.widgets.text_pane import TextPane
from workbench.workspace.readers.redaction_queries import Context
from workbench.workspace.rows import RedactionRow

if TYPE_CHECKING:
    from textual.worker import Worker

    from workbench.tui.shell import Shell
    from workbench.workspace import Workspace
    from workbench.workspace.redactions.backups import BackupState

AGE_SECONDS = 1.0
AROUND, KINDS, BACKUPS = "around", "kinds", "backups"
SIDES = (Tab(AROUND, "Around"), Tab(KINDS, "Kinds"), Tab(BACKUPS, "Backups"))


class LookedInto(NamedTuple):
    """What is known of the backups, and since when."""

    states: Sequence[BackupState]
    at: datetime


class AroundRead(Message, bubble=False):
    """A worker has read the text around a redaction."""

    def __init__(self, row: RedactionRow, contexts: list[Context]) -> None:
        super().__init__()
        self.row = row
        self.contexts = contexts


class CopiesListed(Message, bubble=False):
    """A worker has listed the copies of the database."""

    def __init__(self, files: list[CopyFile]) -> None:
        super().__init__()
        self.files = files


class GuidedPane(TextPane):
    """A text whose enter goes where it is about."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "app.perform('redactions.open')", "open", show=False)
    ]


class RedactionPane(Vertical):
    """Three sides; shows a row at once, and what stands around it when it is read."""

    DEFAULT_CSS = """
    RedactionPane { height: 1fr; width: 1fr; }
    RedactionPane TabLine { margin: 0 0 1 0; }
    """

    app: Shell

    def __init__(self, now: Callable[[], datetime], *, css_id: str) -> None:
        super().__init__(id=css_id)
        self._now = now
        self._workspace: Workspace | None = None
        self._zone: tzinfo = UTC
        self._utc = False
        self._row: RedactionRow | None = None
        self._contexts: list[Context] | None = None
        self._over: OverTime | None = None
        self._narrowed = ""
        self._files: list[CopyFile] | None = None
        self._looked: LookedInto | None = None
        self._looking = ""
        self._said = ""
        self._guidance: Sequence[Block] = ()
        # Kept, not looked for: what still comes in while the program ends finds no widgets.
        self.tabs = TabLine(SIDES, css_id="redaction-tabs")
        self.pane = GuidedPane(id="redaction-text")

    def on_mount(self) -> None:
        """What was looked into gets older while it is shown."""
        self.set_interval(AGE_SECONDS, self._age)

    def _age(self) -> None:
        if self.side == BACKUPS and self._looked is not None and self._aged() != self._said:
            self._draw(keep_place=True)

    def _aged(self) -> str:
        return "" if self._looked is None else ago(self._looked.at, self.app.clock())

    def compose(self) -> ComposeResult:
        yield self.tabs
        yield self.pane

    def open(self, workspace: Workspace, zone: tzinfo) -> None:
        """Read from this workspace from now on; times are shown in `zone`."""
        self._workspace, self._zone = workspace, zone

    @property
    def side(self) -> str:
        """`around`, `kinds` or `backups`."""
        return self.tabs.active

    @property
    def row(self) -> RedactionRow | None:
        """The redaction that is shown, or would be on its side."""
        return self._row

    @property
    def contexts(self) -> list[Context] | None:
        """The text around its markers; None while it is read."""
        return self._contexts

    # What the page tells

    def show(self, row: RedactionRow | None, guidance: Sequence[Block] = ()) -> None:
        """Show this redaction, or `guidance` where there is none; the one that is shown stays as it is."""
        self._guidance = guidance
        if row is not None and self._row is not None and row == self._row:
            return
        self._row, self._contexts = row, None
        if row is not None and self.side == AROUND:
            self._read(row)
        if self.side == AROUND:
            self._draw()

    def renew(self) -> None:
        """What is stored may have changed: read again what is shown, but move nothing."""
        if self.side == AROUND and self._row is not None:
            self._read(self._row)
        elif self.side == BACKUPS:
            self._list_copies()

    def show_over_time(self, over: OverTime | None, narrowed: str) -> None:
        """Show these counts on their side."""
        self._over, self._narrowed = over, narrowed
        if self.side == KINDS:
            self._draw(keep_place=True)

    def show_backups(self, looked: LookedInto | None, looking: str = "") -> None:
        """Show what is known of the backups; `looking` says how far a look into them is."""
        self._looked, self._looking = looked, looking
        if self.side == BACKUPS:
            self._draw(keep_place=True)

    def show_side(self, name: str) -> None:
        """Show another side."""
        if name not in [tab.name for tab in SIDES]:
            return
        self.tabs.show(name)
        if name == AROUND and self._row is not None and self._contexts is None:
            self._read(self._row)
        elif name == BACKUPS:
            self._list_copies()
        self._draw()

    def turn(self, sides: int) -> None:
        """Show the side so many further on."""
        names = [tab.name for tab in SIDES]
        self.show_side(names[(names.index(self.side) + sides) % len(names)])

    def toggle_utc(self) -> None:
        """Show times in UTC, or in the workspace's zone again."""
        self._utc = not self._utc
        self._draw(keep_place=True)

    def redraw(self) -> None:
        """Ages have passed; who is selecting text keeps it."""
        blocks = self._blocks() if self.is_attached and self.pane.text_selection is None else None
        if blocks is not None and tuple(blocks) != self.pane.blocks:
            self.pane.set_blocks(blocks, keep_place=True)

    def on_tab_line_chosen(self, message: TabLine.Chosen) -> None:
        """A side was clicked."""
        message.stop()
        self.show_side(message.name)

    def on_resize(self, event: events.Resize) -> None:
        """Bars and what stands on one line are as wide as the pane."""
        if self.side != BACKUPS:
            self.call_after_refresh(self._draw, keep_place=True)

    # Reading

    def _read(self, row: RedactionRow) -> None:
        workspace = self._workspace
        if workspace is None:
            return

        def work() -> None:
            reader = workspace.readers.redactions
            self.post_message(AroundRead(row, reader.context(row, CONTEXTS)))

        self._in_thread(work, "around", "Reading the text around a redaction")

    def on_around_read(self, message: AroundRead) -> None:
        """Show what was read, if it is still wanted."""
        if message.row == self._row and message.contexts != self._contexts:
            self._contexts = message.contexts
            if self.side == AROUND:
                self._draw(keep_place=True)

    def _list_copies(self) -> None:
        workspace = self._workspace
        if workspace is None:
            return

        def work() -> None:
            self.post_message(CopiesListed(list_copies(workspace)))

        self._in_thread(work, "copies", "Listing the backups")

    def on_copies_listed(self, message: CopiesListed) -> None:
        """Show the copies."""
        if message.files != self._files:
            self._files = message.files
            if self.side == BACKUPS:
                self._draw(keep_place=True)

    def _in_thread(self, work: Callable[[], None], group: str, description: str) -> None:
        self.run_worker(
            work,
            group=f"redactions-{group}",
            description=description,
            exclusive=True,
            exit_on_error=False,
            thread=True,
        )

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """What was asked for could not be read: say so, and go on."""
        if event.worker.error is not None and event.state.name == "ERROR":
            self.app.show_failure(event.worker.error)

    # Drawing

    def _draw(self, *, keep_place: bool = False) -> None:
        if self.is_attached:
            self.pane.set_blocks(self._blocks(), keep_place=keep_place)

    def _blocks(self) -> Sequence[Block]:
        if self.side == KINDS:
            return kinds_blocks(self._over, self._narrowed, max(20, self.pane.size.width - 3))
        if self.side == BACKUPS:
            looked, self._said = self._looked, self._aged()
            root = self._workspace.root if self._workspace is not None else Path()
            return backups_blocks(
                self._files,
                None if looked is None else looked.states,
                self._said,
                root=root,
                key=self.app.keymap.shown("redactions.backups"),
                looking=self._looking,
            )
        if self._row is None:
            return self._guidance
        return redaction_blocks(
            self._row,
            self._contexts,
            now=self._now(),
            zone=UTC if self._utc else self._zone,
            width=self.pane.size.width - 2,
        )


def list_copies(workspace: Workspace) -> list[CopyFile]:
    """The copies of the database that lie in the workspace, with their sizes; reads the disk."""
    from workbench.workspace.redactions.backups import backups

    files: list[CopyFile] = []
    for path in backups(workspace.layout):
        try:
            files.append(CopyFile(path, path.stat().st_size))
        except OSError:
            # It went meanwhile.
            continue
    return files
