"""Three more sides of a hand-off: what came since the last review, source files, what an agent gets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from datetime import datetime
from typing import NamedTuple

from workbench.memory.handoff_views import Handoff, TaskFile
from workbench.memory.views import Observation, SinceReview
from workbench.tui.document import Blank, Block, Heading, Paragraph, Verbatim, note
from workbench.tui.failures import Failure
from workbench.tui.file_states import copy_size_words, file_state
from workbench.tui.handoffs.checkpoint_side import digest_words, fact_row, moment, verdict_blocks
from workbench.tui.handoffs.desk_rows import DeskRow, FilePick, ObservationPick, WholePick
from workbench.tui.present import Line, Span, ago, counted, number, one_line, tokens

_UNDER = 4
_MEANING = {
    "missing": "it was not there when it was named",
    "purged": "its copy was removed by a person",
    "skipped": "it was not to be kept",
}
_TEXT = 600
"""Characters of an entry that are shown; enter goes to the whole."""
_ENTRY_MARKS = {"decision": "◆", "blocker": "■", "milestone": "▲"}


# -- since the last review -----------------------------------------------------------------


def since_rows(row: Handoff, since: SinceReview, now: datetime) -> list[DeskRow]:
    """What came into the task behind the last review of anything in it."""
    rows = [DeskRow("whole", _since_head(since, now), WholePick(row.position))]
    if since.facts:
        rows.append(_heading("Facts changed", str(len(since.facts))))
        rows += [fact_row(change, ()) for change in since.facts]
    if since.redactions:
        rows.append(_heading("Redacted", "what the filter took out before anything was stored"))
        nth = _nth([removed.position for removed in since.redactions])
        for removed, at in zip(since.redactions, nth, strict=True):
            said = f"{removed.removed.kind} in {removed.removed.field}"
            spans: Line = (Span(said, "text"), Span(f"   event {number(removed.position)}", "faint"))
            pick = ObservationPick("", removed.position, said)
            rows.append(
                DeskRow(
                    ("removed", removed.position, at),
                    (Paragraph(spans, mark=Span("▒", "warning"), indent=1),),
                    pick,
                )
            )
    if since.observations:
        more = ", the first ones; more came after them" if since.has_more else ""
        rows.append(_heading("Entries", f"{counted(len(since.observations), 'entry', 'entries')}{more}"))
        rows += [_entry(each, now) for each in since.observations]
    return rows


def _since_head(since: SinceReview, now: datetime) -> tuple[Block, ...]:
    if since.review is None:
        head: tuple[Block, ...] = (
            Paragraph("Nothing in this task was reviewed yet", role="strong"),
            note("So this is everything that came into it, the oldest first."),
        )
    else:
        about = since.review.line
        head = verdict_blocks(since.review, now)
        if about:
            head = (head[0], note(f"about: {one_line(about, 300)}", indent=2), *head[1:])
        if not since.observations and not since.facts:
            head = (*head, Blank(), note("Nothing came since."))
    return head


def _heading(title: str, remark: str = "") -> DeskRow:
    return DeskRow(("heading", title), (Blank(), Heading(title, remark)))


def _entry(said: Observation, now: datetime) -> DeskRow:
    text = said.text if len(said.text) <= _TEXT else said.text[:_TEXT] + "…"
    mark = Span(_ENTRY_MARKS.get(said.category, "·"), "accent" if said.category in _ENTRY_MARKS else "dim")
    about = f"{said.agent} · {said.category} · {ago(moment(said.recorded_at_utc), now)}"
    blocks: list[Block] = [Paragraph(text, mark=mark, indent=1), note(about, indent=3)]
    for item in said.evidence:
        spans: Line = (
            Span(f"{file_state(item.status).word}: ", file_state(item.status).role),
            Span(one_line(item.path, 200), "dim"),
        )
        blocks.append(Paragraph(spans, mark=file_state(item.status).mark, indent=3))
    if said.get("quarantined"):
        blocks.append(Paragraph("withheld from agents", mark=Span("⊘", "warning"), indent=3, role="warning"))
    elif said.get("private"):
        blocks.append(Paragraph("private", mark=Span("⊘", "warning"), indent=3, role="warning"))
    pick = ObservationPick(said.observation_id, said.position, said.text, tuple(said.evidence))
    return DeskRow(("entry", said.observation_id), tuple(blocks), pick)


# -- evidence ------------------------------------------------------------------------------


def evidence_rows(files: Sequence[TaskFile], checkpoint: int, now: datetime) -> list[DeskRow]:
    """The task's source files: what came after the checkpoint at a position, with it, and earlier."""
    if not files:
        blocks = (
            Paragraph("No entry of this task names a source file", role="strong"),
            note("An agent names them with source_files, a person with: workbench record --source-file"),
        )
        return [DeskRow("none", blocks)]
    rows: list[DeskRow] = []
    since = [each for each in files if each.current and each.position > checkpoint]
    held = [each for each in files if each.current and each.position <= checkpoint]
    earlier = [each for each in files if not each.current]
    for title, part in (
        ("Since this checkpoint", since),
        ("With this checkpoint", held),
        ("Earlier", earlier),
    ):
        if part:
            heading = Heading(title, number(len(part)))
            rows.append(DeskRow(("heading", title), (Blank(), heading) if rows else (heading,)))
            nth = _nth([(each.position, each.evidence.path) for each in part])
            rows += [_file(each, at, now) for each, at in zip(part, nth, strict=True)]
    return rows


def _nth(names: Sequence[Hashable]) -> list[int]:
    """Which of its equals each is: with that in its key, what comes in above moves nobody."""
    seen: Counter[Hashable] = Counter()
    found: list[int] = []
    for name in names:
        found.append(seen[name])
        seen[name] += 1
    return found


def _because(reason: str) -> str:
    from workbench.tui.evidence_viewer.words import reason_words  # Only where a file was not copied.

    return reason_words(reason)


def _file(each: TaskFile, nth: int, now: datetime) -> DeskRow:
    item = each.evidence
    state, meaning = file_state(item.status), _MEANING.get(item.status)
    status = f"{state.word}: {meaning}" if meaning else state.word
    digest = f" · {digest_words(item.sha256)}" if isinstance(item.sha256, str) else ""
    if large := copy_size_words(each.kept, item.size if isinstance(item.size, int) else None):
        digest += f" · {large}"
    about: Line = (
        Span(status, state.role),
        Span(f"{digest} · {each.agent} · {ago(each.recorded_at, now)}", "dim"),
    )
    blocks: list[Block] = [
        Paragraph(item.path, mark=file_state(item.status).mark, indent=1, role="ink"),
        Paragraph(about, indent=3),
    ]
    if isinstance(item.reason, str) and item.reason:
        blocks.append(note(f"because {_because(item.reason)}", indent=3))
    return DeskRow(("file", each.position, item.path, nth), tuple(blocks), FilePick(item, each.position))


# -- for the next agent --------------------------------------------------------------------


class Served(NamedTuple):
    """What an agent would be served now."""

    command: str
    bundle: str
    """The JSON, laid out."""
    bundle_size: int
    """Characters as it is sent."""
    brief: str
    refused: Failure | None = None
    """Why it would get nothing."""


def next_blocks(served: Served) -> list[Block]:
    """Exactly the startup bundle and the brief that would be served."""
    blocks: list[Block] = [note("What the next agent is served, when it begins with:")]
    blocks.append(Paragraph(served.command, indent=2, role="ink"))
    if served.refused is not None:
        blocks += [Blank(), Paragraph(served.refused.sentence, role="warning"), note(served.refused.hint)]
        return blocks
    blocks += [
        Blank(),
        Heading("Brief", size_words(len(served.brief))),
        Verbatim(served.brief, role="text"),
        Blank(),
        Heading("Startup bundle", size_words(served.bundle_size)),
        Verbatim(served.bundle, json=True),
    ]
    return blocks


def size_words(characters: int) -> str:
    """How large a text is, for whoever pays for it."""
    return f"{number(characters)} characters · about {number(tokens(characters))} tokens"
