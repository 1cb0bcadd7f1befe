"""A field for a comment or a value of several lines: what is pasted is taken as far as it can stand there."""

from __future__ import annotations

import re

from textual import events
from textual.message import Message
from textual.widgets import TextArea

from workbench.memory.reviews_written import MAX_COMMENT
from workbench.tui.present import counted
from workbench.tui.redactions.scratch_pad import with_newlines

MOST_PASTED = 2 * MAX_COMMENT
"""Characters of a paste; what is longer is no comment, and is not taken at all."""
_KEPT_SPACES = re.compile("[\n\t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")


class CommentArea(TextArea):
    """Takes a comment; what cannot stand in it of a paste is left out, and said."""

    class Refused(Message):
        """A paste was not taken, or not all of it, and why."""

        def __init__(self, why: str) -> None:
            super().__init__()
            self.why = why

    async def _on_paste(self, event: events.Paste) -> None:
        # Textual goes on with the base class by itself, with the text as it is then.
        pasted = with_newlines(event.text)
        if len(pasted) > MOST_PASTED:
            event.text = ""
            event.stop()
            self._say_after("the pasted text is far too long")
            return
        event.text = standing(pasted)
        missing = len(pasted) - len(event.text)
        if missing:
            what = counted(missing, "invisible or control character")
            self._say_after(f"{what} of the pasted text left out")

    def _say_after(self, why: str) -> None:
        # Behind the change that the paste makes, be it of nothing: a change clears what was said.
        self.call_later(self.post_message, self.Refused(why))


def standing(text: str) -> str:
    """What of a text a text area can lay out and draw: without invisible signs and those that steer."""
    return "".join(sign for sign in text if sign.isprintable() or _KEPT_SPACES.match(sign) is not None)
