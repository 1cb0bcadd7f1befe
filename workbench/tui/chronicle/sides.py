"""What the sides of the detail say: an anchor with its prose, generations, how far a chronicle is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from workbench.chronicle.sections import Section
from workbench.log.times import from_micros
from workbench.tui.chronicle.comparison import comparison_blocks
from workbench.tui.chronicle.node_rows import MARKED, WITHHELD
from workbench.tui.chronicle.nodes import OpenNode
from workbench.tui.chronicle.words import pin_words, range_words, stream_title
from workbench.tui.document import Blank, Block, Fields, Heading, Paragraph, note
from workbench.tui.present import Line, Span, ago, counted, exact, number, one_line

if TYPE_CHECKING:
    from workbench.chronicle.consolidator import Lag
    from workbench.workspace.readers.chronicle_queries import StreamRow

_PINS = 4
_FIELD = 15
"""Cells of the names of fields, and of the gaps around them."""
_MINUTE = len("2026-03-04 12:33")
_NAME = 60
ADVISORY = "advisory: check its events"


@dataclass(frozen=True, slots=True)
class Look:
    """Ages are counted from `now`; exact times are shown in `zone`; `keys` are what the person presses."""

    now: datetime
    zone: tzinfo = UTC
    keys: dict[str, str] = field(default_factory=dict)
    width: int = 80
    short: bool = False
    """There is room for a few lines only."""

    def key(self, action: str) -> Span:
        """What is pressed for an action."""
        return Span(self.keys.get(action, "?"), "accent")


class Told(NamedTuple):
    """What the prose side shows of a section."""

    section: Section
    current: bool
    withheld: bool
    closed: bool = True
    """Whether its unit is an event that closes anything."""


class Behind(NamedTuple):
    """How far a chronicle is, and who would go on with it."""

    lag: Lag
    closes: bool
    """Whether anything closes a stretch in this kind of stream."""
    holes: Sequence[tuple[int, int]]
    """The first of them."""
    hole_count: int
    summarizer: str
    trusted: bool
    trusting: str
    """The command that says that it may be used."""


def anchor_blocks(told: Told, look: Look) -> list[Block]:
    """What is exact of a section: its range, what closed it, what it supersedes, how it came about."""
    section, anchor, written = told.section, told.section.anchor, told.section.written
    events = anchor.to_seq - anchor.from_seq + 1
    if look.short:
        return [*_short(told, look), Heading("Prose", ADVISORY, role="warning")]
    rows: list[tuple[str, str | Line]] = [
        (
            "section",
            (Span(anchor.section_id, "text"), Span("" if told.current else "  superseded", "warning")),
        ),
        _ending(told, "event "),
    ]
    if anchor.supersedes:
        rows.append(("supersedes", anchor.supersedes))
    rows.append(("written", _when(section, look)))
    where = f"  at position {number(written.position)}" if written.position else ""
    rows.append(("by", (*_by(section), Span(where, "dim"))))
    rows.append(("pins", _pins(section.pins)))
    blocks: list[Block] = [
        Heading(
            f"Events {range_words(anchor.from_seq, anchor.to_seq)}"
            if events > 1
            else f"Event {number(anchor.to_seq)}",
            counted(events, "event") if events > 1 else "",
        ),
        Fields(rows),
    ]
    if told.withheld:
        said = "withheld from agents: something in its events was hidden after it was written"
        blocks.append(Paragraph(said, mark=WITHHELD, role="warning"))
        if told.current:
            again: Line = (look.key("chronicle.again"), Span(" writes it again, without that", "dim"))
            blocks.append(Paragraph(again, indent=2))
    if written.position == 0 and not written.summarizer:
        blocks.append(note("It came from a file, or was written by hand: by what, nobody noted."))
    return [*blocks, Blank(), Heading("Prose", ADVISORY, role="warning")]


def prose_blocks(prose: str) -> list[Block]:
    """The prose as Markdown, which means nothing here but a look."""
    from workbench.tui.markdown_lines import markdown_blocks

    return markdown_blocks(prose) or [note("The prose is empty.")]


def stream_blocks(row: StreamRow, look: Look, *, past: bool) -> list[Block]:
    """A stream as a whole, above what an agent would be told of it."""
    rows: list[tuple[str, str | Line]] = [("stream", row.stream), ("events", number(row.last_seq))]
    if not past:
        rows.append(("sections", number(row.sections)))
        rows.append(("consolidated", f"up to event {number(row.consolidated_through)}"))
        rows.append(("behind", _behind(row)))
    blocks: list[Block] = [Heading(stream_title(row), row.kind), Fields(rows)]
    if row.withheld:
        said = f"{counted(row.withheld, 'section')} withheld from agents"
        blocks.append(Paragraph(said, mark=WITHHELD, role="warning"))
    if past:
        return [*blocks, Blank(), note("What an agent would be told is about now only.")]
    return [*blocks, Blank(), Heading("What an agent is told", "its prose is advisory")]


def open_blocks(node: OpenNode, look: Look) -> list[Block]:
    """The events that no section stands for."""
    events = counted(node.last - node.first + 1, "event")
    title = Heading(f"Events {range_words(node.first, node.last)}", f"{events}, in no section")
    due: Line = (look.key("chronicle.consolidate"), Span(" writes up what is closed of them", "text"))
    if node.hole:
        said = (
            "A hole: sections stand on both sides. It was left by a stretch that could not be written up, or "
            "by a file that was loaded."
        )
        return [title, Paragraph(said), Blank(), Paragraph(due)]
    said = "Agents get these word for word, as far as there is room."
    if node.row.due_units:
        return [title, Paragraph(said), Blank(), Paragraph(due)]
    nothing = note("Nothing among them closes a stretch, so that nothing can be written up.")
    return [title, Paragraph(said), Blank(), nothing]


def generation_blocks(
    found: Sequence[Section], shown: str, marked: str, stream: str, look: Look
) -> list[Block]:
    """The generations of a range, and the shown one compared with the marked, else with its neighbour."""
    blocks: list[Block] = [
        Heading(f"Events {range_words(*found[0].anchor[1:3])}", counted(len(found), "generation"))
    ]
    for at, section in reversed(list(enumerate(found, 1))):
        name, current = section.anchor.section_id, at == len(found)
        mark = MARKED if name == marked else Span("●" if current else "○", "accent" if current else "dim")
        said: Line = (
            Span(f"#{at}", "ink" if name == shown else "text"),
            Span(f"  {name}", "strong" if name == shown else "dim"),
        )
        blocks.append(Paragraph(said, mark=mark, indent=1))
        blocks.append(Paragraph((*_when(section, look), Span("  by ", "dim"), *_by(section)), indent=3))
    if len(found) < 2:
        again: Line = (look.key("chronicle.again"), Span(" writes it again; this one stays.", "dim"))
        return [*blocks, Blank(), note("It was written once."), Paragraph(again)]
    first, second = _pair(found, shown, marked)
    older, newer = found[first], found[second]
    blocks += [
        Blank(),
        Heading(f"#{first + 1} → #{second + 1}", "line by line"),
        *comparison_blocks(older, newer),
    ]
    if len(found) > 2 and not marked:
        how: Line = (
            look.key("page.select"),
            Span(" on a row of the list marks what others are compared with", "dim"),
        )
        blocks += [Blank(), Paragraph(how)]
    return blocks


def _pair(found: Sequence[Section], shown: str, marked: str) -> tuple[int, int]:
    """Which two are compared, the older first."""
    names = [section.anchor.section_id for section in found]
    at = names.index(shown) if shown in names else len(names) - 1
    other = names.index(marked) if marked in names and marked != shown else (at - 1 if at else 1)
    return min(at, other), max(at, other)


def lag_blocks(row: StreamRow, behind: Behind, look: Look) -> list[Block]:
    """How far a chronicle is behind its stream, what closes next, and who would write it."""
    blocks: list[Block] = [Heading("Lag", stream_title(row))]
    lag = behind.lag
    rows: list[tuple[str, str | Line]] = [
        ("last event", number(lag.last_seq)),
        ("consolidated", f"up to event {number(lag.consolidated_through)}"),
        ("behind", counted(lag.events, "event")),
    ]
    blocks += [Fields(rows), Blank()]
    if lag.closes_next is not None:
        closing: Line = (
            Span("!", "warning"),
            Span(f" closes next: events {range_words(*lag.closes_next)}", "text"),
        )
        blocks.append(Paragraph(closing))
        how: Line = (look.key("chronicle.consolidate"), Span(" writes it up", "dim"))
        blocks.append(Paragraph(how, indent=2))
    elif lag.events:
        blocks.append(Paragraph("Nothing is closed that is in no section; the rest is still going on."))
    else:
        blocks.append(Paragraph((Span("✓", "success"), Span(" every event is in a section", "text"))))
    for first, last in behind.holes:
        blocks.append(Paragraph(f"hole: events {range_words(first, last)}", mark=Span("!", "warning")))
    if behind.hole_count > len(behind.holes):
        blocks.append(note(f"and {number(behind.hole_count - len(behind.holes))} more holes", indent=2))
    if not behind.closes:
        said = f"By the manifest's [chronicle.close] nothing closes a stretch in a {row.kind}."
        blocks.append(Paragraph(said, mark=Span("·", "dim")))
    blocks += [Blank(), Heading("Who writes"), Paragraph(one_line(behind.summarizer, _NAME))]
    if not behind.trusted:
        said = "The manifest names it, and you have not said yet that it may be used."
        blocks.append(Paragraph(said, mark=Span("!", "warning"), role="warning"))
        blocks.append(Paragraph((Span("In a shell:", "dim"),), indent=2))
        blocks.append(Paragraph((Span(behind.trusting, "ink"),), indent=2))
    return blocks


def _behind(row: StreamRow) -> Line:
    if not row.lag_events:
        return (Span("✓", "success"), Span(" every event is in a section", "text"))
    events = Span(counted(row.lag_events, "event"), "text")
    if not row.due_units:
        return (events, Span(", not closed" if row.lag_events == 1 else ", none of them closed", "dim"))
    due = counted(row.due_units, "closed stretch", "closed stretches")
    return (events, Span(f", {due} to write up", "warning"))


def _when(section: Section, look: Look) -> Line:
    written = section.written
    said: list[Span] = []
    if written.at:
        when = from_micros(written.at)
        since, at = ago(when, look.now), exact(when, look.zone)
        # Where there is no room, seconds and zone are left out: the zone is that of the program.
        at = at if len(since) + len(at) + _FIELD <= look.width else at[:_MINUTE]
        said = [Span(since, "text"), Span(f"  {at}", "dim")]
    return tuple(said) or (Span("not known", "dim"),)


def _by(section: Section) -> Line:
    written = section.written
    by = " ".join(part for part in (written.summarizer, written.summarizer_version) if part)
    return (Span(one_line(by, _NAME), "text"),) if by else (Span("not known", "dim"),)


def _ending(told: Told, event: str = "") -> tuple[str, str]:
    """What closed the range; where nothing does, only where it ends: the rest of a hole."""
    anchor = told.section.anchor
    if told.closed:
        return "closed by", f"{event}{number(anchor.unit)}"
    return "ends with", f"{event}{number(anchor.to_seq)}"


def _short(told: Told, look: Look) -> list[Block]:
    """An anchor in two lines."""
    section, anchor = told.section, told.section.anchor
    said = [anchor.section_id, " ".join(_ending(told))]
    if not told.current:
        said.append("superseded")
    if section.written.at:
        said.append(ago(from_micros(section.written.at), look.now))
    said += [one_line(section.written.summarizer, _NAME)] if section.written.summarizer else []
    said += [counted(len(section.pins), "draw")] if section.pins else []
    blocks: list[Block] = [
        Heading(f"Events {range_words(anchor.from_seq, anchor.to_seq)}"),
        note(" · ".join(said)),
    ]
    if told.withheld:
        blocks.append(Paragraph("withheld from agents", mark=WITHHELD, role="warning"))
    return blocks


def _pins(pins: Sequence[str]) -> Line:
    if not pins:
        return (Span("none drawn", "dim"),)
    named = ", ".join(map(pin_words, pins[:_PINS]))
    more = f"  and {number(len(pins) - _PINS)} more" if len(pins) > _PINS else ""
    return (Span(counted(len(pins), "draw"), "text"), Span(f"  {named}{more}", "dim"))
