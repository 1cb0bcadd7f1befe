"""What shared memory answers as lines of text for a person; everything in it is made visible."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from shlex import join, quote
from zoneinfo import ZoneInfo

from msgspec import UNSET

from workbench.cli.output import line_width
from workbench.drawing import exact, number, one_line, visible, wrap
from workbench.memory import views
from workbench.memory.events import Evidence
from workbench.memory.folds import RAW_ONLY, STATUS_SLOT
from workbench.memory.quarantine import VisibilityReceipt
from workbench.memory.receipts import SAME_CONTENT, SAME_REQUEST, WINDOW_HOURS, Receipt, TaskClosed
from workbench.memory.reviews_written import ReviewReceipt

_LISTS = ("completed", "verification", "open_questions", "next_steps")
_NEXT_STEPS = 3
"""Of a task in a list."""
_LONGEST = 4000
"""Cells of a value that stands in one line of fields."""


class Lines:
    """Draws answers for one workspace: its time zone, and the width of the line.

    `root` is the workspace as `--root` named it: copied, a printed command must not act on another one.
    """

    def __init__(self, timezone: str, root: str | None = None) -> None:
        self._zone = ZoneInfo(timezone)
        self._named = ["--root", root] if root else []
        self._width = line_width()

    # -- what was written ------------------------------------------------------------------

    def receipt(self, done: Receipt) -> Iterator[str]:
        """What became of a `record`."""
        if done.dedupe_status == SAME_REQUEST:
            yield "recorded before under this request id; nothing was written"
        elif done.dedupe_status == SAME_CONTENT:
            yield f"said before within {WINDOW_HOURS} hours: a further observation of the same event"
        else:
            yield "recorded"
        again = done.observation_id != done.event_id
        fallback = done.category_fallback
        category = done.category
        if fallback is not None:
            category += f" ({fallback.requested} is none of the known ones)"
        removed = ", ".join(f"{kind} {number(count)}" for kind, count in sorted(done.redactions.items()))
        yield from _fields(
            ("event", done.event_id),
            ("observation", done.observation_id if again else ""),
            ("fact", done.fact_id or ""),
            ("checkpoint", done.checkpoint_id or ""),
            ("scope", _scope(done.domain, done.project, done.task_id)),
            ("agent", done.agent),
            ("category", category),
            ("happened", "" if done.occurred_at is None else exact(done.occurred_at, self._zone)),
            ("visibility", done.visibility if done.visibility != "public" else ""),
            ("withheld", _held_back(done)),
            ("taken out", removed),
            *(("evidence", _evidence(each)) for each in done.evidence),
        )
        for warning in done.warnings:
            yield from self._wrapped(f"warning: {warning}")
        if done.task_closed is not None:
            yield from self._closed(done, done.task_closed)

    def _closed(self, done: Receipt, closed: TaskClosed) -> Iterator[str]:
        """That a checkpoint reopens no task, and what does."""
        yield ""
        yield from self._wrapped(
            f"the task stays closed: {STATUS_SLOT} = {closed.value} (fact {closed.id}); "
            "no list of open tasks shows it"
        )
        fact = {"slot": STATUS_SLOT, "value": "open", "kind": closed.kind, "supersedes": closed.id}
        scope = ["--project", done.project or "", "--task-id", done.task_id or ""]
        if closed.domain != "global":
            scope += ["--domain", closed.domain]
        yield "to reopen it, supersede that fact:"
        again = join(["workbench", "record", *self._named, "Reopened", *scope, "--fact-file", "-"])
        yield visible(f"  echo {quote(json.dumps(fact))} | {again}")

    def verdict(self, done: ReviewReceipt) -> Iterator[str]:
        """What became of a `review`."""
        item = "" if done.item is None else f"{done.item.list}:{done.item.index}"
        yield f"{done.verdict} (event {done.position})"
        yield from _fields(
            ("review", done.review_id),
            (done.target_kind, done.target_id),
            ("item", item),
            ("by", done.reviewer),
        )
        if done.comment:
            yield from self._wrapped(done.comment, 2)

    def visibility(self, done: VisibilityReceipt) -> Iterator[str]:
        """What became of a `quarantine` or a `release`."""
        state = "quarantined: no agent sees it" if done.quarantined else "released: agents see it"
        if done.changed:
            repeats = done.observations - 1
            often = f", with {_counted(repeats, 'repeat')} of it" if repeats else ""
            yield f"{state}{often} (event {done.position})"
            yield from _fields(("observation", done.observation_id), ("by", done.by), ("reason", done.reason))
            return
        already = "quarantined already" if done.quarantined else "not quarantined"
        yield f"it is {already}; nothing was written"

    # -- lists -----------------------------------------------------------------------------

    def observations(self, found: Sequence[views.Observation], nothing: str) -> Iterator[str]:
        """Memory events, each as a block."""
        if not found:
            yield nothing
        for index, each in enumerate(found):
            if index:
                yield ""
            yield from self._observation(each)

    def facts(self, page: views.FactPage) -> Iterator[str]:
        """Current facts."""
        if not page.facts:
            yield "no facts"
        yield from self._facts(page.facts)
        yield from self.more(page.next)

    def chain(self, links: Sequence[views.ChainLink]) -> Iterator[str]:
        """Everything that a slot held, the oldest first."""
        yield from self._wrapped(f"{links[0].slot}: " + _counted(len(links), "value") + ", oldest first")
        for link in links:
            yield ""
            state = "current" if link.current else "replaced"
            yield from self._marked(link.value, state, *_fact_marks(link.kind, link.disputed, link.private))
            yield from self._dispute(link.review, 2)
            yield from self._details(
                self._time(link.recorded_at), link.agent, _scope(link.domain, link.project, link.task_id)
            )
            yield from self._said(link.text if link.text != link.value else "", link.why)
            for evidence in link.evidence:
                yield from self._details(f"evidence {_evidence(evidence)}")
            for again in link.confirmations:
                private = "private" if again.private is True else ""
                yield from self._details("confirmed", self._time(again.recorded_at), again.agent, private)
            yield from self._details(f"fact {link.id}", f"event {link.event_id}")

    def conflicts(self, found: Sequence[views.FactConflict]) -> Iterator[str]:
        """Slots that hold more than one value."""
        if not found:
            yield "no slot has several current values"
        for index, each in enumerate(found):
            if index:
                yield ""
            where = _scope(each.domain, each.project, each.task_id)
            yield from self._wrapped(
                f"{each.slot} ({where}): {_counted(len(each.facts), 'value')} under several spellings"
            )
            for fact in each.facts:
                yield from self._fact(fact, indent=2)
        if found:
            yield ""
            yield "a fact that supersedes the newest of them replaces them all"

    def tasks(self, page: views.TaskPage, *, every: bool) -> Iterator[str]:
        """Tasks, the latest first."""
        if not page.tasks:
            yield "no tasks" if every else "no open tasks"
        for index, task in enumerate(page.tasks):
            if index:
                yield ""
            yield from self._task(task)
        yield from self.more(page.next)

    def reviews(self, page: views.ReviewPage) -> Iterator[str]:
        """Verdicts, the latest first."""
        if not page.reviews:
            yield "no reviews"
        for index, each in enumerate(page.reviews):
            if index:
                yield ""
            yield from self._review(each)
            yield from self._details(f"{each.target_kind} {each.target_id}", f"review {each.id}")
        yield from self.more(page.next)

    def timeline(self, found: views.Timeline) -> Iterator[str]:
        """What happened around a moment, or was known at it."""
        at = exact(datetime.fromisoformat(found.target_utc), self._zone)
        where = "" if found.domain is None else f" in {found.domain}"
        said = "what was known at" if found.mode == "as_of" else "around"
        yield from self._wrapped(f"{said} {at}{where}")
        yield ""
        if not found.events:
            yield "nothing was recorded in that window"
        for index, each in enumerate(found.events):
            if index:
                yield ""
            yield from self._observation(each, self._away(each.delta_seconds))
        if found.events_has_more:
            yield ""
            yield "more lies in this window; a larger --limit shows it"
        if isinstance(found.facts, list):
            yield ""
            yield "facts then" if found.facts else "no facts then"
            for fact in found.facts:
                yield from self._marked(
                    f"{fact.slot} = {fact.value}", *_fact_marks(fact.kind, False, UNSET), indent=2
                )
                retired = fact.retired_at_utc
                yield from self._details(
                    self._time(fact.recorded_at_utc),
                    fact.agent,
                    _scope(fact.domain, fact.project, fact.task_id),
                    "" if retired is None else f"replaced {self._time(retired)}",
                    fact.id,
                    indent=4,
                )

    # -- starting --------------------------------------------------------------------------

    def brief(self, found: views.Brief) -> Iterator[str]:
        """The page as it is: an agent may read it."""
        for line in found.text.split("\n"):
            yield visible(line)

    def startup(self, found: views.StartupBundle, near: Sequence[str] | None = None) -> Iterator[str]:
        """What an agent starts with; `near` where nothing was ever recorded there: names like that one."""
        context = found.task_context
        label = found.domain.label if found.domain.label != found.domain.id else ""
        yield from self._wrapped(_scope(context.domain, context.project, context.task_id))
        yield from self._details(
            label,
            f"for {found.agent}",
            self._time(found.generated_at),
            f"position {found.db_summary.position}",
            indent=0,
        )
        if isinstance(found.elsewhere, list):
            yield from self._wrapped(
                f"also recorded in: {', '.join(found.elsewhere)}  (--domain {quote(found.elsewhere[0])})"
            )
        if near is not None:
            yield from self._unknown(context, near)
        if context.task_id is not None:
            yield from self._checkpoint(context)
        elif isinstance(context.open_tasks, list):
            yield from self._open_tasks(context.open_tasks)
        if context.current_facts:
            yield from _heading("facts")
            yield from self._facts(context.current_facts, indent=2)
            if context.facts_has_more:
                yield visible(f"  more facts: {self._all_facts(context)}")
        if found.focus is None:
            yield from self._changes(context)
        else:
            yield from self._hits(found)

    def _unknown(self, context: views.TaskContext, near: Sequence[str]) -> Iterator[str]:
        where = _scope(context.domain, context.project, context.task_id)
        yield from self._wrapped(f"nothing is recorded under {where}")
        if near:
            yield from self._wrapped(f"did you mean: {', '.join(near)}")

    def _checkpoint(self, context: views.TaskContext) -> Iterator[str]:
        yield from _heading("checkpoint")
        carrier = context.checkpoint
        if carrier is None or not isinstance(carrier.checkpoint, views.Checkpoint):
            yield "  none yet"
        else:
            said = carrier.checkpoint
            yield from self._wrapped(said.goal, 2)
            yield from self._details(self._time(carrier.recorded_at_utc), carrier.agent, said.id)
            for name in _LISTS:
                lines: list[str] = getattr(said, name)
                if lines:
                    yield f"  {name.replace('_', ' ')}"
                    for index, line in enumerate(lines):
                        yield from self._wrapped(line, 7, first=f"    {index:>2} ")
        unresolved = context.unresolved_reviews
        latest = context.review
        shown = list(unresolved) if isinstance(unresolved, list) else []
        if isinstance(latest, views.Review) and latest.id not in {each.id for each in shown}:
            shown.insert(0, latest)
        if shown:
            yield from _heading("review")
            for each in shown:
                yield from self._review(each, 2)
                if each.target_kind != "checkpoint":
                    yield from self._details(f"{each.target_kind} {each.target_id}", indent=4)

    def _open_tasks(self, found: Sequence[views.OpenTask]) -> Iterator[str]:
        yield from _heading("open tasks")
        if not found:
            yield "  none"
        for each in found:
            yield from self._wrapped(f"{each.project} / {each.task_id}: {each.goal}", 2)
            for step in each.next_steps:
                yield from self._wrapped(step, 10, first="    next: ")
            yield from self._details(self._time(each.recorded_at_utc), each.agent, indent=4)

    def _changes(self, context: views.TaskContext) -> Iterator[str]:
        yield from _heading("changes")
        if not context.changes:
            yield "  none"
        for each in context.changes:
            yield from self._observation(each, indent=2)
        yield ""
        if context.has_older and context.before is not None:
            yield f"older: --before {context.before}"
        what = "newer" if context.has_more else "what comes later"
        yield f"{what}: --since {context.cursor}"

    def _hits(self, found: views.StartupBundle) -> Iterator[str]:
        yield from _heading(f"about “{one_line(found.focus or '', 60)}”")
        if not found.recent_events:
            yield "  nothing"
        for each in found.recent_events:
            yield from self._observation(each, indent=2)
        status = found.recall_status
        if status is not None and status.hint:
            yield from self._wrapped(status.hint, 2)

    # -- pieces ----------------------------------------------------------------------------

    def _all_facts(self, context: views.TaskContext) -> str:
        """The command that lists every fact of a context."""
        asked = [("--project", context.project), ("--task-id", context.task_id)]
        if context.domain != "global":
            asked.append(("--domain", context.domain))
        scope = [word for pair in asked if pair[1] for word in pair if word]
        return join(["workbench", "facts", *self._named, *scope])

    def _observation(self, each: views.Observation, away: str = "", indent: int = 0) -> Iterator[str]:
        when = each.occurred_at_utc or each.recorded_at_utc
        head = " · ".join(filter(None, (self._time(when), each.agent, each.category, away)))
        yield from self._marked(head, *_withheld(each), indent=indent)
        yield from self._said(each.text, each.why, indent + 2)
        if isinstance(each.checkpoint, views.Checkpoint):
            yield from self._details(f"checkpoint: {each.checkpoint.goal}", indent=indent + 2)
        for evidence in each.evidence:
            yield from self._details(f"evidence {_evidence(evidence)}", indent=indent + 2)
        yield from self._again(each, indent + 2)
        again = "" if each.event_id == each.observation_id else f"again of {each.event_id}"
        yield from self._details(
            _scope(each.domain, each.project, each.task_id), each.observation_id, again, indent=indent + 2
        )

    def _again(self, each: views.Observation, indent: int) -> Iterator[str]:
        """Who else observed the same."""
        if not isinstance(each.observed, int) or each.observed < 2:
            return
        more = each.observed - 1
        by = ", ".join(each.observed_by) if isinstance(each.observed_by, list) else ""
        often = "" if more == 1 else f" {number(more)} times"
        yield from self._wrapped(f"seen again{often} by {by}" if by else f"seen again{often}", indent)

    def _facts(self, found: Iterable[views.Fact], indent: int = 0) -> Iterator[str]:
        for each in found:
            yield from self._fact(each, indent)

    def _fact(self, each: views.Fact, indent: int = 0) -> Iterator[str]:
        marks = _fact_marks(each.kind, each.disputed, each.private)
        yield from self._marked(f"{each.slot} = {each.value}", *marks, indent=indent)
        yield from self._dispute(each.review, indent + 2)
        yield from self._details(
            self._time(each.recorded_at),
            each.agent,
            _scope(each.domain, each.project, each.task_id),
            each.id,
            indent=indent + 2,
        )

    def _dispute(self, review: object, indent: int) -> Iterator[str]:
        """Who rejects a fact, and why."""
        if isinstance(review, views.Review):
            said = f": {review.comment}" if review.comment else ""
            yield from self._wrapped(f"disputed by {review.reviewer}{said}", indent)

    def _task(self, task: views.Task) -> Iterator[str]:
        marks = (task.status or "", "" if task.open or task.status else "closed")
        yield from self._marked(f"{task.project} / {task.task_id}", *marks)
        yield from self._wrapped(task.goal or "no checkpoint", 2)
        for step in task.next_steps[:_NEXT_STEPS]:
            yield from self._wrapped(step, 8, first="  next: ")
        if len(task.next_steps) > _NEXT_STEPS:
            yield f"  next: and {len(task.next_steps) - _NEXT_STEPS} more"
        if task.review is not None:
            yield from self._review(task.review, 2)
        domain = "" if task.domain == "global" else task.domain
        yield from self._details(self._time(task.recorded_at), task.agent, domain, task.checkpoint_id or "")

    def _review(self, each: views.Review, indent: int = 0) -> Iterator[str]:
        earlier = "" if each.current else "a later one counts"
        about = ""
        if each.item is not None:
            about = f"{each.item.list}:{each.item.index}"
        head = " · ".join(filter(None, (each.verdict, each.reviewer, self._time(each.recorded_at), about)))
        yield from self._marked(head, earlier, indent=indent)
        if each.line:
            yield from self._wrapped(f"“{each.line}”", indent + 2)
        if each.comment:
            yield from self._wrapped(each.comment, indent + 2)

    def _said(self, text: str, why: str | None, indent: int = 2) -> Iterator[str]:
        if text:
            yield from self._wrapped(text, indent)
        if why:
            yield from self._wrapped(why, indent + 5, first=f"{' ' * indent}why: ")

    def _marked(self, text: str, *marks: str, indent: int = 0) -> Iterator[str]:
        """Marks in brackets, and a text that hangs behind them: where a text stands, none can be forged."""
        shown = ", ".join(filter(None, marks))
        yield from self._wrapped(f"[{shown}] {text}" if shown else text, indent + 2, first=" " * indent)

    def _details(self, *parts: str, indent: int = 2) -> Iterator[str]:
        """Parts with dots between them, broken between two where the line is short."""
        room = max(20, self._width - indent)
        line = ""
        for part in (one_line(part, max(room, _LONGEST)) for part in parts if part):
            longer = f"{line} · {part}" if line else part
            if line and _cells(longer) > room:
                yield from self._wrapped(line, indent)
                longer = part
            line = longer
        if line:
            yield from self._wrapped(line, indent)

    def _wrapped(self, text: str, indent: int = 0, first: str | None = None) -> Iterator[str]:
        start = " " * indent if first is None else first
        for line in wrap(text, max(20, self._width - indent)):
            yield (start + line).rstrip(" ")
            start = " " * indent

    def _time(self, moment: str) -> str:
        return exact(datetime.fromisoformat(moment), self._zone)

    def _away(self, seconds: float) -> str:
        """How far from the moment that was asked for: -1 h 05 min."""
        minutes = round(abs(seconds) / 60)
        if not minutes:
            return ""
        hours, rest = divmod(minutes, 60)
        far = f"{hours} h {rest:02} min" if hours else f"{rest} min"
        return f"{far} {'before' if seconds < 0 else 'after'}"

    def more(self, following: int | None) -> Iterator[str]:
        """What asks for the page that follows; nothing where none does."""
        if following is not None:
            yield ""
            yield f"more: --after {quote(str(following))}"


def _heading(text: str) -> Iterator[str]:
    yield ""
    yield visible(text)


def _fields(*pairs: tuple[str, str]) -> Iterator[str]:
    width = max(len(name) for name, value in pairs if value) if any(value for _, value in pairs) else 0
    for name, value in pairs:
        if value:
            yield f"{name:<{width}}  {one_line(value, _LONGEST)}"


def _scope(domain: str, project: str | None, task_id: str | None) -> str:
    """`atlas / ship`, with the domain where it is not the usual one, or where nothing narrower is named."""
    named = " / ".join(filter(None, (project, task_id)))
    if not named:
        return domain
    return named if domain == "global" else f"{domain}: {named}"


def _held_back(done: Receipt) -> str:
    """Why no agent sees what was recorded; empty where they do."""
    guard = done.memory_guard
    if guard is None or guard.visibility != RAW_ONLY:
        return ""
    return f"no agent sees it: {', '.join(guard.reasons)}"


def _evidence(each: Evidence) -> str:
    reason = f" ({each.reason})" if isinstance(each.reason, str) else ""
    removed: Mapping[str, int] = each.removed if isinstance(each.removed, dict) else {}
    without = f", {number(sum(removed.values()))} taken out" if removed else ""
    return f"{each.path}: {each.status}{reason}{without}"


def _fact_marks(kind: str, disputed: bool, private: object) -> tuple[str, ...]:
    return (
        "assumption" if kind == "assumption" else "",
        "disputed" if disputed else "",
        "private" if private is True else "",
    )


def _withheld(each: views.Observation) -> tuple[str, ...]:
    return (
        "private" if each.private is True else "",
        "quarantined" if each.quarantined is True else "",
    )


def _counted(count: int, what: str) -> str:
    return f"{number(count)} {what}{'' if count == 1 else 's'}"


def _cells(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)
