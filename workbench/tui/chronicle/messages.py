"""What the workers of the Chronicle screen tell its page."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from textual.message import Message

from workbench.errors import WorkbenchError


class SideRead(Message, bubble=False):
    """A worker has read what a side of the detail shows of a row."""

    def __init__(self, key: Hashable, side: str, as_of: int | None, data: Any) -> None:
        super().__init__()
        self.key = key
        self.side = side
        self.as_of = as_of
        self.data = data


class PlaceFound(Message):
    """Where to go in the tree: the key of a row, and the stream that has to be open for it."""

    def __init__(self, stream: str, key: Hashable, *, opens: bool, led: bool = False) -> None:
        super().__init__()
        self.led = led
        """The person was led there from another screen."""
        self.stream = stream
        self.key = key
        self.opens = opens


class NoPlaceFound(Message):
    """What a person typed leads nowhere in the chronicles."""

    def __init__(self, error: WorkbenchError) -> None:
        super().__init__()
        self.error = error


class EventFound(Message):
    """The position of an event that the person wants to see on another screen."""

    def __init__(self, position: int) -> None:
        super().__init__()
        self.position = position


class JobSaid(Message):
    """A job of this screen came to its end, and says what became of it."""

    def __init__(self, text: str, title: str) -> None:
        super().__init__()
        self.text = text
        self.title = title


class BriefMade(Message):
    """The page that an agent would get is ready to be copied."""

    def __init__(self, text: str, stream: str) -> None:
        super().__init__()
        self.text = text
        self.stream = stream
        """What the stream is called."""
