"""The switches over a session's entries: what is shown, how many there are, and the key that turns it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip

from workbench.tui.present import Role, Span, fit_line, number, visible
from workbench.tui.widgets.drawn import DrawnWidget

ON, OFF = "●", "○"


@dataclass(frozen=True, slots=True)
class Switch:
    """One switch; `count` is how many entries it stands for, None where nobody counts them."""

    name: str
    key: str
    title: str
    on: bool
    count: int | None = None


class Piece(NamedTuple):
    """A part of the bar, and the switch that it belongs to."""

    text: str
    role: Role
    name: str = ""


class _Level(NamedTuple):
    titled: bool
    counted: bool
    tight: bool = True


_LEVELS = (
    _Level(True, True, False),
    _Level(True, True),
    _Level(True, False),
    _Level(False, True),
    _Level(False, False),
)
_PAIRS = ((0, 0), (1, 1), (1, 2), (1, 4), (2, 2), (2, 4), (3, 4), (4, 4))
"""How wordy kinds and actor kinds are on one line, the best first."""


def bar_lines(kinds: Sequence[Switch], actors: Sequence[Switch], width: int, lines: int) -> list[list[Piece]]:
    """The bar in `lines` (1 or 2) lines of at most `width` cells, as wordy as fits."""
    if lines > 1:
        # Acta above; what is none, and who did them, below.
        for level in _LEVELS:
            both = [
                _group(kinds[:-1], level),
                [*_group(kinds[-1:], level), Piece("   ", "text"), *_group(actors, level)],
            ]
            if max(map(_width, both)) <= width:
                break
        return both
    for kind_level, actor_level in _PAIRS:
        pieces = [
            *_group(kinds, _LEVELS[kind_level]),
            Piece("  ", "text"),
            *_group(actors, _LEVELS[actor_level]),
        ]
        if _width(pieces) <= width:
            break
    return [pieces]


def _group(switches: Sequence[Switch], level: _Level) -> list[Piece]:
    tight = level.tight
    gap = " " if tight else "  "
    pieces: list[Piece] = []
    for switch in switches:
        if pieces:
            pieces.append(Piece(gap, "text"))
        pieces.append(Piece(ON if switch.on else OFF, "accent" if switch.on else "faint", switch.name))
        pieces.append(Piece(switch.key if tight else f" {switch.key}", "heading", switch.name))
        if level.titled:
            pieces.append(Piece(f" {switch.title}", "text" if switch.on else "faint", switch.name))
        if level.counted and switch.count is not None:
            pieces.append(Piece(f" {number(switch.count)}", "dim" if switch.on else "faint", switch.name))
    return pieces


def _width(pieces: Sequence[Piece]) -> int:
    return sum(cell_len(visible(piece.text)) for piece in pieces)


class SwitchBar(DrawnWidget):
    """Draws the switches; a click on one posts `Turned`."""

    DEFAULT_CSS = "SwitchBar { height: 1; padding: 0 1 0 2; }"

    class Turned(Message):
        """A switch was clicked."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, *, css_id: str) -> None:
        super().__init__(id=css_id)
        self.kinds: tuple[Switch, ...] = ()
        self.actors: tuple[Switch, ...] = ()

    def show(self, kinds: Sequence[Switch], actors: Sequence[Switch]) -> None:
        """Draw these switches from now on."""
        fresh = tuple(kinds), tuple(actors)
        if fresh != (self.kinds, self.actors):
            self.kinds, self.actors = fresh
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of the bar."""
        width = self.size.width
        lines = self._lines()
        if y >= len(lines):
            return Strip.blank(width, self.look("text"))
        return self.strip(fit_line((Span(text, role) for text, role, _ in lines[y]), width), width)

    def _lines(self) -> list[list[Piece]]:
        return bar_lines(self.kinds, self.actors, self.size.width, self.size.height)

    def on_click(self, event: events.Click) -> None:
        """Turn the switch that was clicked."""
        offset = event.get_content_offset(self)
        lines = self._lines()
        if offset is None or offset.y >= len(lines):
            return
        end = 0
        for piece in lines[offset.y]:
            end += cell_len(visible(piece.text))
            if offset.x < end:
                if piece.name:
                    event.stop()
                    self.post_message(self.Turned(piece.name))
                return
