"""What an agent that begins with a task is shown of its chronicle (contract memory, "Startup bundle").

Loads nothing of what writes: agents begin often.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.chronicle.sections import Section
from workbench.chronicle.sqlite import SQLiteChronicleStore
from workbench.chronicle.withheld import is_withheld
from workbench.log.event_log import EventLog
from workbench.workspace.chronicle.hidden_queries import HiddenEvents

SECTIONS = 3
"""The newest ones."""
CHARACTERS = 4000
"""Of each; the whole prose is in the brief of the stream."""
_LOOKED_AT = 32
"""Sections, of which some may be withheld."""


def for_startup(log: EventLog, streams: Sequence[str], upto: int) -> Mapping[str, Any] | None:
    """See `memory.ports.TaskChronicle`."""
    for name in streams:
        store = SQLiteChronicleStore(log, name)
        newest = [each for each in store.newest(_LOOKED_AT) if each.written.position <= upto]
        if not newest:
            continue
        hidden = HiddenEvents(log, name)
        shown = [each for each in newest if not is_withheld(each, hidden)]
        return {
            "stream": name,
            "anchors": {"consolidated_through": store.consolidated_through()},
            "sections": [_shown(each) for each in shown[:SECTIONS]],
        }
    return None


def _shown(section: Section) -> dict[str, Any]:
    prose, anchor = section.prose, section.anchor
    if len(prose) > CHARACTERS:
        from workbench.chronicle.summarizers.words import shortened

        prose = shortened(prose, CHARACTERS)
    return {
        "section_id": anchor.section_id,
        "from_seq": anchor.from_seq,
        "to_seq": anchor.to_seq,
        "prose": prose,
        "advisory": True,
    }
