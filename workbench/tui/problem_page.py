"""The one page of a workspace that cannot be opened: the sentence, what helps, and the keys that help."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from workbench.tui.actions import DOOR_ACTIONS, bindings
from workbench.tui.failures import Failure
from workbench.tui.present import plain_lines
from workbench.tui.sized_screen import SizedScreen
from workbench.tui.widgets.frame import FooterItem, FooterLine, HeaderLine

if TYPE_CHECKING:
    from workbench.tui.shell import Shell


MIGRATING = ("door.migrate", "door.stop")
"""The actions that only the page of a migration has."""


class ProblemPage(SizedScreen[None], inherit_bindings=False):
    """Says why there is no workspace; it can be tried again, and the text copied."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(action for action in DOOR_ACTIONS if action.id not in MIGRATING)
    ]

    app: Shell

    def compose(self) -> ComposeResult:
        yield HeaderLine(id="header")
        with VerticalScroll(can_focus=False, classes="door"):
            yield Static(id="problem", markup=False)
        yield FooterLine(id="footer")

    def on_mount(self) -> None:
        """Show what is known."""
        self.update()

    def on_screen_resume(self) -> None:
        """Show what is known by now."""
        if self.is_mounted:
            self.update()

    def update(self) -> None:
        """Draw the page from the program's state: what is wrong, or that the workspace is being opened."""
        app, keymap = self.app, self.app.keymap
        failure = app.problem
        text = self.query_one("#problem", Static)
        text.update(plain_lines(app.opening_text()) if failure is None else failure_content(failure))
        self.query_one(HeaderLine).show(app.header_state())
        items = [
            FooterItem("door.try_again", keymap.shown("door.try_again"), "try again"),
            FooterItem("door.copy", keymap.shown("door.copy"), "copy"),
            FooterItem("app.quit", keymap.shown("app.quit"), "quit"),
            FooterItem("app.help", keymap.shown("app.help"), "help"),
        ]
        self.query_one(FooterLine).show(items if failure is not None else items[2:], "")

    def action_try_again(self) -> None:
        """Open the workspace again."""
        if self.app.problem is not None:
            self.app.open_workspace()

    def action_copy(self) -> None:
        """Copy the failure's text."""
        if self.app.problem is not None:
            self.app.copy(self.app.problem.as_text(), "the message")

    def action_scroll_text(self, lines: int) -> None:
        """Scroll a text that is longer than the screen."""
        self.query_one(".door", VerticalScroll).scroll_relative(y=lines, animate=False)

    def reason_of(self, action_id: str) -> str:
        """Why an action of the doors cannot run now; "" where it can."""
        if action_id in MIGRATING:
            return "there is nothing to migrate"
        moving = action_id in ("door.down", "door.up")
        return "the workspace is being opened" if self.app.problem is None and not moving else ""


def failure_content(failure: Failure) -> Content:
    """A failure as the body of a page: title, sentence, what helps, and the code."""
    parts = [Content.assemble(("✕ ", "$broken"), (plain_lines(failure.title), "bold $ink"))]
    parts.append(Content.assemble((plain_lines(failure.sentence), "$body")))
    if failure.hint:
        parts.append(Content.assemble(("→ ", "$accent"), (plain_lines(failure.hint), "$body")))
    if failure.untouched:
        parts.append(Content.assemble(("The file is as it was: nothing was written to it.", "$body")))
    if failure.code:
        parts.append(Content.assemble((f"code {failure.code}", "$quiet")))
    return Content("\n\n").join(parts)
