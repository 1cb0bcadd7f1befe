"""Which keys the footer of a screen names, the most wanted first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from workbench.tui.actions import Action
from workbench.tui.present import number
from workbench.tui.widgets.frame import FooterItem

if TYPE_CHECKING:
    from workbench.tui.shell import Shell


def footer_items(
    app: Shell,
    reachable: Iterable[Action],
    selected: int,
    on_selection: Sequence[tuple[str, str]],
    led: str,
    *,
    editing: bool,
    in_detail: bool,
) -> list[FooterItem]:
    """The keys of a page, in the order in which the footer takes them.

    While the past is shown the way back to now comes first. Then, while rows are selected, what acts on
    them (`on_selection`, as `Page.ON_SELECTION`) and the key that drops them; else what esc leaves: the
    filter that is being edited, what the person was led to (`led` says where from), or the detail that
    has the keys.
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
        for action_id, title in on_selection:
            acting.add(action_id)
            reason = app.registry[action_id].reason(app)
            shown = title.format(number(selected))
            first.append(FooterItem(action_id, keymap.shown(action_id), shown, reason))
        first.append(back("drop selection"))
    elif editing:
        first.append(back(app.registry["page.back"].title))
    elif led:
        first.append(back(led))
    elif in_detail:
        first.append(back(app.registry["page.back"].title))
    others = [
        FooterItem(action.id, keymap.shown(action.id), action.title, action.reason(app))
        for action in sorted(actions, key=lambda action: action.footer)
        if action.footer and action.id not in acting
    ]
    return [*first, *others]
