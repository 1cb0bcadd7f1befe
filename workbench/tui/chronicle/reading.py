"""Reading what a side of the detail shows; on a worker's thread."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.tui.chronicle.nodes import Node, OlderNode, RangeNode, StreamNode
from workbench.tui.chronicle.sides import Behind, prose_blocks

if TYPE_CHECKING:
    from workbench.chronicle.sections import Section
    from workbench.tui.chronicle.tree_source import ReadsChronicles
    from workbench.tui.document import Block
    from workbench.workspace import Workspace
    from workbench.workspace.readers.chronicle_counts_queries import ChronicleCounts
    from workbench.workspace.readers.chronicle_queries import ChronicleReader, StreamRow
    from workbench.workspace.readers.chronicle_search_queries import ChronicleSearch

_BRIEF = 8_000
_HOLES = 20


class Drawn(NamedTuple):
    """A section, and its prose as it is drawn: reading Markdown takes its time."""

    section: Section
    prose: Sequence[Block]
    closed: bool
    """Whether an event closed it."""


def read_side(workspace: Workspace, node: Node, side: str, as_of: int | None) -> Any:
    """A section, generations, an agent's page, or how far a chronicle is; by side and kind of row."""
    reader = workspace.readers.chronicle
    if side == "lag":
        return _behind(workspace, node)
    match node:
        case StreamNode():
            return workspace.chronicle(node.stream).brief(max_chars=_BRIEF).text
        case RangeNode() if side == "generations":
            return chronicles(workspace, as_of).generations(node.stream, *node.row.anchor[1:3])
        case RangeNode() if side == "prose":
            section = reader.section(node.stream, node.row.anchor.section_id)
            return None if section is None else _drawn(reader, node.stream, section)
        case OlderNode() if side == "prose":
            return _drawn(reader, node.stream, node.section)
        case OlderNode():
            return chronicles(workspace, as_of).generations(node.stream, *node.section.anchor[1:3])
        case _:
            return None


def _drawn(reader: ChronicleReader, stream: str, section: Section) -> Drawn:
    return Drawn(section, prose_blocks(section.prose), reader.closes(stream, section.anchor.unit))


def chronicles(workspace: Workspace, as_of: int | None) -> ReadsChronicles:
    """The chronicles of now, or as they were at a position."""
    reader = workspace.readers.chronicle
    if as_of is None:
        return reader
    from workbench.workspace.readers.chronicle_past_queries import ChroniclePast

    return ChroniclePast(workspace.log, reader, as_of)


def counting(workspace: Workspace) -> ChronicleCounts:
    """Counts the rows of the chronicles of now."""
    from workbench.workspace.readers.chronicle_counts_queries import ChronicleCounts

    return ChronicleCounts(workspace.log, lambda: workspace.manifest.chronicle.close)


def searching(workspace: Workspace, as_of: int | None) -> ChronicleSearch:
    """Looks for words in the prose of now, or in what was written up to a position."""
    from workbench.workspace.readers.chronicle_search_queries import ChronicleSearch

    return ChronicleSearch(workspace.log, workspace.readers.chronicle, as_of)


def _behind(workspace: Workspace, node: Node) -> tuple[StreamRow, Behind] | None:
    row = workspace.readers.chronicle.stream(node.stream)
    if row is None:
        return None
    chronicle, all_of_them = workspace.chronicle(node.stream), workspace.chronicles
    settings = all_of_them.summarizer_settings()
    holes = chronicle.store.holes()
    return row, Behind(
        chronicle.lag(),
        row.consolidated,
        holes[:_HOLES],
        len(holes),
        settings.summarizer,
        all_of_them.trusted(),
        f"workbench trust --root {shlex.quote(str(workspace.root))}",
    )
