"""Columns of a table row: exact cell widths, fixed and flexible, the unimportant ones dropped when narrow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from workbench.tui.present import ELLIPSIS, Align, Line, Role, Span, fit, fit_line

GAP = 1
"""Blank cells between two columns."""

Cell: TypeAlias = str | Span | Line
"""What stands in a column: plain text, text with a role, or several pieces."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column. Widths are in cells, without the gap."""

    title: str
    width: int = 0
    """Fixed width; 0 makes the column flexible."""
    share: int = 1
    """A flexible column's part of the room that is left, in relation to the others' parts."""
    minimum: int = 6
    """A flexible column's least width: below it, droppable columns go."""
    align: Align = "left"
    drop: int = 0
    """When room is short, the column with the highest number goes first; 0 is never dropped."""
    spare: int = 0
    """A droppable column goes already where it would leave less than this beside the flexible minimums."""
    silent: bool = False
    """Nothing in the header says that it was dropped: what remains tells enough."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A column that is shown: its index among all, and its width."""

    index: int
    width: int


@lru_cache(256)
def place(columns: tuple[Column, ...], width: int) -> tuple[Placed, ...]:
    """The columns that are shown in `width` cells, in order; with their gaps never wider than that.

    With a flexible column among them they fill the width exactly.
    """
    shown = list(range(len(columns)))

    def least() -> int:
        return sum(columns[at].width or columns[at].minimum for at in shown) + GAP * (len(shown) - 1)

    while droppable := [at for at in shown if columns[at].drop]:
        # Of equals the rightmost goes first.
        first = max(droppable, key=lambda at: (columns[at].drop, at))
        if least() + columns[first].spare <= width:
            break
        shown.remove(first)
    flexible = [at for at in shown if not columns[at].width]
    room = width - GAP * (len(shown) - 1) - sum(columns[at].width for at in shown)
    widths = {at: columns[at].width for at in shown}
    widths.update(_shared(columns, flexible, room))
    placed: list[Placed] = []
    left = width
    for at in shown:
        gap = GAP if placed else 0
        cells = min(widths[at], left - gap)
        if cells <= 0:
            continue
        placed.append(Placed(at, cells))
        left -= cells + gap
    return tuple(placed)


def _shared(columns: tuple[Column, ...], flexible: list[int], room: int) -> dict[int, int]:
    """The room divided by shares, each minimum kept where possible; the sum is the room if it is positive."""
    widths: dict[int, int] = {}
    waiting = list(flexible)
    while waiting:
        shares = sum(columns[at].share for at in waiting)
        short = [at for at in waiting if room * columns[at].share < columns[at].minimum * shares]
        if not short or len(short) == len(waiting):
            break
        for at in short:
            widths[at] = columns[at].minimum
            room -= columns[at].minimum
            waiting.remove(at)
    shares = sum(columns[at].share for at in waiting)
    for at in waiting:
        part = max(0, room) * columns[at].share // shares
        widths[at] = part
        shares -= columns[at].share
        room -= part
    return widths


def table_row(columns: tuple[Column, ...], cells: Sequence[Cell], width: int) -> Line:
    """One line of exactly `width` cells; `cells` has one entry per column, also for the dropped ones."""
    line: list[Span] = []
    used = 0
    for placed in place(columns, width):
        if line:
            line.append(Span(" " * GAP))
            used += GAP
        align = columns[placed.index].align
        cell = cells[placed.index]
        if isinstance(cell, str):
            line.append(Span(fit(cell, placed.width, align)))
        elif isinstance(cell, Span):
            line.append(Span(fit(cell.text, placed.width, align), cell.role))
        else:
            line.extend(fit_line(cell, placed.width, align))
        used += placed.width
    if used < width:
        line.append(Span(" " * (width - used)))
    return tuple(line)


def table_header(columns: tuple[Column, ...], width: int, role: Role = "dim") -> Line:
    """The titles over the columns; `…` stands where columns were dropped, before or behind a title.

    It never stands over a column without a title, and never for a `silent` one.
    """
    titles = [column.title for column in columns]
    shown = [placed.index for placed in place(columns, width)]
    for before, at in zip([-1, *shown], shown, strict=False):
        if titles[at] and _missed(columns, before + 1, at):
            titles[at] = ELLIPSIS + titles[at]
    if shown and titles[shown[-1]] and _missed(columns, shown[-1] + 1, len(columns)):
        titles[shown[-1]] += ELLIPSIS
    return table_row(columns, [Span(title, role) for title in titles], width)


def _missed(columns: tuple[Column, ...], start: int, stop: int) -> bool:
    return any(not column.silent for column in columns[start:stop])
