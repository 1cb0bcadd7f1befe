"""Images that the terminal itself draws, where it can and the extra `images` is installed.

What a terminal can is asked by `textual-image` when it is imported: it writes a question and reads the
answer from the keyboard's input. So that happens before the program takes over the terminal, and only in one
that says in its environment that it draws images: others would keep everybody waiting.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.widget import Widget

_LIBRARY = "textual_image"
_WIDGETS = f"{_LIBRARY}.widget"
_PROGRAMS = frozenset(("ghostty", "WezTerm", "iTerm.app", "rio", "contour", "mintty"))
_TERMS = ("xterm-kitty", "xterm-ghostty", "foot", "mlterm", "contour")
_OWN_WAYS = (f"{_LIBRARY}.renderable.sixel", f"{_LIBRARY}.renderable.tgp")
"""How images are drawn by a terminal; anything else is characters."""


def says_it_draws(environment: Mapping[str, str]) -> bool:
    """Whether a terminal with these variables says that it draws images; inside tmux none does."""
    if "TMUX" in environment or "STY" in environment:
        return False
    return (
        "KITTY_WINDOW_ID" in environment
        or environment.get("TERM_PROGRAM", "") in _PROGRAMS
        or environment.get("TERM", "").startswith(_TERMS)
    )


def ask_terminal(environment: Mapping[str, str] = os.environ) -> None:
    """Find out what the terminal can; to be called before a program runs in it, and never after."""
    if says_it_draws(environment) and find_spec(_LIBRARY) is not None:
        # Without an answer the library knows no way, and images are drawn in characters.
        with suppress(Exception):
            import_module(_WIDGETS)


def image_widget(image: Any, css_class: str) -> Widget | None:
    """A widget with which the terminal draws a decoded image; None where it cannot, or nobody asked it."""
    known = sys.modules.get(_WIDGETS)
    way = getattr(sys.modules.get(f"{_LIBRARY}.renderable"), "Image", None)
    if known is None or way is None or way.__module__ not in _OWN_WAYS:
        return None
    made: Widget = known.Image(image, classes=css_class)
    return made
