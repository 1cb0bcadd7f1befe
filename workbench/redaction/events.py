"""The event that a scrub leaves behind (contract redaction, "Rescan and scrub")."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from workbench.log.registry import NAMESPACE, EventType, Payload


class RedactionApplied(Payload, frozen=True, kw_only=True):
    """A secret was taken out of what had been stored before: what kind, how many, and where.

    Neither the secret nor its length or hash is kept.
    """

    domain: str
    """Whose stream it stands in."""
    field: str
    """Dotted path inside the payload; for what is no event, its place: `artifacts/<digest>`."""
    kind: str
    count: int
    filter_version: str
    position: int | UnsetType = UNSET
    """Of the event that held it; not written for what is no event."""


APPLIED = EventType(NAMESPACE, "redaction.applied", 1, RedactionApplied, identifiers=frozenset({"domain"}))
EVENT_TYPES = (APPLIED,)
