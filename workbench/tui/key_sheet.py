"""The printed cheat-sheet, made from the registry.

`python -m workbench.tui.key_sheet` writes it as `docs/keys.md`.
"""

from __future__ import annotations

from pathlib import Path

from workbench.tui.actions import APP, DOOR, GROUPS, LIST, PAGE, PANE, Registry
from workbench.tui.key_names import display

SHEET = Path(__file__).resolve().parents[1] / "docs" / "keys.md"


def key_sheet(registry: Registry, titles: dict[str, str]) -> str:
    """The printed cheat-sheet: Markdown tables of every action by group, with default keys.

    `titles` names the screens by context, for the actions that only one of them has.
    """
    where = {
        APP: "everywhere",
        PAGE: "screens",
        LIST: "lists",
        PANE: "detail panes",
        DOOR: "before opening",
    } | titles
    lines = [
        "# Keys",
        "",
        "Every action, its id for `keymap.toml`, and the keys it has until you change them.",
    ]
    for group in GROUPS:
        members = [action for action in registry if action.group == group]
        if not members:
            continue
        lines += ["", f"## {group}", "", "| keys | what it does | where | id |", "|---|---|---|---|"]
        for action in members:
            keys = " ".join(f"`{display(key)}`" for key in action.keys)
            lines.append(f"| {keys} | {action.description} | {where[action.context]} | `{action.id}` |")
    return "\n".join(lines) + "\n"


def current_sheet() -> str:
    """The cheat-sheet of the program as it is."""
    from workbench.tui.app import WorkbenchApp

    return key_sheet(WorkbenchApp.REGISTRY, {page.NAME: page.TITLE for page in WorkbenchApp.PAGES})


if __name__ == "__main__":
    SHEET.write_text(current_sheet(), encoding="utf-8")
