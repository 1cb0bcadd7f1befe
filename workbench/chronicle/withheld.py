"""Sections that say more than an agent may read by now (DESIGN §2 "Visibility").

A section drawn before an event of its range was put in quarantine may repeat it. Agents do not get it until
the range was written again; a person sees it, marked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from workbench.chronicle.sections import Section


class Hidden(Protocol):
    """Asks which events of the chronicle's stream agents may not see, as of now."""

    def __call__(self, from_seq: int, to_seq: int) -> Mapping[int, int]:
        """Of the events between these two, both inside, the seqs of those that are hidden; with each, the
        position in the log of what hid it, or 0 if it was so from the beginning."""
        ...


def nothing_hidden(from_seq: int, to_seq: int) -> Mapping[int, int]:
    """The `Hidden` of a stream in which an agent may see everything."""
    return {}


def is_withheld(section: Section, hidden: Hidden) -> bool:
    """Whether an event of the section's range was hidden after the section was written.

    Where it is not known when it was written, as after a load, every event that was hidden later counts.
    """
    found = hidden(section.anchor.from_seq, section.anchor.to_seq)
    return any(since > section.written.position for since in found.values())
