"""The detail of the Facts screen: the head of a fact, and its chain with what stands near it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical

from workbench.tui.document import Block
from workbench.tui.facts.chain_rows import ChainRows
from workbench.tui.facts.fact_head import FactHead
from workbench.tui.facts.messages import DetailRead
from workbench.tui.facts.stops import Stop, StopSource, stops_of
from workbench.tui.widgets.text_pane import TextPane
from workbench.tui.widgets.virtual_list import VirtualList
from workbench.workspace.fact_rows import FactDetail, FactRow

if TYPE_CHECKING:
    from textual.worker import Worker

    from workbench.tui.shell import Shell
    from workbench.workspace import Workspace


def moment(text: str) -> datetime:
    """A stored time."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        # Nothing of ours writes one that cannot be read; it is drawn as the beginning of time.
        return datetime.min.replace(tzinfo=UTC)


class FactPane(Vertical):
    """Shows the head of a row at once, and its chain when that is read."""

    DEFAULT_CSS = """
    FactPane { height: 1fr; width: 1fr; }
    FactPane #fact-chain {
        & > .rows--cursor-blurred { background: $ground; }
        & > .rows--bar-blurred { color: $line; }
    }
    FactPane #fact-guide { display: none; }
    FactPane.-nothing FactHead, FactPane.-nothing #fact-chain { display: none; }
    FactPane.-nothing #fact-guide { display: block; }
    """

    app: Shell

    def __init__(self, now: Callable[[], datetime], *, css_id: str) -> None:
        super().__init__(id=css_id)
        self._now = now
        self._workspace: Workspace | None = None
        self._row: FactRow | None = None
        self._as_of: int | None = None
        self._detail: FactDetail | None = None
        self._stops: StopSource | None = None
        self._detail_of = 0
        """The position that the detail was asked for."""
        self._rows = ChainRows(now, moment)
        # Kept, not looked for: what still comes in while the program ends finds no widgets.
        self.head = FactHead(css_id="fact-head")
        self.chain: VirtualList[Stop] = VirtualList(self._rows, id="fact-chain")
        """The links, and other facts behind them."""
        self.guide = TextPane(id="fact-guide")

    def compose(self) -> ComposeResult:
        yield self.head
        yield self.chain
        yield self.guide

    def open(self, workspace: Workspace, zone: tzinfo) -> None:
        """Read from this workspace from now on; exact times are shown in `zone`."""
        self._workspace = workspace
        self._rows = replace(self._rows, zone=zone, copy_key=self.app.keymap.shown("page.copy"))
        self.chain.renderer = self._rows

    @property
    def row(self) -> FactRow | None:
        """The fact that is shown, or is about to be."""
        return self._row

    @property
    def detail(self) -> FactDetail | None:
        """All that was read about the row, which may have been replaced since; None while it is read."""
        return self._detail if self._row is not None and self._row.position == self._detail_of else None

    @property
    def stop(self) -> Stop | None:
        """What the cursor of the chain stands on; None while the chain is read."""
        return None if self.detail is None else self.chain.cursor_row

    @property
    def whole(self) -> bool:
        """Whether long texts are shown whole."""
        return self._rows.whole

    # What the page tells

    def show(self, row: FactRow | None, as_of: int | None, guidance: Sequence[Block] = ()) -> None:
        """Show this fact as it was known at a position, or `guidance` where there is none."""
        self.set_class(row is None and bool(guidance), "-nothing")
        if row is None:
            self._row = self._detail = self._stops = None
            self.guide.set_blocks(guidance)
            self.head.show(None, self._now())
            self.chain.set_source(None)
            return
        if row == self._row and as_of == self._as_of:
            return
        self._row, self._as_of = row, as_of
        self.head.show(row, self._now())
        self.renew()

    def renew(self) -> None:
        """What is stored may have changed: read again what is shown, but move nothing."""
        workspace, row, as_of = self._workspace, self._row, self._as_of
        if workspace is None or row is None:
            return
        position = row.position

        def work() -> None:
            found = workspace.readers.facts.detail(position, as_of=as_of)
            self.post_message(DetailRead(position, as_of, found))

        self.run_worker(
            work,
            group="fact-detail",
            description="Reading a fact",
            exclusive=True,
            exit_on_error=False,
            thread=True,
        )

    def on_detail_read(self, message: DetailRead) -> None:
        """Show what was read, if it is still wanted."""
        row = self._row
        if row is None or message.position != row.position or message.as_of != self._as_of:
            return
        before = self.detail
        self._detail, self._detail_of = message.detail, message.position
        if message.detail is None:
            self._stops = None
            self.chain.set_source(None)
            return
        if message.detail == before:
            return
        self.head.show(message.detail.row, self._now())
        stops = stops_of(message.detail)
        if before is not None and self._stops is not None:
            # The same chain, grown or judged meanwhile: nothing moves.
            self._stops.renew(stops)
            self.chain.refresh_live()
            return
        self._stops = StopSource(stops)
        self.chain.set_source(self._stops)

    def toggle_whole(self) -> None:
        """Show long texts whole, or cut again."""
        self._rows = replace(self._rows, whole=not self._rows.whole)
        self.chain.renderer = self._rows

    def redraw(self) -> None:
        """Ages have passed."""
        if self._row is not None:
            shown = self._row if self.detail is None else self.detail.row
            self.head.show(shown, self._now())
            self.chain.redraw_rows()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """What was asked for could not be read: say so, and go on."""
        if event.worker.error is not None and event.state.name == "ERROR":
            self.app.show_failure(event.worker.error)
