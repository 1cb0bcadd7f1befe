"""An app that shows one widget in the default theme, and rows made up on demand."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Hashable
from contextlib import suppress
from pathlib import Path
from typing import Any

from textual import on
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.widget import Widget
from textual.worker import WorkerCancelled

from tests.tui.shell_probe import work_done
from workbench.tui.themes import parse_theme
from workbench.tui.widgets.page_source import Page
from workbench.tui.widgets.virtual_list import VirtualList

THEMES = Path(__file__).parents[2] / "themes"


class OneWidget(App[None]):
    """Shows a widget and keeps what it tells."""

    def __init__(self, widget: Widget) -> None:
        self._dark = parse_theme(tomllib.loads((THEMES / "dark.toml").read_text("utf-8")))
        super().__init__()
        self.widget = widget
        self.told: list[Message] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(self._dark.theme.variables)

    def compose(self) -> ComposeResult:
        yield self.widget

    def on_mount(self) -> None:
        self.register_theme(self._dark.theme)
        self.theme = self._dark.name

    @on(VirtualList.Failed)
    @on(VirtualList.Highlighted)
    @on(VirtualList.NewRows)
    @on(VirtualList.Opened)
    @on(VirtualList.StatusChanged)
    def keep(self, message: Message) -> None:
        self.told.append(message)

    def told_of(self, kind: type[Message]) -> list[Any]:
        return [message for message in self.told if isinstance(message, kind)]


async def settled(pilot: Pilot[None]) -> None:
    """Wait until nothing is being read and every message was handled."""
    for _ in range(3):
        with suppress(WorkerCancelled):  # One that another replaced is still a settled one.
            await work_done(pilot)
        await pilot.pause()


def drawn_lines(widget: Widget) -> list[str]:
    """The text of each line of a widget as it is on the screen."""
    return [widget.render_line(y).text for y in range(widget.size.height)]


class NumberSource:
    """The whole numbers of a range, held nowhere; `low` and `high` may move while it is read."""

    def __init__(self, size: int, *, counts: bool = True) -> None:
        self.low = 0
        self.high = size
        self.counts = counts
        self.calls: list[str] = []
        self.gone: set[int] = set()
        self.fail: Exception | None = None

    def _page(self, name: str, low: int, high: int, focus: int | None = None) -> Page[int]:
        self.calls.append(name)
        if self.fail is not None:
            raise self.fail
        low, high = max(self.low, low), min(self.high, high)
        rows = [row for row in range(low, high) if row not in self.gone]
        at = None
        if focus is not None and rows:
            at = min(range(len(rows)), key=lambda each: abs(rows[each] - focus))
        return Page(rows, low <= self.low, high >= self.high, at)

    def first(self, limit: int) -> Page[int]:
        return self._page("first", self.low, self.low + limit)

    def last(self, limit: int) -> Page[int]:
        return self._page("last", self.high - limit, self.high)

    def after(self, row: int, limit: int) -> Page[int]:
        return self._page("after", row + 1, row + 1 + limit)

    def before(self, row: int, limit: int) -> Page[int]:
        return self._page("before", row - limit, row)

    def around(self, place: int | Hashable, limit: int) -> Page[int]:
        at = place if isinstance(place, int) else 0
        at = max(self.low, min(at, self.high - 1))
        return self._page("around", at - limit // 2, at + limit - limit // 2, at)

    def seek(self, fraction: float, limit: int) -> Page[int]:
        return self.around(self.low + round(fraction * (self.high - 1 - self.low)), limit)

    def key(self, row: int) -> Hashable:
        return row

    def fraction(self, row: int) -> float:
        return (row - self.low) / max(1, self.high - 1 - self.low)

    def position(self, row: int) -> int | None:
        return row - self.low + 1 if not self.gone else None

    def total(self) -> int | None:
        return self.high - self.low - len(self.gone) if self.counts else None

    def count(self, cancelled: Callable[[], bool], progress: Callable[[int], None]) -> int:
        self.calls.append("count")
        return self.high - self.low - len(self.gone)
