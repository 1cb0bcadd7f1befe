"""The activity strip: a bar for each stretch of happened time, and where in it the cursor is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from textual import events
from textual.message import Message
from textual.strip import Strip

from workbench.log.times import Clock, from_micros, now, to_micros
from workbench.tui.present import Line, Role, Span, counted, fit_line, line_width, number
from workbench.tui.widgets.drawn import DrawnWidget
from workbench.workspace.readers.timeline_activity import Scale

BARS = "▁▂▃▄▅▆▇█"
OTHERS = "·"
"""Something happened here, but nothing that passes the filter."""
POINTER = "▲"
EARLIER, LATER = "‹", "›"
"""The end cell holds events from far beyond it, too."""
MARGIN = 2
"""Cells on either side: a blank, and one for the mark of what lies beyond."""
TALL_ROWS = 36
"""From so many rows of the screen on the bars are two lines high."""
LEAST_ROWS = 24
"""Rows of the screen below which there is no room for a strip."""
_ENDS_APART = 2

DAYS = 4 * 86_400_000_000
"""Microseconds that a strip spans from which on days are precise enough."""


def levels(counts: Sequence[int], lines: int) -> list[int]:
    """How high each bar is, in eighths of a line: 0 for nothing, else at least 1.

    By the root of the number: one busy day must not flatten a month.
    """
    highest = max(counts, default=0)
    steps = len(BARS) * lines
    return [
        0 if count <= 0 else max(1, round(steps * (count / highest) ** 0.5)) if highest else 0
        for count in counts
    ]


def bar(level: int, line: int) -> str:
    """What a bar of a level shows on a line, counted from the bottom; a blank where it does not reach."""
    inside = min(level - line * len(BARS), len(BARS))
    return BARS[inside - 1] if inside > 0 else " "


def day_text(micros: int, zone: tzinfo, span: int) -> str:
    """A moment as precise as a strip over `span` microseconds needs."""
    local = _local(micros, zone)
    if span >= DAYS:
        return _day(local)
    if span >= 10 * 60_000_000:
        return f"{local:%m-%d %H:%M}"
    return f"{local:%H:%M:%S}"


def end_text(end: int, width: int, now: int, zone: tzinfo, span: int) -> str:
    """The end of a strip over `span` microseconds whose bars are `width` wide; times in microseconds.

    A last bar that reaches beyond `now` ends there: what is still to come has not happened. A day that is
    today is called so.
    """
    come = end - width <= now < end
    if span >= DAYS:
        last = now if come else end - 1
        return "today" if _day(_local(last, zone)) == _day(_local(now, zone)) else day_text(last, zone, span)
    return "now" if come else day_text(end - 1, zone, span)


def bar_texts(low: int, high: int, now: int, zone: tzinfo, span: int) -> tuple[str, ...]:
    """What a bar from `low` until `high` (exclusive, microseconds) stands for, the fullest first.

    Days where it is a day or wider, else the time of day; it ends `now` where it would reach beyond.
    """
    brief = day_text(low, zone, span)
    first, come = _local(low, zone), low <= now < high
    if high - low >= _DAY:
        last = _local(min(high - 1, now) if come else high - 1, zone)
        if _day(first) == _day(last):
            return (brief,)
        until = _day(last) if first.year != last.year else f"{last:%m-%d}"
        return (f"{_day(first)} – {'today' if come else until}", brief)
    if high - low >= _MINUTE:
        until = "now" if come else f"{_local(high, zone):%H:%M}"
        return (f"{_day(first)} {first:%H:%M}–{until}", f"{first:%m-%d %H:%M}–{until}", brief)
    return (brief,)


def _local(micros: int, zone: tzinfo) -> datetime:
    moment = from_micros(max(_FIRST, min(micros, _LAST)))
    try:
        return moment.astimezone(zone)
    except (OverflowError, ValueError):
        return moment


def _day(local: datetime) -> str:
    return f"{local:%Y-%m-%d}".rjust(10, "0")


_MINUTE = 60_000_000
_DAY = 86_400_000_000
_FIRST = -62_135_596_800_000_000
_LAST = 253_402_300_799_999_999


class ActivityStrip(DrawnWidget):
    """Draws what it is shown; a click says which cell, a drag which cells."""

    DEFAULT_CSS = """
    ActivityStrip { height: 2; width: 1fr; margin: 0 0 1 0; display: none; }
    ActivityStrip.-tall { height: 3; }
    ActivityStrip.-shown { display: block; }
    ActivityStrip.-empty { display: none; }
    ActivityStrip > .strip--dragged { background: $cursor; color: $body; }
    """
    COMPONENT_CLASSES = {"strip--dragged"}  # noqa: RUF012 - as in Textual

    class Chosen(Message):
        """A cell was clicked."""

        def __init__(self, cell: int) -> None:
            super().__init__()
            self.cell = cell

    class Dragged(Message):
        """The mouse was drawn over these cells."""

        def __init__(self, first: int, last: int) -> None:
            super().__init__()
            self.first = first
            self.last = last

    class Resized(Message):
        """There is room for another number of bars."""

    def __init__(self, *, css_id: str) -> None:
        super().__init__(id=css_id)
        self.scale: Scale | None = None
        self.whole: Sequence[int] = ()
        """Every event."""
        self.matching: Sequence[int] | None = None
        """Those that pass the filter; None where there is none."""
        self.counting = False
        """What passes is not all counted yet."""
        self.zone: tzinfo = UTC
        self.now: Clock = now
        """What counts as today; the page's own moment, from which its ages are counted, too."""
        self.cursor: int | None = None
        """When the event under the cursor happened."""
        self._drag: tuple[int, int] | None = None

    # What the page asks and tells

    @property
    def room(self) -> int:
        """Cells for bars."""
        return max(0, self.size.width - 2 * MARGIN)

    @property
    def shown(self) -> Sequence[int]:
        """The counts that the bars stand for."""
        return self.whole if self.matching is None else self.matching

    def show(
        self,
        scale: Scale | None,
        whole: Sequence[int],
        matching: Sequence[int] | None,
        *,
        counting: bool = False,
    ) -> None:
        """Draw these from now on; without a scale there is nothing to draw."""
        self.scale, self.whole, self.matching, self.counting = scale, whole, matching, counting
        self._drag = None
        self.set_class(scale is None, "-empty")
        self.refresh()

    def point(self, at: datetime | None) -> None:
        """Mark the cell in which this moment is."""
        micros = None if at is None else to_micros(at)
        if micros != self.cursor:
            self.cursor = micros
            self.refresh()

    @property
    def cursor_cell(self) -> int | None:
        """The cell of the event under the cursor."""
        return None if self.scale is None or self.cursor is None else self.scale.cell_of(self.cursor)

    def busy(self, step: int) -> int | None:
        """The next cell with events right (1) or left (-1) of the cursor's; None where there is none."""
        if self.scale is None:
            return None
        at = self.cursor_cell
        if at is None:
            at = self.scale.cells if step < 0 else -1
        cells = range(at + step, self.scale.cells if step > 0 else -1, step)
        return next((cell for cell in cells if cell < len(self.shown) and self.shown[cell]), None)

    # Drawing

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        lines = self.size.height - 1
        if self.scale is None:
            return Strip.blank(width, self.look("text"))
        if y >= lines:
            return self.strip(self.words(width, min(self.scale.cells, self.room)), width)
        return self._bars(lines - 1 - y, lines, width)

    def _bars(self, line: int, lines: int, width: int) -> Strip:
        scale = self.scale
        assert scale is not None
        heights = levels(self.shown, lines)
        cursor = self.cursor_cell
        spans: list[Span] = []
        segments = []
        base = line == 0
        head = (
            Span(" " * (MARGIN - 1)),
            Span(EARLIER if base and scale.earlier and self._passes(0) else " ", "warning"),
        )
        segments += self.segments(head)
        for cell in range(min(scale.cells, self.room)):
            height = heights[cell] if cell < len(heights) else 0
            text = bar(height, line)
            role: Role = "accent" if cell == cursor else "faint" if self.matching is None else "dim"
            if base and not height and cell < len(self.whole) and self.whole[cell]:
                text, role = OTHERS, "faint"
            ground = "strip--dragged" if self._dragged(cell) else ""
            spans.append(Span(text, role))
            segments += self.segments((Span(text, role),), ground)
        if base and scale.later and self._passes(scale.cells - 1):
            segments += self.segments((Span(LATER, "warning"),))
        return Strip(segments).adjust_cell_length(width, self.look("text"))

    def _passes(self, cell: int) -> bool:
        return cell < len(self.shown) and self.shown[cell] > 0

    def _dragged(self, cell: int) -> bool:
        return self._drag is not None and min(self._drag) <= cell <= max(self._drag)

    def words(self, width: int, bars: int) -> Line:
        """The line below `bars` bars: the ends in words, and the cursor's bar; in `width` cells."""
        scale = self.scale
        assert scale is not None
        span = scale.width * scale.cells
        left = (Span(day_text(scale.start, self.zone, span), "faint"),)
        right = (Span(end_text(scale.end, scale.width, self._micros_now(), self.zone, span), "faint"),)
        end = MARGIN + bars
        pieces: list[tuple[int, Line]] = []
        cell = self.cursor_cell
        if cell is not None:
            at = MARGIN + min(cell, bars - 1)
            pieces.append(_beside(at, self._about(cell, span), width))
        for at, label in ((MARGIN, left), (max(MARGIN, end - line_width(right)), right)):
            free = all(
                at + line_width(label) + _ENDS_APART <= start or start + line_width(piece) + _ENDS_APART <= at
                for start, piece in pieces
            )
            if free:
                pieces.append((at, label))
        line: list[Span] = []
        drawn = 0
        for start, piece in sorted(pieces, key=lambda entry: entry[0]):
            line += [Span(" " * (start - drawn)), *piece]
            drawn = start + line_width(piece)
        return fit_line(line, width)

    def _about(self, cell: int, span: int) -> list[Line]:
        """What the cursor's bar stands for, the fullest first."""
        scale = self.scale
        assert scale is not None
        low, high = scale.bounds(cell)
        outside = self.cursor is not None and not scale.start <= self.cursor < scale.end
        if low is None and outside:
            whens: tuple[str, ...] = (f"before {day_text(scale.start, self.zone, span)}",)
        elif high is None and outside:
            whens = (f"after {day_text(scale.end - 1, self.zone, span)}",)
        else:
            start = scale.start + cell * scale.width
            whens = bar_texts(start, start + scale.width, self._micros_now(), self.zone, span)
        whole = self.whole[cell] if cell < len(self.whole) else 0
        if self.matching is None:
            how_many = counted(whole, "event")
        else:
            passing = self.matching[cell] if cell < len(self.matching) else 0
            how_many = f"{number(passing)}{'…' if self.counting else ''} of {number(whole)}"
        return [(Span(when, "dim"), Span(" · ", "faint"), Span(how_many, "dim")) for when in whens]

    def _micros_now(self) -> int:
        return to_micros(self.now())

    def on_resize(self) -> None:
        """Whoever counts has to count for another number of bars."""
        self.post_message(self.Resized())

    # The mouse

    def _cell_at(self, x: int) -> int | None:
        if self.scale is None:
            return None
        return max(0, min(x - MARGIN, self.scale.cells - 1))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """A click or a drag begins."""
        cell = self._cell_at(event.x)
        if cell is not None and event.button == 1:
            event.stop()
            self.capture_mouse()
            self._drag = (cell, cell)
            self.refresh()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """The drag reaches another cell."""
        cell = self._cell_at(event.x)
        if self._drag is not None and cell is not None and cell != self._drag[1]:
            event.stop()
            self._drag = (self._drag[0], cell)
            self.refresh()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Say what was clicked or drawn over."""
        if self._drag is None:
            return
        event.stop()
        self.release_mouse()
        drag, self._drag = self._drag, None
        self.refresh()
        if drag[0] == drag[1]:
            self.post_message(self.Chosen(drag[0]))
        else:
            self.post_message(self.Dragged(min(drag), max(drag)))


def _beside(at: int, said: Sequence[Line], width: int) -> tuple[int, Line]:
    """The pointer at a cell and beside it the fullest words that there is room for: (first cell, line)."""
    for line in said:
        long = line_width(line)
        if at + 2 + long <= width - 1:
            return at, (Span(POINTER, "accent"), Span(" "), *line)
        if at - 1 - long >= 0:
            return at - 1 - long, (*line, Span(" "), Span(POINTER, "accent"))
    return at, (Span(POINTER, "accent"),)
