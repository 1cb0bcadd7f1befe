"""The lines of a side of a hand-off as rows: some stand for something, others only say something."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from textual.binding import Binding, BindingType
from textual.message import Message

from workbench.memory.events import Evidence
from workbench.tui.document import Block, Document
from workbench.tui.present import Line, Span, fit_line
from workbench.tui.widgets.page_source import Page
from workbench.tui.widgets.row_renderer import RowState
from workbench.tui.widgets.row_window import Batch
from workbench.tui.widgets.rows_widget import RowsWidget

_MIDDLE = " │ "
"""Between the two checkpoints of a comparison."""
BEYOND = 1 << 30
"""A line that no row has: the last one is meant."""
SIDE_BY_SIDE = 72
"""Cells of a pane from which two checkpoints stand side by side."""


class WholePick(NamedTuple):
    """The checkpoint as a whole."""

    position: int


class LinePick(NamedTuple):
    """A line of the checkpoint."""

    where: str
    """`completed`, `verification`, `open_questions` or `next_steps`."""
    line: int
    text: str
    position: int
    """Of the observation that carries the checkpoint, and names its files."""
    files: tuple[Evidence, ...]
    checkpoint: int
    """The position of the checkpoint."""


class ObservationPick(NamedTuple):
    """An observation."""

    observation_id: str
    position: int
    text: str
    files: tuple[Evidence, ...] = ()


class FactPick(NamedTuple):
    """A fact."""

    fact_id: str
    position: int
    text: str


class FilePick(NamedTuple):
    """A source file, and the position of the observation that named it."""

    evidence: Evidence
    position: int


class CheckpointPick(NamedTuple):
    """One of a task's checkpoints."""

    checkpoint_id: str
    position: int
    goal: str


Pick: TypeAlias = WholePick | LinePick | ObservationPick | FactPick | FilePick | CheckpointPick
"""What a row stands for."""


def event_of(pick: Pick) -> int:
    """The position that stands for a row on the Timeline; of a checkpoint's line, that of the checkpoint."""
    return pick.checkpoint if isinstance(pick, LinePick) else pick.position


@dataclass(frozen=True, slots=True)
class DeskRow:
    """Some lines of a side. Where there is room, the two columns of a `pair` are drawn, not `blocks`."""

    key: Hashable
    blocks: tuple[Block, ...] = ()
    pick: Pick | None = None
    pair: tuple[tuple[Block, ...], tuple[Block, ...]] | None = None


class DeskRows:
    """Draws the rows."""

    def lines(self, row: DeskRow, width: int, state: RowState) -> Sequence[Line]:
        """The blocks or the pair, laid out in the width."""
        if row.pair is None or width < SIDE_BY_SIDE:
            return _laid_out(row.blocks, width)
        left, right = row.pair
        half = (width - len(_MIDDLE)) // 2
        first, second = _laid_out(left, half), _laid_out(right, half)
        count = max(len(first), len(second))
        return [
            (
                *fit_line(first[at] if at < len(first) else (), half),
                Span(_MIDDLE, "faint"),
                *(second[at] if at < len(second) else ()),
            )
            for at in range(count)
        ]

    def header(self, width: int) -> Line | None:
        """There is none."""
        return None


@lru_cache(512)
def _laid_out(blocks: tuple[Block, ...], width: int) -> list[Line]:
    document = Document(blocks)
    lines: list[Line] = []
    place = document.first() if document else None
    while place is not None:
        lines += [each.line for each in document.lines(place, max(4, width))]
        place = document.next(place)
    return lines


class DeskList(RowsWidget[DeskRow], can_focus=True):
    """Rows of a side, all in memory; the cursor steps over those that stand for nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "app.perform('handoffs.follow')", "follow", show=False)
    ]

    class Moved(Message):
        """The cursor is on another row."""

    def __init__(self, *, css_id: str) -> None:
        super().__init__(DeskRows(), id=css_id)

    @property
    def pick(self) -> Pick | None:
        """What the row under the cursor stands for."""
        row = self.cursor_row
        return None if row is None else row.pick

    def set_rows(self, rows: Sequence[DeskRow], *, keep_place: bool = False) -> None:
        """Show other rows, from the top; with `keep_place` the cursor stays on the row of the same key.

        Where that leaves the same rows with other words, nothing moves; where it changes nothing, nothing
        is drawn.
        """
        view = self._view
        if keep_place and [row.key for row in rows] == self._window.keys:
            self._reword(rows)
            return
        at = self.cursor_key if keep_place else None
        line = view.line_of_cursor() or 0
        keys = [row.key for row in rows]
        if not keep_place:
            self._selection.clear()
        last = max(1, len(keys) - 1)
        self._window.replace(
            Batch(Page(rows, True, True), list(keys), [number / last for number in range(len(keys))], 1)
        )
        self._painter.forget()
        kept = self._window.find(at) if at is not None else None
        if kept is None:
            view.place(self._first_pick(), 0)
        else:
            view.place(kept, kept)
            view.scroll(-line)
        view.settle()
        self._changed()
        self.post_message(self.Moved())

    def _reword(self, rows: Sequence[DeskRow]) -> None:
        if list(rows) == self._window.rows:
            return
        self._window.rows = list(rows)
        self._painter.forget()
        self._view.settle()
        self._changed()
        self.post_message(self.Moved())

    # The actions that every pane has

    def action_scroll_down(self) -> None:
        """To the next row that stands for something; else on through the text."""
        self._step(1)

    def action_scroll_up(self) -> None:
        """To the row before that stands for something; else back through the text."""
        self._step(-1)

    def action_page_down(self) -> None:
        """One screen down."""
        self._scroll_with_cursor(max(1, self._view.lines - 1))

    def action_page_up(self) -> None:
        """One screen up."""
        self._scroll_with_cursor(-max(1, self._view.lines - 1))

    def action_scroll_home(self) -> None:
        """To the top."""
        self._view.place(self._first_pick(), 0)
        self._tell_moved()

    def action_scroll_end(self) -> None:
        """To the end."""
        last = len(self._window) - 1
        self._view.place(self._near_pick(last, -1), last, BEYOND)
        self._view.settle()
        self._tell_moved()

    def _step(self, direction: Literal[1, -1]) -> None:
        view = self._view
        hidden = view.hidden_below() if direction > 0 else view.hidden_above()
        found = self._pick_beyond(view.cursor, direction)
        if hidden or found is None:
            # What stands for nothing is read by scrolling.
            view.scroll(direction * (min(hidden, max(1, view.lines // 3)) if hidden else 1))
        else:
            view.cursor = found
            view.reveal()
            if found == self._first_pick():
                view.top = view.offset = 0
                view.reveal()
        self._tell_moved()

    def _pick_beyond(self, at: int, direction: Literal[1, -1]) -> int | None:
        rows = self._window.rows
        at += direction
        while 0 <= at < len(rows):
            if rows[at].pick is not None:
                return at
            at += direction
        return None

    def _near_pick(self, at: int, direction: Literal[1, -1]) -> int:
        """The nearest row that stands for something, first in a direction; the same row without any."""
        for step in (direction, -direction):
            found = self._pick_beyond(at - step, 1 if step > 0 else -1)
            if found is not None:
                return found
        return max(0, at)

    def _first_pick(self) -> int:
        return self._near_pick(0, 1)

    def _scroll_with_cursor(self, lines: int) -> None:
        view = self._view
        y = view.line_of_cursor() or 0
        if view.scroll(lines):
            shown = view.shown()
            at = shown[min(y, len(shown) - 1)][0]
        else:
            at = len(self._window) - 1 if lines > 0 else 0
        seen = {row for row, _ in view.shown()}
        near = self._near_pick(at, 1 if lines > 0 else -1)
        view.cursor = near if near in seen else at
        self._tell_moved()

    def _tell_moved(self) -> None:
        self._changed()
        self.post_message(self.Moved())

    # The mouse, the size

    def move_screen(self, lines: int) -> None:
        """Move the screen over the rows; the cursor stays on it."""
        self._view.scroll(lines)
        self._view.pull_cursor()
        self._changed()

    def go_to_fraction(self, fraction: float) -> None:
        """To a part of the whole: the thumb was dragged there."""
        at = round(fraction * (len(self._window) - 1))
        self._view.place(max(0, at), max(0, at))
        self._view.settle()
        self._tell_moved()

    def point_at(self, at: int, *, enter: bool) -> None:
        """Put the cursor on a row that stands for something, and follow it where `enter` says so."""
        if self._window.rows[at].pick is None:
            return
        self._view.cursor = at
        self._tell_moved()
        if enter:
            self.call_next(self.run_action, "app.perform('handoffs.follow')")

    def on_resize(self) -> None:
        """Lay the rows out anew."""
        view = self._view
        view.lines = max(0, self.size.height)
        view.settle()
        if view.line_of_cursor() is None:
            view.reveal()
        self._changed()

    def watch_virtual_size(self) -> None:
        """Take a new size even where Textual sends no Resize (see `VirtualList`)."""
        self.call_later(self.on_resize)

    def on_focus(self) -> None:
        """The row under the cursor looks another way."""
        self._changed()

    def on_blur(self) -> None:
        """The row under the cursor looks another way."""
        self._changed()
