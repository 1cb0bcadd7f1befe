"""The line above the list that says which filters are set."""

from __future__ import annotations

from textual.strip import Strip

from workbench.tui.present import Line, Span, fit_line, line_width, visible
from workbench.tui.timeline.event_words import type_title
from workbench.tui.widgets.drawn import DrawnWidget
from workbench.workspace.rows import TimelineFilter

_NAMED = 4


def filter_words(wanted: TimelineFilter) -> Line:
    """What a filter asks for, in words: its text, its actors, its types."""
    parts: list[Line] = []
    if wanted.text:
        parts.append((Span(f"“{wanted.text}”", "ink"),))
    if wanted.actors:
        parts.append((Span("by ", "dim"), Span(_listed(wanted.actors), "ink")))
    if wanted.types:
        parts.append((Span(_listed([type_title(name) for name in wanted.types]), "ink"),))
    line: list[Span] = []
    for part in parts:
        line += [Span("  ·  ", "faint"), *part] if line else part
    return tuple(line)


def _listed(names: tuple[str, ...] | list[str]) -> str:
    shown = [visible(name[:60]) for name in names[:_NAMED]]
    if len(names) > _NAMED:
        shown.append(f"{len(names) - _NAMED} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


class FilterLine(DrawnWidget):
    """The filter in words, and the key that clears it; nothing where none is set."""

    DEFAULT_CSS = """
    FilterLine { height: 1; width: 1fr; display: none; }
    FilterLine.-set { display: block; }
    """

    def __init__(self, *, css_id: str) -> None:
        super().__init__(id=css_id)
        self._words: Line = ()
        self._key = ""

    def show(self, wanted: TimelineFilter, key: str) -> None:
        """Show this filter; `key` clears it."""
        self._words, self._key = filter_words(wanted), key
        self.set_class(bool(wanted), "-set")
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        clear: Line = (Span(f"  {self._key} ", "accent"), Span("clears ", "dim"))
        room = max(0, width - 1 - line_width(clear))
        return self.strip((Span(" "), *fit_line(self._words, room), *clear), width)
