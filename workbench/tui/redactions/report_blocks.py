"""What a rescan found or a scrub did, as a document and as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.tui.document import Blank, Block, Heading, Paragraph, note
from workbench.tui.present import Line, Span, counted, fit, number, one_line
from workbench.workspace.redactions.outcomes import backups_words, other_words, path_in, state_words
from workbench.workspace.redactions.report import KEPT, Scrubbed

if TYPE_CHECKING:
    from workbench.workspace.redactions.backups import BackupState
    from workbench.workspace.redactions.report import Rescan

_KIND = 24
_COUNT = 7


def headline(report: Rescan) -> Line:
    """What came out, in one sentence behind a mark."""
    scrubbed = isinstance(report, Scrubbed)
    if not report.found:
        if isinstance(report, Scrubbed) and report.resumed:
            return (Span("✓ ", "success"), Span("A scrub that had been cut short was completed.", "strong"))
        what = "" if report.is_whole else " of what could be looked through"
        if scrubbed:
            said = f"There was nothing to remove{what}."
        else:
            said = f"Today's filter would remove nothing{what}."
        mark = Span("✓ ", "success") if report.is_whole else Span("! ", "warning")
        return (mark, Span(said, "strong"))
    what = f"{counted(report.found, 'secret')} "
    if scrubbed:
        said = f"{what}removed from {counted(report.places, 'place')}."
        return (Span("✓ ", "success"), Span(said, "strong"))
    said = f"{what}would be removed from {counted(report.places, 'place')}."
    return (Span("! ", "warning"), Span(said, "strong"))


def report_blocks(report: Rescan, root: Path) -> list[Block]:
    """The whole report."""
    blocks: list[Block] = [Paragraph(headline(report)), *_did(report)]
    if report.secrets:
        blocks += [Blank(), Heading("Kinds"), *_kinds(report)]
    if isinstance(report, Scrubbed) and not report.emptied:
        blocks += [Blank(), *_kept(report)]
    if report.backups:
        blocks += [Blank(), *backup_blocks(report.backups, root)]
    if report.others:
        blocks += [Blank(), Heading("Files that no scrub cleans", number(len(report.others)))]
        blocks += [Paragraph(other_words(each), Span("!", "warning")) for each in report.others]
    if report.closed or report.unreadable:
        blocks += [Blank(), *_unread(report)]
    if report.hits:
        blocks += [Blank(), *_places(report)]
    return blocks


def backup_blocks(states: Sequence[BackupState], root: Path) -> list[Block]:
    """Copies of the database, and which of them hold what today's filter takes out."""
    holding = [state for state in states if state.holds is not False]
    blocks: list[Block] = [Heading("Backups", backups_words(states))]
    for state in sorted(states, key=lambda each: each.holds is False):
        mark = Span("·", "dim") if state.holds is False else Span("!", "warning")
        said = state_words(state)
        if state.holds is not None and state.upto:
            said += f" · up to event {number(state.upto)}"
        blocks.append(Paragraph((Span(path_in(root, state.path), "ink"),), mark))
        blocks.append(note(said, indent=2))
    if holding:
        blocks += [
            Blank(),
            note("A scrub leaves them as they are. Delete them when you need them no more."),
        ]
    return blocks


def report_text(report: Rescan, root: Path) -> str:
    """The report as plain text, for the clipboard."""
    from workbench.tui.document import Document

    return Document(report_blocks(report, root)).plain(4_000_000)[0] + "\n"


def _did(report: Rescan) -> Iterable[Block]:
    if not isinstance(report, Scrubbed):
        yield note(
            f"{counted(report.events, 'event')} looked through, and artifacts, exports, logs, jobs, import "
            "states and backups. Nothing was changed.",
            indent=2,
        )
        return
    parts = [
        counted(how_many, what)
        for how_many, what in (
            (report.rewritten, "event"),
            (report.artifacts, "artifact"),
            (report.files, "file"),
        )
        if how_many
    ]
    if parts:
        yield note(f"Written anew: {', '.join(parts)}.", indent=2)
    if report.resumed and report.found:
        yield note("A scrub that had been cut short was completed first.", indent=2)


def _kinds(report: Rescan) -> Iterable[Block]:
    for kind, secrets in sorted(report.secrets.items(), key=lambda each: (-each[1], each[0])):
        yield Paragraph(
            (
                Span(fit(number(secrets), _COUNT, "right"), "text"),
                Span("  "),
                Span(one_line(kind, 200), "ink"),
            )
        )


def _kept(report: Scrubbed) -> Iterable[Block]:
    yield Paragraph(
        (Span("The write-ahead log could not be emptied: old text may still stand in it.", "ink"),),
        Span("!", "warning"),
    )
    if report.readers:
        yield note("These programs have it open; close them and scrub again:", indent=2)
        yield from (Paragraph(program, indent=4) for program in report.readers)
    else:
        yield note("Another program has it open; close it and scrub again.", indent=2)


def _unread(report: Rescan) -> Iterable[Block]:
    yield Heading("Could not be read", role="warning")
    for place in report.closed:
        yield Paragraph(place, Span("!", "warning"))
    if report.unreadable:
        yield Paragraph(
            f"{counted(report.unreadable, 'event')} whose payload is broken", Span("!", "warning")
        )


def _places(report: Rescan) -> Iterable[Block]:
    shown = len(report.hits)
    remark = (
        number(report.places) if shown == report.places else f"{number(shown)} of {number(report.places)}"
    )
    yield Heading("Places", remark)
    widest = min(_KIND, max(len(hit.kind) for hit in report.hits))
    for hit in report.hits:
        place = f"event {number(hit.position)}" if hit.position else hit.place
        where: Line = (Span(place, "ink"),)
        if hit.field and hit.field != hit.place:
            where = (*where, Span(f"  {hit.field}", "dim"))
        yield Paragraph(
            (
                Span(fit(number(hit.secrets), 4, "right"), "text"),
                Span("  "),
                Span(fit(hit.kind, widest), "dim"),
                Span("  "),
                *where,
            )
        )
    if report.places > shown:
        yield note(f"The first {number(KEPT)} places are named; the kinds above count all.")
