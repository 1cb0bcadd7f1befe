"""Keys that are live only while the focus is where they belong."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

from textual.binding import BindingType
from textual.containers import Horizontal

from workbench.tui.actions import LIST, LIST_ACTIONS, PANE, PANE_ACTIONS, bindings


@runtime_checkable
class HasContext(Protocol):
    """A screen that knows what its focus is in."""

    def focused_context(self) -> str:
        """`LIST`, `PANE`, or "" where the focus is in neither."""
        ...


class LiveKeys(Horizontal):
    """Keys of one context: bound here, live only while the focus is in that context.

    Lists and detail panes share keys, and Textual's keymap moves every action on a key at once where
    two are bound on one node; so each context has a node of its own.
    """

    CONTEXT: ClassVar[str] = ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let a key pass that is for another context."""
        if action != "live":
            return super().check_action(action, parameters)
        screen = self.screen
        return isinstance(screen, HasContext) and screen.focused_context() == self.CONTEXT

    async def action_live(self, action_id: str) -> None:
        """Run an action of the registry."""
        await self.run_action(f"app.perform({action_id!r})")


class PaneKeys(LiveKeys):
    """Live in a detail pane."""

    CONTEXT = PANE
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(PANE_ACTIONS)]


class ListKeys(LiveKeys):
    """Live in a list."""

    CONTEXT = LIST
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(LIST_ACTIONS)]
