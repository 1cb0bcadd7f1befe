"""Checks whether a store of sessions keeps the contract, for the author of any store and any test runner.

`run_test(new_store)` is for every `Store`, `run_idempotent_test(new_store)` for an `IdempotentStore`
besides. `new_store` is called once per sub-test and returns a fresh, empty store. Both run every sub-test
and then raise one `ConformanceFailure` that names each broken rule in a sentence; they return None if none
is broken.

`TESTS` and `IDEMPOTENT_TESTS` hold the same sub-tests one by one, as `(name, run)` with `run(new_store)`:

    @pytest.mark.parametrize("name,run", TESTS, ids=[name for name, _ in TESTS])
    def test_my_store(name, run):
        run(MyStore)

The rules are those of contract sessions §5, §8, §9 and §12.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from workbench.sessions.conformance import (
    acta_rules,
    chronicum_rules,
    concurrency_rules,
    content_rules,
    idempotency_rules,
)
from workbench.sessions.conformance.harness import BrokenRule, ConformanceFailure, SubTest, run_all
from workbench.sessions.store import IdempotentStore, Store

__all__ = [
    "IDEMPOTENT_TESTS",
    "TESTS",
    "BrokenRule",
    "ConformanceFailure",
    "SubTest",
    "run_idempotent_test",
    "run_test",
]

TESTS: Final[tuple[SubTest[Store], ...]] = (
    *chronicum_rules.suite,
    *acta_rules.suite,
    *content_rules.suite,
    *concurrency_rules.suite,
)
IDEMPOTENT_TESTS: Final[tuple[SubTest[IdempotentStore], ...]] = tuple(idempotency_rules.suite)


def run_test(new_store: Callable[[], Store]) -> None:
    """Check every rule that any store owes; `ConformanceFailure` for all that are broken."""
    run_all(TESTS, new_store)


def run_idempotent_test(new_store: Callable[[], IdempotentStore]) -> None:
    """Check every rule of idempotency keys; `ConformanceFailure` for all that are broken."""
    run_all(IDEMPOTENT_TESTS, new_store)
