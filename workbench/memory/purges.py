"""Whether the copy of a source file was purged (contract workspace, "Evidence archive")."""

from __future__ import annotations

from workbench.memory.snapshot import Snapshot

_LAST = "SELECT position FROM purged_artifacts WHERE sha256 = :digest"
_KEPT_AGAIN = (
    "SELECT 1 FROM evidence_links WHERE sha256 = :digest AND position > :purged AND position <= :upto LIMIT 1"
)
_EARLIER = (
    "SELECT position FROM events WHERE position <= :upto "
    "AND type_id IN (SELECT type_id FROM event_types WHERE type = 'artifact.purged') ORDER BY position DESC"
)


def is_purged(snapshot: Snapshot, digest: str) -> bool:
    """Whether the bytes with a digest had been removed, and no observation has kept the same ones since."""
    purged = snapshot.value(_LAST, digest=digest)
    if purged is not None and purged > snapshot.last:
        # Only the last purge has a row. There are few: each was a person's.
        earlier = (position for (position,) in snapshot.rows(_EARLIER))
        purged = next((at for at in earlier if snapshot.event(at).payload.sha256 == digest), None)
    if purged is None:
        return False
    return snapshot.value(_KEPT_AGAIN, digest=digest, purged=purged) is None
