"""The conformance suite can fail: each store here breaks a rule about sessions, order or filters.

A broken store is the healthy one with one fault, and exactly the sub-tests that this fault touches must say so.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import msgspec
import pytest

from workbench.sessions import (
    ActaQuery,
    Actum,
    ActumKind,
    Chronicum,
    ChronicumExists,
    ChronicumNotFound,
    MemoryStore,
)
from workbench.sessions.conformance import TESTS, ConformanceFailure, acta_rules, chronicum_rules, run_test

EVERYTHING = ActaQuery()
replace = msgspec.structs.replace


class ForgetsOwner(MemoryStore):
    def get(self, chronicum_id: str) -> Chronicum:
        return replace(super().get(chronicum_id), owner_id="")


class AllowsDuplicateCreate(MemoryStore):
    def create(self, chronicum: Chronicum) -> None:
        try:
            super().create(chronicum)
        except ChronicumExists:
            return


class OneIdPerOwner(MemoryStore):
    """Takes an id for free as long as this owner has not used it."""

    def create(self, chronicum: Chronicum) -> None:
        try:
            super().create(chronicum)
        except ChronicumExists:
            if self.get(chronicum.id).owner_id == chronicum.owner_id:
                raise
            self._sessions[chronicum.id].chronicum = chronicum


class WrongErrorOnMissing(MemoryStore):
    def get(self, chronicum_id: str) -> Chronicum:
        try:
            return super().get(chronicum_id)
        except ChronicumNotFound:
            raise KeyError(chronicum_id) from None


class CreatesOnRecord(MemoryStore):
    def record(self, actum: Actum) -> Actum:
        try:
            return super().record(actum)
        except ChronicumNotFound:
            self.create(Chronicum(id=actum.chronicum_id, owner_id="whoever"))
            return super().record(actum)


class EmptyListForMissing(MemoryStore):
    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        try:
            return super().acta(chronicum_id, query)
        except ChronicumNotFound:
            return []


class KeepsCallersStartedAt(MemoryStore):
    def create(self, chronicum: Chronicum) -> None:
        super().create(chronicum)
        if chronicum.started_at is not None:
            self._sessions[chronicum.id].chronicum = chronicum


class TwoTimesAtCreate(MemoryStore):
    """Asks the clock once for each of the two times."""

    def create(self, chronicum: Chronicum) -> None:
        super().create(chronicum)
        session = self._sessions[chronicum.id]
        later = datetime.now(UTC) + timedelta(microseconds=1)
        session.chronicum = replace(session.chronicum, last_activity_at=later)


class NaiveTimes(MemoryStore):
    def __init__(self) -> None:
        super().__init__(clock=datetime.now)


class MovesStartedAt(MemoryStore):
    def record(self, actum: Actum) -> Actum:
        stored = super().record(actum)
        session = self._sessions[actum.chronicum_id]
        session.chronicum = replace(session.chronicum, started_at=stored.at)
        return stored


class DoesNotBumpLastActivity(MemoryStore):
    def record(self, actum: Actum) -> Actum:
        before = self.get(actum.chronicum_id)
        stored = super().record(actum)
        self._sessions[actum.chronicum_id].chronicum = before
        return stored


class SecondClockForLastActivity(MemoryStore):
    """Takes the session's time a moment after the actum's."""

    def get(self, chronicum_id: str) -> Chronicum:
        chronicum = super().get(chronicum_id)
        if chronicum.last_activity_at == chronicum.started_at or chronicum.last_activity_at is None:
            return chronicum
        return replace(chronicum, last_activity_at=chronicum.last_activity_at + timedelta(microseconds=3))


class FoldsSessionIds(MemoryStore):
    def record(self, actum: Actum) -> Actum:
        folded = actum.chronicum_id.casefold()
        return super().record(
            replace(actum, chronicum_id=folded if folded in self._sessions else actum.chronicum_id)
        )


class LeaksIntoOtherSessions(MemoryStore):
    """Reads by pattern, as a LIKE would: `_` stands for any character."""

    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        found = super().acta(chronicum_id, query)
        if "_" in chronicum_id:
            for other in self._sessions:
                if other != chronicum_id and len(other) == len(chronicum_id):
                    found += super().acta(other, query)
        return found


class NewestFirst(MemoryStore):
    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        return super().acta(chronicum_id, query)[::-1]


class OrdersById(MemoryStore):
    """Orders a long history by its ids."""

    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        found = super().acta(chronicum_id, query)
        return sorted(found, key=lambda actum: actum.id) if len(found) > 500 else found


class PageOfAHundred(MemoryStore):
    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        return super().acta(chronicum_id, query)[:100]


class OrdersByClaimedTime(MemoryStore):
    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        found = super().acta(chronicum_id, replace(query, last_n=0))
        if found and all(actum.occurred_at for actum in found):
            found.sort(key=lambda actum: actum.occurred_at or datetime.now(UTC))
        return found[-query.last_n :] if query.last_n > 0 else found


class LimitBeforeFilter(MemoryStore):
    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        limited = {actum.id for actum in super().acta(chronicum_id, ActaQuery(last_n=query.last_n))}
        return [a for a in super().acta(chronicum_id, replace(query, last_n=0)) if a.id in limited]


class FirstNNotLastN(MemoryStore):
    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        found = super().acta(chronicum_id, replace(query, last_n=0))
        return found[: query.last_n] if query.last_n > 0 else found


class OneTooMany(MemoryStore):
    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        return super().acta(chronicum_id, replace(query, last_n=query.last_n + 1 if query.last_n else 0))


class IgnoresActorFilter(MemoryStore):
    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        return super().acta(chronicum_id, replace(query, actor_kinds=()))


class FirstKindOnly(MemoryStore):
    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        return super().acta(chronicum_id, replace(query, kinds=query.kinds[:1]))


class EitherFilter(MemoryStore):
    """Lets pass what passes one of the two filters."""

    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        everything = super().acta(chronicum_id, EVERYTHING)
        if not (query.kinds and query.actor_kinds):
            return super().acta(chronicum_id, query)
        found = [a for a in everything if a.kind in query.kinds or a.actor_kind in query.actor_kinds]
        return found[-query.last_n :] if query.last_n > 0 else found


class RefusesUnknownKinds(MemoryStore):
    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        kinds = tuple(ActumKind(kind) for kind in query.kinds)
        return super().acta(chronicum_id, replace(query, kinds=kinds))


class DropsUnknownKinds(MemoryStore):
    """Leaves unknown kinds out of the filter, which then may be empty: no filter."""

    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        kinds = tuple(kind for kind in query.kinds if kind in list(ActumKind))
        return super().acta(chronicum_id, replace(query, kinds=kinds))


class NegativeLimitAsSlice(MemoryStore):
    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        return super().acta(chronicum_id, replace(query, last_n=0))[-query.last_n :]


class RefusesLargeLimit(MemoryStore):
    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        if query.last_n > 9:
            raise ValueError("limit too large")
        return super().acta(chronicum_id, query)


class NoneForEmpty(MemoryStore):
    def acta(self, chronicum_id: str, query: ActaQuery) -> Any:
        return super().acta(chronicum_id, query) or None


class Case(NamedTuple):
    """A broken store, the sub-tests that must fail on it, no other, and words of one of their sentences."""

    new_store: Callable[[], MemoryStore]
    caught_by: set[str]
    says: str


CASES = [
    Case(ForgetsOwner, {"GetReturnsStoredOwner", "ConcurrentCreate"}, "keeps the id and the owner"),
    Case(
        AllowsDuplicateCreate,
        {"CreateExists", "CreateExistsForAnotherOwner", "ConcurrentCreate"},
        "Creating a session whose id is taken is ChronicumExists",
    ),
    Case(
        OneIdPerOwner,
        {"CreateExistsForAnotherOwner", "ConcurrentCreate"},
        "An id is taken whoever owns it",
    ),
    Case(
        WrongErrorOnMissing,
        {"GetMissing", "RecordIntoMissing"},
        "Getting a session that does not exist is ChronicumNotFound",
    ),
    Case(CreatesOnRecord, {"RecordIntoMissing"}, "is ChronicumNotFound and creates nothing"),
    Case(
        EmptyListForMissing,
        {"ActaMissingChronicum"},
        "acta of a session that does not exist are ChronicumNotFound",
    ),
    Case(KeepsCallersStartedAt, {"StartedAt"}, "given ones are lost"),
    Case(TwoTimesAtCreate, {"StartedAt"}, "are one and the same time"),
    Case(
        NaiveTimes,
        {
            "StartedAt",
            "StartedAtStays",
            "LastActivityAtBumps",
            "IsolationBetweenChronica",
            "AppendReturnsFullActum",
            "CallersAtIgnored",
            "LastActivityAtUnderConcurrency",
        },
        "not a time-zone-aware datetime",
    ),
    Case(MovesStartedAt, {"StartedAtStays"}, "Recording does not move a session's started_at"),
    Case(
        DoesNotBumpLastActivity,
        {"LastActivityAtBumps", "LastActivityAtUnderConcurrency"},
        "last_activity_at is the `at` of the actum stored last",
    ),
    Case(
        SecondClockForLastActivity,
        {"LastActivityAtBumps", "LastActivityAtUnderConcurrency"},
        "last_activity_at is the `at` of the actum stored last",
    ),
    Case(FoldsSessionIds, {"IsolationBetweenChronica"}, "into one session shows in no other"),
    Case(LeaksIntoOtherSessions, {"IsolationBetweenChronica"}, "into one session shows in no other"),
    Case(
        NewestFirst,
        {
            "IsolationBetweenChronica",
            "InsertionOrder",
            "OrderIgnoresTimes",
            "FilterThenLimit",
            "FilterActorKinds",
            "FilterKinds",
            "BothFilters",
            "UnknownKindMatchesNothing",
            "LastN",
            "NegativeLastN",
            "LastNBeyondHistory",
            "ReadReturnsStoredActum",
            "ContentEquality",
            "KindsRoundTrip",
            "DuplicateIDs",
            "MetadataRoundTrip",
            "OccurredAtRoundTrip",
            "VisibilityRoundTrip",
            "ReturnedListIsACopy",
            "OrderUnderConcurrency",
            "LastActivityAtUnderConcurrency",
        },
        "in the order in which they were recorded",
    ),
    Case(OrdersById, {"InsertionOrder"}, "in the order in which they were recorded"),
    Case(PageOfAHundred, {"InsertionOrder", "OrderUnderConcurrency"}, "Acta come back whole"),
    Case(OrdersByClaimedTime, {"OrderIgnoresTimes"}, "never that of a time an actum carries"),
    Case(
        LimitBeforeFilter,
        {
            "FilterThenLimit",
            "FilterActorKinds",
            "BothFilters",
            "UnknownKindMatchesNothing",
            "LastNBeyondHistory",
        },
        "Filters come first; the limit takes the last of what they leave",
    ),
    Case(
        FirstNNotLastN,
        {
            "OrderIgnoresTimes",
            "FilterThenLimit",
            "FilterActorKinds",
            "BothFilters",
            "UnknownKindMatchesNothing",
            "LastN",
            "ReadReturnsStoredActum",
            "VisibilityRoundTrip",
        },
        "exactly the last N acta",
    ),
    Case(
        OneTooMany,
        {
            "OrderIgnoresTimes",
            "FilterThenLimit",
            "FilterActorKinds",
            "BothFilters",
            "UnknownKindMatchesNothing",
            "LastN",
            "ReadReturnsStoredActum",
            "VisibilityRoundTrip",
        },
        "exactly the last N acta",
    ),
    Case(
        IgnoresActorFilter,
        {"FilterActorKinds", "BothFilters", "UnknownKindMatchesNothing"},
        "A filter of actor kinds lets pass",
    ),
    Case(FirstKindOnly, {"FilterKinds", "UnknownKindMatchesNothing"}, "the acta of any kind it names"),
    Case(EitherFilter, {"BothFilters"}, "Both filters together let pass what passes each"),
    Case(RefusesUnknownKinds, {"UnknownKindMatchesNothing"}, "matches nothing and is no error"),
    Case(DropsUnknownKinds, {"UnknownKindMatchesNothing"}, "matches nothing and is no error"),
    Case(NegativeLimitAsSlice, {"NegativeLastN"}, "A negative limit is no limit"),
    Case(RefusesLargeLimit, {"LastNBeyondHistory"}, "larger than the history gives the whole history"),
    Case(
        NoneForEmpty,
        {"IsolationBetweenChronica", "BothFilters", "UnknownKindMatchesNothing", "EmptyChronicum"},
        "A session without acta gives an empty list",
    ),
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


def test_a_clock_that_stands_still_is_caught() -> None:
    bumps = next(sub_test for sub_test in TESTS if sub_test.name == "LastActivityAtBumps")
    with pytest.raises(ConformanceFailure, match="the store's clock, as seen in `at`, did not move"):
        bumps.run(lambda: MemoryStore(clock=lambda: datetime(2024, 1, 1, tzinfo=UTC)))


def test_every_sub_test_is_seen_to_fail() -> None:
    seen = set().union(*(case.caught_by for case in CASES))
    assert seen >= {
        sub_test.name for suite in (chronicum_rules.suite, acta_rules.suite) for sub_test in suite
    }


def test_the_healthy_store_passes() -> None:
    run_test(MemoryStore)


def test_a_failure_is_an_assertion_that_lists_every_broken_rule() -> None:
    failure = failure_of(AllowsDuplicateCreate)
    assert isinstance(failure, AssertionError)
    lines = str(failure).splitlines()
    assert len(lines) == len(failure.broken) == 3
    assert lines[0] == (
        "CreateExists: Creating a session whose id is taken is ChronicumExists. "
        "Found: create with the same id and owner raised nothing."
    )
