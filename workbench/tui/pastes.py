"""What a terminal pastes, taken as it is: Textual reads escape sequences in it as if they were typed.

Their characters would come as keys, before the text in which they stood. This is for texts that somebody
looks at because something is wrong with them, and for whatever a page that is copied may hide.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from textual import events
from textual._xterm_parser import XTermParser
from textual.message import Message

if TYPE_CHECKING:
    from textual.app import App

BEGIN, END = "\x1b[200~", "\x1b[201~"
"""What a terminal sends before and behind a pasted text."""
_STEERING = (*range(0x20), *range(0x7F, 0xA0))
_TURNING = (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
"""Marks that turn the direction of what follows, and separators of lines."""
_UNDRAWN = {at: None for at in (*_STEERING, *_TURNING) if chr(at) not in "\t\n\r"}


class PasteParser(XTermParser):
    """Reads a terminal's input as Textual does, except that all between the signs of a paste is its text."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasting = False
        self._pasted: list[str] = []
        self._held = ""
        """The end of what was read last, where it may be the beginning of a sign."""

    def feed(self, data: str) -> Iterable[Message]:
        """What a piece of input means; a paste comes when it is over. Signs may be cut anywhere."""
        if not data:
            yield from super().feed(data)
            return
        while data:
            if self._pasting:
                text, found, data = (self._held + data).partition(END)
                if not found:
                    self._held = _beginning(text, END)
                    self._pasted.append(text[: len(text) - len(self._held)])
                    return
                whole = "".join((*self._pasted, text))
                self._pasting, self._pasted, self._held = False, [], ""
                # Textual has seen the signs and nothing between them.
                for message in super().feed(END):
                    if not isinstance(message, events.Paste):
                        yield message
                # As Textual does: no text holds these, and terminals send them for nothing.
                yield events.Paste(whole.replace("\x00", ""))
                continue
            seen = self._held + data
            at = seen.find(BEGIN)
            if at < 0:
                self._held = _beginning(seen, BEGIN)
                yield from super().feed(data)
                return
            stop = at + len(BEGIN) - len(self._held)
            self._pasting, self._held = True, ""
            yield from super().feed(data[:stop])
            data = data[stop:]


def _beginning(text: str, sign: str) -> str:
    """The end of a text that is the beginning of a sign."""
    for length in range(min(len(text), len(sign) - 1), 0, -1):
        if text.endswith(sign[:length]):
            return text[-length:]
    return ""


def take_pastes_as_they_are(app: App[Any]) -> None:
    """Have the driver of a program read its input with `PasteParser`, if it reads a terminal's at all."""
    for each in app.driver_class.__mro__:
        module = sys.modules.get(each.__module__)
        if module is not None and vars(module).get("XTermParser") is XTermParser:
            vars(module)["XTermParser"] = PasteParser


def drawable(text: str) -> str:
    """A pasted text for a line that draws what it holds as it is: without the signs that steer a terminal
    or turn the direction of what stands beside them."""
    return text.translate(_UNDRAWN)
