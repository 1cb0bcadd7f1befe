"""The side of a hand-off that shows all checkpoints of its task, and any two of them compared."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from workbench.memory.handoff_views import PastCheckpoint
from workbench.memory.views import Comparison, ListChange
from workbench.tui.document import Blank, Block, Heading, Paragraph, note
from workbench.tui.handoffs.checkpoint_side import TITLES
from workbench.tui.handoffs.desk_rows import CheckpointPick, DeskRow
from workbench.tui.handoffs.handoff_rows import verdict_mark
from workbench.tui.present import Line, Role, Span, ago, number

_COUNTED = ("done", "checked", "open", "next")
GONE, ADDED, REWORDED, SAME = (
    Span("−", "warning"),
    Span("+", "accent"),
    Span("~", "warning"),
    Span("=", "faint"),
)


def history_rows(found: Sequence[PastCheckpoint], marked: str, now: datetime, *, most: int) -> list[DeskRow]:
    """The checkpoints, the newest first; `marked` is the id of the one to compare with."""
    rows: list[DeskRow] = []
    if len(found) > 1:
        said = "enter compares one with the one before it, or with the one that space marked"
        rows.append(DeskRow("how", (note(said), Blank())))
    for each in found:
        mark = Span("●", "dim") if each.review is None else verdict_mark(each.review)
        spans: Line = (Span(each.goal, "ink"),)
        counts = " · ".join(
            f"{count} {word}" for count, word in zip(each.lines, _COUNTED, strict=True) if count
        )
        about = f"{ago(each.recorded_at, now)} · {each.agent}{' · ' + counts if counts else ''}"
        blocks: list[Block] = [Paragraph(spans, mark=mark, indent=1), note(about, indent=3)]
        if each.id == marked:
            blocks.append(
                Paragraph("marked to be compared", mark=Span("◆", "accent"), indent=3, role="accent")
            )
        if each.quarantined or each.private:
            said = "withheld from agents" if each.quarantined else "private"
            blocks.append(Paragraph(said, mark=Span("⊘", "warning"), indent=3, role="warning"))
        rows.append(
            DeskRow(("checkpoint", each.id), tuple(blocks), CheckpointPick(each.id, each.position, each.goal))
        )
    if len(found) >= most:
        rows.append(
            DeskRow("more", (Blank(), note(f"Older ones than these {number(most)} are on the Timeline.")))
        )
    return rows


def comparison_rows(
    change: Comparison, older: PastCheckpoint, newer: PastCheckpoint, now: datetime
) -> list[DeskRow]:
    """Two checkpoints beside each other; where it is narrow, what changed in one column."""
    rows = [_pair(("when",), _when(older, now, "older"), _when(newer, now, "newer"), both=True)]
    rows.append(_heading("Goal"))
    if change.goal_changed:
        rows.append(
            _pair(("goal",), _line(change.older_goal, GONE), _line(change.newer_goal, ADDED), both=True)
        )
    else:
        rows.append(_pair(("goal",), _line(change.older_goal, SAME), _line(change.newer_goal, SAME)))
    for name, title in TITLES.items():
        part: ListChange = getattr(change, name)
        if part.kept or part.added or part.gone:
            dropped = frozenset(change.dropped) if name == "next_steps" else None
            rows.append(_heading(title, _remark(part, dropped)))
            rows += _changes(name, part, dropped)
    return rows


def _remark(part: ListChange, dropped: frozenset[str] | None) -> str:
    """How many lines of each sort; of next steps (`dropped` is given) what is not there any more is done."""
    done = 0 if dropped is None else sum(text not in dropped for text in part.gone)
    reworded = sum(each.reworded for each in part.kept)
    counts = (
        (len(part.kept) - reworded, "kept"),
        (reworded, "reworded"),
        (len(part.added), "added"),
        (done, "done"),
        (len(part.gone) - done, "gone"),
    )
    return ", ".join(f"{count} {word}" for count, word in counts if count)


def _changes(name: str, part: ListChange, dropped: frozenset[str] | None) -> list[DeskRow]:
    rows: list[DeskRow] = []
    for at, each in enumerate(part.kept):
        mark = REWORDED if each.reworded else SAME
        rows.append(
            _pair((name, "kept", at), _line(each.older, mark), _line(each.newer, mark), both=each.reworded)
        )
    for at in range(max(len(part.gone), len(part.added))):
        left = _gone(part.gone[at], dropped) if at < len(part.gone) else ()
        right = _line(part.added[at], ADDED) if at < len(part.added) else ()
        rows.append(_pair((name, "changed", at), left, right, both=True))
    return rows


def _gone(text: str, dropped: frozenset[str] | None) -> tuple[Block, ...]:
    """A line that the newer checkpoint has not; of next steps (`dropped` is given) it is said why."""
    if dropped is None:
        return _line(text, GONE, "dim")
    if text not in dropped:
        return (*_line(text, Span("✓", "success"), "dim"), note("done", indent=3))
    said = Paragraph("dropped: neither done nor kept", indent=3, role="error")
    return (*_line(text, Span("⊘", "error"), "dim"), said)


def _line(text: str, mark: Span, role: Role = "text") -> tuple[Block, ...]:
    return (Paragraph(text, mark=mark, indent=1, role="dim" if mark is SAME else role),)


def _when(each: PastCheckpoint, now: datetime, which: str) -> tuple[Block, ...]:
    return (
        Paragraph((Span(f"{which}  ", "dim"), Span(ago(each.recorded_at, now), "strong"))),
        note(f"{each.agent} · position {number(each.position)}"),
    )


def _heading(title: str, remark: str = "") -> DeskRow:
    return DeskRow(("heading", title), (Blank(), Heading(title, remark)))


def _pair(
    key: tuple[object, ...], left: tuple[Block, ...], right: tuple[Block, ...], *, both: bool = False
) -> DeskRow:
    """Two columns; in one column both of them where they differ, else the newer alone."""
    return DeskRow(key, (*left, *right) if both else right, pair=(left, right))
