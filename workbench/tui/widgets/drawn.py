"""A widget that draws lines of spans itself, with the theme's look for each role."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.strip import Strip
from textual.widget import Widget

from workbench.tui.present import Line, visible

LOOKS: dict[str, tuple[str, bool]] = {
    "text": ("body", False),
    "ink": ("ink", False),
    "strong": ("ink", True),
    "dim": ("quiet", False),
    "faint": ("faint", False),
    "accent": ("accent", False),
    "heading": ("accent", True),
    "warning": ("attention", False),
    "error": ("broken", False),
    "success": ("kept", False),
    "code": ("body", False),
    "key": ("quiet", False),
    "thumb": ("line", False),
    "thumb-focused": ("faint", False),
}
"""Roles and parts of a widget: the theme's token that colours each, and whether it is bold."""


class DrawnWidget(Widget):
    """The base of the line-drawing widgets: roles and grounds become styles, spans become strips.

    A ground is a component class that sets the background; a role sets the colour and weight. Roles are no
    component classes: whenever a class or the focus changes Textual matches the rules of each anew, a dozen
    on every widget; in a profile of the Facts tests that was a tenth of the time.
    """

    DEFAULT_CSS = """
    DrawnWidget {
        width: 1fr;
        height: 1fr;
        background: $ground;
        color: $body;
    }
    """

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - as in Textual
        super().__init__(name=name, id=id, classes=classes)
        self._looks: dict[tuple[str, str], Style] = {}
        self._colors: dict[str, str] | None = None

    def notify_style_update(self) -> None:
        """Forget every style: the theme, the focus or a class changed."""
        super().notify_style_update()
        self._looks.clear()
        colors = self.app.theme_variables
        if self._colors is not colors:
            if self._colors not in (None, colors):
                # Another theme may change a role alone.
                self.refresh()
            self._colors = colors

    def look(self, name: str, ground: str = "") -> Style:
        """The style of a role, or part of a widget, on a ground's component class."""
        style = self._looks.get((name, ground))
        if style is None:
            base = self.get_component_rich_style(ground) if ground else self.rich_style
            token, bold = LOOKS[name]
            color = Color.parse(self.app.theme_variables[token]).rich_color
            style = base + Style(color=color, bold=True if bold else None)
            self._looks[name, ground] = style
        return style

    def segments(self, line: Line, ground: str = "") -> list[Segment]:
        """The spans of a line as segments. Whatever a span holds, what is drawn is visible text."""
        return [Segment(visible(text), self.look(role, ground)) for text, role in line if text]

    def strip(self, line: Line, width: int, ground: str = "") -> Strip:
        """A line of spans as a strip of exactly `width` cells."""
        return Strip(self.segments(line, ground)).adjust_cell_length(width, self.look("text", ground))
