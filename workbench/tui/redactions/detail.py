"""The sides of the detail as documents: the text around a redaction, kinds over time, backups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.tui.document import Blank, Block, Fields, Heading, Paragraph, note
from workbench.tui.present import (
    ELLIPSIS,
    Line,
    Span,
    ago,
    counted,
    exact,
    fit,
    number,
    one_line,
    size,
    split_lines,
)
from workbench.tui.redactions.markers import marked
from workbench.tui.redactions.over_time import OverTime, day_text
from workbench.tui.redactions.redaction_rows import SCRUBBED
from workbench.tui.redactions.report_blocks import backup_blocks
from workbench.tui.timeline.strip import bar, levels
from workbench.workspace.readers.redaction_queries import Context
from workbench.workspace.rows import RedactionRow

if TYPE_CHECKING:
    from workbench.workspace.redactions.backups import BackupState

CONTEXTS = 20
"""Markers whose surroundings are shown; more are counted."""
_BAR = Span("▎", "faint")
_KIND = 22
_COUNT = 7
_LABEL = 10
"""Cells before the value of a field."""
_LEAST_TITLE = 10


class CopyFile(NamedTuple):
    """A copy of the database, before anybody has looked into it."""

    path: Path
    octets: int


def redaction_blocks(
    row: RedactionRow, contexts: Sequence[Context] | None, *, now: datetime, zone: tzinfo, width: int
) -> list[Block]:
    """What was removed, the text around it, and where and when; `contexts` is None while it is read.

    What a session is called is cut to one line of `width` cells: it may be its whole first prompt.
    """
    what = Span(f"{number(row.count)} × " if row.count > 1 else "", "strong")
    blocks: list[Block] = [
        Paragraph((what, Span(row.kind, "strong"), Span(f"  {ago(row.noted_at, now)}", "dim"))),
        Blank(),
        *_around(row, contexts),
        Fields(tuple(_facts(row, zone, max(_LEAST_TITLE, width - _LABEL)))),
    ]
    return blocks


def _around(row: RedactionRow, contexts: Sequence[Context] | None) -> Iterable[Block]:
    if contexts is None:
        yield note(ELLIPSIS)
        yield Blank()
        return
    for group in _groups(contexts):
        for line in _lines(group):
            yield Paragraph(line or "", _BAR, every_line=True)
        yield Blank()
    if not contexts:
        yield note(_nothing(row))
        yield Blank()
    elif row.count > len(contexts):
        yield note(f"and {number(row.count - len(contexts))} more in this field")
        yield Blank()


def _groups(contexts: Sequence[Context]) -> list[list[Context]]:
    """Those that stand in one stretch of text together."""
    groups: list[list[Context]] = []
    for context in contexts:
        if context.joined and groups:
            groups[-1].append(context)
        else:
            groups.append([context])
    return groups


def _lines(group: Sequence[Context]) -> Iterable[Line]:
    """A stretch of text line by line, the markers that it is shown for standing out."""
    pieces: list[Span] = [Span(ELLIPSIS if group[0].cut_before else "", "faint")]
    for context in group:
        pieces += (*_quiet(context.before), Span(context.marker, "warning"), *_quiet(context.after))
    pieces.append(Span(ELLIPSIS if group[-1].cut_after else "", "faint"))
    line: list[Span] = []
    for text, role in pieces:
        first, *others = split_lines(text)
        line.append(Span(first, role))
        for other in others:
            yield tuple(span for span in line if span.text)
            line = [Span(other, role)]
    yield tuple(span for span in line if span.text)


def _quiet(text: str) -> Line:
    return marked(text, "code", "dim")


def _nothing(row: RedactionRow) -> str:
    if not row.position:
        return "It stood in no event, so there is no text around it to show."
    return "The field does not hold this marker any more."


def _facts(row: RedactionRow, zone: tzinfo, title: int) -> Iterable[tuple[str, str | Line]]:
    if row.position:
        yield "event", number(row.position)
        yield "field", row.field
    else:
        yield "place", row.field
    if row.chronicum_id:
        yield "session", one_line(row.title, title) or row.chronicum_id
        if row.title:
            yield "", (Span(row.chronicum_id, "dim"),)
    elif row.stream:
        yield "stream", row.stream
    if row.actor:
        yield "actor", row.actor
    if row.occurred_at is not None:
        yield "happened", exact(row.occurred_at, zone)
    yield "noted", exact(row.noted_at, zone)
    if row.scrubbed:
        yield "scrubbed", (SCRUBBED, Span(f" found later; event {number(row.noted)} says so", "text"))
    yield "filter", (Span(row.filter_version, "dim"),)


def kinds_blocks(over: OverTime | None, narrowed: str, width: int) -> list[Block]:
    """How much of each kind was removed, and when; `narrowed` says what the list is narrowed to."""
    if over is None:
        return [note("Nothing was removed." if not narrowed else f"Nothing was removed: {narrowed}.")]
    remark = f"{counted(over.secrets, 'secret')} of {counted(len(over.kinds), 'kind')}"
    blocks: list[Block] = [Heading("Kinds", remark)]
    if narrowed:
        blocks.append(note(narrowed))
    blocks.append(Blank())
    widest = min(_KIND, max(len(kind) for kind in over.kinds), max(8, width // 2))
    bars = _merged(over, max(4, width - widest - _COUNT - 2))
    for kind, counts in bars.items():
        drawn = "".join(
            bar(level, 0) if count else "·" for level, count in zip(levels(counts, 1), counts, strict=True)
        )
        blocks.append(
            Paragraph(
                (
                    Span(fit(kind, widest), "ink"),
                    Span("  "),
                    Span(drawn, "dim"),
                    Span(fit(number(sum(counts)), _COUNT, "right"), "text"),
                )
            )
        )
    first, last = day_text(over.first), day_text(over.last)
    gap = len(next(iter(bars.values()))) - len(first) - len(last)
    apart = f"{' ' * (widest + 2)}{first}{' ' * gap}{last}"
    under = apart if gap > 1 else f"from {first} to {last}"
    blocks += [*([] if gap > 1 else [Blank()]), Paragraph((Span(under, "faint"),))]
    return blocks


def _merged(over: OverTime, room: int) -> dict[str, tuple[int, ...]]:
    """The bars of each kind, as few of them as there is room for; all end with the last one."""
    each = -(-len(over.total) // room)
    if each <= 1:
        return over.kinds
    ends = range(len(over.total), 0, -each)
    return {
        kind: tuple(sum(counts[max(0, end - each) : end]) for end in reversed(ends))
        for kind, counts in over.kinds.items()
    }


def backups_blocks(
    files: Sequence[CopyFile] | None,
    states: Sequence[BackupState] | None,
    looked: str,
    *,
    root: Path,
    key: str,
    looking: str,
) -> list[Block]:
    """The copies of the database; `states` is what was found out, `looked` how long ago.

    `looking` says how far a look is.

    `key` looks into them.
    """
    if files is None:
        return [note(ELLIPSIS)]
    if not files:
        return [
            Heading("Backups", "none"),
            Blank(),
            note("No copy of the database lies in the workspace: nothing from before a scrub is kept there."),
        ]
    there = {each.path for each in files}
    states = [state for state in states or () if state.path in there]
    known = {state.path for state in states}
    blocks: list[Block] = []
    if states and looked:
        blocks += [*backup_blocks(states, root), Blank()]
        blocks.append(note(f"Looked into {looked}, with today's filter."))
    fresh = [each for each in files if each.path not in known]
    if fresh:
        title = "Backups" if not known else "Not looked into yet"
        blocks += [*([Blank()] if blocks else []), Heading(title, number(len(fresh)))]
        for each in fresh:
            name = str(each.path.relative_to(root)) if each.path.is_relative_to(root) else str(each.path)
            blocks.append(
                Paragraph((Span(name, "ink"), Span(f"  {size(each.octets)}", "dim")), Span("?", "warning"))
            )
    again = " again" if known else ""
    if looking:
        blocks += [Blank(), note(looking)]
    else:
        blocks += [
            Blank(),
            Paragraph(
                (
                    Span(key, "accent"),
                    Span(f" looks{again} whether they hold what today's filter takes out.", "dim"),
                )
            ),
        ]
    return blocks
