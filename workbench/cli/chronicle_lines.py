"""Sections and streams as lines of text for a person; everything in them is made visible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from workbench.cli.errors import with_root
from workbench.cli.output import Column, line_width, table
from workbench.drawing import counted, exact, number, one_line, plain_prose, visible, wrap
from workbench.identity.builtins import DEFAULT_DOMAIN
from workbench.workspace.readers.chronicle_queries import HoleRow, RangeRow

if TYPE_CHECKING:
    from workbench.chronicle.sections import Anchor, Section, Written
    from workbench.cli.given import Given
    from workbench.log.pins.recording import Recording
    from workbench.workspace.chronicle.stream import Rebuilt
    from workbench.workspace.readers.chronicle_queries import ChronicleReader, StreamRow
    from workbench.workspace.rows import EventRow

_STREAMS = (
    Column("sections", "right"),
    Column("up to", "right"),
    Column("of", "right"),
    Column("lag", "right"),
    Column("closed", "right"),
    Column("withheld", "right"),
    Column("what", most=48, least=16),
    # Last, and never cut where it can be helped: it is what people copy.
    Column("stream"),
)
_SECTIONS = (
    Column("section", most=60),
    Column("events", "right"),
    Column("gen.", "right"),
    Column("written"),
    Column("by", most=16),
    Column("", most=10),
    Column("advisory prose"),
)
_BEGINNING = 300
"""Characters of prose that a list draws a line of."""
_NO_SECTION = "\u2013"
_LONGEST = 4000
_IDS = 20
"""Sections that are named after they were written; more are counted."""
_HEADERS = 20
_EMPTY = "—"
_UNWRITTEN = "this workspace cannot be written from here; agents get the events word for word"


class Lines:
    """Draws what a chronicle's reader gives, in the workspace's time zone."""

    def __init__(self, timezone: str, given: Given) -> None:
        """Take the command line’s options: printed commands name the workspace that it named."""
        self._timezone = timezone
        self._zone = ZoneInfo(timezone)
        self._given = given

    def streams(self, rows: Sequence[StreamRow], following: str | None, *, can_write: bool) -> Iterator[str]:
        """The list of streams; under it what writes up what is closed, where this user may write."""
        if not rows:
            yield "no streams with a chronicle"
            yield ""
            yield "tasks get one with their first checkpoint, sessions with their first closed unit, such as:"
            for line in ("workbench record --help", "workbench sessions close-unit --help"):
                # To be told how, nobody needs to name a workspace.
                yield f"  {line}"
            return
        yield from table(
            _STREAMS,
            (
                (
                    number(row.sections),
                    number(row.consolidated_through),
                    number(row.last_seq),
                    number(row.lag_events),
                    number(row.due_units) if row.due_units else _EMPTY,
                    number(row.withheld) if row.withheld else _EMPTY,
                    _scope(row),
                    row.stream,
                )
                for row in rows
            ),
        )
        due = sum(row.due_units for row in rows)
        if due:
            yield ""
            have = "has" if due == 1 else "have"
            command = with_root("workbench chronicle consolidate", self._given)
            what = f": {command}" if can_write else f"; {_UNWRITTEN}"
            yield visible(f"{counted(due, 'closed stretch', 'closed stretches')} {have} no section yet{what}")
        yield from _more(following)

    def sections(
        self,
        reader: ChronicleReader,
        stream: str,
        entries: Sequence[RangeRow | HoleRow],
        following: int | None,
        *,
        every: bool,
        first: bool,
        can_write: bool,
    ) -> Iterator[str]:
        """The list of a stream's sections; with `every`, older generations before the current one."""
        if not entries:
            yield one_line(f"no sections in {stream}" if first else "no more sections", _LONGEST)
            if first:
                yield ""
                command = with_root("workbench chronicle consolidate", self._given)
                helps = f"write up what is closed with: {command} --stream {quote(stream)}"
                yield visible(helps if can_write else _UNWRITTEN)
            return
        yield from table(_SECTIONS, self._section_rows(reader, stream, entries, every=every))
        yield from _more(following)

    def _section_rows(
        self, reader: ChronicleReader, stream: str, entries: Sequence[RangeRow | HoleRow], *, every: bool
    ) -> Iterator[tuple[str, ...]]:
        for row in entries:
            if isinstance(row, HoleRow):
                events = number(row.to_seq - row.from_seq + 1)
                told = f"no section tells the events {row.from_seq}\u2013{row.to_seq}"
                yield (_NO_SECTION, events, "", "", "", "hole", told)
                continue
            anchor = row.anchor
            count = number(anchor.to_seq - anchor.from_seq + 1)
            older: Sequence[Section] = ()
            if every and row.generations > 1:
                older = reader.generations(stream, anchor.from_seq, anchor.to_seq)[:-1]
            for generation, each in enumerate(older, 1):
                yield (
                    each.anchor.section_id,
                    count,
                    str(generation),
                    self._time(each.written),
                    each.written.summarizer,
                    "superseded",
                    plain_prose(each.prose[:_BEGINNING]),
                )
            yield (
                anchor.section_id,
                count,
                str(row.generation),
                self._time(row.written),
                row.written.summarizer,
                "withheld" if row.withheld else "",
                plain_prose(row.words),
            )

    def section(
        self, stream: str, found: Section, chain: Sequence[Section], *, withheld: bool, closed: bool
    ) -> Iterator[str]:
        """One section: the anchor, and apart from it the prose; `chain` are all generations of its range.

        `closed` says whether its unit is an event that closes anything.
        """
        anchor, written = found.anchor, found.written
        ids = [each.anchor.section_id for each in chain]
        at = ids.index(anchor.section_id)
        newer = ids[at + 1] if at + 1 < len(ids) else ""
        count = counted(anchor.to_seq - anchor.from_seq + 1, "event")
        by = " ".join(filter(None, (written.summarizer, written.summarizer_version)))
        known = (
            ("section", anchor.section_id),
            ("stream", stream),
            ("stands for", f"events {anchor.from_seq} to {anchor.to_seq} ({count})"),
            ("closed by", f"event {anchor.unit}") if closed else ("ends with", f"event {anchor.to_seq}"),
            ("supersedes", anchor.supersedes or ""),
            ("superseded by", newer),
            ("generation", f"{at + 1} of {len(ids)}" if len(ids) > 1 else ""),
            ("written", self._time(written) if written.at else ""),
            ("by", by),
            ("pins", "\n".join(found.pins[:_IDS])),
        )
        for name, value in known:
            for line in value.split("\n") if value else ():
                yield f"{name:<14}{one_line(line, _LONGEST)}"
                name = ""
        if len(found.pins) > _IDS:
            yield f"{'':<14}and {counted(len(found.pins) - _IDS, 'more pin')}; --format json has them all"
        if withheld:
            yield f"{'withheld':<14}from agents: it may repeat what was hidden since; write it again"
        yield ""
        yield "advisory prose; check it against the events:"
        yield ""
        for line in wrap(found.prose, max(20, line_width() - 2)):
            yield f"  {line}".rstrip(" ")

    def events(self, rows: Sequence[EventRow], following: int | None) -> Iterator[str]:
        """The events that a section stands for, by the numbers that its anchor cites."""
        from workbench.cli.readable import events

        yield ""
        yield from events(rows, following, self._timezone, numbered="seq")

    def _time(self, written: Written) -> str:
        from workbench.log.times import from_micros

        return exact(from_micros(written.at), self._zone) if written.at else _EMPTY


def written(drawn: Mapping[str, Sequence[Anchor]], *, cut_short: bool) -> Iterator[str]:
    """What a consolidation wrote."""
    total = sum(map(len, drawn.values()))
    for stream, anchors in drawn.items():
        if not anchors:
            continue
        ids = ", ".join(anchor.section_id for anchor in anchors[:_IDS])
        more = f" and {number(len(anchors) - _IDS)} more" if len(anchors) > _IDS else ""
        yield one_line(f"{stream}: {ids}{more}", _LONGEST)
    if cut_short:
        kept = f"{counted(total, 'section')} written until then, and kept" if total else "nothing was written"
        yield f"stopped: {kept}; the next consolidate goes on from there"
    elif not total:
        yield "nothing to write: no closed stretch is without a section"
    else:
        yield f"wrote {counted(total, 'section')}"


def rebuilt(stream: str, done: Rebuilt | None) -> Iterator[str]:
    """What a rebuild did."""
    if done is None:
        yield one_line(f"stopped; the chronicle of {stream} is as it was", _LONGEST)
        return
    drawn = f"{counted(done.drawn, 'answer')} asked for anew" if done.drawn else "no model was asked"
    yield one_line(f"rebuilt {stream}: {counted(len(done.sections), 'section')}, {drawn}", _LONGEST)


def recorded(found: Recording) -> Iterator[str]:
    """What a recording holds."""
    # Whose it is comes first.
    for name, value in sorted(found.header.items(), key=lambda each: each[0] != "stream")[:_HEADERS]:
        yield f"{one_line(name.replace('_', ' '), 40):<10}{one_line(str(value), _LONGEST)}"
    yield f"{'answers':<10}{number(len(found.events))}"


def loss(current: int, all_of_them: int) -> str:
    """What a rebuild throws away of so many current sections, and so many with older generations."""
    if not all_of_them:
        return "the prose of all its sections, of which it has none yet"
    older = all_of_them - current
    again = f" and of {counted(older, 'older one')} that they supersede" if older else ""
    return f"the prose of {counted(current, 'section')}{again}"


def _scope(row: StreamRow) -> str:
    """What a stream is called by people: a session's title or id, a task by its project, and its domain."""
    from urllib.parse import unquote

    if row.kind == "session":
        return row.title or unquote(row.stream.partition("/")[2])
    named = " / ".join(part for part in (row.project, row.task_id) if part)
    if not named:
        return row.domain
    return f"{named}  ({row.domain})" if row.domain != DEFAULT_DOMAIN else named


def _more(following: object) -> Iterator[str]:
    if following is not None:
        yield ""
        yield one_line(f"more: --after {quote(str(following))}", 1000)
