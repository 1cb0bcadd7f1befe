"""A widget that draws lines of spans itself, with the theme's look for each role."""

from __future__ import annotations

from typing import ClassVar, get_args

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from workbench.tui.present import Line, Role, visible

_ROLES: tuple[Role, ...] = get_args(Role)


class DrawnWidget(Widget):
    """The base of the line-drawing widgets: roles and grounds become styles, spans become strips.

    A ground is a component class that sets the background; a role sets the colour and weight.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"drawn--{role}" for role in _ROLES} | {
        "drawn--thumb",
        "drawn--thumb-focused",
    }

    DEFAULT_CSS = """
    DrawnWidget {
        width: 1fr;
        height: 1fr;
        background: $ground;
        color: $body;
        & > .drawn--text { color: $body; }
        & > .drawn--ink { color: $ink; }
        & > .drawn--strong { color: $ink; text-style: bold; }
        & > .drawn--dim { color: $quiet; }
        & > .drawn--faint { color: $faint; }
        & > .drawn--accent { color: $accent; }
        & > .drawn--heading { color: $accent; text-style: bold; }
        & > .drawn--warning { color: $attention; }
        & > .drawn--error { color: $broken; }
        & > .drawn--success { color: $kept; }
        & > .drawn--code { color: $body; }
        & > .drawn--key { color: $quiet; }
        & > .drawn--thumb { color: $line; }
        & > .drawn--thumb-focused { color: $faint; }
    }
    """

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - as in Textual
        super().__init__(name=name, id=id, classes=classes)
        self._looks: dict[tuple[str, str], Style] = {}

    def notify_style_update(self) -> None:
        """Forget every style: the theme, the focus or a class changed."""
        super().notify_style_update()
        self._looks.clear()

    def look(self, name: str, ground: str = "") -> Style:
        """The style of a role or component (`drawn--` is added) on a ground's component class."""
        style = self._looks.get((name, ground))
        if style is None:
            base = self.get_component_rich_style(ground) if ground else self.rich_style
            part = self.get_component_rich_style(f"drawn--{name}", partial=True)
            style = base + part
            self._looks[name, ground] = style
        return style

    def segments(self, line: Line, ground: str = "") -> list[Segment]:
        """The spans of a line as segments. Whatever a span holds, what is drawn is visible text."""
        return [Segment(visible(text), self.look(role, ground)) for text, role in line if text]

    def strip(self, line: Line, width: int, ground: str = "") -> Strip:
        """A line of spans as a strip of exactly `width` cells."""
        return Strip(self.segments(line, ground)).adjust_cell_length(width, self.look("text", ground))
