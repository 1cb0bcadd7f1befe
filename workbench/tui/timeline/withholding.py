"""Withholding an observation from agents, or releasing it: asks why, and writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from workbench.errors import WorkbenchError
from workbench.memory.quarantine import MAX_REASON
from workbench.tui.dialogs.base import Dialog, key_line
from workbench.tui.failures import failure_of
from workbench.tui.present import number, one_line, plain_lines
from workbench.tui.timeline.event_words import body_of

if TYPE_CHECKING:
    from workbench.memory.quarantine import VisibilityReceipt
    from workbench.workspace import Workspace
    from workbench.workspace.rows import EventRow

_SHOWN = 400
"""Characters of the observation that are shown."""


class _Done(Message, bubble=False):
    """It was written, or refused."""

    def __init__(self, receipt: VisibilityReceipt | None, error: Exception | None = None) -> None:
        super().__init__()
        self.receipt = receipt
        self.error = error


class WithholdDialog(Dialog[str]):
    """Ends with a sentence that says what became of it, None for esc.

    A refusal is shown under what was typed, which stays and can be given again.
    """

    DEFAULT_CSS = """
    WithholdDialog #what { height: auto; max-height: 4; color: $ink; margin-bottom: 1; }
    WithholdDialog #said { height: auto; max-height: 6; color: $quiet; }
    """

    def __init__(self, workspace: Workspace, observation_id: str, event: EventRow, *, release: bool) -> None:
        super().__init__()
        self._workspace = workspace
        self._observation_id = observation_id
        self._event = event
        self._release = release
        self._writing = False

    def compose(self) -> ComposeResult:
        verb = "release" if self._release else "withhold"
        with Vertical(classes="panel") as panel:
            panel.border_title = "Release to agents" if self._release else "Withhold from agents"
            yield Static(Content(one_line(body_of(self._event), _SHOWN)), id="what")
            yield Input(placeholder="why; whoever looks at it later reads it")
            yield Static("", id="said")
            yield Static(key_line(("enter", verb), ("esc", "cancel")), classes="keys")

    def on_mount(self) -> None:
        """Say what will happen."""
        self._tell()

    @property
    def reason(self) -> str:
        """What was typed."""
        return self.query_one(Input).value.strip()

    @on(Input.Changed)
    def _typed(self) -> None:
        self._tell()

    @on(Input.Submitted)
    def _give(self) -> None:
        reason = self.reason
        if self._writing:
            return
        if not reason:
            self._refuse("say why, in a few words")
            return
        if len(reason) > MAX_REASON:
            self._refuse(f"{number(len(reason))} characters: shorten it to {number(MAX_REASON)}")
            return
        self._writing = True
        self.query_one("#said", Static).update("writing …")
        memory, by, given = self._workspace.memory, self._workspace.owner, self._observation_id
        write = memory.release if self._release else memory.quarantine

        def work() -> None:
            try:
                self.post_message(_Done(write(given, reason=reason, by=by)))
            except WorkbenchError as error:
                self.post_message(_Done(None, error))

        self.run_worker(
            work,
            group="withhold",
            description="Writing that an observation is withheld",
            exit_on_error=False,
            thread=True,
        )

    def on__done(self, message: _Done) -> None:
        """End, or say why it was refused."""
        self._writing = False
        if message.receipt is None:
            failure = failure_of(message.error or RuntimeError("nothing came back"), root=self.app.root)
            self._refuse(failure.sentence, failure.hint)
            return
        receipt = message.receipt
        state = "withheld from agents" if receipt.quarantined else "shown to agents again"
        self.dismiss(
            f"It is {state}." if receipt.changed else f"It was {state} already: nothing was written."
        )

    def action_cancel(self) -> None:
        """Leave; what is being written is waited for, since it happens."""
        if not self._writing:
            self.dismiss(None)

    def _tell(self) -> None:
        length = len(self.reason)
        what = "Agents see it again." if self._release else "No agent sees it from then on; you still do."
        self.query_one("#said", Static).update(
            Content.assemble((f"{what} {number(length)} of {number(MAX_REASON)} characters.", "$quiet"))
        )

    def _refuse(self, sentence: str, hint: str = "") -> None:
        parts = [Content.assemble(("! ", "$attention"), (plain_lines(sentence), "$ink"))]
        if hint:
            parts.append(Content.assemble(("→ ", "$accent"), (plain_lines(hint), "$quiet")))
        self.query_one("#said", Static).update(Content("\n").join(parts))
