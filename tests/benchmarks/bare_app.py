"""The least a Textual program can be: what first paint costs before anything of ours is added."""

from __future__ import annotations

from typing import Any

from textual.app import App, ComposeResult
from textual.widgets import Static

READY = "bare application"


class BareApp(App[None]):
    """One line of text; `q` leaves."""

    BINDINGS = [("q", "quit", "Quit")]  # noqa: RUF012 - Textual declares it so.
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        # The program under test runs without animations; so does what it is compared with.
        self.animation_level = "none"

    def compose(self) -> ComposeResult:
        yield Static(READY, markup=False)


if __name__ == "__main__":
    BareApp().run()
