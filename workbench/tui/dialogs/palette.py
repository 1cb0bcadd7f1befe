"""The command palette: every action of the program, with its live key, and why it cannot run now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.dialogs.choose import Choice, ChooseDialog

if TYPE_CHECKING:
    from workbench.tui.actions import Action
    from workbench.tui.shell import Shell


def palette_choices(app: Shell) -> list[Choice]:
    """One choice per action: what can run first; of that the screen's own, then the rest, moving last."""
    own = app.page.NAME if app.page is not None else ""

    def rank(action: Action) -> int:
        if action.id.startswith(f"{own}."):
            return 0
        return 2 if action.group == "Move" else 1

    choices = [
        Choice(
            action.id,
            action.title,
            action.description,
            app.keymap.all_shown(action.id),
            app.reason_of(action.id),
        )
        for action in sorted(app.registry, key=rank)
        if action.id != "app.palette"
    ]
    return sorted(choices, key=lambda choice: bool(choice.reason))


def palette_dialog(app: Shell) -> ChooseDialog:
    """The palette as a dialog that ends with an action's id."""
    return ChooseDialog("Do anything", palette_choices(app))
