"""How the entries of a session are drawn: who, what kind, when, and the text, wrapped and clipped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from itertools import islice
from typing import TYPE_CHECKING

from workbench.tui.present import Line, Role, Span, counted, fit, fit_line, line_width, number, one_line, wrap
from workbench.tui.sessions.calls import call_summary, outcome, tool_name
from workbench.tui.sessions.entry_source import Entry, in_zone, moment
from workbench.tui.sessions.found_words import Words
from workbench.tui.sessions.shown import UNIT_CLOSED
from workbench.tui.widgets.row_renderer import RowState
from workbench.workspace.readers.entry_damage import UnreadableActum
from workbench.workspace.rows import ActumRow

if TYPE_CHECKING:
    from workbench.workspace.readers.rewinds import Stretch

LINES = 12
"""Lines of a text before it is clipped."""
_OUTCOME = 11
"""Cells for how a call ended, so that its marks stand in one column."""
_ROOMY = 76
"""Cells from which a mark is explained in words."""
_NARROW = 48
"""Cells below which marks are letters alone."""
_INDENTS = 6
"""Sub-agents deeper than this stand with these."""
_WRAPPED_LINES = 2000
"""Lines up to which the number of clipped lines is counted; more are given in characters."""


@dataclass(frozen=True, slots=True)
class EntryRows:
    """Draws `Entry` rows. `folder` is the session's working folder, `open_key` the key that opens a row."""

    zone: tzinfo
    folder: str = ""
    open_key: str = "enter"
    rewound: tuple[Stretch, ...] = ()
    """Stretches that a person took back."""
    words: Words | None = None
    """What is looked for."""
    hit: int | None = None
    """The seq of the entry that was gone to for it."""

    def header(self, width: int) -> Line | None:
        return None

    def lines(self, row: Entry, width: int, state: RowState) -> Sequence[Line]:
        actum = row.actum
        guide = self._guide(actum, width)
        lead: list[Line] = []
        if row.new_day:
            lead += [*([] if row.first else [()]), self._day(actum, width)]
        if row.new_day or not (row.after_call and row.is_call):
            lead.append(guide)
        inner = max(8, width - line_width(guide))
        if isinstance(actum, UnreadableActum):
            return [*lead, *((*guide, *line) for line in self._unreadable(actum, inner))]
        if actum.kind == UNIT_CLOSED:
            return [*lead, self._unit(actum, width)]
        body = [self._call(row, inner)] if row.is_call else self._text(row, inner)
        moved = self._moved(actum, inner)
        return [*lead, *((*guide, *line) for line in (*moved, *body))]

    # Parts

    def _day(self, actum: ActumRow, width: int) -> Line:
        day = in_zone(moment(actum), self.zone)
        title = f" {day:%A} {day.day} {day:%B} {day.year} "
        room = max(0, width - len(title) - 3)
        return (Span("──", "faint"), Span(title, "dim"), Span("─" * room, "faint"))

    def _unit(self, actum: ActumRow, width: int) -> Line:
        title = Span(f" {one_line(actum.actor, 60)} closed ", "heading")
        note = Span(f"{one_line(actum.content, 300)} ", "dim") if actum.content else Span("")
        when = Span(f" {self._time(actum)}", "faint")
        left = (Span("──", "faint"), title, note)
        room = width - len(when.text)
        used = line_width(left)
        if used > room:
            return (*fit_line(left, room), when)
        return (*left, Span("─" * (room - used), "faint"), when)

    def _unreadable(self, actum: UnreadableActum, width: int) -> list[Line]:
        right: Line = (*self._marks(actum, width), Span(self._time(actum), "faint"))
        left = (Span("✗ ", "error"), Span(actum.kind.replace("_", " "), "dim"))
        room = max(1, width - line_width(right) - 1)
        head: Line = (*fit_line(left, room), Span(" "), *right)
        return [head, *((Span("  "), Span(line, "error")) for line in wrap(actum.content, width - 2))]

    def _guide(self, actum: ActumRow, width: int) -> Line:
        depth = min(actum.depth, _INDENTS, width // 8)
        return (Span("│ " * depth, "faint"),) if depth else ()

    def _moved(self, actum: ActumRow, width: int) -> list[Line]:
        folder = actum.metadata.get("cwd")
        if not isinstance(folder, str) or not folder or folder == self.folder:
            return []
        return [fit_line((Span("  in ", "faint"), Span(folder, "dim")), width)]

    def _call(self, row: Entry, width: int) -> Line:
        call = row.actum
        mark, words = outcome(call, row.reply)
        ended = fit_line((mark, words), max(_OUTCOME, line_width((mark, words))))
        right = [*self._marks(call, width), *ended]
        if call.child_seq is not None:
            right.insert(0, Span("↳ sub-agent  " if width >= _ROOMY else "↳  ", "accent"))
        inside = self._inside(row)
        if inside:
            right.insert(0, Span(f"◆ {inside}  " if width >= _ROOMY else "◆  ", "accent"))
        time = Span(f"  {self._time(call)}", "faint")
        name = tool_name(call)
        who = () if row.same_actor and row.after_call else (Span(f"{_actor(call)} ", "dim"),)
        left = (
            Span("▸ ", "accent"),
            *who,
            Span(name, "ink"),
            Span("  "),
        )
        summary = call_summary(call, self.folder)
        fixed = (*right, time)
        room = width - line_width(fixed) - 2
        if room < 16:
            fixed = (Span("◆ ", "accent"), mark) if inside else (mark,)
            room = width - line_width(fixed) - 2
        if summary.keep == "end":
            rest = max(0, room - line_width(left))
            left = (*left, Span(fit(summary.text, rest, keep="end"), "dim"))
        else:
            left = (*left, Span(summary.text, "dim"))
        return (*fit_line(left, room), Span("  "), *fixed)

    def _inside(self, row: Entry) -> str:
        """Where a folded call holds what is looked for, if its line need not show it."""
        if self.words is None:
            return ""
        reply = row.reply
        if reply is not None and (self.hit == reply.seq or self.words.search(reply.content)):
            return "in the result"
        call = row.actum
        if self.hit != call.seq and not self.words.search(call.content):
            return ""
        return "" if self.words.search(call_summary(call, self.folder).text) else "in the call"

    def _text(self, row: Entry, width: int) -> list[Line]:
        actum = row.actum
        human = actum.actor_kind == "human" and actum.kind == "message"
        bar: Line = (Span("▎ ", "accent"),) if human else (Span("  "),)
        role = _text_role(actum)
        lines = [self._head(row, width)]
        lines += [(*bar, *line) for line in self._clipped(actum, width - 2, role)]
        return lines

    def _head(self, row: Entry, width: int) -> Line:
        actum = row.actum
        mark, role = _mark(actum)
        name_role: Role = "strong" if actum.kind == "message" and actum.actor_kind != "system" else "dim"
        what = _what(actum)
        left: Line = (Span(f"{mark} ", role), Span(_actor(actum), name_role))
        if what:
            left += (Span(f"  {what}", "dim"),)
        right: Line = (*self._marks(actum, width), Span(self._time(actum), "faint"))
        room = max(1, width - line_width(right) - 1)
        return (*fit_line(left, room), Span(" "), *right)

    def _marks(self, actum: ActumRow, width: int) -> Line:
        marks: list[Span] = []
        if actum.kind == "tool_response" and actum.metadata.get("is_error") is True:
            marks.append(Span("✗ error", "error"))
        if actum.private:
            marks.append(Span("P private", "warning"))
        for stretch in self.rewound:
            if stretch.first <= actum.seq <= stretch.last:
                marks.append(Span("R rolled back" if stretch.is_rollback else "R rewound", "warning"))
                break
        if actum.metadata.get("orphan") is True:
            marks.append(Span("O orphan", "warning"))
        if width < _NARROW:
            marks = [Span(mark.text[0], mark.role) for mark in marks]
        return tuple(part for mark in marks for part in (mark, Span("  ")))

    def _clipped(self, actum: ActumRow, width: int, role: Role) -> list[Line]:
        text = actum.content.rstrip("\n")
        wrapped = wrap(text, width)
        lines = list(islice(wrapped, LINES))
        following = list(islice(wrapped, _WRAPPED_LINES))
        hidden = actum.content_chars - len(actum.content)
        if hidden <= 0 and len(following) <= 1:
            return [(Span(line, role),) for line in (*lines, *following)]
        if hidden > 0 or len(following) == _WRAPPED_LINES:
            shown = sum(map(len, lines))
            left = f"{number(max(1, actum.content_chars - shown))} more characters"
        else:
            left = counted(len(following), "more line")
        further = self._further(actum, sum(map(len, lines)))
        mark = (Span("◆ ", "accent"),) if further else ()
        said = fit_line((*mark, Span(f"… {left}, {self.open_key} opens", "faint")), width)
        return [*((Span(line, role),) for line in lines), said]

    def _further(self, actum: ActumRow, at: int) -> bool:
        """Whether what is looked for stands behind a character of a text."""
        if self.words is None:
            return False
        if self.words.search(actum.content, at):
            return True
        return self.hit == actum.seq and not self.words.search(actum.content)

    def _time(self, actum: ActumRow) -> str:
        return f"{in_zone(moment(actum), self.zone):%H:%M}"


def _mark(actum: ActumRow) -> tuple[str, Role]:
    if actum.kind == "thought":
        return "∴", "faint"
    if actum.kind == "tool_response":
        return "◂", "faint"
    if actum.actor_kind == "human":
        return "▎", "accent"
    return ("●", "dim") if actum.actor_kind == "agent" else ("○", "faint")


def _what(actum: ActumRow) -> str:
    if actum.kind == "thought":
        return "thinks"
    if actum.kind == "tool_response":
        return "answers"
    injected = actum.metadata.get("injected")
    if isinstance(injected, str) and injected:
        return injected.replace("_", " ").replace("-", " ")
    if actum.metadata.get("queued") is True:
        return "while a tool ran"
    return ""


def _text_role(actum: ActumRow) -> Role:
    if actum.kind == "message" and actum.actor_kind == "human":
        return "ink"
    if actum.kind == "message" and actum.actor_kind == "agent":
        return "text"
    return "dim"


def _actor(actum: ActumRow) -> str:
    """The actor; of a sub-agent its own name alone, since the line that guides to it says the rest."""
    agent = actum.metadata.get("agent_id")
    if actum.depth and isinstance(agent, str) and agent and actum.actor.endswith(f"/{agent}"):
        return one_line(agent, 60)
    return one_line(actum.actor, 60)
