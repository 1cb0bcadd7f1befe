"""The Handoffs screen: what was handed off, what about it needs a person, and the person's verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.memory.events import Evidence, ReviewItem
from workbench.memory.views import Review
from workbench.tui.copying import CopyChoice
from workbench.tui.destinations import ToChronicle, ToEvent, ToFact, ToSession
from workbench.tui.handoffs.checkpoint_side import TITLES
from workbench.tui.handoffs.copies import handoff_copies
from workbench.tui.handoffs.desk_rows import (
    CheckpointPick,
    FactPick,
    FilePick,
    LinePick,
    ObservationPick,
    WholePick,
    event_of,
)
from workbench.tui.handoffs.going_page import HandoffGoingPage
from workbench.tui.handoffs.handoff_pane import EVIDENCE, HISTORY
from workbench.tui.handoffs.page_actions import HANDOFF_ACTIONS, NAME
from workbench.tui.present import ago, counted, number
from workbench.tui.verdicts import VerdictsWritten, ask_verdict, tell_verdicts, write_verdicts

if TYPE_CHECKING:
    from workbench.memory.handoff_views import Handoff
    from workbench.tui.dialogs.verdict import Judged

_NAMED = 12
"""Tasks that are named before they are accepted together."""


class HandoffsPage(HandoffGoingPage):
    """The inbox of the review desk, and the first screen of a new program."""

    NAME, TITLE, NUMBER = NAME, "Handoffs", 1
    LIST_SHARE = 43
    OFFERS = frozenset(
        {
            "page.filter",
            "page.goto",
            "page.copy",
            "page.sort",
            "page.select",
            "page.select_range",
            "page.next_tab",
            "page.previous_tab",
        }
    )
    ON_SELECTION = (("handoffs.accept_all", "accept {}"),)
    ACTIONS = HANDOFF_ACTIONS

    # Verdicts

    def action_review(self) -> None:
        """Ask for a verdict on what is under the cursor: the checkpoint, a line of it, an entry, a fact."""
        row = self.cursor_handoff
        if row is not None:
            ask_verdict(self, self._judged(row))

    def _judged(self, row: Handoff) -> Judged:
        from workbench.tui.dialogs.verdict import Judged

        task = f"{row.project}/{row.task_id}"
        match self.picked:
            case LinePick() as pick:
                return self._judged_whole(row, pick)
            case ObservationPick() as pick if pick.observation_id:
                return Judged("observation", pick.observation_id, f"An entry of {task}", pick.text)
            case FactPick() as pick:
                return Judged("fact", pick.fact_id, f"A fact of {task}", pick.text)
            case CheckpointPick() as pick if pick.checkpoint_id != row.checkpoint_id:
                return Judged("checkpoint", pick.checkpoint_id, f"An earlier checkpoint of {task}", pick.goal)
            case _:
                return self._judged_whole(row, None)

    def _judged_whole(self, row: Handoff, pick: LinePick | None) -> Judged:
        from workbench.tui.dialogs.verdict import Judged

        task, detail = f"{row.project}/{row.task_id}", self.pane.detail
        title = f"Checkpoint of {task} · {row.agent} · {ago(row.recorded_at, self._now())}"
        earlier: Review | None = detail.review if detail is not None else None
        if pick is None:
            return Judged("checkpoint", row.checkpoint_id, title, row.goal, earlier)
        of_line = [
            each.review
            for each in (detail.lines if detail is not None else ())
            if (each.where, each.line) == (pick.where, pick.line)
        ]
        return Judged(
            "checkpoint",
            row.checkpoint_id,
            title,
            row.goal,
            earlier,
            ReviewItem(list=pick.where, index=pick.line),
            pick.text,
            f"{TITLES[pick.where]}, line {pick.line + 1} · {task}",
            of_line[-1] if of_line else None,
            True,
        )

    def action_accept_all(self) -> None:
        """Accept the checkpoints of the selected tasks, as they are on the screen now."""
        from workbench.tui.dialogs.confirm import ConfirmDialog
        from workbench.tui.dialogs.verdict import Judged
        from workbench.tui.drafts import Verdict

        rows = self.handoffs.target_rows
        if not rows:
            return
        verdicts = [
            (
                Judged("checkpoint", row.checkpoint_id, f"{row.project}/{row.task_id}", row.goal),
                Verdict("accepted", "", None),
            )
            for row in rows
        ]
        names = [f"{row.project}/{row.task_id}" for row in rows[:_NAMED]]
        more = [f"and {len(rows) - _NAMED} more"] if len(rows) > _NAMED else []
        alarmed = sum(row.alarms.total > 0 for row in rows)
        warned = []
        if alarmed:
            has = "has" if alarmed == 1 else "have"
            warned.append(f"{_of_them(alarmed, len(rows))} {has} something that needs a look.")
        for verdict in ("questioned", "rejected"):
            count = sum(row.review is not None and row.review.verdict == verdict for row in rows)
            if count:
                was = "was" if count == 1 else "were"
                whose, after = _of_them(count, len(rows)), "it" if count == 1 else "them"
                warned.append(f"{whose} {was} {verdict} already: this accepts {after} after all.")
        details = "\n".join([*names, *more, *([""] if warned else []), *warned])

        def accept(sure: bool | None) -> None:
            if sure:
                write_verdicts(self, verdicts)

        question = f"Accept the {counted(len(rows), 'checkpoint')}?"
        self.app.push_screen(ConfirmDialog(question, details, yes="accept", no="leave"), accept)

    def on_verdicts_written(self, message: VerdictsWritten) -> None:
        """Say what became of them, and show it."""
        if len(message.receipts) > 1:
            self.handoffs.cancel_selection()
        tell_verdicts(self, message, self.on_committed)

    # From here to elsewhere

    async def action_follow(self) -> None:
        """To what the line under the cursor stands for."""
        match self.pane.pick:
            case FilePick() as pick:
                self._show_file(pick.evidence, pick.position)
            case CheckpointPick():
                reason = self.pane.compare()
                if reason:
                    self.app.notify(f"{reason}.".capitalize())
            case FactPick() as pick if self.app.has_screen("facts"):
                await self.app.lead_to(ToFact(pick.fact_id))
            case WholePick() | LinePick() | ObservationPick() | FactPick() as pick:
                await self._to_timeline(event_of(pick))
            case _:
                await self.action_show_on_timeline()

    async def action_show_on_timeline(self) -> None:
        """The hand-off, or what is under the cursor, among the events near it."""
        pick, row = self.picked, self.cursor_handoff
        if pick is not None:
            await self._to_timeline(event_of(pick))
        elif row is not None:
            await self._to_timeline(row.position)

    async def action_open_chronicle(self) -> None:
        """The section of the chronicle that tells of the hand-off, or of what is under the cursor."""
        pick, row = self.picked, self.cursor_handoff
        position = event_of(pick) if pick is not None else 0 if row is None else row.position
        if position:
            await self.app.lead_to(ToChronicle("", position=position))

    async def _to_timeline(self, position: int) -> None:
        await self.app.lead_to(ToEvent(position))

    async def action_open_session(self) -> None:
        """The session in which the checkpoint was recorded."""
        row = self.cursor_handoff
        if row is not None and row.session_id:
            await self.app.lead_to(ToSession(row.session_id))

    def action_evidence(self) -> None:
        """The file of the line under the cursor; without one, the task's files."""
        pick, row = self.picked, self.cursor_handoff
        if isinstance(pick, FilePick):
            self._show_file(pick.evidence, pick.position)
        elif isinstance(pick, LinePick | ObservationPick) and pick.files:
            self._show_file(pick.files[0], pick.position)
        elif row is not None:
            self.pane.show_side(EVIDENCE)
            self.show_detail()

    def _show_file(self, item: Evidence, position: int) -> None:
        """Show a source file: the one place where the viewer is asked for."""
        from workbench.tui.evidence_viewer import open_evidence

        digest = item.sha256 if isinstance(item.sha256, str) else ""
        open_evidence(self.app, sha256=digest, path=item.path, position=position)

    # Selecting and copying

    def action_select(self) -> None:
        """Select the task under the cursor; in the history, mark the checkpoint to be compared."""
        if self.pane.lines.has_focus and self.pane.side == HISTORY:
            self.pane.mark()
        else:
            self.handoffs.toggle_select()

    def action_select_range(self) -> None:
        """Start a selection that moves with the cursor, or keep it; in the history as `select`."""
        if self.pane.lines.has_focus and self.pane.side == HISTORY:
            self.pane.mark()
        else:
            self.handoffs.toggle_range()

    def copy_choices(self) -> list[CopyChoice]:
        """The forms of what is under the cursor."""
        workspace = self._workspace
        if workspace is None or not self.is_mounted:
            return []
        return handoff_copies(workspace, self.handoffs.selected_rows, self.cursor_handoff, self.picked)


def _of_them(count: int, of: int) -> str:
    """`count` of so many tasks that are named above, as the beginning of a sentence."""
    if count == of:
        return {1: "It", 2: "Both"}.get(count, f"All {number(count)}")
    return f"{number(count)} of them"


PAGE = HandoffsPage
