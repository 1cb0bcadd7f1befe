"""Transcripts that were found, as rows to choose from."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from workbench.tui.present import Line, Role, Span, age, one_line, size
from workbench.tui.widgets.columns import Cell, Column, table_header, table_row
from workbench.tui.widgets.row_renderer import RowState

if TYPE_CHECKING:
    from workbench.workspace import Workspace

KEPT_DAYS = 30
"""After how many days Claude Code deletes a transcript unless its settings say otherwise."""
_SOON = 5

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


def search_places(path: str) -> Iterator[Path]:
    """The places to search one after the other; without a path, each project of Claude Code's folder.

    A folder whose files are transcripts stays whole: its sub-agents' files belong to them.
    """
    root = Path(path).expanduser() if path.strip() else default_place()
    try:
        inside = sorted(root.iterdir()) if root.is_dir() else []
    except OSError:
        inside = []
    apart = [each for each in inside if each.is_dir()]
    whole = any(each.is_symlink() or each.name.endswith((".jsonl", ".jsonl.zst")) for each in inside)
    if apart and not whole:
        yield from apart
    else:
        yield root


def default_place() -> Path:
    """Where Claude Code keeps its transcripts."""
    from workbench.imports.claude_code.discover import config_folder

    return config_folder() / "projects"


def look_at(workspace: Workspace, place: Path, now: datetime, kept_days: int) -> list[Found]:
    """What lies at one place. Reads files: for a worker thread."""
    found = workspace.find_claude_code([place])
    rows: list[Found] = []
    for each in found.transcripts:
        candidate = each.candidate
        state: State = "known"
        if each.is_new:
            there = workspace.readers.sessions.get(f"claude-code/{candidate.session_id}")
            state = "new" if there is None else "changed"
        changed = datetime.fromtimestamp(candidate.modified, UTC)
        rows.append(
            Found(
                path=candidate.path,
                state=state,
                title=candidate.title or candidate.session_id,
                project=candidate.cwd.rstrip("/").rsplit("/", 1)[-1],
                octets=candidate.size,
                last_at=candidate.last_at,
                days_left=max(0, (changed + timedelta(days=kept_days) - now).days),
            )
        )
    rows += [
        Found(each.path, "refused", f"{each.path.name}: {each.reason}")
        for each in found.refused
        # Who never used Claude Code has no folder of its; that is nothing to be refused.
        if not (each.path == default_place() and each.reason == "not found")
    ]
    return rows


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
    Column("title", share=3, minimum=14),
    Column("project", share=1, minimum=8, drop=2),
    Column("size", 7, align="right", drop=1),
    Column("left", 5, align="right", drop=3),
    Column("last", 6, align="right"),
)


@dataclass(frozen=True, slots=True)
class FoundRows:
    """Draws `Found` rows with a box for each that can be chosen."""

    chosen: Callable[[Found], bool]
    clock: Callable[[], datetime]

    def header(self, width: int) -> Line | None:
        return table_header(_COLUMNS, width)

    def lines(self, row: Found, width: int, state: RowState) -> Sequence[Line]:
        mark, role = _MARKS[row.state]
        box = Span("[x]", "ink") if self.chosen(row) else Span("[ ]", "dim")
        left = "" if row.days_left is None else f"{row.days_left} d"
        cells: tuple[Cell, ...] = (
            box if row.choosable else Span(""),
            Span(mark, role),
            Span(one_line(row.title, 300), "ink" if row.fresh else "dim"),
            Span(row.project, "dim"),
            Span(size(row.octets) if row.choosable else "", "dim"),
            Span(left, "warning" if row.days_left is not None and row.days_left <= _SOON else "faint"),
            Span("" if row.last_at is None else age(row.last_at, self.clock()), "dim"),
        )
        return (table_row(_COLUMNS, cells, width),)
