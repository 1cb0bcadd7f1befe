"""The one page of a workspace that cannot be opened: the sentence, what helps, and the keys that help."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from workbench.tui.failures import Failure
from workbench.tui.present import plain_lines
from workbench.tui.widgets.frame import FooterItem, FooterLine, HeaderLine

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp


class ProblemPage(Screen[None], inherit_bindings=False):
    """Says why there is no workspace; `R` tries again, `y` copies the text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("R", "try_again", "try again", id="page.refresh", show=False),
        Binding("y", "copy", "copy", id="page.copy", show=False),
    ]

    app: WorkbenchApp

    def compose(self) -> ComposeResult:
        yield HeaderLine(id="header")
        yield Static(id="problem", markup=False)
        yield FooterLine(id="footer")

    def on_mount(self) -> None:
        """Show what is known."""
        self.query_one(HeaderLine).show(self.app.header_state())
        if self.app.problem is not None:
            self.show(self.app.problem)
        keymap = self.app.keymap
        items = [
            FooterItem("page.refresh", keymap.shown("page.refresh"), "try again", click="screen.try_again"),
            FooterItem("page.copy", keymap.shown("page.copy"), "copy", click="screen.copy"),
            FooterItem("app.quit", keymap.shown("app.quit"), "quit"),
            FooterItem("app.help", keymap.shown("app.help"), "help"),
        ]
        self.query_one(FooterLine).show(items, "")

    def show(self, failure: Failure) -> None:
        """Show this failure."""
        if not self.is_mounted:
            return
        self.query_one(HeaderLine).show(self.app.header_state())
        parts = [Content.assemble(("■ ", "$broken"), (plain_lines(failure.title), "bold $ink"))]
        parts.append(Content.assemble((plain_lines(failure.sentence), "$body")))
        if failure.hint:
            parts.append(Content.assemble(("→ ", "$accent"), (plain_lines(failure.hint), "$body")))
        if failure.code:
            parts.append(Content.assemble((f"code {failure.code}", "$quiet")))
        self.query_one("#problem", Static).update(Content("\n\n").join(parts))

    def action_try_again(self) -> None:
        """Open the workspace again."""
        self.query_one("#problem", Static).update(plain_lines(self.app.opening_text()))
        self.app.open_workspace()
        self.query_one(HeaderLine).show(self.app.header_state())

    def action_copy(self) -> None:
        """Copy the failure's text."""
        if self.app.problem is not None:
            self.app.copy(self.app.problem.as_text(), "the message")
