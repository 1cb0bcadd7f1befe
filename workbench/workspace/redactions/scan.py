"""Today's filter over what a database holds: event payloads, names in streams, import states, jobs.

The same look serves a rescan of the open workspace, a scrub of it and the question whether a backup still
holds old text; nothing here writes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import apsw
import msgspec

from workbench.log.ports import JsonValue, Redactor
from workbench.log.registry import EventTypeRegistry
from workbench.storage import fetch

_BATCH = 500
_BATCH_BYTES = 4 << 20
_PROBED_BYTES = 64 << 10
_DIGEST = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")

_AS_JSON = frozenset({"state", "pins", "result"})
"""Columns that are read as JSON."""

Lend = Callable[[], AbstractContextManager[apsw.Connection]]

TEXTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "import_sources": ("path", ("path", "state")),
    "jobs": ("job_id", ("title", "note", "outcome", "error", "hint")),
    "chronicle_sections": ("row_id", ("prose", "pins", "summarizer", "summarizer_version")),
    "pin_scratch": ("rowid", ("result",)),
}
"""Tables that hold free text and are not folded from the log: the key of a row, and its texts."""


class Hit(NamedTuple):
    """What would be taken out of one place: never the secret, its length or its hash."""

    place: str
    """`event 12`, `jobs 3`, `import_sources 2`, or a path relative to the root."""
    position: int
    """Of the event; 0 for what is none."""
    field: str
    kind: str
    secrets: int


class CleanEvent(NamedTuple):
    """An event whose payload would be another one."""

    position: int
    payload: str
    """What the row would hold."""
    hits: tuple[Hit, ...]


class CleanRow(NamedTuple):
    """A row of another table whose texts would be others."""

    table: str
    key: Any
    texts: dict[str, str]
    """By column, what it would hold."""
    hits: tuple[Hit, ...]


class Look(NamedTuple):
    """How far a look through the events has come."""

    position: int
    """The last one that was looked at."""
    dirty: tuple[CleanEvent, ...]
    unreadable: int
    """Payloads of this batch that are no JSON object."""


_Row = tuple[int, str, str, bytes]
"""Position, namespace, type and payload of an event."""


class EventScanner:
    """Looks through events in batches, each over one state of the file."""

    def __init__(
        self, redactor: Redactor, registry: EventTypeRegistry, renamed: Mapping[str, str] | None = None
    ) -> None:
        """`renamed` has the new digests of artifacts that get other ones, by their old digests."""
        self._redactor = redactor
        self._identifiers = _Identifiers(registry)
        self._renamed = {old.encode(): new.encode() for old, new in (renamed or {}).items()}
        self._encoder = msgspec.json.Encoder(order="sorted")

    def batches(self, lend: Lend, since: int, upto: int) -> Iterator[Look]:
        """The events above `since`, up to `upto`; `lend` gives a connection for each batch."""
        while since < upto:
            with lend() as connection:
                rows = _read(connection, since, upto)
            if not rows:
                return
            since = rows[-1][0]
            dirty, unreadable = self.look(rows)
            yield Look(since, tuple(dirty), unreadable)

    def look(self, rows: Sequence[_Row]) -> tuple[list[CleanEvent], int]:
        """Those of `rows` that would be others, and how many of them hold no JSON object."""
        dirty: list[CleanEvent] = []
        unreadable = 0
        for run in _runs(rows):
            # One look over many costs little more than one over a single one.
            suspicious = self._redactor.may_change(b"[%s]" % b",".join(row[3] for row in run))
            for position, namespace, kind, stored in run:
                payload = self._with_new_names(stored)
                if payload is stored and not (suspicious and self._redactor.may_change(stored)):
                    continue
                try:
                    event = self._clean(position, namespace, kind, payload, payload is not stored)
                except (msgspec.DecodeError, UnicodeError, RecursionError):
                    unreadable += 1
                    continue
                if event is not None:
                    dirty.append(event)
        return dirty, unreadable

    def _with_new_names(self, payload: bytes) -> bytes:
        if not self._renamed:
            return payload
        for digest in set(_DIGEST.findall(payload)) & self._renamed.keys():
            payload = payload.replace(digest, self._renamed[digest])
        return payload

    def _clean(
        self, position: int, namespace: str, kind: str, text: bytes, renamed: bool
    ) -> CleanEvent | None:
        payload = msgspec.json.decode(text, type=dict[str, Any])
        names = self._identifiers.of(namespace, kind)
        hits: list[Hit] = []
        for field, value in payload.items():
            # Receipts, too: a path in one may hold a key that an older filter did not know for a secret.
            clean, found = self._clean_field(field, value, field in names)
            if found:
                payload[field] = clean
                hits += (Hit(f"event {position}", position, *each) for each in found)
        if not hits and not renamed:
            return None
        return CleanEvent(position, self._encoder.encode(payload).decode(), tuple(hits))

    def _clean_field(
        self, field: str, value: JsonValue, is_name: bool
    ) -> tuple[JsonValue, list[tuple[str, str, int]]]:
        if is_name:
            if not isinstance(value, str):
                return value, []
            clean, counts = self._redactor.redact_text(value)
            return clean, [(field, kind, count) for kind, count in counts.items()]
        result, removals = self._redactor.redact_value(value)
        return result, [
            (f"{field}.{each.field}" if each.field else field, each.kind, each.count) for each in removals
        ]


class _Identifiers:
    def __init__(self, registry: EventTypeRegistry) -> None:
        self._registry = registry
        self._known: dict[tuple[str, str], frozenset[str]] = {}

    def of(self, namespace: str, kind: str) -> frozenset[str]:
        known = self._known.get((namespace, kind))
        if known is None:
            found = self._registry.get(namespace, kind)
            known = self._known[namespace, kind] = frozenset() if found is None else found.identifiers
        return known


def other_texts(connection: apsw.Connection, redactor: Redactor) -> Iterator[CleanRow]:
    """The rows of the other tables that would be others."""
    there = {
        name for (name,) in fetch.rows(connection, "SELECT name FROM sqlite_schema WHERE type = 'table'")
    }
    for table, (key, columns) in TEXTS.items():
        if table not in there:
            # A backup of an older release.
            continue
        rows = connection.execute(f"SELECT rowid, {key}, {', '.join(columns)} FROM {table} ORDER BY rowid")
        for rowid, name, *values in rows:
            texts: dict[str, str] = {}
            hits: list[Hit] = []
            for column, value in zip(columns, values, strict=True):
                if not isinstance(value, str):
                    continue
                clean, found = _clean_text(value, redactor, as_json=column in _AS_JSON)
                if found:
                    texts[column] = clean
                    hits += (Hit(f"{table} {rowid}", 0, column, kind, count) for kind, count in found.items())
            if texts:
                yield CleanRow(table, name, texts, tuple(hits))


def _clean_text(text: str, redactor: Redactor, *, as_json: bool) -> tuple[str, dict[str, int]]:
    """A text without secrets; one that is read as JSON stays JSON."""
    if as_json:
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return redactor.redact_text(text)
        clean, removals = redactor.redact_value(value)
        counts: dict[str, int] = {}
        for each in removals:
            counts[each.kind] = counts.get(each.kind, 0) + each.count
        return (msgspec.json.encode(clean).decode() if counts else text), counts
    return redactor.redact_text(text)


# As bytes: a payload that is no valid text must not stop the look at the others.
_EVENTS = (
    "SELECT e.position, t.namespace, t.type, CAST(e.payload AS BLOB) FROM events e "
    "CROSS JOIN event_types t ON t.type_id = e.type_id "
    "WHERE e.position > ? AND e.position <= ? ORDER BY e.position LIMIT ?"
)


def _read(connection: apsw.Connection, since: int, upto: int) -> list[_Row]:
    """The next rows, of about `_BATCH_BYTES` at most."""
    rows: list[_Row] = []
    size = 0
    for position, namespace, kind, payload in connection.execute(_EVENTS, (since, upto, _BATCH)):
        rows.append((position, namespace, kind, payload or b""))
        size += len(rows[-1][3])
        if size >= _BATCH_BYTES:
            break
    return rows


def _runs(rows: Sequence[_Row]) -> Iterator[list[_Row]]:
    run: list[_Row] = []
    size = 0
    for row in rows:
        if run and size + len(row[3]) > _PROBED_BYTES:
            yield run
            run, size = [], 0
        run.append(row)
        size += len(row[3])
    if run:
        yield run
