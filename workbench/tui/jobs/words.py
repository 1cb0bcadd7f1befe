"""A job in words and marks: how far it is, how fast, and what became of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from workbench.tui.present import Line, Span, age, number, size
from workbench.workspace.jobs.outcomes import WELL
from workbench.workspace.jobs.rows import JobRow

_TROUBLE = ("critical: ", "warning: ", "problem: ")
"""Begin the lines of an outcome that say what is not as it should be."""
_WOULD_GO = re.compile(r"[1-9][\d\s]* secrets? would be removed")
"""Begins the outcome of a look that found secrets; thousands stand apart."""
STOPPING = "stopping after the transaction it is in"
_LEAST_SECONDS = 2.0
"""Before, a pace says nothing."""
_LONGEST_LEFT = 100 * 86_400


def mark_of(row: JobRow) -> Span:
    """The mark that stands before a job in every list."""
    if row.running:
        return Span("▪", "warning") if row.stop_asked else Span("▸", "accent")
    if found_something(row):
        return Span("!", "warning")
    marks = {"done": Span("✓", "success"), "failed": Span("✕", "error"), "stopped": Span("■", "warning")}
    return marks[row.status]


def found_something(row: JobRow) -> bool:
    """Whether a job did its work and found what needs a person."""
    if row.status != "done":
        return False
    first, *lines = row.outcome.split("\n")
    if row.kind == "doctor":
        return not first.startswith(WELL)
    if row.kind == "rescan" and _WOULD_GO.match(first):
        return True
    return any(line.startswith(_TROUBLE) for line in lines)


def state_of(row: JobRow) -> str:
    """What a job is doing or became, in a word."""
    return "stopping" if row.running and row.stop_asked else row.status


def share(row: JobRow) -> float | None:
    """The part that is done, 0 to 1; None where the whole is not known."""
    return min(1.0, max(0.0, row.done / row.total)) if row.total else None


def percent(row: JobRow) -> str:
    """`34 %`, or nothing where the whole is not known."""
    part = share(row)
    return "" if part is None else f"{int(100 * part)} %"


def bar(row: JobRow, width: int) -> Line:
    """A bar of `width` cells; empty where the whole is not known."""
    filled = round((share(row) or 0.0) * width)
    return Span("█" * filled, "accent"), Span("░" * (width - filled), "faint")


def amount(row: JobRow) -> str:
    """What is done of how much, in what the job counts; nothing where that means nothing.

    A job that is done did all that there was, whatever it had counted when it said so last.
    """
    if row.unit == "parts" or not row.done:
        return ""
    whole = None if row.status == "done" or row.total == row.done else row.total
    if row.unit == "bytes":
        return f"{size(row.done)}{f' of {size(whole)}' if whole else ''}"
    return f"{number(row.done)}{f' of {number(whole)}' if whole else ''} {row.unit}"


def pace(row: JobRow, now: datetime) -> str:
    """How fast it goes: `410 KB/s`; nothing before that can be told."""
    seconds = _seconds(row, now)
    if row.unit == "parts" or not row.done or seconds < _LEAST_SECONDS:
        return ""
    each = row.done / seconds
    if row.unit == "bytes":
        return f"{size(round(each))}/s"
    return f"{number(round(each))} {row.unit}/s"


def left(row: JobRow, now: datetime) -> str:
    """How long it will go on if it goes on as it did: `2 min left`."""
    seconds = _seconds(row, now)
    if not row.running or not row.total or not row.done or seconds < _LEAST_SECONDS:
        return ""
    remaining = (row.total - row.done) * seconds / row.done
    if not 1 <= remaining < _LONGEST_LEFT:
        return ""
    return f"{_span(remaining)} left"


def took(row: JobRow, now: datetime) -> str:
    """How long it ran, or has run."""
    end = row.finished_at or now
    return _span((end - row.started_at).total_seconds())


def said(row: JobRow) -> str:
    """What a list says of a job that has ended: its error, else its outcome."""
    if row.status == "failed":
        return row.error or "failed"
    if row.status == "stopped":
        return f"stopped · {row.summary}" if row.summary else "stopped"
    return row.summary or "done"


def footer_text(rows: Sequence[JobRow], others: Sequence[str] = ()) -> str:
    """What this program runs, for the footer; `others` are titles of what is no job of a workspace."""
    titles = [f"{row.kind} {'stopping' if row.stop_asked else percent(row)}".rstrip() for row in rows]
    titles += others
    if not titles:
        return ""
    return titles[0] if len(titles) == 1 else f"{titles[0]} and {number(len(titles) - 1)} more"


def _seconds(row: JobRow, now: datetime) -> float:
    # What another program has done is known as of its last word.
    until = now if row.mine else row.heartbeat_at
    return (until - row.started_at).total_seconds()


def _span(seconds: float) -> str:
    from datetime import UTC, timedelta
    from datetime import datetime as moment

    start = moment(2000, 1, 1, tzinfo=UTC)
    short = age(start, start + timedelta(seconds=max(0.0, seconds)))
    return "0 s" if short == "now" else short
