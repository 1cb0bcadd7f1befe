"""The Facts screen: what slots hold, how they came to it, and a person's word on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.destinations import ToSession, ToTask
from workbench.tui.evidence_viewer import open_evidence
from workbench.tui.facts.going import GOTO_HINT
from workbench.tui.facts.leading_page import FactLeadingPage
from workbench.tui.facts.messages import FactFound, SessionFound
from workbench.tui.facts.page_actions import FACT_ACTIONS, NAME
from workbench.tui.facts.stops import FactStop, LinkStop
from workbench.tui.present import one_line
from workbench.tui.verdicts import VerdictsWritten, ask_verdict, tell_verdicts

if TYPE_CHECKING:
    from workbench.memory.events import Evidence
    from workbench.memory.receipts import Receipt

_SHOWN = 60


class FactsPage(FactLeadingPage):
    """The list of facts and the chain of one; verdicts, evidence, and decisions of the person."""

    NAME, TITLE, NUMBER = NAME, "Facts", 4
    LIST_SHARE = 45
    FOLLOWS_AS_OF = True
    OFFERS = frozenset({"page.filter", "page.goto", "page.sort", "page.copy"})
    GOTO_HINT = GOTO_HINT
    ACTIONS = FACT_ACTIONS

    # Looking closer

    def action_toggle_whole(self) -> None:
        """Long texts whole, or cut again."""
        self.pane.toggle_whole()

    def action_evidence(self) -> None:
        """Show the file given as evidence; of several, ask which."""
        from workbench.tui.dialogs.choose import Choice, ChooseDialog

        files = self.target_evidence
        if len(files) < 2:
            for each in files:
                self._view(each)
            return
        choices = [
            Choice(str(number), each.path, each.status.replace("_", " ")) for number, each in enumerate(files)
        ]

        def show(chosen: str | None) -> None:
            if chosen is not None:
                self._view(files[int(chosen)])

        self.app.push_screen(ChooseDialog("Which evidence?", choices), show)

    def _view(self, file: Evidence) -> None:
        """The one place from which this screen opens a source file."""
        open_evidence(self.app, sha256=file.sha256 or "", path=file.path)

    def action_open_session(self) -> None:
        """Open the session of its author, if the workspace has it."""
        session, workspace = self.target_session, self._workspace
        if session and workspace is not None:
            self.in_thread(
                lambda: self.post_message(
                    SessionFound(session, workspace.readers.sessions.get(session) is not None)
                ),
                "session",
                "Looking for a session",
            )

    async def on_session_found(self, message: SessionFound) -> None:
        """Go there, or say that nothing of it is here."""
        if not message.there:
            named = one_line(message.session_id, _SHOWN)
            self.app.notify(f"The workspace has nothing of the session {named}; it may not be imported.")
            return
        await self.app.lead_to(ToSession(message.session_id))

    async def action_open_task(self) -> None:
        """Show the task that it belongs to."""
        row = self.cursor_fact
        if row is not None and row.task_id:
            await self.app.lead_to(ToTask(row.project, row.task_id, row.domain))

    # A person's word

    def action_review(self) -> None:
        """Ask for a verdict on it."""
        from workbench.tui.dialogs.verdict import Judged

        target, row = self.target, self.cursor_fact
        if isinstance(target, LinkStop):
            fact = target.link.fact
            judged = Judged(
                "fact",
                fact.id,
                f"{fact.kind} by {fact.agent}",
                f"{fact.slot} = {fact.value}",
                target.link.review,
            )
        elif isinstance(target, FactStop):
            row = target.row
            judged = Judged("fact", row.id, f"{row.kind} by {row.agent}", f"{row.slot} = {row.value}")
        elif row is not None:
            judged = Judged("fact", row.id, f"{row.kind} by {row.agent}", f"{row.slot} = {row.value}")
        else:
            return
        ask_verdict(self, judged)

    def on_verdicts_written(self, message: VerdictsWritten) -> None:
        """Say what became of it."""
        tell_verdicts(self, message, self.on_committed)

    def action_supersede(self) -> None:
        """Ask what the slot holds from now on."""
        from workbench.tui.facts.supersede_dialog import SupersedeDialog, slot_of

        row, workspace = self.shown_fact, self._workspace
        if row is None or workspace is None:
            return
        typed = self.app.decision_drafts.take(slot_of(row))
        dialog = SupersedeDialog(workspace, row, typed, self.app.keymap.shown("facts.supersede"))

        def recorded(receipt: Receipt | None) -> None:
            if receipt is None:
                dialog.keep_words()
                return
            self.app.notify(_said(receipt))
            self.on_committed()
            fact, reader, wanted = receipt.fact_id or "", workspace.readers.facts, self.wanted

            def find() -> None:
                position = reader.position_of(fact)
                if position is not None:
                    self.post_message(FactFound(position, reader.passes(wanted, position)))

            self.in_thread(find, "goto", "Looking for a fact")

        self.app.push_screen(dialog, recorded)


def _said(receipt: Receipt) -> str:
    slot = one_line(receipt.text, _SHOWN)
    removed = " The filter took a secret out of it." if receipt.redactions else ""
    return f"Decided: {slot}.{removed}"


PAGE = FactsPage
