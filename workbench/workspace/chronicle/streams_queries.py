"""Which streams there are for a chronicle, and which of them lag (contract log-and-chronicle, §9, §10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import unquote

import msgspec

from workbench.chronicle.boundaries import EventTypes
from workbench.chronicle.tables import SECTIONS
from workbench.identity.registry import Registry
from workbench.identity.scopes import resolve
from workbench.log.event_log import EventLog
from workbench.log.streams import StreamRef, scope_stream, session_stream
from workbench.storage import fetch

_REF = "SELECT name, kind, domain_key, project_key, task_key FROM streams WHERE name = ?"
# Of each stream that anything closed a stretch of since `position`, the last closing event, if it is behind
# the last section. By the index over types: what closes nothing is not looked at.
_CLOSED = (
    "SELECT s.name, s.stream_id, max(e.seq) FROM json_each(?1) k "
    "CROSS JOIN event_types t ON t.namespace = k.value ->> 1 AND t.type = k.value ->> 2 "
    "CROSS JOIN events e ON e.type_id = t.type_id AND e.position > ?2 "
    "CROSS JOIN streams s ON s.stream_id = e.stream_id AND s.kind = k.value ->> 0 "
    f"GROUP BY s.stream_id HAVING max(e.seq) > coalesce((SELECT c.to_seq FROM {SECTIONS} c "
    "WHERE c.stream_id = s.stream_id AND c.is_current = 1 ORDER BY c.from_seq DESC LIMIT 1), 0) "
    "ORDER BY min(e.position)"
)
_HOLES = (
    f"SELECT DISTINCT s.name, s.kind FROM {SECTIONS} c CROSS JOIN streams s ON s.stream_id = c.stream_id "
    "WHERE c.is_current = 1 AND c.after_gap = 1"
)

_DEPTH = {"domain": 1, "project": 2, "task": 3}
"""How many names make the name of a stream of that kind."""

Closing = Mapping[str, EventTypes]
"""By kind of stream, what closes a stretch."""


class Candidates(NamedTuple):
    """Streams that may lag."""

    names: list[str]
    upto: int
    """The log's last position before they were looked for."""


def find_stream(log: EventLog, registry: Registry, given: str) -> StreamRef | None:
    """The stream that a person or a program means; None if it holds nothing.

    Its whole name, one made of names that mean the same (`task/global/Acme Corp/t1`), or a session's id.
    """
    with log.reader() as connection:
        for name in _spellings(registry, given):
            row = fetch.row(connection, _REF, (name,))
            if row is not None:
                return StreamRef(*row)
    return None


def _spellings(registry: Registry, given: str) -> list[str]:
    if not _is_text(given):
        return []
    names = [given]
    kind, *parts = given.split("/")
    domain, project, task = (*(unquote(part) for part in parts), None, None, None)[:3]
    if kind in _DEPTH and len(parts) == _DEPTH[kind]:
        scope = resolve(registry, domain, project, task)
        names += [
            scope_stream(domain_key, project_key, scope.task_key).name
            for domain_key in scope.domain_forms
            for project_key in scope.project_forms or ("",)
            if project_key or not scope.task_key
        ]
    return [*names, session_stream(given.removeprefix("session/")).name]


def _is_text(given: str) -> bool:
    try:
        given.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in given


def count_sections(log: EventLog) -> int:
    """How many current sections all streams have."""
    with log.reader() as connection:
        return int(fetch.value(connection, f"SELECT count(*) FROM {SECTIONS} WHERE is_current = 1"))


def candidates(log: EventLog, closing: Closing, since: int = 0) -> Candidates:
    """The streams in which something was closed after position `since` and is in no section, and those
    with holes, the ones that wait longest first."""
    wanted = [
        (kind, namespace, name) for kind, types in closing.items() for namespace, name in sorted(types.types)
    ]
    upto = log.last_position()
    with log.reader() as connection:
        closed = fetch.rows(connection, _CLOSED, (msgspec.json.encode(wanted).decode(), since))
        holes = fetch.rows(connection, _HOLES)
    names = [name for name, _, _ in closed] + [name for name, kind in holes if kind in closing]
    return Candidates(list(dict.fromkeys(names)), upto)
