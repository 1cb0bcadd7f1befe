"""The evidence that observations name, newest first (contract workspace, "Evidence archive")."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

import apsw

from workbench.log.event_log import EventLog
from workbench.log.times import from_micros
from workbench.storage import fetch
from workbench.workspace.readers.clipping import decode
from workbench.workspace.rows import EvidenceFilter, EvidencePlace, EvidenceRow, PurgeRow

STATUSES = ("archived", "pointer_only", "missing", "skipped", "purged")
"""What may have become of a source file; `purged` was `archived` once."""

_PURGED = (
    "EXISTS(SELECT 1 FROM purged_artifacts p WHERE p.sha256 = l.sha256 AND NOT EXISTS("
    "SELECT 1 FROM evidence_links n WHERE n.sha256 = l.sha256 AND n.position > p.position))"
)
_WITHHELD = (
    "NOT EXISTS(SELECT 1 FROM observations o WHERE o.position = l.position AND o.shown = 1) AND NOT EXISTS("
    "SELECT 1 FROM evidence_links n JOIN observations o ON o.position = n.position "
    "WHERE n.sha256 = l.sha256 AND o.shown = 1)"
)
_COLUMNS = (
    f"l.position, l.ordinal, l.path, CASE WHEN l.sha256 IS NOT NULL AND {_PURGED} THEN 'purged' "
    f"ELSE l.status END, l.sha256, e.event_id, e.private, {_WITHHELD}, e.recorded_at, e.payload"
)


class StatusCount(NamedTuple):
    """How many source files came to this."""

    status: str
    files: int
    artifacts: int
    """Different contents among them; 0 for what was never kept."""


class EvidenceReader:
    """The evidence as a list, for a person: what is private or withheld is in it too."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def page(
        self, wanted: EvidenceFilter, limit: int, *, after: EvidencePlace | None = None
    ) -> list[EvidenceRow]:
        """Up to `limit` source files that follow `after`, newest observation first; with none, the first."""
        where, values = _conditions(wanted)
        if after is not None:
            where.append("(l.position, l.ordinal) < (?, ?)")
            values += after
        sql = (
            f"SELECT {_COLUMNS} FROM (SELECT * FROM evidence_links l {_where(where)} "
            "ORDER BY position DESC, ordinal DESC LIMIT ?) l JOIN events e ON e.position = l.position "
            "ORDER BY l.position DESC, l.ordinal DESC"
        )
        with self._log.reader() as connection:
            return _rows(connection, sql, (*values, limit))

    def counts(self) -> list[StatusCount]:
        """How many there are of each status, in the order of `STATUSES`; a status of none is left out."""
        sql = (
            f"SELECT CASE WHEN l.sha256 IS NOT NULL AND {_PURGED} THEN 'purged' ELSE l.status END, "
            "count(*), count(DISTINCT l.sha256) FROM evidence_links l GROUP BY 1"
        )
        with self._log.reader() as connection:
            found = {status: StatusCount(status, *rest) for status, *rest in fetch.rows(connection, sql)}
        return sorted(found.values(), key=_order)

    def digests(self, beginning: str, limit: int) -> list[str]:
        """Up to `limit` digests that are named or were purged and begin with these lower-case hex digits."""
        sql = (
            "SELECT DISTINCT sha256 FROM evidence_links WHERE sha256 >= ?1 AND sha256 < ?2 "
            "UNION SELECT sha256 FROM purged_artifacts WHERE sha256 >= ?1 AND sha256 < ?2 ORDER BY 1 LIMIT ?3"
        )
        with self._log.reader() as connection:
            return [digest for (digest,) in fetch.rows(connection, sql, (beginning, beginning + "g", limit))]

    def links(self, digest: str, limit: int, *, after: EvidencePlace | None = None) -> list[EvidenceRow]:
        """The source files that an artifact is a copy of, newest observation first."""
        return self.page(EvidenceFilter(digest=digest), limit, after=after)

    def of_event(self, position: int) -> list[EvidenceRow]:
        """The source files that the observation at a position names, in the order given.

        Of a fact or a checkpoint, those of the observation that made it.
        """
        sql = (
            f"SELECT {_COLUMNS} FROM evidence_links l JOIN events e ON e.position = l.position "
            "WHERE l.position = coalesce((SELECT observation FROM facts WHERE position = ?1), "
            "(SELECT observation FROM checkpoints WHERE position = ?1), ?1) ORDER BY l.ordinal"
        )
        with self._log.reader() as connection:
            return _rows(connection, sql, (position,))

    def named(self, path: str) -> EvidenceRow | None:
        """The newest source file of exactly this path; None if no observation names it."""
        sql = (
            f"SELECT {_COLUMNS} FROM evidence_links l JOIN events e ON e.position = l.position "
            "WHERE l.path = ? ORDER BY l.position DESC, l.ordinal DESC LIMIT 1"
        )
        with self._log.reader() as connection:
            return next(iter(_rows(connection, sql, (path,))), None)

    def purge(self, digest: str) -> PurgeRow | None:
        """The last purge of an artifact; None if there was none, or its bytes were kept again since."""
        sql = (
            "SELECT p.position, e.recorded_at, e.payload FROM purged_artifacts p "
            "JOIN events e ON e.position = p.position WHERE p.sha256 = ?1 AND NOT EXISTS("
            "SELECT 1 FROM evidence_links n WHERE n.sha256 = ?1 AND n.position > p.position)"
        )
        with self._log.reader() as connection:
            found = fetch.row(connection, sql, (digest,))
        if found is None:
            return None
        said = decode(found[2])
        return PurgeRow(
            position=found[0],
            recorded_at=from_micros(found[1]),
            reason=_text(said, "reason"),
            by=_text(said, "by"),
        )


def _order(count: StatusCount) -> int:
    return STATUSES.index(count.status) if count.status in STATUSES else len(STATUSES)


def _conditions(wanted: EvidenceFilter) -> tuple[list[str], list[Any]]:
    where: list[str] = []
    values: list[Any] = []
    if wanted.digest:
        where.append("l.sha256 >= ? AND l.sha256 < ?")
        values += [wanted.digest, wanted.digest + "g"]
    if wanted.path:
        where.append("l.path LIKE ? ESCAPE '\\'")
        values.append("%" + re.sub(r"([\\%_])", r"\\\1", wanted.path) + "%")
    if wanted.status == "purged":
        where.append(f"l.sha256 IS NOT NULL AND {_PURGED}")
    elif wanted.status:
        where.append(f"l.status = ? AND NOT (l.sha256 IS NOT NULL AND {_PURGED})")
        values.append(wanted.status)
    return where, values


def _where(conditions: Sequence[str]) -> str:
    return f"WHERE {' AND '.join(conditions)}" if conditions else ""


def _rows(connection: apsw.Connection, sql: str, values: Sequence[Any]) -> list[EvidenceRow]:
    return [_row(found) for found in fetch.rows(connection, sql, values)]


def _row(found: Sequence[Any]) -> EvidenceRow:
    position, ordinal, path, status, digest, event_id, private, withheld, recorded_at, payload = found
    said = decode(payload)
    items = said.get("evidence")
    item = items[ordinal] if isinstance(items, list) and ordinal < len(items) else None
    item = item if isinstance(item, dict) else {}
    size, removed = item.get("size"), item.get("removed")
    return EvidenceRow(
        position=position,
        ordinal=ordinal,
        path=path,
        status=status,
        digest=digest or "",
        size=size if isinstance(size, int) else None,
        reason=_text(item, "reason"),
        removed=removed if isinstance(removed, dict) else {},
        observation_id=str(UUID(bytes=event_id)),
        recorded_at=from_micros(recorded_at),
        private=bool(private),
        withheld=bool(withheld),
        domain=_text(said, "domain"),
        project=_text(said, "project"),
        task_id=_text(said, "task_id"),
        agent=_text(said, "agent"),
        text=_text(said, "text"),
    )


def _text(values: dict[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""
