"""Rules about a session as a whole: creating it, finding it, its times, its separation from others."""

from __future__ import annotations

from datetime import datetime

from workbench.sessions.conformance.harness import Suite, Violation, refused, require, require_equal
from workbench.sessions.conformance.material import (
    EVERYTHING,
    FAR_AHEAD,
    LONG_AGO,
    MISSING,
    OWNER,
    SESSION,
    at_of,
    message,
    pass_time,
    require_contents,
    started,
)
from workbench.sessions.errors import ChronicumExists, ChronicumNotFound
from workbench.sessions.model import Chronicum
from workbench.sessions.store import Store

suite: Suite[Store] = Suite()


@suite.rule("GetReturnsStoredOwner", "A session keeps the id and the owner it was created with.")
def get_returns_stored_owner(store: Store) -> None:
    started(store)
    store.record(message("one"))
    chronicum = store.get(SESSION)
    require_equal(chronicum.owner_id, OWNER, "owner_id")
    require_equal(chronicum.id, SESSION, "id")


@suite.rule("CreateExists", "Creating a session whose id is taken is ChronicumExists.")
def create_exists(store: Store) -> None:
    started(store, "dup")
    with refused(ChronicumExists, "create with the same id and owner"):
        started(store, "dup")


@suite.rule(
    "CreateExistsForAnotherOwner",
    "An id is taken whoever owns it: creating it for another owner is ChronicumExists and changes nothing.",
)
def create_exists_for_another_owner(store: Store) -> None:
    started(store, "dup")
    store.record(message("kept", into="dup"))
    before = store.get("dup")
    with refused(ChronicumExists, "create with the same id for another owner"):
        store.create(Chronicum(id="dup", owner_id="owner2"))
    require_equal(store.get("dup"), before, "the session after the refused create")
    require_contents(store, EVERYTHING, ["kept"], of="dup")


@suite.rule("GetMissing", "Getting a session that does not exist is ChronicumNotFound.")
def get_missing(store: Store) -> None:
    with refused(ChronicumNotFound, "get of a missing session"):
        store.get(MISSING)


@suite.rule(
    "RecordIntoMissing",
    "Recording into a session that does not exist is ChronicumNotFound and creates nothing.",
)
def record_into_missing(store: Store) -> None:
    with refused(ChronicumNotFound, "record into a missing session"):
        store.record(message("lost", into=MISSING))
    with refused(ChronicumNotFound, "get after the refused record"):
        store.get(MISSING)


@suite.rule("ActaMissingChronicum", "The acta of a session that does not exist are ChronicumNotFound.")
def acta_missing_chronicum(store: Store) -> None:
    with refused(ChronicumNotFound, "acta of a missing session"):
        store.acta(MISSING, EVERYTHING)


@suite.rule(
    "StartedAt",
    "A new session's started_at and last_activity_at are one and the same time of the store's own; "
    "given ones are lost.",
)
def started_at(store: Store) -> None:
    store.create(Chronicum(id=SESSION, owner_id=OWNER, started_at=LONG_AGO, last_activity_at=FAR_AHEAD))
    chronicum = store.get(SESSION)
    require_equal(chronicum.started_at, chronicum.last_activity_at, "started_at beside last_activity_at")
    start = chronicum.started_at
    if not isinstance(start, datetime) or start.utcoffset() is None:
        raise Violation(f"started_at is {start!r}, not a time-zone-aware datetime")
    require(LONG_AGO < start < FAR_AHEAD, f"started_at is the given time {start!r}")


@suite.rule("StartedAtStays", "Recording does not move a session's started_at.")
def started_at_stays(store: Store) -> None:
    started(store)
    before = store.get(SESSION).started_at
    pass_time(store)
    store.record(message("later"))
    require_equal(store.get(SESSION).started_at, before, "started_at after a record")


@suite.rule("LastActivityAtBumps", "last_activity_at is the `at` of the actum stored last.")
def last_activity_at_bumps(store: Store) -> None:
    started(store)
    first = at_of(store.record(message("first")))
    require_equal(store.get(SESSION).last_activity_at, first, "last_activity_at after the first record")
    pass_time(store)
    second = at_of(store.record(message("second")))
    require_equal(store.get(SESSION).last_activity_at, second, "last_activity_at after the second record")
    require(second > first, f"the second `at` {second!r} is not later than the first {first!r}")


@suite.rule("IsolationBetweenChronica", "What is recorded into one session shows in no other.")
def isolation_between_chronica(store: Store) -> None:
    # Alike but for case, a blank, an accent's spelling and a pattern's wildcards: ids are exact.
    ids = [
        "iso",
        "ISO",
        "iso ",
        "is%",
        "is_",
        "is\N{LATIN SMALL LETTER O WITH ACUTE}",
        "iso\N{COMBINING ACUTE ACCENT}",
    ]
    started(store, *ids)
    untouched = store.get("iso ")
    pass_time(store)
    for number in range(3):
        for chronicum_id in ids:
            if chronicum_id != "iso ":
                store.record(message(f"{chronicum_id}-{number}", into=chronicum_id))
    for chronicum_id in ids:
        expected = [] if chronicum_id == "iso " else [f"{chronicum_id}-{number}" for number in range(3)]
        require_contents(store, EVERYTHING, expected, of=chronicum_id)
    require_equal(store.get("iso "), untouched, "a session into which nothing was recorded")
