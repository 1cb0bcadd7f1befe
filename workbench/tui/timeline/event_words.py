"""Events in a person's words, as the list and the detail show them: the same that the command line prints."""

from __future__ import annotations

from workbench.drawing.event_words import BEGUN as BEGUN
from workbench.drawing.event_words import CLOSED as CLOSED
from workbench.drawing.event_words import DESCRIBED as DESCRIBED
from workbench.drawing.event_words import ENTRY as ENTRY
from workbench.drawing.event_words import LINE_CELLS as LINE_CELLS
from workbench.drawing.event_words import TYPE_TITLES as TYPE_TITLES
from workbench.drawing.event_words import Kind as Kind
from workbench.drawing.event_words import body_of as body_of
from workbench.drawing.event_words import event_line as event_line
from workbench.drawing.event_words import kind_of as kind_of
from workbench.drawing.event_words import text_of as text_of
from workbench.drawing.event_words import tool_of as tool_of
from workbench.drawing.event_words import type_title as type_title
