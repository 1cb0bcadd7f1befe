"""Events whose stored row cannot be read: what is wrong with them, and what stands in their place.

One damaged row must not hide the others: a page holds the rest of its rows, and for this one a row that says
so. The words are the same wherever it is drawn.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import apsw
import msgspec

from workbench.log.times import UnreadableInstant, from_micros, to_micros
from workbench.sessions import facets as facet_numbers
from workbench.sessions.model import ActorKind, ActumKind
from workbench.storage import fetch
from workbench.workspace.rows import ActumRow, EventRow

DAMAGE = (
    UnreadableInstant,
    msgspec.DecodeError,
    apsw.SQLError,
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    RecursionError,
)
"""What reading a damaged row raises; `reason_of` tells it from other failures."""

STORED_BYTES = 4_000
"""Bytes of a damaged payload that are shown as they are stored."""

_FIRST = to_micros(datetime.min.replace(tzinfo=UTC))
_LAST = to_micros(datetime.max.replace(tzinfo=UTC))
_ENDS = {from_micros(_FIRST), from_micros(_LAST)}


class UnreadableEvent(EventRow, frozen=True, kw_only=True):
    """An event of which only the envelope is known; its payload is one text, `unreadable`, that says why."""

    unreadable: str
    """What is wrong with it, as `its payload is not valid JSON`."""
    happened: int
    """When it happened as it is stored, in microseconds: maybe no time that a `datetime` can be."""
    stored: str = ""
    """The beginning of the payload as it is stored, bytes that are no text as `\\xff`."""

    @property
    def times_known(self) -> bool:
        """Whether both times are what is stored; else the impossible one is an end of the calendar."""
        return not {self.recorded_at, self.happened_at} & _ENDS


class UnreadableActum(ActumRow, frozen=True, kw_only=True):
    """An entry of a session that cannot be read; its content says so (`damage_words`)."""

    unreadable: str
    """What is wrong with it."""
    stored: str = ""
    """The beginning of the payload as it is stored."""


def damage_words(reason: str) -> str:
    """What is shown in place of a text that cannot be read."""
    return f"‹unreadable: {reason}› run workbench doctor"


def reason_of(error: Exception) -> str:
    """What is wrong with a row that failed to be read with one of `DAMAGE`; raises it if it is no damage."""
    if isinstance(error, UnreadableInstant):
        return "its time is impossible"
    if isinstance(error, UnicodeDecodeError):
        return "its text is not valid UTF-8"
    if isinstance(error, msgspec.ValidationError):
        return "its payload is no JSON object"
    if isinstance(error, apsw.SQLError) and not str(error).startswith("malformed JSON"):
        raise error
    if isinstance(error, msgspec.DecodeError | apsw.SQLError | RecursionError):
        return "its payload is not valid JSON"
    return "parts of it are missing"


_EVENT = (
    "SELECT CAST(s.name AS BLOB), e.seq, e.event_id, CAST(t.namespace AS BLOB), CAST(t.type AS BLOB), "
    "e.schema_version, e.recorded_at, e.occurred_at, e.private, e.causation_id, e.correlation_id, "
    f"octet_length(e.payload), substr(CAST(e.payload AS BLOB), 1, {STORED_BYTES}) "
    "FROM events e LEFT JOIN streams s USING(stream_id) LEFT JOIN event_types t USING(type_id) "
    "WHERE e.position = ?"
)


def unreadable_event(connection: apsw.Connection, position: int, reason: str) -> UnreadableEvent | None:
    """What is left of the event at a position; None where there is none."""
    row = fetch.row(connection, _EVENT, (position,))
    if row is None:
        return None
    stream, seq, event_id, namespace, kind, version, recorded, occurred, private, cause, flow, size, head = (
        row
    )
    return UnreadableEvent(
        position=position,
        stream=_text(stream),
        seq=seq,
        event_id=_id(event_id) or "",
        namespace=_text(namespace),
        type=_text(kind),
        schema_version=version,
        recorded_at=_moment(recorded),
        occurred_at=None if occurred is None else _moment(occurred),
        private=bool(private),
        actor="",
        payload={"unreadable": reason},
        payload_bytes=size,
        causation_id=_id(cause),
        correlation_id=_id(flow),
        unreadable=reason,
        happened=recorded if occurred is None else occurred,
        stored=_text(head),
    )


_ACTUM = (
    "SELECT e.position, e.recorded_at, e.occurred_at, e.private, "
    f"substr(CAST(e.payload AS BLOB), 1, {STORED_BYTES}), "
    "(SELECT s.facet FROM session_entries s WHERE s.stream_id = e.stream_id "
    f"AND s.facet IN ({', '.join(map(str, (*facet_numbers.ACTA, facet_numbers.UNIT_CLOSED)))}) "
    "AND s.seq = e.seq) FROM events e WHERE e.stream_id = ? AND e.seq = ?"
)
_SORTS = {
    facet_numbers.facet(kind, actor_kind, private): (kind.value, actor_kind.value)
    for kind in ActumKind
    for actor_kind in ActorKind
    for private in (False, True)
}


def unreadable_actum(
    connection: apsw.Connection, chronicum_id: str, stream_id: int, seq: int, reason: str
) -> UnreadableActum | None:
    """What is left of the entry at a seq of a session: its sort is known from the session's index."""
    row = fetch.row(connection, _ACTUM, (stream_id, seq))
    if row is None:
        return None
    position, recorded, occurred, private, head, facet = row
    kind, actor_kind = _SORTS.get(facet, (facet_numbers.UNIT_KIND, "system"))
    words = damage_words(reason)
    return UnreadableActum(
        position=position,
        seq=seq,
        id="",
        chronicum_id=chronicum_id,
        kind=kind,
        actor_kind=actor_kind,
        actor="",
        content=words,
        at=_moment(recorded),
        occurred_at=None if occurred is None else _moment(occurred),
        private=bool(private),
        metadata={"unreadable": reason},
        content_chars=len(words),
        unreadable=reason,
        stored=_text(head),
    )


def _moment(micros: int) -> datetime:
    """The moment, or the end of the calendar on its side."""
    return from_micros(max(_FIRST, min(micros, _LAST)))


def _text(stored: Any) -> str:
    if isinstance(stored, bytes):
        return stored.decode("utf-8", "backslashreplace")
    return "" if stored is None else str(stored)


def _id(raw: bytes | None) -> str | None:
    if raw is None:
        return None
    return str(UUID(bytes=raw)) if len(raw) == len(UUID(int=0).bytes) else raw.hex()
