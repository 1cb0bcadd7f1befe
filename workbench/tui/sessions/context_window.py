"""What an agent would be handed of a session: the acta, as a document, and how much they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.storage.errors import DatabaseDamaged
from workbench.tui.document import Blank, Block, Heading, Paragraph, Verbatim, note
from workbench.tui.in_shell import here
from workbench.tui.present import Span, counted, number, one_line, tokens
from workbench.tui.sessions.entry_source import in_zone
from workbench.tui.sessions.shown import Shown
from workbench.workspace.readers.entry_damage import UnreadableActum
from workbench.workspace.rows import ActaFilter

if TYPE_CHECKING:
    from workbench.sessions.model import Actum
    from workbench.workspace import Workspace
    from workbench.workspace.readers.entry_queries import EntryReader

DEFAULT_LAST_N = 20
MOST = 10_000
"""Acta that are looked at at once."""
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, MOST)


def step(last_n: int, direction: int) -> int:
    """The next larger or (negative) smaller number of acta."""
    if direction > 0:
        return next((each for each in STEPS if each > last_n), MOST)
    return next((each for each in reversed(STEPS) if each < last_n), STEPS[0])


@dataclass(frozen=True, slots=True)
class Window:
    """The acta that would be handed over, and how much text they are."""

    acta: Sequence[Actum]
    characters: int
    unreadable: int = 0
    """How many of the acta are damaged; an agent that asks for any of them is refused."""

    @property
    def summary(self) -> str:
        """`20 acta · 8 412 characters · ≈ 2 103 tokens`."""
        return (
            f"{counted(len(self.acta), 'actum', 'acta')} · {number(self.characters)} characters"
            f" · ≈ {number(tokens(self.characters))} tokens"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """The same for a narrow line, the fullest first."""
        tokens_text = f"≈ {number(tokens(self.characters))} tokens"
        return self.summary, f"{number(self.characters)} characters · {tokens_text}", tokens_text


def read_window(
    workspace: Workspace,
    owner_id: str,
    chronicum_id: str,
    shown: Shown,
    last_n: int,
    as_of: int | None = None,
) -> Window:
    """The last `last_n` acta that pass the switches, private ones left out, as an agent gets them.

    With `as_of` as an agent would have got them at that position.
    """
    from workbench.workspace.context import context

    if not shown.acta:
        return Window((), 0)
    if as_of is not None:
        entries = workspace.readers.entries.as_of(as_of)
        return _window_of(entries, chronicum_id, shown, min(last_n, MOST))
    try:
        acta = context(
            workspace,
            owner_id,
            chronicum_id,
            last_n=min(last_n, MOST),
            actum_kinds=shown.kinds,
            actor_kinds=shown.actor_kinds,
        )
    except DatabaseDamaged:
        # One of them, maybe; where it is the whole file the next read says so.
        return _window_of(workspace.readers.entries, chronicum_id, shown, min(last_n, MOST))
    return Window(acta, sum(len(actum.content) for actum in acta))


def _window_of(entries: EntryReader, chronicum_id: str, shown: Shown, last_n: int) -> Window:
    """The same acta from the entries, damaged ones saying so."""
    from workbench.sessions.model import Actum

    wanted = ActaFilter(kinds=shown.kinds, actor_kinds=shown.actor_kinds, include_private=False)
    acta: list[Actum] = []
    unreadable = 0
    for row in entries.last(chronicum_id, wanted, last_n):
        clipped = row.content_chars > len(row.content)
        whole = (entries.entry(chronicum_id, row.seq) if clipped else None) or row
        unreadable += isinstance(whole, UnreadableActum)
        acta.append(
            Actum(
                chronicum_id=chronicum_id,
                kind=whole.kind,
                actor_kind=whole.actor_kind,
                actor=whole.actor,
                content=whole.content,
                at=whole.at,
                occurred_at=whole.occurred_at,
                metadata=whole.metadata,
            )
        )
    return Window(acta, sum(len(actum.content) for actum in acta), unreadable)


def window_blocks(window: Window, last_n: int, zone: tzinfo, root: Path) -> list[Block]:
    """The window as it would be handed over: each actum's head, then its content untouched."""
    blocks: list[Block] = [
        Heading(window.summary, role="strong"),
        note(f"The last {_acta(last_n)} that the switches let pass; private ones are left out."),
    ]
    if window.unreadable:
        many = counted(window.unreadable, "actum", "acta")
        doctor = here("workbench doctor", root)
        said = f"{many} cannot be read: an agent that asks for this window is refused. Run {doctor}."
        blocks += [Blank(), Paragraph(said, Span("✗", "error"))]
    if not window.acta:
        blocks += [Blank(), note("Nothing passes: an agent would be handed no acta.")]
    for actum in window.acta:
        name = actum.metadata.get("name")
        tool = f" {one_line(name, 60)}" if isinstance(name, str) and name else ""
        # As in the list of acta: when it happened, not when an import recorded it.
        then = actum.occurred_at or actum.at
        when = "" if then is None else f" · {in_zone(then, zone):%Y-%m-%d %H:%M}"
        blocks += [
            Blank(),
            Heading(f"{one_line(actum.actor, 80)}", f"{actum.actor_kind} · {actum.kind}{tool}{when}"),
            Verbatim(actum.content, role="text"),
        ]
    return blocks


def _acta(last_n: int) -> str:
    """`actum`, `20 acta`: what stands behind “the last”."""
    return "actum" if last_n == 1 else f"{number(last_n)} acta"
