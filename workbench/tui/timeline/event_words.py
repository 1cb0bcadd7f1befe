"""Events in a person's words, as the list and the detail show them: the same that the command line prints.

An event that cannot be read is called so, whatever its type.
"""

from __future__ import annotations

from workbench.drawing import event_words as words
from workbench.drawing.event_words import BEGUN as BEGUN
from workbench.drawing.event_words import CLOSED as CLOSED
from workbench.drawing.event_words import DESCRIBED as DESCRIBED
from workbench.drawing.event_words import ENTRY as ENTRY
from workbench.drawing.event_words import LINE_CELLS as LINE_CELLS
from workbench.drawing.event_words import RECEIPTS as RECEIPTS
from workbench.drawing.event_words import SCRUBBED as SCRUBBED
from workbench.drawing.event_words import TYPE_TITLES as TYPE_TITLES
from workbench.drawing.event_words import Kind as Kind
from workbench.drawing.event_words import plain as plain
from workbench.drawing.event_words import receipts_words as receipts_words
from workbench.drawing.event_words import scrubbed_place as scrubbed_place
from workbench.drawing.event_words import text_of as text_of
from workbench.drawing.event_words import tool_of as tool_of
from workbench.drawing.event_words import type_title as type_title
from workbench.drawing.memory_words import MEMORY_TITLES as MEMORY_TITLES
from workbench.drawing.memory_words import memory_fields as memory_fields
from workbench.tui.present import Line, Span
from workbench.workspace.readers.entry_damage import UnreadableEvent, damage_words
from workbench.workspace.rows import EventRow

UNREADABLE = Kind("✗", "unreadable", "error", "error")


def kind_of(event: EventRow) -> Kind:
    """How an event is called and marked."""
    return UNREADABLE if isinstance(event, UnreadableEvent) else words.kind_of(event)


def event_line(event: EventRow) -> Line:
    """What happened, on one line."""
    if isinstance(event, UnreadableEvent):
        return (Span(damage_words(event.unreadable), UNREADABLE.text_role),)
    return words.event_line(event)


def body_of(event: EventRow) -> str:
    """The text that the event carries for people; empty where it has none."""
    return damage_words(event.unreadable) if isinstance(event, UnreadableEvent) else words.body_of(event)
