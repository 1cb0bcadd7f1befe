"""Streams and sections that are not there: refused together with those that are called nearly so."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.chronicle.errors import UnknownSection
    from workbench.workspace import Workspace

_STREAMS_LOOKED_AT = 500
_RANGES_LOOKED_AT = 200
_NAMED = 8
"""Names in one message."""


def existing_stream(workspace: Workspace, given: str, name: str) -> str:
    """The stream that a name means to the library. Raises its `UnknownStream`, with names that are near."""
    from workbench.workspace.chronicle.errors import UnknownStream

    try:
        return workspace.chronicle(name).stream
    except UnknownStream as error:
        known = known_streams(workspace)
        near = get_close_matches(name, known, 3) or get_close_matches(f"session/{name}", known, 3)
        if near:
            hint = f"did you mean {few(near)}?"
        elif known:
            hint = f"streams with a chronicle are {few(known)}"
        else:
            hint = error.hint or "see what there is: workbench chronicle status"
        raise UnknownStream(f"there is no stream {given!r} in this workspace", hint=hint) from error


def unknown_section(workspace: Workspace, stream: str, section_id: str) -> UnknownSection:
    """The refusal of a section that is not there."""
    from workbench.chronicle.errors import UnknownSection

    ids = [row.anchor.section_id for row in workspace.readers.chronicle.page(stream, _RANGES_LOOKED_AT)]
    near = get_close_matches(section_id, ids, 3)
    listed = f"list them with: workbench chronicle sections --stream {stream}"
    if near:
        hint = f"did you mean {few(near)}? {listed}"
    elif ids:
        hint = listed
    else:
        hint = "it has none yet; see how far it is: workbench chronicle status"
    return UnknownSection(f"{stream} has no section {section_id!r}", hint=hint, section_id=section_id)


def known_streams(workspace: Workspace) -> list[str]:
    """The names of streams with a chronicle, not endlessly many."""
    return [row.stream for row in workspace.readers.chronicle.streams(_STREAMS_LOOKED_AT)]


def few(names: list[str]) -> str:
    """Names for a message; of many, how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
