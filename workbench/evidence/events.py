"""The event that a purge leaves behind (contract workspace, "Evidence archive")."""

from __future__ import annotations

from workbench.log.registry import NAMESPACE, SHA256, EventType, Payload
from workbench.log.streams import StreamRef, domain_stream


class ArtifactPurged(Payload, frozen=True, kw_only=True):
    """A person had the bytes of an artifact removed; what named it still does."""

    domain: str
    """Whose stream it stands in."""
    sha256: SHA256
    """Of the bytes that are gone, 64 hex digits."""
    reason: str
    by: str

    @property
    def stream(self) -> StreamRef:
        """The stream it belongs to."""
        return domain_stream(self.domain)


def _reason_text(payload: ArtifactPurged) -> tuple[str, str]:
    return payload.by, payload.reason


PURGED = EventType(
    NAMESPACE,
    "artifact.purged",
    1,
    ArtifactPurged,
    identifiers=frozenset({"domain", "sha256", "by"}),
    searchable=_reason_text,
    actor="by",
)
EVENT_TYPES = (PURGED,)
