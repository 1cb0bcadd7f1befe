"""One job as a document: how far it is, what it did, what went wrong and what helps."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, tzinfo
from pathlib import Path

from workbench.tui.document import Blank, Block, Fields, Heading, Paragraph, note
from workbench.tui.hints import tui_hint
from workbench.tui.jobs.words import STOPPING, amount, bar, left, mark_of, pace, percent, state_of, took
from workbench.tui.present import Line, Span, ago, exact, number
from workbench.workspace.jobs.processes import Process
from workbench.workspace.jobs.rows import JobRow

_BAR = 20
_MARKS = {
    "critical": Span("✕", "error"),
    "warning": Span("!", "warning"),
    "info": Span("·", "dim"),
    "mended": Span("✓", "success"),
    "problem": Span("!", "warning"),
}
"""By the word that begins a line of an outcome."""


def job_blocks(row: JobRow, *, now: datetime, zone: tzinfo, log_file: str, root: Path) -> list[Block]:
    """Everything that is known of a job; `log_file` is where the program writes down unforeseen errors.

    Commands in what helps are for the workspace at `root`.
    """
    mark = mark_of(row)
    if row.running:
        state = f"{state_of(row)} · begun {ago(row.started_at, now)}"
    else:
        state = f"{state_of(row)} {ago(row.finished_at or row.started_at, now)}"
    blocks: list[Block] = [
        Paragraph((Span(row.title or row.kind, "strong"),), mark),
        Paragraph((Span(state, "dim"),), indent=2),
        Blank(),
    ]
    if row.running:
        blocks += [*_progress(row, now), Blank()]
    if row.error:
        blocks += [Heading("What went wrong", role="error"), Paragraph(row.error)]
        if row.hint:
            blocks.append(Paragraph(tui_hint(row.hint, root), Span("→", "accent")))
        blocks.append(Blank())
    if row.outcome:
        blocks += [Heading("Outcome"), *_outcome(row.outcome), Blank()]
    if not row.running and row.status != "done" and row.total:
        blocks += [Paragraph(_came(row), role="dim"), Blank()]
    blocks.append(Fields(tuple(_facts(row, now, zone, log_file))))
    return blocks


def _progress(row: JobRow, now: datetime) -> Iterable[Block]:
    if row.total:
        yield Paragraph((*bar(row, _BAR), Span(f"  {percent(row)}")))
    figures = [part for part in (amount(row), pace(row, now), left(row, now)) if part]
    if figures:
        yield note(" · ".join(figures).replace(" ", "\u00a0").replace("\u00a0·\u00a0", " · "))
    if row.note:
        yield Paragraph(row.note)
    if row.stop_asked:
        yield Paragraph(STOPPING, Span("▪", "warning"), role="dim")


def _came(row: JobRow) -> str:
    figures = " · ".join(part for part in (percent(row), amount(row)) if part)
    return f"It came to {figures}{f' · {row.note}' if row.note else ''}."


def _outcome(text: str) -> Iterable[Block]:
    first, *rest = text.split("\n")
    yield Paragraph(first)
    for line in rest:
        word, colon, said = line.partition(": ")
        count, _, session = line.partition(" ")
        if colon and word in _MARKS:
            if word not in ("mended", "problem"):
                # The mark's colour must not be the only thing that says how bad it is.
                said = f"{word} · {said}"
            yield Paragraph(said, _MARKS[word])
        elif line.startswith("→ "):
            yield Paragraph((Span(line[2:], "ink"),), Span("→", "accent"), 2)
        elif count.startswith("+") and count[1:].isdecimal():
            yield Paragraph(session, Span(f"+{number(int(count[1:]))}", "success"))
        elif line:
            yield note(line)


def _facts(row: JobRow, now: datetime, zone: tzinfo, log_file: str) -> Iterable[tuple[str, str | Line]]:
    yield "kind", row.kind
    yield "started", exact(row.started_at, zone)
    if row.finished_at is not None:
        yield "ended", exact(row.finished_at, zone)
    yield ("took" if row.finished_at is not None else "runs"), took(row, now)
    if row.status == "done" and amount(row):
        yield "read" if row.unit == "bytes" else "counted", amount(row)
    yield "process", _process(row)
    if row.lease:
        yield "alone", f"one job of “{row.lease}” at a time"
    yield "job", (Span(number(row.id) if row.recorded else "not recorded in the workspace", "dim"),)
    if row.status == "failed":
        yield "log", (Span(log_file, "dim"),)


def _process(row: JobRow) -> str:
    process = Process.from_text(row.process)
    if process is None:
        return "unknown"
    if row.mine:
        return "this program"
    return f"{process.pid} on {process.host}"
