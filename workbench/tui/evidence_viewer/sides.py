"""The sides of a piece of evidence: the copy, the file on the disk now, the records; what each one shows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.tui.document import Block, note
from workbench.tui.evidence_viewer import reading, words
from workbench.tui.evidence_viewer.reading import Body, Source
from workbench.tui.present import counted, number
from workbench.tui.widgets.tab_line import Tab

if TYPE_CHECKING:
    from workbench.workspace.evidence_disk import OnDisk
    from workbench.workspace.evidence_item import EvidenceItem

COPY, DISK, RECORDS = "copy", "disk", "records"
SIDES = (Tab(COPY, "Copy"), Tab(DISK, "On disk now"), Tab(RECORDS, "Records"))


class View(NamedTuple):
    """What is known of an item, and how a person looks at it."""

    item: EvidenceItem | None
    """None while it is being read."""
    body: Body
    on_disk: OnDisk | None
    side: str
    as_markdown: bool
    zone: tzinfo
    root: Path
    """Of the workspace, for commands."""


def shown_source(view: View) -> Source | None:
    """The text that is shown as a source file; None where blocks are shown."""
    item, body = view.item, view.body
    if view.side != COPY or item is None or body.source is None or item.state != "archived":
        return None
    if not body.source.text or (body.markdown is not None and view.as_markdown):
        return None
    return body.source


def blocks(view: View, width: int) -> Sequence[Block]:
    """What is shown otherwise, for so many cells."""
    item, body = view.item, view.body
    if item is None:
        return ()
    if view.side == RECORDS:
        return words.record_blocks(item, view.zone)
    if view.side == DISK:
        if item.row is None:
            return words.state_blocks(item, view.zone, view.root)
        if view.on_disk is None:
            return [note("looking at the disk …")]
        return words.disk_blocks(item, view.on_disk)
    told = words.state_blocks(item, view.zone, view.root)
    copy = item.copy
    if copy is None or copy.size is None:
        return told
    if told:
        told.append(note(""))
    if body.source is None:
        return [*told, *reading.bytes_blocks(copy, width, body.remark)]
    if not body.source.text:
        return [*told, *reading.empty_blocks()]
    if body.markdown is not None and view.as_markdown:
        return [*told, *body.markdown]
    return [*told, *reading.plain_blocks(body.source.text)]


def notes(view: View) -> tuple[str, ...]:
    """What stands beside the tabs; of several the first that fits."""
    item, source = view.item, view.body.source
    if item is None:
        return ()
    if view.side == RECORDS:
        return (f"{number(len(item.records))}{'+' if item.more else ''}",)
    if view.side != COPY or item.copy is None or source is None:
        return ()
    if view.body.markdown is not None:
        form = "Markdown" if view.as_markdown else "Markdown, its source"
        return (f"{item.copy.encoding} · {form}", "Markdown")
    return (reading.text_note(item.copy, source), counted(len(source.index), "line"))


def key_pairs(view: View, *, hits: bool, wraps: bool) -> list[tuple[str, str]]:
    """The keys that can be used now, the most wanted first."""
    pairs = [("esc", "back")]
    if hits:
        pairs.append(("n N", "hits"))
    pairs.append(("[ ]", "sides"))
    if view.item is not None and len(view.item.beside) > 1:
        pairs.append(("< >", "files"))
    if view.side != DISK:
        pairs.append(("d", "disk"))
    if view.side == COPY and view.body.markdown is not None:
        pairs.append(("m", "source" if view.as_markdown else "rendered"))
    if shown_source(view) is not None:
        pairs += [("w", "cut" if wraps else "wrap"), ("#", "numbers")]
    return [*pairs, ("/", "find"), ("y", "copy")]


def fitting(pairs: Sequence[tuple[str, str]], room: int) -> list[tuple[str, str]]:
    """The first of these keys, as many as a line of so many cells has room for."""
    kept: list[tuple[str, str]] = []
    for key, meaning in pairs:
        room -= len(key) + len(meaning) + 4
        if room < -3:
            break
        kept.append((key, meaning))
    return kept
