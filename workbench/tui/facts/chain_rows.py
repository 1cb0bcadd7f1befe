"""How the chain of a fact is drawn: a line from the newest value down, each link with what bears on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import islice

from msgspec import UNSET

from workbench.memory.events import Evidence
from workbench.tui.evidence_viewer.words import reason_words
from workbench.tui.facts.fact_words import (
    BUILT_ON,
    EVIDENCE_MARKS,
    VERDICT_MARKS,
    fact_value,
    kind_word,
    scope_of,
)
from workbench.tui.facts.stops import DamagedStop, FactStop, LinkStop, Stop
from workbench.tui.present import (
    Line,
    Role,
    Span,
    age,
    ago,
    counted,
    exact,
    fit,
    fit_line,
    line_width,
    number,
    one_line,
    wrap,
)
from workbench.tui.widgets.row_renderer import RowState
from workbench.workspace.fact_rows import FactLink, damage_words

VALUE_LINES, WHY_LINES = 10, 5
"""Lines of a value and of a reason before they are cut; `whole` shows up to `WHOLE_LINES`."""
WHOLE_LINES = 180
FILES = 4
"""Evidence of a link that is listed."""
_NAMES = 6
_INDENT = 4
_SCOPE, _KIND, _SINCE = 26, 10, 7
_ROOMY = 76
"""Cells from which another fact is one line."""
_DRAWN = 400
_HIDDEN = 2000
"""Characters behind a cut up to which the lines left out are counted."""


@dataclass(frozen=True, slots=True)
class ChainRows:
    """Draws stops. `when` reads a stored time, `now` gives the moment of ages.

    The link under the cursor says exactly when it was asserted, in `zone`.
    """

    now: Callable[[], datetime]
    when: Callable[[str], datetime]
    whole: bool = False
    zone: tzinfo = UTC
    copy_key: str = ""
    """What is pressed to copy a form of a fact."""

    def header(self, width: int) -> Line | None:
        return None

    def lines(self, row: Stop, width: int, state: RowState) -> Sequence[Line]:
        if isinstance(row, FactStop):
            return list(self._fact(row, width))
        inner = max(8, width - _INDENT)
        if isinstance(row, DamagedStop):
            body, bullet = list(self._damaged(row, inner)), Span(" ✗ ", "error")
        else:
            current = row.link.fact.current
            body = list(self._link(row, inner, exactly=state.focused))
            bullet = Span(" ● " if current else " ○ ", "accent" if current else "dim")
        first, *rest = body
        guide = Span("   " if row.ends else " │ ", "faint")
        lines: list[Line] = [(bullet, *first)]
        lines += [(guide, *line) for line in rest]
        lines.append((guide,))
        if row.left_out:
            lines += self._left_out(row, inner)
        return lines

    def _left_out(self, stop: LinkStop | DamagedStop, width: int) -> Iterator[Line]:
        """That the chain goes on, and what shows the rest of it."""
        left_out = counted(stop.left_out, "older value")
        said = f"and {left_out}, left out here: {self.copy_key} copies the command that lists them all"
        bullet = Span(" … ", "dim")
        for line in wrap(said, width):
            yield (bullet, Span(line, "dim"))
            bullet = Span("   ")
        yield ()

    # A link

    def _damaged(self, stop: DamagedStop, width: int) -> Iterator[Line]:
        yield from ((Span(line, "error"),) for line in wrap(damage_words(stop.why), width))
        yield (Span(f" event {number(stop.position)}", "dim"),)

    def _link(self, stop: LinkStop, width: int, *, exactly: bool) -> Iterator[Line]:
        link, fact = stop.link, stop.link.fact
        role: Role = "strong" if fact.current else "ink"
        most = WHOLE_LINES if self.whole else VALUE_LINES
        value = list(_cut(fact.value, width, most))
        about = self._about(stop)
        if len(value) == 1 and line_width((Span(value[0]),)) + 3 + line_width(about) <= width:
            yield (Span(value[0], role), Span("   "), *about)
        else:
            yield from ((Span(line, role),) for line in value)
            yield fit_line((Span(" "), *about), width)
        for text, how in self._texts(link):
            yield from ((Span(" "), Span(line, how)) for line in self._why(text, width - 1))
        for line in self._marks(link, width - 1):
            yield fit_line((Span(" "), *line), width)
        end = self._end(link)
        if exactly:
            end = (*end, Span(self._exactly(fact.recorded_at, width - 1 - line_width(end)), "dim"))
        yield fit_line((Span(" "), *end), width)

    def _exactly(self, recorded_at: str, room: int) -> str:
        """When it was, as exactly as there is room for."""
        at = f" · {exact(self.when(recorded_at), self.zone)}"
        shorter = at.rsplit(" ", 1)[0]
        return next((each for each in (at, shorter) if len(each) <= room), "")

    def _about(self, stop: LinkStop) -> Line:
        fact = stop.link.fact
        said = [one_line(fact.agent, 60), ago(self.when(fact.recorded_at), self.now())]
        if stop.elsewhere:
            said.append(f"in {one_line(stop.elsewhere, 120)}")
        if fact.private is True:
            said.append("private")
        return (kind_word(fact.kind), Span(" · " + " · ".join(said), "dim"))

    def _texts(self, link: FactLink) -> Iterator[tuple[str, Role]]:
        fact = link.fact
        if fact.why:
            yield fact.why, "text"
        if fact.text and (self.whole or not fact.why) and fact.text != f"{fact.slot} = {fact.value}":
            yield fact.text, "dim" if fact.why else "text"

    def _why(self, text: str, width: int) -> Iterator[str]:
        return _cut(text, width, WHOLE_LINES if self.whole else WHY_LINES)

    def _marks(self, link: FactLink, width: int) -> Iterator[Line]:
        """What is to be seen at once, each behind its mark."""
        review = link.review
        if review is not None:
            mark = VERDICT_MARKS.get(review.verdict, Span("·", "dim"))
            when = ago(self.when(review.recorded_at), self.now())
            yield (
                mark,
                Span(f" {review.verdict} by {one_line(review.reviewer, 60)}", mark.role),
                Span(f" · {when}", "dim"),
            )
            if review.comment:
                yield from ((Span("  "), Span(line, "text")) for line in self._why(review.comment, width - 2))
        if link.built_on:
            slots = list(dict.fromkeys(one_line(each.slot, 60) for each in link.built_on))
            named = ", ".join(slots[:_NAMES]) + (" …" if len(slots) > _NAMES else "")
            yield (
                BUILT_ON,
                Span(f" {counted(len(link.built_on), 'fact')} built on it", "warning"),
                Span(f"  {named}", "dim"),
            )
        files = link.fact.evidence
        for each in files[:FILES]:
            yield evidence_line(each, width)
        if len(files) > FILES:
            yield (Span(f"  and {counted(len(files) - FILES, 'more file')}", "dim"),)
        if link.confirmed_by:
            names = [one_line(name, 60) for name in link.confirmed_by]
            more = f" and {number(len(names) - _NAMES)} more" if len(names) > _NAMES else ""
            yield (
                Span("✓", "success"),
                Span(f" confirmed by {', '.join(names[:_NAMES])}{more}", "text"),
            )

    def _end(self, link: FactLink) -> Line:
        said = []
        if not link.fact.evidence:
            said.append("no evidence")
        if link.said_again:
            times = "" if link.said_again == 1 else f" {number(link.said_again)} times"
            said.append(f"said again{times} by its author")
        said.append(f"event {number(link.fact.position)}")
        return (Span(" · ".join(said), "dim"),)

    # Another fact

    def _fact(self, stop: FactStop, width: int) -> Iterator[Line]:
        row = stop.row
        if stop.title:
            title, _, remark = stop.title.partition("\n")
            yield (Span(" "), *fit_line((Span(title, "heading"),), max(1, width - 1)))
            yield from ((Span(" "), Span(line, "dim")) for line in wrap(remark, max(8, width - 2)) if remark)
        name = one_line(row.slot if stop.group.startswith("built") else scope_of(row), _DRAWN)
        value = fact_value(row)
        since = Span(age(row.recorded_at, self.now()), "dim")
        about: Line = (*fit_line((kind_word(row.kind),), _KIND), *fit_line((since,), _SINCE, "right"))
        inner = max(8, width - 1)
        if inner >= _ROOMY:
            room = inner - _SCOPE - _KIND - _SINCE - 4
            yield (
                Span(" "),
                *fit_line((Span(name, "dim"),), _SCOPE),
                Span("  "),
                *fit_line((value,), room),
                Span("  "),
                *about,
            )
        else:
            room = inner - _KIND - _SINCE - 1
            yield (Span(" "), *fit_line((Span(name, "dim"),), room), Span(" "), *about)
            yield (Span("   "), *fit_line((value,), inner - 2))
        if stop.more:
            yield (Span(" "), Span(stop.more, "dim"))
        if stop.last:
            yield ()


def evidence_line(each: Evidence, width: int) -> Line:
    """One file in `width` cells: its state behind its mark, the path's end, and why it is not kept."""
    mark = EVIDENCE_MARKS.get(each.status, Span("·", "dim"))
    state = Span(f" {each.status.replace('_', ' ')}  ", "dim")
    path = one_line(each.path, _DRAWN)
    room = max(8, width - line_width((mark, state)))
    path = fit(path, min(line_width((Span(path),)), room), keep="end")
    reason = "" if each.reason is UNSET else f"  {one_line(reason_words(str(each.reason)), 200)}"
    return (mark, state, Span(path, "text"), Span(reason, "faint"))


def _cut(text: str, width: int, most: int) -> Iterator[str]:
    """The lines of a text; of a longer one the last says how much is left out."""
    lines = list(islice(wrap(text, width), most + 1))
    if len(lines) <= most:
        yield from lines
        return
    yield from lines[: most - 1]
    yield fit("… cut here", width) if width > 12 else "…"
