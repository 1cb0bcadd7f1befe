"""What a store of sessions owes (contract sessions §5); `workbench.sessions.conformance` checks it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from workbench.sessions.model import ActaQuery, Actum, Chronicum


@runtime_checkable
class Store(Protocol):
    """Keeps sessions and their acta.

    Every method is one atomic step, may be called from any thread, and blocks until it is done. A store
    knows no policy: it never asks who calls, and it is called through `Chronicarius` only. Order is the
    order of insertion, never that of a time. What a store returns is a copy that the caller may change.
    """

    def create(self, chronicum: Chronicum) -> None:
        """Add a session; `ChronicumExists` if the id is taken, whoever owns it.

        `started_at` and `last_activity_at` become one and the same now; the given ones are lost.
        """
        ...

    def record(self, actum: Actum) -> Actum:
        """Append to an existing session and return the actum as stored; else `ChronicumNotFound`.

        `at` becomes the store's wall clock (aware), and the session's `last_activity_at` becomes that `at`.
        Everything else is kept as given, `id` included, which need not be unique.
        """
        ...

    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        """The acta that `query` asks for, oldest first; `ChronicumNotFound` for a missing session.

        A session without acta, or a filter that matches nothing, gives an empty list.
        """
        ...

    def get(self, chronicum_id: str) -> Chronicum:
        """The session as it is now, or `ChronicumNotFound`."""
        ...


@runtime_checkable
class IdempotentStore(Store, Protocol):
    """A store that can also make a repeated recording count once."""

    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        """As `record`, unless `key` was used in this session before: then the first actum as stored.

        Look-up and append are one step: of concurrent calls with one key exactly one appends. A key counts
        inside its session only. A repeat changes nothing, whatever it carries, not even `last_activity_at`; a
        call that failed has not used its key.
        """
        ...
