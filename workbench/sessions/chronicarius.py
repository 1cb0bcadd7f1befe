"""The one way into sessions: ownership, validation and idempotency over any store (contract sessions §4)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import msgspec

from workbench.sessions.errors import (
    ChronicumExists,
    ChronicumNotFound,
    EmptyOwnerID,
    IdempotencyUnsupported,
    NotText,
)
from workbench.sessions.model import ActaQuery, Actum, Chronicum
from workbench.sessions.store import IdempotentStore, Store


def random_id() -> str:
    """128 random bits as 32 lower-case hex digits."""
    return os.urandom(16).hex()


class Chronicarius:
    """Records acts into sessions and reads them back, for the owner of the session only.

    A session belongs to whoever recorded into it first; to everybody else it does not exist, and the
    answer is the same `ChronicumNotFound` either way. Threads may share one instance: it never changes and
    holds no lock.

    `id_gen` gives each actum its id. It must give unique values and is called concurrently; two equal ids are
    two records. Errors of the store other than the library's own pass through unchanged.
    """

    def __init__(self, store: Store, id_gen: Callable[[], str] | None = None) -> None:
        self._store = store
        # Asked once: a protocol check looks every method up again on each call.
        self._keyed_store = store if isinstance(store, IdempotentStore) else None
        self._id_gen = id_gen if id_gen is not None else random_id

    def record_actum(self, owner_id: str, actum: Actum, *, idempotency_key: str | None = None) -> Actum:
        """Append `actum` to its session, created for `owner_id` if nobody has it, and return it as stored.

        The stored actum has a new `id` and the store's `at`. With a key (an empty one counts as none) that
        was used in this session before, nothing is stored and the first actum is returned.

        Raises, in this order: `EmptyOwnerID`, `InvalidActum`, `IdempotencyUnsupported` (before the store is
        touched), `ChronicumNotFound` for another owner's session. An owner or a key that is no `str` is
        `NotText`, in its place and before the store is touched. Creating and recording are two steps: if
        the second fails, the session stays, empty, and a retry is safe.
        """
        _require_owner(owner_id)
        actum.validate()
        if idempotency_key is not None:
            _require_text("idempotency_key", idempotency_key)
        keyed_store = self._keyed_store
        if idempotency_key and keyed_store is None:
            raise IdempotencyUnsupported
        if self._owned(owner_id, actum.chronicum_id) is None:
            self._claim(owner_id, actum.chronicum_id)
        actum = msgspec.structs.replace(actum, id=self._id_gen())
        if idempotency_key and keyed_store is not None:
            return keyed_store.record_idempotent(actum, idempotency_key)
        return self._store.record(actum)

    def get_acta(
        self,
        owner_id: str,
        chronicum_id: str,
        *,
        last_n: int = 0,
        actum_kinds: str | Iterable[str] = (),
        actor_kinds: str | Iterable[str] = (),
    ) -> list[Actum]:
        """The session's acta, oldest first, private ones included.

        Each filter lets pass the kinds it names, all if it names none; kinds that do not exist match nothing.
        A single string names one kind.
        Both must let an actum pass. Then the last `last_n` are taken; zero or less takes all.

        Raises `EmptyOwnerID`, then `ChronicumNotFound` for a missing or another owner's session; `NotText`
        for an owner, an id or a kind that is no `str`.
        """
        self._require_owned(owner_id, chronicum_id)
        query = ActaQuery(
            last_n=last_n,
            kinds=_kinds("actum_kinds", actum_kinds),
            actor_kinds=_kinds("actor_kinds", actor_kinds),
        )
        return self._store.acta(chronicum_id, query)

    def get_chronicum(self, owner_id: str, chronicum_id: str) -> Chronicum:
        """The session. Raises `EmptyOwnerID`, then `ChronicumNotFound` for a missing or foreign one.

        `NotText` for an owner or an id that is no `str`.
        """
        return self._require_owned(owner_id, chronicum_id)

    def _require_owned(self, owner_id: str, chronicum_id: str) -> Chronicum:
        _require_owner(owner_id)
        _require_text("chronicum_id", chronicum_id)
        chronicum = self._owned(owner_id, chronicum_id)
        if chronicum is None:
            raise ChronicumNotFound
        return chronicum

    def _owned(self, owner_id: str, chronicum_id: str) -> Chronicum | None:
        """The session if it is the owner's, else None: a store's "not found" can name ids, so ends here."""
        try:
            chronicum = self._store.get(chronicum_id)
        except ChronicumNotFound:
            return None
        return chronicum if chronicum.owner_id == owner_id else None

    def _claim(self, owner_id: str, chronicum_id: str) -> None:
        """Create the owner's session, or find that it became theirs meanwhile; else `ChronicumNotFound`."""
        try:
            self._store.create(Chronicum(id=chronicum_id, owner_id=owner_id))
            return
        except ChronicumExists:
            pass
        # Outside the handler, so that the refusal does not carry "already exists" as its context.
        self._require_owned(owner_id, chronicum_id)


def _require_owner(owner_id: str) -> None:
    # None is nobody, and nobody owns a session.
    if owner_id is None or owner_id == "":
        raise EmptyOwnerID
    _require_text("owner_id", owner_id)


def _require_text(name: str, value: object) -> None:
    # Callers without a type checker hand over bytes and numbers, which would fail deep inside a store.
    if not isinstance(value, str):
        raise NotText.named(name, value)


def _kinds(name: str, kinds: str | Iterable[str]) -> tuple[str, ...]:
    # A string is an iterable of its letters, which name no kind: what is meant is one kind.
    if isinstance(kinds, str):
        return (kinds,)
    if isinstance(kinds, bytes) or not isinstance(kinds, Iterable):
        raise NotText.named(name, kinds)
    named = tuple(kinds)
    for kind in named:
        _require_text(name, kind)
    return named
