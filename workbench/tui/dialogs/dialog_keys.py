"""Help on the keys of a dialog: they are few, fixed, and listed over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingsMap, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from workbench.tui.dialogs.base import Dialog, key_line
from workbench.tui.key_names import display
from workbench.tui.present import fit, literal

_KEYS = 16
"""Cells of the keys in front of what they do."""


def keys_of(bindings: BindingsMap) -> list[tuple[str, str]]:
    """The keys of a dialog and what each does; its own first, then those of every dialog."""
    shared = {each.action for each in Dialog.BINDINGS if isinstance(each, Binding)}
    found: dict[tuple[bool, str, str], list[str]] = {}
    for key, binding in bindings:
        shown = display(key)
        if binding.description != shown:
            place = (binding.action in shared, binding.action, binding.description)
            found.setdefault(place, []).append(shown)
    ordered = sorted(found.items(), key=lambda each: each[0][0])
    return [(" ".join(dict.fromkeys(keys)), does) for (_, _, does), keys in ordered]


class DialogKeys(Dialog[None]):
    """Lists keys until it is closed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,question_mark,enter", "cancel", "close", show=False),
        Binding("j,down", "move('down')", "down", show=False),
        Binding("k,up", "move('up')", "up", show=False),
    ]

    DEFAULT_CSS = "DialogKeys > .panel { width: 44; }"

    def __init__(self, keys: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._keys = keys

    def compose(self) -> ComposeResult:
        lines = [
            Content.assemble((fit(keys, _KEYS), "bold $accent"), "  ", literal(does))
            for keys, does in self._keys
        ]
        with Vertical(classes="panel") as panel:
            panel.border_title = "Keys here"
            with VerticalScroll(can_focus=False) as scroll:
                scroll.styles.height = "auto"
                yield Static(Content("\n").join(lines), id="keys-here")
            yield Static(key_line(("esc", "close")), classes="keys")

    def action_move(self, direction: str) -> None:
        """Scroll a list that is longer than the screen."""
        getattr(self.query_one(VerticalScroll), f"scroll_{direction}")(animate=False)
