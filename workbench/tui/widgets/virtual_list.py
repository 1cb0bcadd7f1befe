"""A list of any length: it holds a bounded run of rows around the screen and asks for more as it moves.

Rows come in pages from a `PageSource`, in worker threads that post one message each; nothing but message
handlers changes the list. Where the person is, is an anchor: a row by identity and a line in it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Literal

from textual import on
from textual.geometry import Offset

from workbench.tui.hints import tui_hint
from workbench.tui.present import ELLIPSIS, Line, Span, wrap
from workbench.tui.widgets.list_messages import (
    Failed,
    Highlighted,
    ListStatus,
    NewRows,
    Opened,
    StatusChanged,
)
from workbench.tui.widgets.page_source import Page, PageSource, Row, SeekableSource
from workbench.tui.widgets.row_reader import Answer, ReadFailed, RowReader, RowsCounted, RowsRead
from workbench.tui.widgets.row_renderer import RowRenderer
from workbench.tui.widgets.row_window import PAGE_ROWS, WINDOW_ROWS, Batch
from workbench.tui.widgets.rows_widget import RowsWidget

_AHEAD = PAGE_ROWS // 2
"""Rows that are kept ready on either side of the screen."""
_AHEAD_SECONDS = 0.2
"""So long after a list was opened, rows that are not on the screen are read."""


class VirtualList(RowsWidget[Row], can_focus=True):
    """Rows of any number and height, with a cursor, a selection and a thumb.

    `renderer` draws rows; `newest` says at which end new rows arrive, so that `refresh_live` can tell
    how many came. The list opens at its start unless `set_source` says otherwise.
    """

    Failed = Failed
    Highlighted = Highlighted
    NewRows = NewRows
    Opened = Opened
    StatusChanged = StatusChanged

    def __init__(
        self,
        renderer: RowRenderer[Row],
        source: PageSource[Row] | None = None,
        *,
        newest: Literal["first", "last"] = "first",
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - as in Textual
        classes: str | None = None,
    ) -> None:
        super().__init__(renderer, name=name, id=id, classes=classes)
        self.newest = newest
        self.follow = False
        """With the cursor on the newest row, go along with what arrives."""
        self.empty_lines: Sequence[Line] = ()
        """What an empty list says instead of rows."""
        self._reader: RowReader[Row] = RowReader(self)
        self._reader.source = source
        self._opening: tuple[Row | Hashable | None, bool] = (None, False)
        self._cursor_to: Literal["first", "last", "focus"] = "first"
        self._live_again = False
        self._owed = 0
        self._total: int | None = None
        self._at_least = 0
        self._error: Exception | None = None
        self._highlighted: tuple[Hashable, Row] | None = None
        self._tell_anyway = False
        """Whether the next row under the cursor is told even where it is the one that was told last."""
        self._newest_seen: Row | None = None
        self._new = (0, False)

    # What a screen asks and tells

    @property
    def source(self) -> PageSource[Row] | None:
        """Where the rows come from."""
        return self._reader.source

    def set_source(
        self, source: PageSource[Row] | None, at: Row | Hashable | None = None, *, at_end: bool = False
    ) -> None:
        """Show other rows: from the start, from the end, or with the cursor `at` a row or key.

        The selection is dropped; what an earlier source still answers is ignored. `Highlighted` follows,
        for the same row too: what is known of it may be another.
        """
        self._reader.take_source(source)
        self._selection.clear()
        self._newest_seen = None
        self._total, self._at_least = None, 0
        self._tell_new(0, False)
        self._tell_anyway = True
        self._open(at, at_end=at_end)
        self._reader.count()

    def reload(self) -> None:
        """Read everything again, the cursor by identity where it was."""
        self._open(self.cursor_row)
        self._reader.count()

    def refresh_live(self) -> None:
        """Rows may have come, changed or gone: read the part on the screen again, moving nothing."""
        reader, source = self._reader, self._reader.source
        if source is None or reader.is_reading("open"):
            return
        reader.count()
        if reader.is_reading("live"):
            self._live_again = True
            return
        if not len(self._window):
            self._open(None, at_end=self.newest == "last")
            return
        anchor = self._window.rows[self._view.top]
        seen, first = self._newest_seen, self.newest == "first"
        limit = max(PAGE_ROWS, 4 * self._view.lines)

        def ask() -> Answer[Row]:
            page = source.around(anchor, limit)
            if seen is None:
                return Answer(page)
            return Answer(page, source.before(seen, PAGE_ROWS) if first else source.after(seen, PAGE_ROWS))

        reader.read("live", self._window.keys[self._view.top], ask)

    # Moving and opening: each is also an action

    def action_cursor_down(self) -> None:
        """To the next row; a row taller than the screen is scrolled through first."""
        self._step(1)

    def action_cursor_up(self) -> None:
        """To the previous row; a row taller than the screen is scrolled through first."""
        self._step(-1)

    def action_page_down(self) -> None:
        """One screen down, the cursor staying where it is on the screen."""
        self._page(1)

    def action_page_up(self) -> None:
        """One screen up, the cursor staying where it is on the screen."""
        self._page(-1)

    def action_first(self) -> None:
        """To the first row of the whole list."""
        self._jump(last=False)

    def action_last(self) -> None:
        """To the last row of the whole list."""
        self._jump(last=True)

    def action_open(self) -> None:
        """Post `Opened` for the row under the cursor."""
        if len(self._window):
            self.post_message(Opened(self, self.cursor_row, self._window.keys[self._view.cursor]))

    def go_to(self, place: Row | Hashable) -> None:
        """To the row with this key (or this row), wherever it is; the nearest one if it is gone."""
        at = self._held(place)
        if at is None:
            self._open(place)
            return
        self._owed = 0
        self._view.place(at)
        if all(shown != at for shown, _ in self._view.shown()):
            self._aim(at)
        self._view.reveal()
        self._changed()

    def go_to_newest(self) -> None:
        """To the end where new rows arrive."""
        self._jump(last=self.newest == "last")

    def seek(self, fraction: float) -> None:
        """To a part of the whole list, 0 to 1; ignored where the source cannot find one."""
        source = self.source
        if isinstance(source, SeekableSource):
            seekable: SeekableSource[Row] = source
            self._start_over("focus", lambda: seekable.seek(max(0.0, min(1.0, fraction)), PAGE_ROWS))

    # Reading rows

    def on_mount(self) -> None:
        if self.source is not None and not self._reader.is_reading("open"):
            place, at_end = self._opening
            self._open(place, at_end=at_end)
            self._reader.count()

    def _open(self, place: Row | Hashable | None, *, at_end: bool = False) -> None:
        source = self.source
        if source is None:
            self._reader.start_over()
            self._forget_rows(nothing_there=True)
        elif not self.is_attached:
            self._opening = (place, at_end)
        elif place is not None:
            self._start_over("focus", lambda: source.around(place, PAGE_ROWS))
        elif at_end:
            self._start_over("last", lambda: source.last(PAGE_ROWS))
        else:
            self._start_over("first", lambda: source.first(PAGE_ROWS))

    def _start_over(self, cursor_to: Literal["first", "last", "focus"], ask: Callable[[], Page[Row]]) -> None:
        """Forget the rows and read others; the screen shows `…` until they are there."""
        source, first = self.source, self.newest == "first"
        if source is None:
            return
        mark_wanted = self._newest_seen is None

        def ask_with_mark() -> Answer[Row]:
            page = ask()
            if not mark_wanted:
                return Answer(page, None)
            # What arrives from now on is counted from the newest row that is there already.
            if page.at_start if first else page.at_end:
                rows = page.rows[:1] if first else page.rows[-1:]
                return Answer(page, Page(rows, page.at_start, page.at_end))
            return Answer(page, source.first(1) if first else source.last(1))

        self._reader.start_over()
        self._cursor_to = cursor_to
        self._reader.read("open", None, ask_with_mark)
        self._forget_rows(nothing_there=False)

    def _forget_rows(self, *, nothing_there: bool) -> None:
        if self._selection.ranging and len(self._window):
            self._selection.end_range(self._view.cursor)
        self._live_again = False
        self._owed = 0
        self._error = None
        self._window.replace(Batch(Page((), nothing_there, nothing_there), [], [], None))
        self._view.place(0, 0)
        self._painter.forget()
        self._changed()

    @on(RowsRead)
    def _rows_read(self, message: RowsRead) -> None:
        message.stop()
        ticket, batch, window = message.ticket, message.batch, self._window
        if ticket.generation != self._reader.generation or not self._reader.accept(ticket):
            return
        self._error = None
        if ticket.purpose == "open":
            if message.newer is not None and message.newer.rows:
                self._newest_seen = message.newer.rows[0]
            self._take_opened(batch)
        elif ticket.purpose == "live":
            self._take_live(ticket.anchor, batch, message.newer)
        ahead = ticket.purpose in ("after", "before")
        seen = self._rows_shown() if ahead else None
        if ticket.purpose == "after" and len(window) and window.keys[-1] == ticket.anchor:
            window.append(batch)
            self._prune(front=True)
        elif ticket.purpose == "before" and len(window) and window.keys[0] == ticket.anchor:
            self._view.shift(window.prepend(batch))
            self._prune(front=False)
        owed, self._owed = self._owed, 0
        if owed and len(window):
            self._move(owed)
        self._shown = None
        if ahead and not owed and seen == self._rows_shown():
            # Rows were read ahead of need: nothing that is on the screen changed.
            view = self._view
            self._changed(moved_from=(view.top, view.offset, view.cursor))
        elif ticket.purpose == "open" and not owed and len(self._lines()) >= self._view.lines:
            # The screen is full: what lies beyond it must not take the time in which it is painted.
            self._changed(read_ahead=False)
            self.set_timer(_AHEAD_SECONDS, self._read_ahead)
        else:
            self._changed()

    def _rows_shown(self) -> list[tuple[Hashable, int]]:
        """What stands on the screen: for each line its row's key and which line of the row it is."""
        keys = self._window.keys
        return [(keys[at], line) for at, line in self._lines()]

    def _take_opened(self, batch: Batch[Row]) -> None:
        self._window.replace(batch)
        last = len(self._window) - 1
        at = {"first": 0, "last": last, "focus": batch.page.focus or 0}[self._cursor_to]
        self._view.place(at, at)
        if self._cursor_to == "focus":
            self._aim(at)
        self._view.settle()
        self._view.reveal()

    def _take_live(self, anchor: Hashable, batch: Batch[Row], newer: Page[Row] | None) -> None:
        window, view = self._window, self._view
        again, self._live_again = self._live_again, False
        if not len(window):
            return
        top_key = window.keys[view.top]
        new_index = {key: at for at, key in enumerate(batch.keys)}
        if top_key not in new_index and top_key != anchor:
            # The person has moved on since: what came is about another part of the list.
            again = True
        else:
            at_newest = self._is_newest(view.cursor)
            self._take_renewed(batch, new_index)
            if newer is not None:
                at_new_end = newer.at_start if self.newest == "first" else newer.at_end
                self._tell_new(len(newer.rows), not at_new_end)
                if self.follow and at_newest and newer.rows:
                    self.go_to_newest()
        if again:
            self.call_next(self.refresh_live)

    def _take_renewed(self, batch: Batch[Row], new_index: dict[Hashable, int]) -> None:
        """Hold the rows as they are now; where one is gone its neighbour takes its part."""
        window, view = self._window, self._view
        top = window.survivor(view.top, new_index)
        cursor = window.survivor(view.cursor, new_index)
        if window.keys[view.top] not in new_index:
            view.offset = 0
        held = dict(zip(window.keys, window.rows, strict=True))
        if self._selection.ranging and (
            cursor is None or not self._selection.range_keys(view.cursor) <= new_index.keys()
        ):
            self._selection.end_range(view.cursor)
        window.replace(batch)
        if any(held.get(key, row) != row for key, row in zip(batch.keys, batch.page.rows, strict=True)):
            self._painter.forget()
        self._selection.refreshed()
        focus = batch.page.focus or 0
        view.place(focus if cursor is None else cursor, focus if top is None else top, view.offset)
        view.settle()
        view.pull_cursor()

    def _prune(self, *, front: bool) -> None:
        """Forget rows far from the screen, on the side that it moves away from."""
        window, view = self._window, self._view
        excess = len(window) - WINDOW_ROWS
        if excess <= 0:
            return
        if front:
            self._selection.before_drop(view.cursor, excess, 0)
            window.drop_front(excess)
            view.shift(-excess)
        else:
            self._selection.before_drop(view.cursor, 0, excess)
            window.drop_back(excess)

    @on(ReadFailed)
    def _read_failed(self, message: ReadFailed) -> None:
        message.stop()
        ticket = message.ticket
        if ticket is None:
            if message.epoch != self._reader.epoch:
                return
            self._reader.count_ended()
        else:
            if ticket.generation != self._reader.generation or not self._reader.accept(ticket):
                return
            self._error = message.error
            self._owed = 0
        self.post_message(Failed(self, message.error))
        # Asking again at once would fail again at once: the next move asks.
        self._changed(read_ahead=False)

    @on(RowsCounted)
    def _rows_counted(self, message: RowsCounted) -> None:
        message.stop()
        if message.epoch != self._reader.epoch:
            return
        self._at_least = max(self._at_least, message.at_least)
        if message.total is not None:
            self._total = self._at_least = message.total
            self._reader.count_ended()
        self._changed(read_ahead=False)

    def _read_ahead(self) -> None:
        reader, source, window = self._reader, self.source, self._window
        if source is None or not len(window) or reader.is_reading("open"):
            return
        lines = self._lines()
        bottom = lines[-1][0] if lines else self._view.top
        if not window.at_end and not reader.is_reading("after") and len(window) - 1 - bottom < _AHEAD:
            last = window.rows[-1]
            reader.read("after", window.keys[-1], lambda: Answer(source.after(last, PAGE_ROWS)))
        if not window.at_start and not reader.is_reading("before") and self._view.top < _AHEAD:
            first = window.rows[0]
            reader.read("before", window.keys[0], lambda: Answer(source.before(first, PAGE_ROWS)))

    # Moving

    def _step(self, direction: Literal[1, -1]) -> None:
        view = self._view
        if not len(self._window):
            return
        self._owed = 0
        before = (view.top, view.offset, view.cursor)
        hidden = view.hidden_below() if direction > 0 else view.hidden_above()
        if hidden and len(self._row_strips(view.cursor)) > view.lines:
            view.scroll(direction * min(hidden, max(1, view.lines // 3)))
            self._changed()
            return
        self._move(direction)
        if direction < 0 and view.cursor != before[2]:
            tall = len(self._row_strips(view.cursor)) - view.lines
            if tall > 0:
                view.top, view.offset = view.cursor, tall
        self._changed(moved_from=before)

    def _move(self, rows: int) -> None:
        """Move the cursor; what the loaded rows do not allow yet is owed until the next page comes."""
        view = self._view
        target = view.cursor + rows
        reached = max(0, min(target, len(self._window) - 1))
        if (target > reached and not self._window.at_end) or (target < reached and not self._window.at_start):
            self._owed = target - reached
        view.cursor = reached
        view.reveal()

    def _page(self, direction: Literal[1, -1]) -> None:
        view = self._view
        if not len(self._window):
            return
        self._owed = 0
        y = view.line_of_cursor() or 0
        if view.scroll(direction * max(1, view.lines - 1)):
            shown = view.shown()
            view.cursor = shown[min(y, len(shown) - 1)][0]
        else:
            view.place(len(self._window) - 1 if direction > 0 else 0)
        self._changed()

    def _jump(self, *, last: bool) -> None:
        window = self._window
        if not len(window) or not (window.at_end if last else window.at_start):
            self._open(None, at_end=last)
            return
        self._owed = 0
        self._view.place(len(window) - 1 if last else 0)
        self._view.reveal()
        self._changed()

    def _aim(self, at: int) -> None:
        """Put a row a third down the screen, so that what surrounds it shows."""
        self._view.place(at, at)
        self._view.scroll(-(self._view.lines // 3))
        self._view.settle()
        # Who is put somewhere else would take the second half of a row for a row.
        self._view.begin_whole()

    def _held(self, place: Row | Hashable) -> int | None:
        source = self.source
        at: int | None = None
        if isinstance(place, Hashable):
            at = self._window.find(place)
        if at is None and source is not None:
            try:
                at = self._window.find(source.key(place))  # type: ignore[arg-type]
            except Exception:  # It was a key, and no row that a key could be taken from.
                return None
        return at

    # Telling what changed

    def _changed(self, *, read_ahead: bool = True, moved_from: tuple[int, int, int] | None = None) -> None:
        """Repaint, ask for rows that will be needed, and post what others want to know."""
        super()._changed(moved_from=moved_from)
        self._tell_highlight()
        self._see_newest()
        self._tell_status()
        self._put_terminal_cursor()
        if read_ahead:
            self._read_ahead()

    def _tell_highlight(self) -> None:
        if self._reader.is_reading("open"):
            return
        row, key = self.cursor_row, self.cursor_key
        now = None if row is None else (key, row)
        if now != self._highlighted or self._tell_anyway:
            self._highlighted, self._tell_anyway = now, False
            self.post_message(Highlighted(self, row, key))

    def _is_newest(self, at: int) -> bool:
        if self.newest == "first":
            return self._window.at_start and at == 0
        return self._window.at_end and at == len(self._window) - 1

    def _see_newest(self) -> None:
        lines = self._lines()
        if not lines:
            return
        at = lines[0][0] if self.newest == "first" else lines[-1][0]
        if self._is_newest(at):
            self._newest_seen = self._window.rows[at]
            self._tell_new(0, False)

    def _tell_new(self, count: int, more: bool) -> None:
        if (count, more) != self._new:
            self._new = (count, more)
            self.post_message(NewRows(self, count, more))

    def _tell_status(self) -> None:
        window, lines = self._window, self._lines()
        known = window.position(len(window) - 1) if len(window) else 0
        self._at_least = max(self._at_least, len(window), known or 0)
        total = self._total
        if window.at_start and window.at_end:
            total = len(window)
        status = ListStatus(
            window.position(lines[0][0]) if lines else None,
            window.position(lines[-1][0]) if lines else None,
            total,
            self._at_least,
            self._reader.is_reading("open"),
            self._selection.count(self._view.cursor),
        )
        if status != self.status:
            self.status = status
            self.post_message(StatusChanged(self, status))

    def _put_terminal_cursor(self) -> None:
        """The terminal's own cursor stands on the row, where screen readers look for it."""
        if self.has_focus:
            y = self._view.line_of_cursor()
            if y is not None:
                x0, y0 = self.content_region.offset
                self.app.cursor_position = Offset(x0, y0 + self._header_lines() + y)

    # Events

    def on_resize(self) -> None:
        view = self._view
        seen = view.line_of_cursor() is not None
        view.lines = max(0, self.size.height - self._header_lines())
        view.settle()
        if not seen or view.line_of_cursor() is None:
            view.reveal()
        self._changed()

    def watch_virtual_size(self) -> None:
        """Take a new size even where Textual sends no Resize.

        It sends none to a widget whose place on the screen was asked for between the change of the layout
        and the next drawing, as the terminal's cursor does: the list would go on with lines that the box
        above it has taken.
        """
        self.call_later(self.on_resize)

    def on_focus(self) -> None:
        self._changed(read_ahead=False)

    def on_blur(self) -> None:
        self._changed(read_ahead=False)

    def beyond(self, y: int, below_rows: bool) -> Line:
        """A line without a row: one that is being read, what an empty list says, an error, or nothing."""
        reader = self._reader
        if reader.is_reading("open") or (below_rows and reader.is_reading("after")):
            return (Span(ELLIPSIS, "faint"),)
        if below_rows:
            return ()
        if self._error is not None:
            said = self._said_of(self._error)
            return said[y] if y < len(said) else ()
        return self.empty_lines[y] if self.source is not None and y < len(self.empty_lines) else ()

    def _said_of(self, error: Exception) -> list[Line]:
        width = self._row_width()
        sentence, hint = str(error) or type(error).__name__, tui_hint(str(getattr(error, "hint", "")))
        lines: list[Line] = [(Span(each, "error"),) for each in wrap(sentence, width)]
        return [*lines, *((Span(each, "dim"),) for each in wrap(hint, width) if hint)]

    @property
    def failed(self) -> bool:
        """Whether the rows could not be read: that none is shown does not mean that there is none."""
        return self._error is not None

    def move_screen(self, lines: int) -> None:
        """Move the screen over the rows; the cursor stays on it."""
        self._owed = 0
        self._view.scroll(lines)
        self._view.pull_cursor()
        self._changed()

    def go_to_fraction(self, fraction: float) -> None:
        """To a part of the whole: the thumb was dragged there."""
        if 0 < fraction < 1:
            self.seek(fraction)
        else:
            self._jump(last=fraction >= 1)

    def point_at(self, at: int, *, enter: bool) -> None:
        """Put the cursor on a row that is on the screen, and go into it where `enter` says so."""
        self._owed = 0
        before = (self._view.top, self._view.offset, self._view.cursor)
        self._view.place(at)
        self._changed(moved_from=before)
        if enter:
            self.action_open()
