"""What a section is: prose over a closed range of one stream (contract log-and-chronicle, §8)."""

from __future__ import annotations

from typing import NamedTuple

SectionId = str
"""`12-31` for a range's first prose, `12-31#2` for its second; numbers are the stream's `seq`."""


class Anchor(NamedTuple):
    """Which events a section stands for; `from_seq` and `to_seq` are both inside."""

    section_id: SectionId
    from_seq: int
    to_seq: int
    unit: int
    """The `seq` of the event that closed the stretch."""
    supersedes: SectionId | None = None


class Written(NamedTuple):
    """When and by what a section was written; no part of its anchor, and not compared on `load`."""

    position: int = 0
    """The log's last position then; 0 if it is not known."""
    at: int = 0
    """Microseconds since 1970 (UTC); 0 if it is not known."""
    summarizer: str = ""
    summarizer_version: str = ""


class Section(NamedTuple):
    """An anchor with its prose and the keys of the pins that the prose was drawn through."""

    anchor: Anchor
    prose: str
    pins: tuple[str, ...] = ()
    written: Written = Written()


class Consolidation(NamedTuple):
    """What a summarizer gives back."""

    prose: str
    pins: tuple[str, ...] = ()


def section_id(from_seq: int, to_seq: int, *, generation: int = 1) -> SectionId:
    """The id that follows from a range and a generation (1 is the first prose of the range)."""
    base = f"{from_seq}-{to_seq}"
    return base if generation == 1 else f"{base}#{generation}"
