"""What can be copied, and the message that says it is ready."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from textual.message import Message


@dataclass(frozen=True, slots=True)
class CopyChoice:
    """One form in which something can be copied: its name and its text, made when it is chosen."""

    label: str
    text: str | Callable[[], str]

    def resolve(self) -> str:
        """The text."""
        return self.text if isinstance(self.text, str) else self.text()


class TextMade(Message):
    """A text to copy is ready."""

    def __init__(self, text: str, label: str) -> None:
        super().__init__()
        self.text = text
        self.label = label
