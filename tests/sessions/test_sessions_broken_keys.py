"""The idempotency suite can fail: each store here breaks a rule of keys, and the sub-tests of that rule say so."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from threading import Event, Lock, get_ident
from typing import Any, NamedTuple

import msgspec
import pytest

from workbench.sessions import ActaQuery, Actum, Chronicum, ChronicumNotFound, MemoryStore
from workbench.sessions.conformance import IDEMPOTENT_TESTS, ConformanceFailure, run_idempotent_test

replace = msgspec.structs.replace


class ForgetsKeys(MemoryStore):
    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        return self.record(actum)


class RepeatIsAnError(MemoryStore):
    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        if key in self._session(actum.chronicum_id).by_key:
            raise ValueError("duplicate key")
        return super().record_idempotent(actum, key)


class SecondPayloadWins(MemoryStore):
    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        session = self._session(actum.chronicum_id)
        before = session.by_key.get(key)
        if before is None or before.content == actum.content:
            return super().record_idempotent(actum, key)
        place = session.acta.index(before)
        session.by_key[key] = session.acta[place] = replace(actum, at=before.at)
        return session.by_key[key]


class EchoesTheNewPayload(MemoryStore):
    """Stores the first, but answers a repeat with what it carried."""

    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        stored = super().record_idempotent(actum, key)
        return replace(actum, id=stored.id, at=stored.at)


class KeyAndKind(MemoryStore):
    """Takes a key again for another kind of act."""

    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        return super().record_idempotent(actum, f"{key}/{actum.kind}")


class KeyAndMetadata(MemoryStore):
    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        return super().record_idempotent(actum, f"{key}/{actum.metadata.get('n')}")


class KeyGlobalAcrossSessions(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self._keys: dict[str, Actum] = {}
        self._keys_lock = Lock()

    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        with self._keys_lock:
            if key not in self._keys:
                self._keys[key] = super().record_idempotent(actum, key)
            else:
                self._session(actum.chronicum_id)
            stored = self._keys[key]
            return replace(stored, metadata=msgspec.json.decode(msgspec.json.encode(stored.metadata)))


class FoldsKeys(MemoryStore):
    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        return super().record_idempotent(actum, key.strip().casefold())


class CutsKeys(MemoryStore):
    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        return super().record_idempotent(actum, key[:255])


class KeyUsedUpByAFailure(MemoryStore):
    """Writes the key down before it looks for the session."""

    def __init__(self) -> None:
        super().__init__()
        self._failed: dict[tuple[str, str], Actum] = {}

    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        place = (actum.chronicum_id, key)
        if place in self._failed:
            return self._failed[place]
        try:
            return super().record_idempotent(actum, key)
        except ChronicumNotFound:
            self._failed[place] = actum
            raise


class CreatesForAKey(MemoryStore):
    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        try:
            return super().record_idempotent(actum, key)
        except ChronicumNotFound:
            self.create(Chronicum(id=actum.chronicum_id, owner_id="whoever"))
            raise


class RepeatBumpsLastActivity(MemoryStore):
    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        session = self._session(actum.chronicum_id)
        if key in session.by_key:
            session.chronicum = replace(session.chronicum, last_activity_at=self._clock())
        return super().record_idempotent(actum, key)


class KeyedAppendDoesNotBump(MemoryStore):
    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        before = self.get(actum.chronicum_id)
        stored = super().record_idempotent(actum, key)
        self._session(actum.chronicum_id).chronicum = before
        return stored


class KeyedAppendDropsMetadata(MemoryStore):
    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        metadata = {name: value for name, value in actum.metadata.items() if name != "call"}
        return super().record_idempotent(replace(actum, metadata=metadata), key)


class KeyedAppendKeepsCallersAt(MemoryStore):
    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        stored = super().record_idempotent(actum, key)
        if actum.at is None:
            return stored
        session = self._session(actum.chronicum_id)
        session.acta[-1] = session.by_key[key] = replace(stored, at=actum.at)
        return session.by_key[key]


class KeyedAppendsInATableOfTheirOwn(MemoryStore):
    """Reads the keyed acta behind all others."""

    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        keyed = {id(actum) for actum in self._session(chronicum_id).by_key.values()}
        whole = self._session(chronicum_id).acta
        places = sorted(range(len(whole)), key=lambda place: id(whole[place]) in keyed)
        found = super().acta(chronicum_id, query)
        return [found[place] for place in places] if len(found) == len(whole) else found


class UnkeyedTakenForARepeat(MemoryStore):
    """Recognises a repeat by what was recorded with a key before."""

    def record(self, actum: Actum) -> Actum:
        for stored in self._session(actum.chronicum_id).by_key.values():
            if stored.content == actum.content:
                return stored
        return super().record(actum)


class RepeatsShareMetadata(MemoryStore):
    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        super().record_idempotent(actum, key)
        return self._session(actum.chronicum_id).by_key[key]


class _TellsThreadsApart(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self._home = get_ident()

    def _is_concurrent(self) -> bool:
        return get_ident() != self._home


class LooksThenAppends(_TellsThreadsApart):
    """Look-up and append are two steps, between which the first caller lets another one through."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers = count()
        self._another = Event()

    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        if not self._is_concurrent():
            return super().record_idempotent(actum, key)
        if next(self._numbers) == 0:
            self._another.wait(10)
            return self.record(actum)
        stored = super().record_idempotent(actum, key)
        self._another.set()
        return stored


class OneKeyedAppendAtATime(_TellsThreadsApart):
    """Gives every concurrent caller the first one's actum, whatever its key."""

    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        return super().record_idempotent(actum, "busy" if self._is_concurrent() else key)


class KeyCollisionFails(_TellsThreadsApart):
    """Lets the losers of a race for one key see the unique index."""

    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        stored = super().record_idempotent(actum, key)
        if self._is_concurrent() and stored.id != actum.id:
            raise RuntimeError("UNIQUE constraint failed")
        return stored


class Case(NamedTuple):
    """A broken store, the sub-tests that must fail on it, no other, and words of one of their sentences."""

    new_store: Callable[[], MemoryStore]
    caught_by: set[str]
    says: str


EVERY_REPEAT = {
    "Idempotency",
    "IdempotencyStoredWins",
    "StoredWinsWhateverItIs",
    "ConcurrentSameKey",
    "RepeatKeepsLastActivityAt",
    "KeyedAndUnkeyedShareOneOrder",
    "RepeatIsACopy",
}

CASES = [
    Case(ForgetsKeys, EVERY_REPEAT, "The same recording with the same key is stored once"),
    Case(RepeatIsAnError, EVERY_REPEAT, "the store raised ValueError('duplicate key')"),
    Case(
        SecondPayloadWins,
        {
            "IdempotencyStoredWins",
            "StoredWinsWhateverItIs",
            "ConcurrentSameKey",
            "KeyedAndUnkeyedShareOneOrder",
        },
        "A repeat returns the actum stored first and drops the new one",
    ),
    Case(
        EchoesTheNewPayload,
        {"IdempotencyStoredWins", "StoredWinsWhateverItIs", "RepeatIsACopy"},
        "A repeat returns the actum stored first",
    ),
    Case(KeyAndKind, {"StoredWinsWhateverItIs"}, "A repeat is one by its key alone"),
    Case(KeyAndMetadata, {"StoredWinsWhateverItIs"}, "A repeat is one by its key alone"),
    Case(KeyGlobalAcrossSessions, {"SameKeyInTwoChronica"}, "A key counts inside its session only"),
    Case(FoldsKeys, {"KeysAreExact"}, "Keys are compared exactly"),
    Case(CutsKeys, {"KeysAreExact"}, "Keys are compared exactly"),
    Case(KeyUsedUpByAFailure, {"KeyIntoMissing"}, "leaves the key unused"),
    Case(CreatesForAKey, {"KeyIntoMissing"}, "creates nothing"),
    Case(RepeatBumpsLastActivity, {"RepeatKeepsLastActivityAt"}, "A repeat does not move last_activity_at"),
    Case(KeyedAppendDoesNotBump, {"KeyedAppendIsAnAppend"}, "last_activity_at moved"),
    Case(KeyedAppendDropsMetadata, {"KeyedAppendIsAnAppend"}, "all fields kept"),
    Case(KeyedAppendKeepsCallersAt, {"KeyedAppendIsAnAppend"}, "the store's `at`"),
    Case(
        KeyedAppendsInATableOfTheirOwn,
        {"KeyedAndUnkeyedShareOneOrder"},
        "Recordings with and without keys stand in one history",
    ),
    Case(UnkeyedTakenForARepeat, {"UnkeyedIsNeverARepeat"}, "Without a key every recording is stored"),
    Case(RepeatsShareMetadata, {"RepeatIsACopy"}, "Changing what a repeat returned changes neither"),
    Case(LooksThenAppends, {"ConcurrentSameKey"}, "with one key exactly one is stored"),
    Case(OneKeyedAppendAtATime, {"ConcurrentDifferentKeys"}, "with different keys all land"),
    Case(
        KeyCollisionFails,
        {"ConcurrentSameKey"},
        "a concurrent call raised RuntimeError('UNIQUE constraint failed')",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.new_store.__name__)
def test_a_broken_store_is_caught_and_told_which_rule(case: Case) -> None:
    with pytest.raises(ConformanceFailure) as caught:
        run_idempotent_test(case.new_store)
    assert {broken.sub_test for broken in caught.value.broken} == case.caught_by
    assert case.says in str(caught.value)


def test_every_sub_test_is_seen_to_fail() -> None:
    seen = set().union(*(case.caught_by for case in CASES))
    assert seen == {sub_test.name for sub_test in IDEMPOTENT_TESTS}


def test_the_healthy_store_passes() -> None:
    run_idempotent_test(MemoryStore)


def test_a_store_without_keys_fails_every_sub_test() -> None:
    class WithoutKeys:
        def __init__(self) -> None:
            inner = MemoryStore()
            self.create, self.record, self.acta, self.get = inner.create, inner.record, inner.acta, inner.get

    new_store: Any = WithoutKeys
    with pytest.raises(ConformanceFailure, match="record_idempotent") as caught:
        run_idempotent_test(new_store)
    assert [broken.sub_test for broken in caught.value.broken] == [test.name for test in IDEMPOTENT_TESTS]
