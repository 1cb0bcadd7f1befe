"""Transcripts that were found, as rows to choose from."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from workbench.tui.present import Line, Role, Span, age, one_line, size
from workbench.tui.widgets.columns import Cell, Column, table_header, table_row
from workbench.tui.widgets.row_renderer import RowState

if TYPE_CHECKING:
    from workbench.imports.transcript.candidates import Refused
    from workbench.workspace import Workspace
    from workbench.workspace.transcripts import FoundTranscript

KEPT_DAYS = 30
"""After how many days Claude Code deletes a transcript unless its settings say otherwise."""
_SOON = 5
_NAME = 32
"""Characters of a refused file's name, so that the reason behind it is seen."""

State: TypeAlias = Literal["new", "changed", "known", "refused"]

_MARKS: dict[State, tuple[str, Role]] = {
    "new": ("● new", "accent"),
    "changed": ("◐ changed", "accent"),
    "known": ("✓ known", "dim"),
    "refused": ("⊘ refused", "faint"),
}


@dataclass(frozen=True, slots=True)
class Found:
    """One file: a transcript, or something that gives nothing, with the reason as its title."""

    path: Path
    state: State
    title: str
    program: str = ""
    """Whose transcript it is: `Claude Code`, `Codex`."""
    project: str = ""
    octets: int = 0
    last_at: datetime | None = None
    days_left: int | None = None
    """Until Claude Code deletes the file."""

    @property
    def choosable(self) -> bool:
        """Whether it can be imported."""
        return self.state != "refused"

    @property
    def fresh(self) -> bool:
        """Whether it holds something that the workspace does not."""
        return self.state in ("new", "changed")


def found_row(workspace: Workspace, found: FoundTranscript | Refused, now: datetime, kept_days: int) -> Found:
    """What was found as a row. Reads the workspace: for a worker thread."""
    from workbench.workspace.transcripts import FoundTranscript

    if not isinstance(found, FoundTranscript):
        name = one_line(found.path.name, 300) or str(found.path)
        if len(name) > _NAME:
            # What tells a rollout from the others stands at its end.
            name = f"{name[: _NAME - 16]}…{name[-15:]}"
        return Found(found.path, "refused", f"{name}: {found.reason}")
    candidate = found.candidate
    state: State = "known"
    if found.is_new:
        there = workspace.readers.sessions.get(f"{found.format}/{candidate.session_id}")
        state = "new" if there is None else "changed"
    days_left = None
    if found.format == "claude-code":
        changed = datetime.fromtimestamp(candidate.modified, UTC)
        days_left = max(0, (changed + timedelta(days=kept_days) - now).days)
    return Found(
        path=candidate.path,
        state=state,
        title=found.title,
        program=found.program,
        project=candidate.cwd.rstrip("/").rsplit("/", 1)[-1],
        octets=candidate.size,
        last_at=candidate.last_at,
        days_left=days_left,
    )


def in_order(rows: Sequence[Found]) -> list[Found]:
    """What holds something new first, then by last activity; what gives nothing last."""
    oldest = datetime.min.replace(tzinfo=UTC)
    by_time = sorted(rows, key=lambda row: row.last_at or oldest, reverse=True)
    return sorted(by_time, key=lambda row: (row.state == "refused", not row.fresh))


def retention(folder: Path | None = None) -> int:
    """After how many days Claude Code deletes transcripts, by its own settings."""
    from workbench.imports.claude_code.discover import config_folder

    try:
        settings = json.loads((folder or config_folder()).joinpath("settings.json").read_text("utf-8"))
        days = settings["cleanupPeriodDays"]
    except (OSError, ValueError, KeyError, TypeError):
        return KEPT_DAYS
    return days if type(days) is int and 0 < days < 100_000 else KEPT_DAYS


_COLUMNS = (
    Column("", 3),
    Column("", 9),
    Column("title", share=3, minimum=16),
    Column("program", 11, drop=1),
    Column("project", share=1, minimum=8, drop=3, spare=14),
    Column("size", 7, align="right", drop=2),
    Column("left", 5, align="right", drop=4, spare=14),
    Column("last", 6, align="right"),
)
_REFUSED = (Column("", 3), Column("", 9), Column(""))


@dataclass(frozen=True, slots=True)
class FoundRows:
    """Draws `Found` rows with a box for each that can be chosen."""

    chosen: Callable[[Found], bool]
    clock: Callable[[], datetime]

    def header(self, width: int) -> Line | None:
        return table_header(_COLUMNS, width)

    def lines(self, row: Found, width: int, state: RowState) -> Sequence[Line]:
        mark, role = _MARKS[row.state]
        if not row.choosable:
            said = Span(one_line(row.title, 300), "dim")
            return (table_row(_REFUSED, ("", Span(mark, role), said), width),)
        box = Span("[x]", "ink") if self.chosen(row) else Span("[ ]", "dim")
        left = "" if row.days_left is None else f"{row.days_left} d"
        cells: tuple[Cell, ...] = (
            box,
            Span(mark, role),
            Span(one_line(row.title, 300), "ink" if row.fresh else "dim"),
            Span(row.program, "text" if row.fresh else "dim"),
            Span(row.project, "dim"),
            Span(size(row.octets), "dim"),
            Span(left, "warning" if row.days_left is not None and row.days_left <= _SOON else "faint"),
            Span("" if row.last_at is None else age(row.last_at, self.clock()), "dim"),
        )
        return (table_row(_COLUMNS, cells, width),)
