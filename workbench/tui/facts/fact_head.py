"""The lines over the chain of a fact: its slot, where and since when, and what needs a person."""

from __future__ import annotations

from datetime import datetime
from itertools import islice

from textual.strip import Strip

from workbench.tui.facts.fact_words import CONFLICT, ordinal, scope_of
from workbench.tui.present import Line, Span, ago, counted, fit_line, line_width, one_line, wrap
from workbench.tui.widgets.drawn import DrawnWidget
from workbench.workspace.fact_rows import FactRow

_SLOT_LINES = 3
_LONGEST = 400


def head_lines(row: FactRow, now: datetime, width: int) -> list[Line]:
    """What stands over the chain of the fact in `width` cells."""
    since = ago(row.recorded_at, now).removesuffix(" ago")
    held = "just now" if since == "just now" else f"for {since}"
    state = f"current {held}" if row.current else f"asserted {ago(row.recorded_at, now)}"
    scope, said = scope_of(row), [state, f"{ordinal(row.links)} value"]
    if row.private:
        said.append("private")
    alarm: Line = (Span("disputed", "error"), Span(" · ", "dim")) if row.disputed else ()
    note: Line = (*alarm, Span(" · ".join([scope, *said]), "dim"))
    slot = Span(one_line(row.slot, _LONGEST), "strong")
    lines: list[Line] = []
    if line_width((slot,)) + 2 + line_width(note) <= width:
        lines.append((slot, Span("  "), *note))
    else:
        lines += [(Span(each, "strong"),) for each in islice(wrap(slot.text, width), _SLOT_LINES)]
        if line_width(note) <= width:
            lines.append(note)
        else:
            # A long scope must not hide since when the value holds.
            lines.append(fit_line((Span(scope, "dim"),), width))
            lines.append(fit_line((*alarm, Span(" · ".join(said), "dim")), width))
    if row.values > 1:
        said_of = f" {counted(row.values, 'current value')} under several spellings"
        lines.append(fit_line((CONFLICT, Span(said_of, "warning")), width))
    return lines


class FactHead(DrawnWidget):
    """Draws the head of a fact; as many lines as it needs."""

    DEFAULT_CSS = """
    FactHead { height: 2; width: 1fr; margin: 0 0 1 1; }
    """

    def __init__(self, *, css_id: str) -> None:
        super().__init__(id=css_id)
        self._row: FactRow | None = None
        self._now = datetime.min

    def show(self, row: FactRow | None, now: datetime) -> None:
        """Show this fact, its ages from `now`."""
        self._row, self._now = row, now
        self._fit()

    def on_resize(self) -> None:
        """Another width may need another number of lines."""
        self._fit()

    def _lines(self) -> list[Line]:
        return [] if self._row is None else head_lines(self._row, self._now, max(8, self.size.width - 1))

    def _fit(self) -> None:
        if self.size.width:
            self.styles.height = max(1, len(self._lines()))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line."""
        lines = self._lines()
        return self.strip(lines[y] if y < len(lines) else (), self.size.width)
