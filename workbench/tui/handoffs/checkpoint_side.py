"""The side of a hand-off that shows its checkpoint: what is new, stands, was dropped, lacks evidence."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from workbench.memory.events import Evidence
from workbench.memory.handoff_views import CheckpointDetail, Claim, Handoff
from workbench.memory.views import Checkpoint, FactChange, Review
from workbench.tui.document import Blank, Block, Heading, Paragraph, note
from workbench.tui.handoffs.desk_rows import DeskRow, FactPick, FilePick, LinePick, WholePick
from workbench.tui.handoffs.handoff_rows import VERDICT_SPANS
from workbench.tui.in_shell import here
from workbench.tui.present import Line, Role, Span, ago, counted, number, one_line

TITLES = {
    "completed": "Completed",
    "verification": "Verification",
    "open_questions": "Open questions",
    "next_steps": "Next steps",
}
_MARKS = {
    "completed": Span("✓", "success"),
    "open_questions": Span("?", "warning"),
    "next_steps": Span("→", "accent"),
}
BACKED, BARE = Span("■", "success"), Span("□", "error")
DROPPED = Span("⊘", "error")
_INDENT = 1
_UNDER = 4
"""Cells before what is said about a line."""
_NAMED = 60
_TITLE = 300
"""Characters of a goal up to which it stands out."""
_VALUE = 200
"""Characters of a fact's value."""


def moment(text: str) -> datetime:
    """A time as views give it."""
    return datetime.fromisoformat(text)


def digest_words(digest: str) -> str:
    """A digest, short enough to be read."""
    return f"{digest[:4]}…{digest[-2:]}"


def verdict_blocks(review: Review, now: datetime, indent: int = 0) -> tuple[Block, ...]:
    """A verdict: what, by whom, when, and the comment under it."""
    mark = VERDICT_SPANS.get(review.verdict, Span("·", "dim"))
    said = f"{review.verdict} by {review.reviewer}, {ago(moment(review.recorded_at), now)}"
    head = Paragraph(((Span(said, mark.role)),), mark=mark, indent=indent)
    if not review.comment:
        return (head,)
    return (head, Paragraph(review.comment, indent=indent + 2, role="text"))


def ordinal(at: int) -> str:
    """`1st`, `2nd`, `11th`."""
    ending = "th" if 10 <= at % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(at % 10, "th")
    return f"{number(at)}{ending}"


def alarm_words(row: Handoff) -> list[str]:
    """What about the checkpoint needs a look, in words."""
    alarms = row.alarms
    found = [
        (alarms.claims, counted(alarms.claims, "claim") + " without evidence"),
        (alarms.missing, counted(alarms.missing, "file") + " missing"),
        (alarms.standing, counted(alarms.standing, "question") + " carried over"),
        (alarms.dropped, counted(alarms.dropped, "step") + " dropped"),
        (alarms.disputed, counted(alarms.disputed, "fact") + " disputed"),
        (alarms.quarantined, counted(alarms.quarantined, "entry", "entries") + " withheld"),
    ]
    return [words for count, words in found if count]


def head_row(row: Handoff, detail: CheckpointDetail | None, now: datetime, root: Path) -> DeskRow:
    """The goal, who handed off when, the verdict, and what needs a look."""
    if row.unreadable:
        return DeskRow("whole", _unreadable(row, root), WholePick(row.position))
    goal = row.goal
    if detail is not None and isinstance(detail.carrier.checkpoint, Checkpoint):
        goal = detail.carrier.checkpoint.goal
    which = "" if detail is None else f" · {ordinal(detail.number)} of {number(detail.of)}"
    about = f"{row.agent} · {ago(row.recorded_at, now)}{which} · position {number(row.position)}"
    # A whole page in bold is no title any more.
    role: Role = "strong" if len(goal) <= _TITLE else "ink"
    blocks: list[Block]
    if "\n" in goal:
        blocks = [note("Goal"), Paragraph(goal, role=role), note(about)]
    else:
        blocks = [Paragraph((Span("Goal  ", "dim"), Span(goal, role))), note(about)]
    if row.status:
        blocks.append(Paragraph((Span("task.status is ", "dim"), Span(row.status, "text"))))
    if row.quarantined:
        blocks.append(Paragraph("withheld from agents", mark=Span("⊘", "warning"), role="warning"))
    elif row.private:
        blocks.append(Paragraph("private: agents do not see it", mark=Span("⊘", "warning"), role="warning"))
    review = row.review if detail is None else detail.review
    if review is not None and review.item is None:
        blocks += [Blank(), *verdict_blocks(review, now)]
    words = alarm_words(row)
    if words:
        blocks += [Blank(), Paragraph(" · ".join(words), mark=Span("!", "warning"), role="warning")]
    return DeskRow("whole", tuple(blocks), WholePick(row.position))


def _unreadable(row: Handoff, root: Path) -> tuple[Block, ...]:
    return (
        Paragraph("The stored checkpoint cannot be read", mark=Span("✗", "error"), role="error"),
        note(row.unreadable, indent=2),
        Blank(),
        note("What is damaged, and what can be done about it, says:"),
        Paragraph(here("workbench doctor", root), indent=2, role="ink"),
    )


def checkpoint_rows(
    row: Handoff, detail: CheckpointDetail | None, now: datetime, root: Path
) -> list[DeskRow]:
    """The rows of the side; without a detail, what the list knows already. `root` is the workspace's."""
    rows = [head_row(row, detail, now, root)]
    if detail is None or not isinstance(detail.carrier.checkpoint, Checkpoint):
        return rows
    lines = _Lines(row, detail, now)
    steps = lines.section("next_steps")
    rows += [*lines.section("completed"), *lines.verification(), *lines.section("open_questions"), *steps]
    rows += [*_dropped(detail, headed=bool(steps)), *_missing(detail, row), *_facts(detail)]
    if detail.disputed:
        rows.append(_heading("Disputed facts", "rejected, and not replaced by an agent yet"))
        mark = Span("✗", "warning")
        rows += [
            DeskRow(("disputed", slot), (Paragraph(slot, mark=mark, indent=_INDENT),))
            for slot in detail.disputed
        ]
    if detail.withheld:
        said = f"{counted(detail.withheld, 'entry', 'entries')} since the last review"
        rows.append(_heading("Withheld from agents", said))
    return rows


class _Lines:
    """Makes the rows of a checkpoint's lists."""

    def __init__(self, row: Handoff, detail: CheckpointDetail, now: datetime) -> None:
        self._row = row
        self._detail = detail
        self._now = now
        self._judged = {(each.where, each.line): each.review for each in detail.lines}

    def section(self, where: str) -> list[DeskRow]:
        """The heading of a list and its lines; nothing of an empty one."""
        lines: list[str] = getattr(self._detail.carrier.checkpoint, where)
        if not lines:
            return []
        rows = [_heading(TITLES[where], self._counted(where, len(lines)))]
        for at, text in enumerate(lines):
            under = _standing(self._detail.questions[at]) if where == "open_questions" else []
            rows.append(self._line(where, at, text, _MARKS[where], under))
        return rows

    def verification(self) -> list[DeskRow]:
        """The claims, each with its evidence."""
        checkpoint = self._detail.carrier.checkpoint
        assert isinstance(checkpoint, Checkpoint)
        if not checkpoint.verification:
            said = "nothing is said to have been checked"
            return [_heading(TITLES["verification"], said)] if checkpoint.completed else []
        bare = sum(not claim.backed for claim in self._detail.claims)
        said = self._counted("verification", len(self._detail.claims))
        rows = [_heading(TITLES["verification"], f"{said} · {bare} without evidence" if bare else said)]
        for at, claim in enumerate(self._detail.claims):
            mark = BACKED if claim.backed else BARE
            rows.append(self._line("verification", at, claim.text, mark, _evidence(claim), claim.files))
        return rows

    def _lines_of(self, where: str) -> int:
        return len(getattr(self._detail.carrier.checkpoint, where))

    def _counted(self, where: str, lines: int) -> str:
        fresh = len(self._detail.new[where])
        if self._detail.previous is None or not fresh:
            return str(lines)
        if lines == 1:
            return "1 · new"
        return f"{lines} · {'all' if fresh == lines else fresh} new"

    def _line(
        self,
        where: str,
        at: int,
        text: str,
        mark: Span,
        under: Sequence[Block],
        files: tuple[Evidence, ...] = (),
    ) -> DeskRow:
        new = self._detail.new[where]
        # Where all of them are, the heading says so.
        marked = self._detail.previous is not None and len(new) < self._lines_of(where)
        is_new = marked and at in new
        spans: Line = (Span(text, "text"), Span("   new", "accent")) if is_new else (Span(text, "text"),)
        lines: list[Block] = [Paragraph(spans, mark=mark, indent=_INDENT)]
        if "\n" in text:
            lines = [Paragraph(text, mark=mark, indent=_INDENT)]
            lines += [Paragraph("new", indent=_UNDER, role="accent")] if is_new else []
        review = self._judged.get((where, at))
        said = () if review is None else verdict_blocks(review, self._now, _UNDER)
        return DeskRow(
            (where, at, text),
            (*lines, *under, *said),
            LinePick(where, at, text, self._row.observation, files, self._row.position),
        )


def _heading(title: str, remark: str = "") -> DeskRow:
    return DeskRow(("heading", title), (Blank(), Heading(title, remark)))


def _evidence(claim: Claim) -> list[Block]:
    if not claim.backed:
        return [Paragraph("no evidence", indent=_UNDER, role="error")]
    return [note(evidence_words(item), indent=_UNDER) for item in claim.files[:2]]


def evidence_words(item: Evidence) -> str:
    """A source file in one line: what became of it, its name, its digest."""
    name = one_line(item.path.rpartition("/")[2] or item.path, _NAMED)
    digest = f" {digest_words(item.sha256)}" if isinstance(item.sha256, str) else ""
    return f"evidence {item.status.replace('_', ' ')}: {name}{digest}"


def _standing(age: int) -> list[Block]:
    if age < 2:
        return []
    return [Paragraph(f"stands for {age} checkpoints", indent=_UNDER, role="warning")]


def _dropped(detail: CheckpointDetail, *, headed: bool) -> list[DeskRow]:
    if detail.previous is None or not detail.previous.dropped:
        return []
    said = Paragraph("dropped: planned before, neither done nor kept", indent=_UNDER, role="error")
    rows = [] if headed else [_heading(TITLES["next_steps"], "0")]
    for at, step in enumerate(detail.previous.dropped):
        # It stands in the checkpoint before: there is no line here that a verdict could name.
        rows.append(
            DeskRow(("dropped", at, step), (Paragraph(step, mark=DROPPED, indent=_INDENT, role="dim"), said))
        )
    return rows


def _missing(detail: CheckpointDetail, row: Handoff) -> list[DeskRow]:
    if not detail.missing:
        return []
    remark = "named since the checkpoint before" if detail.previous is not None else ""
    rows = [_heading("Missing files", remark)]
    for at, item in enumerate(detail.missing):
        blocks = (
            Paragraph(item.path, mark=Span("✗", "error"), indent=_INDENT),
            Paragraph(item.status, indent=_UNDER, role="error"),
        )
        rows.append(DeskRow(("missing", at, item.path), blocks, FilePick(item, row.observation)))
    return rows


def _facts(detail: CheckpointDetail) -> list[DeskRow]:
    if not detail.facts:
        return []
    remark = "since the checkpoint before" if detail.previous is not None else ""
    rows = [_heading("Facts changed", remark)]
    for change in detail.facts:
        rows.append(fact_row(change, [detail.replaced[each] for each in change.replaced]))
    return rows


def fact_row(change: FactChange, before: Sequence[str]) -> DeskRow:
    """A fact that was asserted: its slot, what it said before and says now."""
    fact = change.fact
    mark = Span("↻", "accent") if before else Span("+", "accent")
    said: list[Span] = [Span(fact.slot, "text"), Span("   ", "text")]
    if before:
        said += [Span(one_line(before[0], _VALUE), "dim"), Span(" → ", "faint")]
    said.append(Span(one_line(fact.value, _VALUE), "ink"))
    about = f"{fact.kind} · {fact.agent}{'' if change.current else ' · replaced since'}"
    blocks: list[Block] = [Paragraph(tuple(said), mark=mark, indent=_INDENT), note(about, indent=_UNDER)]
    if fact.disputed:
        blocks.append(Paragraph("disputed", mark=Span("✗", "warning"), indent=_UNDER, role="warning"))
    return DeskRow(
        ("fact", fact.id), tuple(blocks), FactPick(fact.id, fact.position, f"{fact.slot} = {fact.value}")
    )
