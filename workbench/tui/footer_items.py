"""Which keys the footer of a screen names, the most wanted first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench.tui.actions import Action
from workbench.tui.present import number
from workbench.tui.widgets.frame import FooterItem

if TYPE_CHECKING:
    from workbench.tui.page import Page
    from workbench.tui.shell import Shell


def footer_items(
    app: Shell,
    page: Page,
    reachable: Iterable[Action],
    selected: int,
    *,
    editing: bool,
    in_detail: bool,
) -> list[FooterItem]:
    """The keys of a page, in the order in which the footer takes them.

    While the past is shown the way back to now comes first. Then, while rows are selected, what acts on
    them (`page.ON_SELECTION`) and the key that drops them; else what esc
    leaves: the filter that is being edited, what the person was led to, or the detail that has the keys.
    """
    keymap = app.keymap

    def back(title: str) -> FooterItem:
        return FooterItem("page.back", keymap.shown("page.back"), title)

    actions = list(reachable)
    first: list[FooterItem] = []
    if app.as_of is not None:
        first.append(FooterItem("app.now", keymap.shown("app.now"), "back to now"))
    acting: set[str] = set()
    if selected and not editing:
        for action_id, title in page.ON_SELECTION:
            acting.add(action_id)
            reason = app.registry[action_id].reason(app)
            shown = title.format(number(selected))
            first.append(FooterItem(action_id, keymap.shown(action_id), shown, reason))
        first.append(back("drop selection"))
    elif editing:
        first.append(back(app.registry["page.back"].title))
    elif led := app.back_title(page):
        first.append(back(led))
    elif in_detail:
        first.append(back(app.registry["page.back"].title))
    others = [
        FooterItem(action.id, keymap.shown(action.id), action.title, action.reason(app))
        for action in sorted(actions, key=lambda action: action.footer)
        if action.footer and action.id not in acting
    ]
    return [*first, *others]
