"""Rules of `record_idempotent`: a repeated recording counts once (contract sessions §9)."""

from __future__ import annotations

from functools import partial

import msgspec

from workbench.sessions.conformance.harness import (
    CALLERS,
    Suite,
    at_once,
    refused,
    require,
    require_equal,
    values_of,
)
from workbench.sessions.conformance.material import (
    EVERYTHING,
    LONG_AGO,
    MISSING,
    SESSION,
    act,
    at_of,
    contents,
    message,
    pass_time,
    require_contents,
    require_same_but,
    started,
)
from workbench.sessions.errors import ChronicumNotFound
from workbench.sessions.model import PRIVATE, ActorKind, ActumKind
from workbench.sessions.store import IdempotentStore

suite: Suite[IdempotentStore] = Suite()

KEY = "key-1"


@suite.rule("Idempotency", "The same recording with the same key is stored once, and both calls return it.")
def idempotency(store: IdempotentStore) -> None:
    started(store)
    given = message("hello")
    first = store.record_idempotent(given, KEY)
    second = store.record_idempotent(given, KEY)
    require_equal(second.id, first.id, "id returned for the repeat")
    require_equal(second.at, at_of(first), "`at` returned for the repeat")
    require_contents(store, EVERYTHING, ["hello"])


@suite.rule("IdempotencyStoredWins", "A repeat returns the actum stored first and drops the new one.")
def idempotency_stored_wins(store: IdempotentStore) -> None:
    started(store)
    first = store.record_idempotent(message("original content", actum_id="id-1"), KEY)
    second = store.record_idempotent(message("other content", actum_id="id-2"), KEY)
    require_equal((second.id, second.content), ("id-1", "original content"), "the repeat's answer")
    require_equal(second, first, "the repeat's answer, whole")
    require_equal(store.acta(SESSION, EVERYTHING), [first], "acta")


@suite.rule(
    "StoredWinsWhateverItIs",
    "A repeat is one by its key alone: another kind, actor, visibility or metadata changes nothing.",
)
def stored_wins_whatever_it_is(store: IdempotentStore) -> None:
    started(store)
    given = msgspec.structs.replace(message("original"), metadata={"n": [1]})
    first = store.record_idempotent(given, KEY)
    for other in (
        act("other", ActumKind.TOOL_RESPONSE, ActorKind.AGENT),
        msgspec.structs.replace(message("other"), actor="somebody-else", visibility=PRIVATE),
        msgspec.structs.replace(message("original"), metadata={"n": [2]}, occurred_at=LONG_AGO),
    ):
        require_equal(store.record_idempotent(other, KEY), first, "the repeat's answer")
    require_equal(store.acta(SESSION, EVERYTHING), [first], "acta")


@suite.rule(
    "KeyedAppendIsAnAppend",
    "The first recording with a key is a recording like any other: the store's `at`, all fields kept, "
    "last_activity_at moved.",
)
def keyed_append_is_an_append(store: IdempotentStore) -> None:
    started(store)
    pass_time(store)
    given = msgspec.structs.replace(
        message("keyed", actum_id="id-1"),
        at=LONG_AGO,
        occurred_at=LONG_AGO,
        metadata={"call": "c-1"},
        visibility=PRIVATE,
    )
    stored = store.record_idempotent(given, KEY)
    require(at_of(stored) > LONG_AGO, f"`at` is the given time {stored.at!r}")
    require_same_but(stored, given, at=stored.at)
    require_equal(store.acta(SESSION, EVERYTHING), [stored], "acta")
    require_equal(store.get(SESSION).last_activity_at, stored.at, "last_activity_at")


@suite.rule(
    "ConcurrentSameKey", "Of concurrent recordings with one key exactly one is stored, and all return it."
)
def concurrent_same_key(store: IdempotentStore) -> None:
    started(store)
    calls = [
        partial(store.record_idempotent, message(f"content-{number}", actum_id=f"id-{number}"), KEY)
        for number in range(CALLERS)
    ]
    answers = values_of(at_once(calls))
    history = store.acta(SESSION, EVERYTHING)
    require_equal(len(history), 1, "acta stored")
    require_equal({(answer.id, answer.at) for answer in answers}, {(history[0].id, history[0].at)}, "answers")


@suite.rule("ConcurrentDifferentKeys", "Concurrent recordings with different keys all land, each once.")
def concurrent_different_keys(store: IdempotentStore) -> None:
    started(store)
    names = sorted(f"k-{number}" for number in range(CALLERS))
    values_of(at_once([partial(store.record_idempotent, message(name), name) for name in names]))
    require_equal(sorted(contents(store.acta(SESSION, EVERYTHING))), names, "acta stored")


@suite.rule("SameKeyInTwoChronica", "A key counts inside its session only.")
def same_key_in_two_chronica(store: IdempotentStore) -> None:
    started(store, "one", "two")
    store.record_idempotent(message("in one", into="one"), KEY)
    answer = store.record_idempotent(message("in two", into="two"), KEY)
    require_equal((answer.chronicum_id, answer.content), ("two", "in two"), "answer in the second session")
    require_contents(store, EVERYTHING, ["in one"], of="one")
    require_contents(store, EVERYTHING, ["in two"], of="two")


@suite.rule("KeysAreExact", "Keys are compared exactly: neither case, blanks nor spelling are folded.")
def keys_are_exact(store: IdempotentStore) -> None:
    started(store)
    keys = [
        "key",
        "KEY",
        "key ",
        " key",
        "k%y",
        "caf\N{LATIN SMALL LETTER E WITH ACUTE}",
        "cafe\N{COMBINING ACUTE ACCENT}",
        "k" * 3000,
        "k" * 3001,
    ]
    for number, key in enumerate(keys):
        store.record_idempotent(message(f"{number}"), key)
    require_contents(store, EVERYTHING, [f"{number}" for number in range(len(keys))])


@suite.rule(
    "KeyIntoMissing",
    "A keyed recording into a session that does not exist is ChronicumNotFound, creates nothing and "
    "leaves the key unused.",
)
def key_into_missing(store: IdempotentStore) -> None:
    with refused(ChronicumNotFound, "record_idempotent into a missing session"):
        store.record_idempotent(message("lost", into=MISSING), KEY)
    with refused(ChronicumNotFound, "get after the refused record_idempotent"):
        store.get(MISSING)
    started(store, MISSING)
    require_contents(store, EVERYTHING, [], of=MISSING)
    answer = store.record_idempotent(message("kept", into=MISSING), KEY)
    require_equal(answer.content, "kept", "answer once the session exists")
    require_contents(store, EVERYTHING, ["kept"], of=MISSING)


@suite.rule("RepeatKeepsLastActivityAt", "A repeat does not move last_activity_at.")
def repeat_keeps_last_activity_at(store: IdempotentStore) -> None:
    started(store)
    store.record_idempotent(message("keyed"), KEY)
    pass_time(store)
    newest = at_of(store.record(message("newer")))
    pass_time(store)
    store.record_idempotent(message("keyed"), KEY)
    require_equal(store.get(SESSION).last_activity_at, newest, "last_activity_at after the repeat")


@suite.rule(
    "KeyedAndUnkeyedShareOneOrder", "Recordings with and without keys stand in one history, in call order."
)
def keyed_and_unkeyed_share_one_order(store: IdempotentStore) -> None:
    started(store)
    store.record(message("0"))
    store.record_idempotent(message("1"), "a")
    store.record(message("2"))
    store.record_idempotent(message("3"), "b")
    store.record_idempotent(message("again"), "a")
    store.record(message("4"))
    require_contents(store, EVERYTHING, ["0", "1", "2", "3", "4"])


@suite.rule(
    "UnkeyedIsNeverARepeat",
    "Without a key every recording is stored, however alike, also beside a keyed one.",
)
def unkeyed_is_never_a_repeat(store: IdempotentStore) -> None:
    started(store)
    store.record_idempotent(message("same"), KEY)
    store.record(message("same"))
    store.record(message("same"))
    require_contents(store, EVERYTHING, ["same", "same", "same"])


@suite.rule(
    "RepeatIsACopy", "Changing what a repeat returned changes neither the history nor the next answer."
)
def repeat_is_a_copy(store: IdempotentStore) -> None:
    started(store)
    given = msgspec.structs.replace(message("shared"), metadata={"list": [1]})
    for holder in (given, store.record_idempotent(given, KEY), store.record_idempotent(given, KEY)):
        holder.metadata["list"].append(2)
    require_equal(store.acta(SESSION, EVERYTHING)[0].metadata, {"list": [1]}, "metadata in the history")
    require_equal(store.record_idempotent(given, KEY).metadata, {"list": [1]}, "metadata of the next answer")
