"""The rows of the tree: streams, under an opened one its ranges, under these older generations."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from workbench.tui.chronicle.words import stream_title

if TYPE_CHECKING:
    from workbench.chronicle.sections import Section
    from workbench.workspace.readers.chronicle_queries import RangeRow, StreamRow


@dataclass(frozen=True, slots=True)
class StreamNode:
    """A stream that has sections, or could have some."""

    row: StreamRow
    opened: bool

    @property
    def stream(self) -> str:
        """Its whole name."""
        return self.row.stream

    @property
    def named(self) -> str:
        """What it is called."""
        return stream_title(self.row)

    @property
    def key(self) -> Hashable:
        """Its identity in the tree."""
        return ("stream", self.stream)


@dataclass(frozen=True, slots=True)
class RangeNode:
    """A range of events with the prose that stands for it now."""

    stream: str
    row: RangeRow
    named: str
    """What its stream is called."""

    @property
    def key(self) -> Hashable:
        """Its identity in the tree: of a range there is one current prose."""
        return ("range", self.stream, self.row.anchor.from_seq)


@dataclass(frozen=True, slots=True)
class FoundNode(RangeNode):
    """A range that a search found: it stands by itself."""

    place: int
    """In the list of what was found."""


@dataclass(frozen=True, slots=True)
class OlderNode:
    """A prose that another one superseded."""

    stream: str
    section: Section
    generation: int
    named: str
    """What its stream is called."""

    @property
    def key(self) -> Hashable:
        """Its identity in the tree."""
        return ("older", self.stream, self.section.anchor.from_seq, self.generation)


@dataclass(frozen=True, slots=True)
class OpenNode:
    """Events of an opened stream that are in no section: behind the last one, or in a hole before one."""

    row: StreamRow
    first: int
    last: int
    hole: bool

    @property
    def stream(self) -> str:
        """The stream's whole name."""
        return self.row.stream

    @property
    def named(self) -> str:
        """What its stream is called."""
        return stream_title(self.row)

    @property
    def key(self) -> Hashable:
        """Its identity in the tree."""
        return ("open", self.stream, self.first)


Node: TypeAlias = StreamNode | RangeNode | OlderNode | OpenNode


def range_of(node: Node) -> tuple[int, int] | None:
    """The events that a row stands for, both ends inside; None for a whole stream."""
    match node:
        case RangeNode():
            return node.row.anchor.from_seq, node.row.anchor.to_seq
        case OlderNode():
            return node.section.anchor.from_seq, node.section.anchor.to_seq
        case OpenNode():
            return node.first, node.last
        case StreamNode():
            return None


def section_of(node: Node | None) -> str:
    """The id of the section that a row shows; "" for none."""
    match node:
        case RangeNode():
            return node.row.anchor.section_id
        case OlderNode():
            return node.section.anchor.section_id
        case _:
            return ""
