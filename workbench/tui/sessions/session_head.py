"""What is known of a session: a few lines over its entries, and all of it as a document."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo

from textual.strip import Strip

from workbench.tui.document import Blank, Block, Fields, Heading, note
from workbench.tui.present import Line, Span, ago, counted, exact, fit_line, line_width, number, one_line
from workbench.tui.sessions.entry_source import in_zone
from workbench.tui.sessions.session_rows import people_of, project_of, title_of
from workbench.tui.widgets.drawn import DrawnWidget
from workbench.workspace.readers.session_queries import Relative
from workbench.workspace.rows import SessionRow

_SHARED = "Acta that both have stand once, in the one that was imported first."
_KIND_WORDS = {
    "message": ("message", "messages"),
    "thought": ("thought", "thoughts"),
    "tool_request": ("call", "calls"),
    "tool_response": ("result", "results"),
}


def span_text(row: SessionRow, zone: tzinfo) -> str:
    """From the first to the last thing that happened; the day is said once where it is one day."""
    first, last = in_zone(row.first_at, zone), in_zone(row.last_at, zone)
    begin = f"{first:%Y-%m-%d %H:%M}"
    if first.date() == last.date():
        return f"{begin} – {last:%H:%M}" if f"{first:%H:%M}" != f"{last:%H:%M}" else begin
    return f"{begin} – {last:%m-%d %H:%M}" if first.year == last.year else f"{begin} – {last:%Y-%m-%d %H:%M}"


def related_lines(row: SessionRow, lineage: Sequence[Relative]) -> list[Line]:
    """Where a fork or a sub-agent comes from: a line each; the fork's is known before its title is."""
    known = lineage or ((Relative("fork of", row.forked_from),) if row.forked_from else ())
    lines: list[Line] = []
    for each in known:
        name = one_line(each.title, 60) or one_line(each.id, 80)
        mark, rest = ("⑂", " · what both have stands once") if each.relation == "fork of" else ("↳", "")
        if not each.here:
            rest = " · not in this workspace"
        lines.append((Span(f"{mark} {each.relation} ", "accent"), Span(name, "ink"), Span(rest, "dim")))
    return lines


def head_lines(
    row: SessionRow,
    zone: tzinfo,
    *,
    gone: bool,
    lines: int,
    width: int,
    lineage: Sequence[Relative] = (),
) -> list[Line]:
    """The title and, in up to `lines` lines, what matters most of the rest.

    What it comes from stands right below the title, or before the rest of a single line.
    """
    related = related_lines(row, lineage)
    # An imported session's id begins with its source.
    said = row.id.startswith(f"{row.source}/") or (lines < 3 and project_of(row) == row.source)
    source: Line = () if said else (Span(f" · {row.source}", "dim"),)
    if gone:
        source += (Span(" · source gone", "warning"),)
    who: Line = (Span(one_line(row.id, 120), "dim"), Span(f" · {one_line(row.owner_id, 40)}", "dim"))
    place = " · ".join(
        part
        for part in (
            one_line(row.cwd, 200),
            one_line(row.git_branch, 60),
            one_line(", ".join(row.models), 120),
        )
        if part
    ) or people_of(row, 6)
    when = f"{span_text(row, zone)} · {counted(row.acta, 'actum', 'acta')}"
    title = (Span(title_of(row), "strong"),)
    if lines < 3:
        brief = f"{project_of(row)} · {counted(row.acta, 'actum', 'acta')} · {span_text(row, zone)}"
        of: Line = (
            (*fit_line(related[0][:2], min(width // 2, line_width(related[0][:2]))),) if related else ()
        )
        shown: list[Line] = [title, (*of, Span(" · " if of else ""), Span(brief, "dim"), *source)]
    elif lines - len(related) < 4:
        shown = [title, *related, who, (Span(when, "dim"), *source)]
    else:
        shown = [title, *related, who, (Span(place, "dim"),), (Span(when, "dim"), *source)]
    return [fit_line(line, width) for line in shown[:lines]]


class SessionHead(DrawnWidget):
    """The lines over a session's entries."""

    DEFAULT_CSS = """
    SessionHead { height: 4; padding: 0 1 0 2; }
    SessionHead.-related { height: 5; }
    """

    def __init__(self, *, css_id: str) -> None:
        super().__init__(id=css_id)
        self._shown: tuple[SessionRow, tzinfo, bool, Sequence[Relative]] | None = None

    def show(
        self, row: SessionRow | None, zone: tzinfo, *, gone: bool, lineage: Sequence[Relative] = ()
    ) -> None:
        """Draw this session from now on; None: nothing."""
        shown = None if row is None else (row, zone, gone, lineage)
        if shown != self._shown:
            self._shown = shown
            self.set_class(row is not None and bool(related_lines(row, lineage)), "-related")
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line."""
        width = self.size.width
        if self._shown is None:
            return Strip.blank(width, self.look("text"))
        row, zone, gone, lineage = self._shown
        lines = head_lines(row, zone, gone=gone, lines=self.size.height, width=width, lineage=lineage)
        return self.strip(lines[y] if y < len(lines) else (), width)


def about_blocks(
    row: SessionRow, zone: tzinfo, now: datetime, *, gone: bool | None, lineage: Sequence[Relative] = ()
) -> Sequence[Block]:
    """Everything that is known of a session. `gone` is None while nobody has looked for its source."""
    fields: list[tuple[str, str | Line]] = [
        ("id", row.id),
        ("owner", row.owner_id),
        ("source", row.source),
    ]
    if row.source_path:
        path: Line = (Span(row.source_path),)
        if gone:
            path += (Span("  gone; the session stays whole here", "warning"),)
        fields.append(("file", path))
    for each in lineage or ((Relative("fork of", row.forked_from),) if row.forked_from else ()):
        told = each.title if each.here else "not in this workspace"
        fields.append((each.relation, each.id))
        fields += [("", (Span(told, "dim"),))] if told else []
        if each.relation == "fork of":
            fields.append(("", (Span(_SHARED, "dim"),)))
    fields += [
        (name, value)
        for name, value in (
            ("folder", row.cwd),
            ("branch", row.git_branch),
            ("models", ", ".join(row.models)),
            ("client", row.client_version),
        )
        if value
    ]
    times: list[tuple[str, str | Line]] = [
        ("first", exact(row.first_at, zone)),
        ("last", exact(row.last_at, zone)),
        ("recorded", f"{exact(row.started_at, zone)}, last {ago(row.last_activity_at, now)}"),
    ]
    counts: list[tuple[str, str | Line]] = [
        (_KIND_WORDS[kind][1], number(row.by_kind[kind])) for kind in _KIND_WORDS if row.by_kind.get(kind)
    ]
    more = row.actor_count - len(row.actors)
    people = ", ".join(row.actors) + (f" and {number(more)} more" if more > 0 else "")
    return [
        Heading(title_of(row), role="strong"),
        Blank(),
        Heading("Where it comes from"),
        Fields(fields, indent=1),
        Blank(),
        Heading("When"),
        Fields(times, indent=1),
        Blank(),
        Heading("What and who", counted(row.acta, "actum", "acta")),
        Fields([*counts, ("actors", people)], indent=1) if counts else note("nothing was recorded yet", 1),
    ]
