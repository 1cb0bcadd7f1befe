"""Every store keeps every rule of the conformance suites, one test per rule."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from threading import Event

import pytest

from workbench.sessions import IdempotentStore, MemoryStore, Store
from workbench.sessions.conformance import (
    IDEMPOTENT_TESTS,
    TESTS,
    SubTest,
    run_idempotent_test,
    run_test,
)
from workbench.sessions.conformance.harness import Violation, at_once


@pytest.mark.parametrize("sub_test", TESTS, ids=lambda sub_test: sub_test.name)
def test_store_conforms(sub_test: SubTest[Store], new_store: Callable[[], IdempotentStore]) -> None:
    sub_test.run(new_store)


@pytest.mark.parametrize("sub_test", IDEMPOTENT_TESTS, ids=lambda sub_test: sub_test.name)
def test_idempotent_store_conforms(
    sub_test: SubTest[IdempotentStore], new_store: Callable[[], IdempotentStore]
) -> None:
    sub_test.run(new_store)


def test_every_sub_test_of_the_reference_is_there() -> None:
    names = [sub_test.name for sub_test in TESTS]
    keyed = [sub_test.name for sub_test in IDEMPOTENT_TESTS]
    assert {
        "GetReturnsStoredOwner",
        "CreateExists",
        "GetMissing",
        "RecordIntoMissing",
        "ActaMissingChronicum",
        "FilterThenLimit",
        "FilterActorKinds",
        "LastActivityAtBumps",
        "AppendReturnsFullActum",
        "InsertionOrder",
        "ConcurrentAppend",
    } <= set(names)
    assert {"Idempotency", "IdempotencyStoredWins", "ConcurrentSameKey"} <= set(keyed)
    assert len(set(names + keyed)) == len(names) + len(keyed)


def test_both_suites_ask_for_one_fresh_store_per_sub_test() -> None:
    made: list[MemoryStore] = []

    def new_store() -> MemoryStore:
        made.append(MemoryStore())
        return made[-1]

    run_test(new_store)
    assert len(made) == len(TESTS)
    run_idempotent_test(new_store)
    assert len(made) == len(TESTS) + len(IDEMPOTENT_TESTS)


def test_calls_that_never_return_are_a_violation_and_do_not_hang_the_suite() -> None:
    release = Event()
    try:
        with pytest.raises(Violation, match=r"2 of 3 concurrent calls did not return within 0\.05 seconds"):
            at_once([release.wait, lambda: True, release.wait], within=0.05)
    finally:
        release.set()


def test_the_suites_load_only_when_asked_for() -> None:
    code = "import sys, workbench.sessions; print('workbench.sessions.conformance' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
