"""Event ids: UUIDv7, so that ids of one log sort roughly by time and their index grows at its end."""

from __future__ import annotations

import sys
from uuid import UUID

if sys.version_info >= (3, 14):
    from uuid import uuid7

    def new_event_id() -> bytes:
        """Sixteen bytes of a fresh UUIDv7."""
        return uuid7().bytes
else:

    def new_event_id() -> bytes:
        """Sixteen bytes of a fresh UUIDv7."""
        # Here, not above: programs that only read start without it.
        from uuid_utils import uuid7

        return uuid7().bytes


def event_id_bytes(event_id: UUID | None) -> bytes:
    """The bytes of a given id, or of a fresh one."""
    return new_event_id() if event_id is None else event_id.bytes
