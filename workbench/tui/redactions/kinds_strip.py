"""The strip over the list: a bar for each stretch of days, and where in it the cursor is."""

from __future__ import annotations

from textual import events
from textual.message import Message
from textual.strip import Strip

from workbench.tui.present import Line, Role, Span, counted, fit_line, line_width
from workbench.tui.redactions.over_time import OverTime, day_text
from workbench.tui.timeline.strip import POINTER, bar, levels
from workbench.tui.widgets.drawn import DrawnWidget

MARGIN = 2
_WIDEST = 3
"""Cells of a bar at most."""
_APART = 2
_KINDS = 3
"""Kinds that the line below the bars names."""


class KindsStrip(DrawnWidget):
    """Draws what it is shown; a click says which bar."""

    DEFAULT_CSS = """
    KindsStrip { height: 2; width: 1fr; margin: 0 0 1 0; display: none; }
    KindsStrip.-tall { height: 3; }
    KindsStrip.-shown { display: block; }
    KindsStrip.-empty { display: none; }
    """

    class Chosen(Message):
        """A bar was clicked: the days that it stands for."""

        def __init__(self, first: int, last: int) -> None:
            super().__init__()
            self.first = first
            self.last = last

    class Resized(Message):
        """There is room for another number of bars."""

    def __init__(self, *, css_id: str) -> None:
        super().__init__(id=css_id)
        self.over: OverTime | None = None
        self.day: int | None = None
        """The day of the redaction under the cursor."""

    def show(self, over: OverTime | None) -> None:
        """Draw these bars from now on; None: there is nothing to draw."""
        self.over = over
        self.set_class(over is None, "-empty")
        self.refresh()

    def point(self, day: int | None) -> None:
        """Mark the bar of this day."""
        if day != self.day:
            self.day = day
            self.refresh()

    @property
    def room(self) -> int:
        """Cells for bars."""
        return max(0, self.size.width - 2 * MARGIN)

    @property
    def _each(self) -> int:
        bars = len(self.over.total) if self.over is not None else 1
        return max(1, min(_WIDEST, self.room // max(1, bars)))

    @property
    def _bar(self) -> int | None:
        return None if self.over is None or self.day is None else self.over.bar_of(self.day)

    def render_line(self, y: int) -> Strip:
        """One line: bars from the top, the words at the bottom."""
        width, lines, over = self.size.width, self.size.height - 1, self.over
        if over is None:
            return Strip.blank(width, self.look("text"))
        if y >= lines:
            return self.strip(self.words(width), width)
        heights, at, each = levels(over.total, lines), self._bar, self._each
        spans = [Span(" " * MARGIN)]
        for index, height in enumerate(heights):
            role: Role = "accent" if index == at else "dim"
            # Wide bars are told apart by a gap.
            drawn = bar(height, lines - 1 - y) * max(1, each - 1)
            spans.append(Span(drawn.ljust(each), role))
        return self.strip(fit_line(spans, width), width)

    def words(self, width: int) -> Line:
        """Both ends in words, or what the cursor's bar holds, in `width` cells."""
        over = self.over
        assert over is not None
        at, each = self._bar, self._each
        end = MARGIN + each * len(over.total)
        if at is not None:
            start = MARGIN + at * each
            for said in self._about(over, at):
                long = line_width(said)
                if start + 2 + long <= width - 1:
                    before = self._left(over, start)
                    after = self._right(over, start + 2 + long, end)
                    return (*before, Span(POINTER, "accent"), Span(" "), *said, *after)
                if start - 1 - long >= 1:
                    gap = Span(" " * (start - 1 - long))
                    return (gap, *said, Span(" "), Span(POINTER, "accent"))
        left = (Span(" " * MARGIN), Span(day_text(over.first), "faint"))
        right = Span(day_text(over.last), "faint")
        room = end - line_width(left) - line_width((right,))
        return (*left, Span(" " * room), right) if room > 1 else left

    def _left(self, over: OverTime, start: int) -> Line:
        said = day_text(over.first)
        if MARGIN + len(said) + _APART > start:
            return (Span(" " * start),)
        return (Span(" " * MARGIN), Span(said, "faint"), Span(" " * (start - MARGIN - len(said))))

    def _right(self, over: OverTime, start: int, end: int) -> Line:
        said = day_text(over.last)
        room = end - start - len(said)
        return (Span(" " * room), Span(said, "faint")) if room >= _APART else ()

    def _about(self, over: OverTime, at: int) -> list[Line]:
        """What a bar holds, the fullest words first."""
        first, last = over.bounds(at)
        when = day_text(first) if first == last else f"{day_text(first)} – {day_text(last)[5:]}"
        if day_text(first)[:4] != day_text(last)[:4]:
            when = f"{day_text(first)} – {day_text(last)}"
        held = sorted(((bars[at], kind) for kind, bars in over.kinds.items() if bars[at]), reverse=True)
        kinds = ", ".join(kind for _, kind in held[:_KINDS]) + (" …" if len(held) > _KINDS else "")
        base = (Span(when, "dim"), Span(" · ", "faint"), Span(counted(over.total[at], "secret"), "dim"))
        full = (*base, Span(" · ", "faint"), Span(kinds, "faint"))
        return [full, base, (Span(day_text(first), "dim"),)]

    def on_resize(self) -> None:
        """Whoever counts has to count for another number of bars."""
        self.post_message(self.Resized())

    def on_click(self, event: events.Click) -> None:
        """Say which bar was clicked."""
        over = self.over
        if over is None:
            return
        event.stop()
        at = (event.x - MARGIN) // self._each
        if 0 <= at < len(over.total) and over.total[at]:
            self.post_message(self.Chosen(*over.bounds(at)))
