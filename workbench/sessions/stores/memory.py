"""Sessions in the memory of one process, for tests and development (contract sessions §6)."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, datetime
from itertools import islice
from threading import Lock

import msgspec

from workbench.sessions.errors import ChronicumExists, ChronicumNotFound
from workbench.sessions.model import ActaQuery, Actum, Chronicum


def _utc_now() -> datetime:
    return datetime.now(UTC)


class _Session:
    """One session's state; `lock` guards everything but `lock`."""

    __slots__ = ("acta", "by_key", "chronicum", "lock")

    def __init__(self, chronicum: Chronicum) -> None:
        self.lock = Lock()
        self.chronicum = chronicum
        self.acta: list[Actum] = []
        self.by_key: dict[str, Actum] = {}


class MemoryStore:
    """An `IdempotentStore` that forgets everything with the process; idempotency keys are kept until then.

    Sessions do not wait for one another: one lock guards the table of sessions, one more each session.
    `clock` gives the aware time of each write.
    """

    def __init__(self, *, clock: Callable[[], datetime] = _utc_now) -> None:
        self._clock = clock
        self._lock = Lock()
        self._sessions: dict[str, _Session] = {}

    def create(self, chronicum: Chronicum) -> None:
        with self._lock:
            if chronicum.id in self._sessions:
                raise ChronicumExists
            now = self._clock()
            started = msgspec.structs.replace(chronicum, started_at=now, last_activity_at=now)
            self._sessions[chronicum.id] = _Session(started)

    def record(self, actum: Actum) -> Actum:
        session = self._session(actum.chronicum_id)
        with session.lock:
            return _copy(self._append(session, actum))

    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        session = self._session(actum.chronicum_id)
        with session.lock:
            stored = session.by_key.get(key)
            if stored is None:
                stored = session.by_key[key] = self._append(session, actum)
            return _copy(stored)

    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        session = self._session(chronicum_id)
        limit = query.last_n if query.last_n > 0 else None
        with session.lock:
            newest_first = (actum for actum in reversed(session.acta) if _matches(actum, query))
            chosen = list(islice(newest_first, limit))
        chosen.reverse()
        return [_copy(actum) for actum in chosen]

    def get(self, chronicum_id: str) -> Chronicum:
        session = self._session(chronicum_id)
        with session.lock:
            return session.chronicum

    def _session(self, chronicum_id: str) -> _Session:
        with self._lock:
            session = self._sessions.get(chronicum_id)
        if session is None:
            raise ChronicumNotFound
        return session

    def _append(self, session: _Session, actum: Actum) -> Actum:
        """Store a copy under the session's lock, which the caller holds."""
        at = self._clock()
        stored = msgspec.structs.replace(_copy(actum), at=at)
        session.acta.append(stored)
        session.chronicum = msgspec.structs.replace(session.chronicum, last_activity_at=at)
        return stored


def _matches(actum: Actum, query: ActaQuery) -> bool:
    return (not query.kinds or actum.kind in query.kinds) and (
        not query.actor_kinds or actum.actor_kind in query.actor_kinds
    )


def _copy(actum: Actum) -> Actum:
    """The actum with metadata of its own: everything else in it cannot change."""
    return msgspec.structs.replace(actum, metadata=deepcopy(actum.metadata))
