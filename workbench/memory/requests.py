"""Whether a call was made before, by request id or by content (contract memory, "Hashes", "Duplicates")."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import apsw
import msgspec

from workbench.identity.scopes import Scope
from workbench.log.decoding import FoldDecoder
from workbench.log.ports import Redactor
from workbench.memory.entry import Entry
from workbench.memory.errors import InvalidArgument, RequestConflict
from workbench.memory.filtering import filtered
from workbench.memory.hashing import request_hash
from workbench.memory.receipts import WINDOW_HOURS
from workbench.memory.stored import StoredCall, stored_call
from workbench.storage import fetch

WINDOW = WINDOW_HOURS * 3600 * 1_000_000
"""Microseconds."""


def repeated_request(
    connection: apsw.Connection, decoder: FoldDecoder, redactor: Redactor, entry: Entry, digest: str
) -> StoredCall | None:
    """The call that used this filtered entry's request id before; None if none did.

    `digest` is the entry's request hash. Raises `RequestConflict` if that call was another one. What another
    version of the filter stored is filtered once more before it counts as another.
    """
    found = fetch.row(
        connection,
        "SELECT position, request_hash, hash_filter FROM memory_requests WHERE request_id = ?",
        (entry.request_id,),
    )
    if found is None:
        return None
    position, before, version = found
    call = stored_call(connection, decoder, position)
    if before == bytes.fromhex(digest):
        return call
    if version != redactor.version and _filtered_again(call, redactor, entry) == digest:
        return call
    raise RequestConflict(
        "this request id was used before, for a different input", hint="use a new request id for a new input"
    )


def _filtered_again(call: StoredCall, redactor: Redactor, asked: Entry) -> str | None:
    """The request hash of a stored call under today's filter; None if a name in it is a secret today."""
    stored = call.entry()
    if stored.fact is not None and call.fact is not None and call.fact.confirms is not msgspec.UNSET:
        # A confirmation replaces nothing, whatever its author wrote; that is not stored.
        wrote = None if asked.fact is None else asked.fact.supersedes
        stored = msgspec.structs.replace(stored, fact=msgspec.structs.replace(stored.fact, supersedes=wrote))
    try:
        return request_hash(filtered(stored, redactor).entry)
    except InvalidArgument:
        return None


class Repeated(NamedTuple):
    """What was recorded before with the same content in the same scope."""

    memory_event: str | None
    """The id of the observation that recorded it first in the last 24 hours; None if none did."""
    quarantined: bool
    """Whether it is withheld from agents, however long ago it was recorded."""


def repeated_content(
    connection: apsw.Connection, scope: Scope, digest: str, *, private: bool, now: int
) -> Repeated:
    """The newest memory event of a content, if there is one.

    `digest` is the content hash, `now` in microseconds since 1970. The scope matches under every spelling.
    """
    found = fetch.row(
        connection,
        "SELECT o.event_id, m.recorded_at, EXISTS ("
        "SELECT 1 FROM quarantines q WHERE q.target = m.position AND q.to_position IS NULL) "
        "FROM memory_events m CROSS JOIN observations o ON o.position = m.position "
        f"WHERE m.content_hash = ? AND m.domain_key IN ({marks(scope.domain_forms)}) "
        f"AND m.project_key IN ({marks(scope.project_forms or ('',))}) AND m.task_key = ? "
        "AND m.private = ? ORDER BY m.position DESC LIMIT 1",
        (
            bytes.fromhex(digest),
            *scope.domain_forms,
            *(scope.project_forms or ("",)),
            scope.task_key,
            private,
        ),
    )
    if found is None:
        return Repeated(None, False)
    event_id, recorded_at, quarantined = found
    recent = recorded_at >= now - WINDOW
    return Repeated(str(UUID(bytes=event_id)) if recent else None, bool(quarantined))


def marks(values: tuple[str, ...]) -> str:
    """As many parameters of a statement as there are values."""
    return ", ".join("?" * len(values))
