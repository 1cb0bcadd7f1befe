"""What every dialog shares: a panel over the screen, and a value on every way out."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen

from workbench.tui.present import literal
from workbench.tui.sized_screen import SizedScreen

if TYPE_CHECKING:
    from workbench.tui.shell import Shell

Result = TypeVar("Result")


class Dialog(SizedScreen[Result | None], ModalScreen[Result | None], Generic[Result], inherit_bindings=False):
    """A modal panel that is always dismissed with a value; esc dismisses it with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "close", show=False),
        Binding("question_mark", "app.keys_of_dialog", "these keys", show=False),
        Binding("tab", "app.focus_next", "next", show=False),
        Binding("shift+tab", "app.focus_previous", "previous", show=False),
        Binding("ctrl+c,super+c", "screen.copy_text", "copy", show=False),
    ]

    DEFAULT_CSS = """
    Dialog { align: center middle; background: $ground 70%; }
    Dialog:ansi { background: transparent; }
    Dialog > .panel {
        width: 76; max-width: 96%; height: auto; max-height: 90%;
        background: $raised; color: $body; border: round $line; padding: 0 1;
        border-title-color: $ink; border-title-style: bold; border-title-align: left;
        border-subtitle-color: $quiet;
    }
    Dialog Static { background: transparent; }
    Dialog Input { height: 1; border: none; padding: 0; background: $cursor; color: $ink; margin-bottom: 1; }
    Dialog Input:focus { border: none; height: 1; }
    Dialog OptionList {
        scrollbar-size-vertical: 1;
        height: auto; max-height: 100%; border: none; padding: 0; background: $raised; color: $body;
    }
    Dialog OptionList:focus { border: none; background: $raised; background-tint: $raised 0%; }
    Dialog OptionList > .option-list--option-highlighted,
    Dialog OptionList:focus > .option-list--option-highlighted {
        background: $cursor; color: $ink; text-style: none;
    }
    Dialog .keys { height: 1; margin-top: 1; color: $quiet; }
    """

    app: Shell

    def action_cancel(self) -> None:
        """Leave without an answer."""
        self.dismiss(None)

    def note_commit(self) -> None:
        """Something was committed while it is open, maybe by another process."""

    def keep_words(self) -> bool:
        """Keep what was typed and not given as a draft of the program; whether there was anything.

        Called when it is left, and before it is taken away with its screen.
        """
        return False


def key_line(*pairs: tuple[str, str]) -> Content:
    """The last line of a dialog: what its keys do."""
    line = Content("")
    for key, meaning in pairs:
        line += Content.assemble((key, "bold $accent"), " ", literal(meaning), "   ")
    return line
