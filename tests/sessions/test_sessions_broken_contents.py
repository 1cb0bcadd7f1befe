"""The conformance suite can fail: each store here breaks a rule about an actum's fields or about threads.

A broken store is the healthy one with one fault. Faults of concurrency show whenever another thread than the one that
made the store calls, so that no test hopes for an unlucky moment.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, timedelta
from itertools import count
from threading import Event, Lock, get_ident
from typing import Any, NamedTuple

import msgspec
import pytest

from workbench.sessions import (
    ActaQuery,
    ActorKind,
    Actum,
    ActumKind,
    Chronicum,
    ChronicumExists,
    MemoryStore,
)
from workbench.sessions.conformance import (
    ConformanceFailure,
    concurrency_rules,
    content_rules,
    run_test,
)

EVERYTHING = ActaQuery()
replace = msgspec.structs.replace


class ReturnsWhatWasGiven(MemoryStore):
    """Answers a recording with the caller's actum, not with what was stored."""

    def record(self, actum: Actum) -> Actum:
        super().record(actum)
        return actum


class ReturnsShortActum(MemoryStore):
    def record(self, actum: Actum) -> Actum:
        return replace(super().record(actum), content="")


class ReadsAnotherTime(MemoryStore):
    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        found = super().acta(chronicum_id, query)
        return [replace(actum, at=actum.at and actum.at + timedelta(hours=1)) for actum in found]


class KeepsCallersAt(MemoryStore):
    def _append(self, session: Any, actum: Actum) -> Actum:
        stored = super()._append(session, actum)
        if actum.at is not None:
            stored = session.acta[-1] = replace(stored, at=actum.at)
            session.chronicum = replace(session.chronicum, last_activity_at=actum.at)
        return stored


class StripsContent(MemoryStore):
    def record(self, actum: Actum) -> Actum:
        return super().record(replace(actum, content=actum.content.strip()))


class CutsContent(MemoryStore):
    def record(self, actum: Actum) -> Actum:
        return super().record(replace(actum, content=actum.content[:65_535]))


class ToolsAnswerThemselves(MemoryStore):
    """Believes that a tool response comes from the system."""

    def record(self, actum: Actum) -> Actum:
        if actum.kind == ActumKind.TOOL_RESPONSE:
            actum = replace(actum, actor_kind=ActorKind.SYSTEM)
        return super().record(actum)


class UniqueIds(MemoryStore):
    """Takes an id that it has just seen for the same actum again."""

    def record(self, actum: Actum) -> Actum:
        newest = super().acta(actum.chronicum_id, ActaQuery(last_n=1))
        if newest and newest[0].id == actum.id and newest[0].content != actum.content:
            return newest[0]
        return super().record(actum)


class DropsMetadata(MemoryStore):
    def record(self, actum: Actum) -> Actum:
        return super().record(replace(actum, metadata={}))


class FlattensMetadata(MemoryStore):
    """Keeps values as text."""

    def record(self, actum: Actum) -> Actum:
        return super().record(
            replace(actum, metadata={key: str(value) for key, value in actum.metadata.items()})
        )


class ClaimedTimeToTheSecond(MemoryStore):
    def record(self, actum: Actum) -> Actum:
        claimed = actum.occurred_at
        return super().record(replace(actum, occurred_at=claimed and claimed.replace(microsecond=0)))


class DropsTheTimeZone(MemoryStore):
    def record(self, actum: Actum) -> Actum:
        claimed = actum.occurred_at
        return super().record(replace(actum, occurred_at=claimed and claimed.replace(tzinfo=UTC)))


class EverythingPublic(MemoryStore):
    def record(self, actum: Actum) -> Actum:
        return super().record(replace(actum, visibility="public"))


class LeavesPrivateOut(MemoryStore):
    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        return [actum for actum in super().acta(chronicum_id, query) if actum.visibility == "public"]


class AliasesTheList(MemoryStore):
    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        super().acta(chronicum_id, query)
        if query.last_n > 0 or query.kinds or query.actor_kinds:
            return super().acta(chronicum_id, query)
        return self._sessions[chronicum_id].acta


class AliasesGivenMetadata(MemoryStore):
    def _append(self, session: Any, actum: Actum) -> Actum:
        stored = super()._append(session, actum)
        stored = session.acta[-1] = replace(stored, metadata=actum.metadata)
        return stored


class AliasesReturnedMetadata(MemoryStore):
    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        whole = list(self._session(chronicum_id).acta)
        found = super().acta(chronicum_id, query)
        return whole if len(found) == len(whole) else found


class _TellsThreadsApart(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self._home = get_ident()

    def _is_concurrent(self) -> bool:
        return get_ident() != self._home


class LosesAnAppend(_TellsThreadsApart):
    """Reads the history, waits until another append to it is in, and writes back what it read and its own."""

    def __init__(self) -> None:
        super().__init__()
        self._roles = Lock()
        self._victim: str | None = None
        self._another = Event()

    def record(self, actum: Actum) -> Actum:
        if not self._is_concurrent():
            return super().record(actum)
        with self._roles:
            is_first = self._victim is None
            if self._victim is None:
                self._victim = actum.chronicum_id
        if not is_first:
            stored = super().record(actum)
            if actum.chronicum_id == self._victim:
                self._another.set()
            return stored
        self._another.wait(10)
        stored = super().record(actum)
        session = self._session(actum.chronicum_id)
        with session.lock:
            session.acta[:] = [stored]
        return stored


class OneIdForConcurrentCalls(_TellsThreadsApart):
    def record(self, actum: Actum) -> Actum:
        stored = super().record(actum)
        return replace(stored, id="c-0") if self._is_concurrent() else stored


class FailsWhenBusy(_TellsThreadsApart):
    def record(self, actum: Actum) -> Actum:
        if self._is_concurrent():
            raise TimeoutError("database is locked")
        return super().record(actum)


class ConcurrentNewestFirst(_TellsThreadsApart):
    """Puts what another thread appends in front."""

    def _append(self, session: Any, actum: Actum) -> Actum:
        stored = super()._append(session, actum)
        if self._is_concurrent():
            session.acta.insert(0, session.acta.pop())
        return stored


class ConcurrentLastActivityFallsBehind(_TellsThreadsApart):
    def _append(self, session: Any, actum: Actum) -> Actum:
        before = session.chronicum
        stored = super()._append(session, actum)
        if self._is_concurrent():
            session.chronicum = before
        return stored


class CreateLooksThenWrites(_TellsThreadsApart):
    """Creates in two steps between which another call fits."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting = Event()
        self._numbers = count(1)

    def create(self, chronicum: Chronicum) -> None:
        if not self._is_concurrent():
            super().create(chronicum)
            return
        # The first caller has looked and found nothing; it writes when the second has done so as well.
        if next(self._numbers) == 1:
            self._waiting.wait(10)
            self._sessions.pop(chronicum.id, None)
            super().create(chronicum)
            return
        try:
            super().create(chronicum)
        finally:
            self._waiting.set()


class ConcurrentCreateFails(_TellsThreadsApart):
    def create(self, chronicum: Chronicum) -> None:
        try:
            super().create(chronicum)
        except ChronicumExists:
            if self._is_concurrent():
                raise TimeoutError("database is locked") from None
            raise


class OneSharedCursor(_TellsThreadsApart):
    """Keeps the session in use in the store, where another thread changes it."""

    def __init__(self) -> None:
        super().__init__()
        self._cursor = ""
        self._cursor_lock = Lock()

    def record(self, actum: Actum) -> Actum:
        with self._cursor_lock:
            if not self._is_concurrent() or not self._cursor:
                self._cursor = actum.chronicum_id
            return super().record(replace(actum, chronicum_id=self._cursor))


class Case(NamedTuple):
    """A broken store, the sub-tests that must fail on it, no other, and words of one of their sentences."""

    new_store: Callable[[], MemoryStore]
    caught_by: set[str]
    says: str


CASES = [
    Case(
        ReturnsWhatWasGiven,
        {
            "StartedAtStays",
            "LastActivityAtBumps",
            "IsolationBetweenChronica",
            "AppendReturnsFullActum",
            "ReadReturnsStoredActum",
            "CallersAtIgnored",
        },
        "Recording returns the actum as stored",
    ),
    Case(
        ReturnsShortActum,
        {"AppendReturnsFullActum", "ReadReturnsStoredActum", "ContentEquality", "OrderUnderConcurrency"},
        "Recording returns the actum as stored: everything given",
    ),
    Case(
        ReadsAnotherTime,
        {"ReadReturnsStoredActum", "LastActivityAtUnderConcurrency"},
        "exactly as recording returned it",
    ),
    Case(KeepsCallersAt, {"CallersAtIgnored"}, "`at` is the store's wall clock; a given one is lost"),
    Case(StripsContent, {"ContentEquality"}, "character for character"),
    Case(CutsContent, {"ContentEquality"}, "character for character"),
    Case(ToolsAnswerThemselves, {"KindsRoundTrip"}, "Any kind may come from any kind of actor"),
    Case(UniqueIds, {"DuplicateIDs"}, "two equal ids are two records"),
    Case(
        DropsMetadata,
        {"AppendReturnsFullActum", "MetadataRoundTrip", "MetadataIsACopy"},
        "`metadata` comes back as the JSON object it was",
    ),
    Case(FlattensMetadata, {"MetadataRoundTrip", "MetadataIsACopy"}, "as the JSON object it was"),
    Case(ClaimedTimeToTheSecond, {"OccurredAtRoundTrip"}, "to the microsecond"),
    Case(DropsTheTimeZone, {"OccurredAtRoundTrip"}, "as the instant it was"),
    Case(EverythingPublic, {"VisibilityRoundTrip"}, "`visibility` comes back as it was"),
    Case(LeavesPrivateOut, {"VisibilityRoundTrip"}, "a store leaves private acta in"),
    Case(
        AliasesTheList,
        {"ReturnedListIsACopy", "MetadataIsACopy"},
        "Changing a list of acta that was returned",
    ),
    Case(AliasesGivenMetadata, {"MetadataIsACopy"}, "metadata that was given or returned"),
    Case(AliasesReturnedMetadata, {"MetadataIsACopy"}, "metadata that was given or returned"),
    Case(OneIdForConcurrentCalls, {"ConcurrentAppend"}, "each once, under their own ids"),
    Case(
        FailsWhenBusy,
        {"ConcurrentAppend", "OrderUnderConcurrency", "LastActivityAtUnderConcurrency", "ConcurrentSessions"},
        "a concurrent call raised TimeoutError('database is locked')",
    ),
    Case(
        ConcurrentNewestFirst,
        {"OrderUnderConcurrency", "LastActivityAtUnderConcurrency"},
        "A call that returned before another began stands before it",
    ),
    Case(
        ConcurrentLastActivityFallsBehind,
        {"LastActivityAtUnderConcurrency"},
        "After concurrent appends last_activity_at is the `at` of the last actum",
    ),
    Case(CreateLooksThenWrites, {"ConcurrentCreate"}, "exactly one succeeds"),
    Case(ConcurrentCreateFails, {"ConcurrentCreate"}, "all others are ChronicumExists"),
    Case(OneSharedCursor, {"ConcurrentSessions"}, "to different sessions stay apart and all land"),
]


def failure_of(new_store: Callable[[], MemoryStore]) -> ConformanceFailure:
    with pytest.raises(ConformanceFailure) as caught:
        run_test(new_store)
    return caught.value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.new_store.__name__)
def test_a_broken_store_is_caught_and_told_which_rule(case: Case) -> None:
    failure = failure_of(case.new_store)
    assert {broken.sub_test for broken in failure.broken} == case.caught_by
    assert case.says in str(failure)


def test_a_lost_append_is_caught() -> None:
    failure = failure_of(LosesAnAppend)
    caught_by = {broken.sub_test for broken in failure.broken}
    # Whether the session's time still fits its last actum is left to chance.
    assert caught_by >= {"ConcurrentAppend", "OrderUnderConcurrency", "ConcurrentSessions"}
    assert "Concurrent appends to one session all land, each once" in str(failure)


def test_every_sub_test_is_seen_to_fail() -> None:
    seen = set().union(*(case.caught_by for case in CASES))
    assert seen >= {
        sub_test.name for suite in (content_rules.suite, concurrency_rules.suite) for sub_test in suite
    }
