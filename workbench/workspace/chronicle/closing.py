"""What closes a stretch in a workspace's streams, and how far their chronicles are (contract workspace).

Loads nothing of what writes: a status asks it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.chronicle.boundaries import EventTypes, UnknownBoundary, closing
from workbench.workspace.chronicle import streams_queries
from workbench.workspace.errors import ManifestError
from workbench.workspace.manifest.at import At
from workbench.workspace.manifest.problems import dotted

if TYPE_CHECKING:
    from workbench.workspace.workspace import Workspace


def boundary(workspace: Workspace, kind: str) -> EventTypes | None:
    """What closes a stretch in streams of a kind, as the manifest says now; None if nothing does.

    Raises `UnknownBoundary`, which names key and line.
    """
    manifest = workspace.manifest
    try:
        return closing(kind, manifest.chronicle.close, workspace.log.registry)
    except UnknownBoundary as error:
        at = ("chronicle", "close", kind)
        place = f"{manifest.path}:{_line(manifest.path, at)}: {dotted(at)}"
        raise UnknownBoundary(f"{place}: {error.message}", hint=error.hint) from None


def boundaries(workspace: Workspace) -> dict[str, EventTypes]:
    """By kind of stream, what closes a stretch. Raises `UnknownBoundary`."""
    found = {kind: boundary(workspace, kind) for kind in workspace.manifest.chronicle.close}
    return {kind: types for kind, types in found.items() if types is not None}


class Unknown(NamedTuple):
    """A kind of stream that is to be closed by what nobody registered."""

    kind: str
    error: UnknownBoundary
    """Names key and line."""


def known(workspace: Workspace) -> tuple[dict[str, EventTypes], list[Unknown]]:
    """As `boundaries`, of the kinds for which the manifest names types that there are; and of the others what
    is wrong with them."""
    found: dict[str, EventTypes] = {}
    unknown: list[Unknown] = []
    for kind in workspace.manifest.chronicle.close:
        try:
            types = boundary(workspace, kind)
        except UnknownBoundary as error:
            unknown.append(Unknown(kind, error))
            continue
        if types is not None:
            found[kind] = types
    return found, unknown


def overview(workspace: Workspace) -> dict[str, int | None]:
    """Of all streams: current `sections`, and how many are `lagging_streams`; ready to become JSON.

    None of the latter where the manifest names a boundary that there is not.
    """
    sections = streams_queries.count_sections(workspace.log)
    try:
        found = streams_queries.candidates(workspace.log, boundaries(workspace))
    except UnknownBoundary:
        return {"sections": sections, "lagging_streams": None}
    return {"sections": sections, "lagging_streams": len(found.names)}


def _line(path: Path, at: At) -> int:
    """Where a key stands in a manifest; 0 if it cannot be said."""
    from workbench.workspace.manifest.places import Places
    from workbench.workspace.manifest.reading import read_bytes

    try:
        return Places.of(read_bytes(path)[0]).line(at)
    except ManifestError:
        return 0
