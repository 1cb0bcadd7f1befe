"""Rules about one actum: what the store sets, what it keeps, and that nobody shares it with the store."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import msgspec

from workbench.sessions.conformance.harness import Suite, require, require_equal
from workbench.sessions.conformance.material import (
    EVERYTHING,
    FAR_AHEAD,
    LONG_AGO,
    SESSION,
    act,
    at_of,
    message,
    require_contents,
    require_same_but,
    started,
)
from workbench.sessions.model import PRIVATE, PUBLIC, ActaQuery, ActorKind, ActumKind
from workbench.sessions.store import Store

suite: Suite[Store] = Suite()

_METADATA: dict[str, Any] = {
    "tool": "read_file",
    "call_id": "call-7",
    "parent": None,
    "ok": True,
    "input": {"path": "notes/plan.md", "lines": [1, 2.5, -3, {"deep": [[], {}, ""]}]},
    "": "an empty key",
    "größe": '\N{SNOWMAN} and a "quote", a \\backslash and\na line',
    "count": 2**53 - 1,
}


@suite.rule("AppendReturnsFullActum", "Recording returns the actum as stored: everything given, and a time.")
def append_returns_full_actum(store: Store) -> None:
    started(store)
    given = msgspec.structs.replace(message("full", actum_id="test-id-1"), metadata={"model": "m"})
    stored = store.record(given)
    require_same_but(stored, given, at=at_of(stored))


@suite.rule("ReadReturnsStoredActum", "Reading gives every actum exactly as recording returned it.")
def read_returns_stored_actum(store: Store) -> None:
    started(store)
    stored = [store.record(message(f"{number}")) for number in range(5)]
    require_equal(store.acta(SESSION, EVERYTHING), stored, "acta")
    require_equal(store.acta(SESSION, ActaQuery(last_n=2)), stored[-2:], "the last two acta")


@suite.rule("CallersAtIgnored", "`at` is the store's wall clock; a given one is lost.")
def callers_at_ignored(store: Store) -> None:
    started(store)
    for given in (LONG_AGO, FAR_AHEAD):
        at = at_of(store.record(msgspec.structs.replace(message("timed"), at=given)))
        require(LONG_AGO < at < FAR_AHEAD, f"`at` is the given time {at!r}")


@suite.rule("ContentEquality", "Every field of text comes back character for character.")
def content_equality(store: Store) -> None:
    started(store)
    texts = [
        " ",
        "  two blanks before and a line end after\r\n",
        "tab\there, 'single' and \"double\" quotes, a \\ and a % and a _",
        "[bold]markup[/] <tag> {brace} $dollar; -- comment",
        "e\N{COMBINING ACUTE ACCENT} beside \N{LATIN SMALL LETTER E WITH ACUTE}: not normalised",
        "wide \N{CJK UNIFIED IDEOGRAPH-6F22}, emoji \N{GRINNING FACE}, bidi \N{RIGHT-TO-LEFT OVERRIDE}x",
        "long " + "line\n" * 20_000,
    ]
    given = [
        msgspec.structs.replace(message(text, actum_id=f"id {number}"), actor=text[:40])
        for number, text in enumerate(texts)
    ]
    # Only messages and thoughts need content.
    given.append(act("", ActumKind.TOOL_REQUEST, ActorKind.AGENT))
    for actum in given:
        stored = store.record(actum)
        require_same_but(stored, actum, at=stored.at)
    for actum, found in zip(given, store.acta(SESSION, EVERYTHING), strict=True):
        require_same_but(found, actum, at=found.at)


@suite.rule("KindsRoundTrip", "Any kind may come from any kind of actor, and both come back as they were.")
def kinds_round_trip(store: Store) -> None:
    started(store)
    pairs = [(kind, actor_kind) for kind in ActumKind for actor_kind in ActorKind]
    for kind, actor_kind in pairs:
        store.record(act(f"{kind} {actor_kind}", kind, actor_kind))
    found = [(actum.kind, actum.actor_kind) for actum in store.acta(SESSION, EVERYTHING)]
    require_equal(found, pairs, "kinds and actor kinds")


@suite.rule(
    "DuplicateIDs",
    "The store keeps the ids it is given and does not compare them: two equal ids are two records.",
)
def duplicate_ids(store: Store) -> None:
    started(store)
    store.record(message("first", actum_id="same"))
    store.record(message("second", actum_id="same"))
    require_contents(store, EVERYTHING, ["first", "second"])
    require_equal([actum.id for actum in store.acta(SESSION, EVERYTHING)], ["same", "same"], "ids")


@suite.rule("MetadataRoundTrip", "`metadata` comes back as the JSON object it was, also from recording.")
def metadata_round_trip(store: Store) -> None:
    started(store)
    for metadata in (_METADATA, {}):
        given = msgspec.structs.replace(message("with metadata"), metadata=deepcopy(metadata))
        require_equal(store.record(given).metadata, metadata, "metadata as record returned it")
    found = [actum.metadata for actum in store.acta(SESSION, EVERYTHING)]
    require_equal(found, [_METADATA, {}], "metadata as acta returned it")


@suite.rule(
    "OccurredAtRoundTrip", "`occurred_at` comes back as the instant it was, to the microsecond, or as None."
)
def occurred_at_round_trip(store: Store) -> None:
    started(store)
    instants = [
        None,
        LONG_AGO,
        FAR_AHEAD,
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        datetime(2024, 2, 29, 12, 0, 0, 1, tzinfo=timezone(timedelta(hours=5, minutes=45))),
    ]
    for instant in instants:
        stored = store.record(msgspec.structs.replace(message("claimed"), occurred_at=instant))
        require_equal(stored.occurred_at, instant, "occurred_at as record returned it")
    found = [actum.occurred_at for actum in store.acta(SESSION, EVERYTHING)]
    require_equal(found, instants, "occurred_at as acta returned it")


@suite.rule("VisibilityRoundTrip", "`visibility` comes back as it was; a store leaves private acta in.")
def visibility_round_trip(store: Store) -> None:
    started(store)
    given = [PUBLIC, PRIVATE, PUBLIC, PRIVATE]
    for number, visibility in enumerate(given):
        stored = store.record(msgspec.structs.replace(message(f"{number}"), visibility=visibility))
        require_equal(stored.visibility, visibility, "visibility as record returned it")
    found = [actum.visibility for actum in store.acta(SESSION, EVERYTHING)]
    require_equal(found, given, "visibility as acta returned it")
    last = [actum.visibility for actum in store.acta(SESSION, ActaQuery(last_n=1))]
    require_equal(last, [PRIVATE], "visibility of the last actum")


@suite.rule("ReturnedListIsACopy", "Changing a list of acta that was returned does not change the history.")
def returned_list_is_a_copy(store: Store) -> None:
    started(store)
    for content in ("0", "1", "2"):
        store.record(message(content))
    for query in (EVERYTHING, ActaQuery(last_n=3), ActaQuery(kinds=(ActumKind.MESSAGE,))):
        returned = store.acta(SESSION, query)
        returned.reverse()
        returned.pop()
        returned.append(message("forged"))
        require_contents(store, EVERYTHING, ["0", "1", "2"])


@suite.rule("MetadataIsACopy", "Changing metadata that was given or returned does not change the history.")
def metadata_is_a_copy(store: Store) -> None:
    started(store)
    given = msgspec.structs.replace(message("shared"), metadata={"list": [1], "object": {"colour": "red"}})
    kept = deepcopy(given.metadata)

    def spoil(metadata: dict[str, Any]) -> None:
        metadata["list"].append(2)
        metadata["object"].clear()
        metadata["forged"] = True

    returned = store.record(given)
    for holder in (given, returned, store.acta(SESSION, EVERYTHING)[0]):
        spoil(holder.metadata)
        require_equal(store.acta(SESSION, EVERYTHING)[0].metadata, kept, "metadata in the history")
