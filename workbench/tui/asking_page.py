"""What every screen asks a person: where to go, and in which form to copy."""

from __future__ import annotations

from typing import ClassVar

from workbench.errors import WorkbenchError
from workbench.tui.copying import CopyChoice, TextMade
from workbench.tui.failures import Failure, failure_of
from workbench.tui.panes import Panes


class Asking(Panes, inherit_bindings=False):
    """Asks with dialogs; a screen says what there is to go to and to copy."""

    GOTO_HINT: ClassVar[str] = "a position, an id or a date"
    """What `page.goto` takes here."""
    NOWHERE: ClassVar[frozenset[str]] = frozenset({"no_such_place"})
    """The codes of errors that say that what a person typed for `page.goto` is nowhere."""

    def __init__(self, css_id: str) -> None:
        super().__init__(css_id)
        self._going_to = ""
        """Where a person wants to go, until they do something else."""

    # What a screen fills in

    def goto(self, text: str) -> None:
        """Go to what `text` names; raises a `WorkbenchError` where there is no such place."""

    def copy_choices(self) -> list[CopyChoice]:
        """The forms in which what is under the cursor can be copied, the most wanted first."""
        return []

    # Actions

    def action_goto(self) -> None:
        """Ask where to go."""
        self._ask_where("", None)

    def _ask_where(self, text: str, refused: Failure | None) -> None:
        from workbench.tui.dialogs.prompt import PromptDialog

        def go(text: str | None) -> None:
            if not text:
                return
            self._going_to = text
            try:
                self.goto(text)
            except WorkbenchError as error:
                self.refuses_place(error)

        self.app.push_screen(PromptDialog("Go to", self.GOTO_HINT, text, refused=refused), go)

    def refuses_place(self, error: WorkbenchError) -> bool:
        """Ask again where to go, with the text that led nowhere and why; whether there is such a text."""
        text, self._going_to = self._going_to, ""
        if not text or self.app.screen is not self:
            return False
        self._ask_where(text, failure_of(error, root=self.app.root))
        return True

    def forget_place(self) -> None:
        """The person does something else: an error is no longer about where they wanted to go."""
        self._going_to = ""

    def action_copy(self) -> None:
        """Offer the forms in which what is under the cursor can be copied."""
        from workbench.tui.dialogs.copy_menu import CopyMenu

        choices = self.copy_choices()

        def copy(index: int | None) -> None:
            if index is not None:
                choice = choices[index]
                # A long text takes a while to make: the program goes on meanwhile.
                self.run_worker(
                    lambda: self.post_message(TextMade(choice.resolve(), choice.label)),
                    group="copy",
                    description="Making the text to copy",
                    exit_on_error=False,
                    exclusive=True,
                    thread=True,
                )

        self.app.push_screen(CopyMenu([choice.label for choice in choices]), copy)

    def on_text_made(self, message: TextMade) -> None:
        """Copy what was made."""
        message.stop()
        with self.app.showing_failures():
            self.app.copy(message.text, message.label)
