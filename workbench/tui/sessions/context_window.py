"""What an agent would be handed of a session: the acta, as a document, and how much they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING

from workbench.tui.document import Blank, Block, Heading, Verbatim, note
from workbench.tui.present import counted, number, one_line, tokens
from workbench.tui.sessions.entry_source import in_zone
from workbench.tui.sessions.shown import Shown

if TYPE_CHECKING:
    from workbench.sessions.model import Actum
    from workbench.workspace import Workspace

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


def read_window(workspace: Workspace, owner_id: str, chronicum_id: str, shown: Shown, last_n: int) -> Window:
    """The last `last_n` acta that pass the switches, private ones left out, as an agent gets them."""
    from workbench.workspace.context import context

    if not shown.acta:
        return Window((), 0)
    acta = context(
        workspace,
        owner_id,
        chronicum_id,
        last_n=min(last_n, MOST),
        actum_kinds=shown.kinds,
        actor_kinds=shown.actor_kinds,
    )
    return Window(acta, sum(len(actum.content) for actum in acta))


def window_blocks(window: Window, last_n: int, zone: tzinfo) -> list[Block]:
    """The window as it would be handed over: each actum's head, then its content untouched."""
    blocks: list[Block] = [
        Heading(window.summary, role="strong"),
        note(f"The last {number(last_n)} acta that the switches let pass; private ones are left out."),
    ]
    if not window.acta:
        blocks += [Blank(), note("Nothing passes: an agent would be handed no acta.")]
    for actum in window.acta:
        name = actum.metadata.get("name")
        tool = f" {one_line(name, 60)}" if isinstance(name, str) and name else ""
        when = "" if actum.at is None else f" · {in_zone(actum.at, zone):%Y-%m-%d %H:%M}"
        blocks += [
            Blank(),
            Heading(f"{one_line(actum.actor, 80)}", f"{actum.actor_kind} · {actum.kind}{tool}{when}"),
            Verbatim(actum.content, role="text"),
        ]
    return blocks
