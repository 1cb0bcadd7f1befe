"""How a conformance sub-test is declared, run and reported; no rule of the contract stands here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Barrier, Thread
from typing import Final, Generic, NamedTuple, TypeVar, cast

from workbench.sessions.errors import ChronicaError
from workbench.sessions.store import Store

CALLERS: Final = 40
"""Threads that call at once in a sub-test of concurrency."""

DEADLINE_SECONDS: Final = 60.0
"""How long concurrent calls may take in all before they count as hanging."""

StoreT = TypeVar("StoreT", bound=Store)
T = TypeVar("T")


class BrokenRule(NamedTuple):
    """One sub-test that failed: the rule, as a sentence, and what the store did instead."""

    sub_test: str
    rule: str
    found: str

    def __str__(self) -> str:
        return f"{self.sub_test}: {self.rule} Found: {self.found}."


class ConformanceFailure(AssertionError):
    """A store broke one rule or more; `broken` lists them in the order of the suite."""

    def __init__(self, *broken: BrokenRule) -> None:
        super().__init__("\n".join(str(rule) for rule in broken))
        self.broken = broken


class Violation(Exception):
    """Raised inside a sub-test: what was found in place of what the sub-test's rule demands."""


class SubTest(NamedTuple, Generic[StoreT]):
    """`run(new_store)` calls `new_store` once; it raises `ConformanceFailure` or returns."""

    name: str
    run: Callable[[Callable[[], StoreT]], None]


class Suite(Generic[StoreT]):
    """Sub-tests in the order in which they are declared."""

    def __init__(self) -> None:
        self._tests: list[SubTest[StoreT]] = []

    def __iter__(self) -> Iterator[SubTest[StoreT]]:
        return iter(self._tests)

    def rule(self, name: str, rule: str) -> Callable[[Callable[[StoreT], None]], Callable[[StoreT], None]]:
        """Declare the decorated function as sub-test `name` of `rule`, a whole sentence.

        The function gets a fresh store and raises `Violation`. Any other exception that comes out of it
        is the store's, and breaks the rule as well.
        """

        def declare(check: Callable[[StoreT], None]) -> Callable[[StoreT], None]:
            def run(new_store: Callable[[], StoreT]) -> None:
                store = new_store()
                try:
                    check(store)
                except Violation as violation:
                    raise ConformanceFailure(BrokenRule(name, rule, str(violation))) from None
                except Exception as error:
                    raise ConformanceFailure(BrokenRule(name, rule, f"the store raised {error!r}")) from error

            self._tests.append(SubTest(name, run))
            return check

        return declare


def run_all(tests: tuple[SubTest[StoreT], ...], new_store: Callable[[], StoreT]) -> None:
    """Run every sub-test, then raise one `ConformanceFailure` for all that failed."""
    broken: list[BrokenRule] = []
    for test in tests:
        try:
            test.run(new_store)
        except ConformanceFailure as failure:
            broken.extend(failure.broken)
    if broken:
        raise ConformanceFailure(*broken)


def require(holds: bool, found: str) -> None:
    """Break the sub-test's rule unless `holds`; `found` says what the store did."""
    if not holds:
        raise Violation(found)


def require_equal(found: object, expected: object, what: str) -> None:
    """Break the sub-test's rule unless both are equal."""
    if found != expected:
        raise Violation(f"{what}: {_short(found)} where {_short(expected)} was due")


@contextmanager
def refused(error: type[ChronicaError], call: str) -> Iterator[None]:
    """The block's one store call must raise `error`."""
    try:
        yield
    except error:
        return
    except Exception as other:
        raise Violation(f"{call} raised {other!r}") from other
    raise Violation(f"{call} raised nothing")


class Outcome(NamedTuple, Generic[T]):
    """What one concurrent call did; instants are of the monotonic clock, in nanoseconds."""

    began: int
    ended: int
    value: T | None
    error: Exception | None


def timed(call: Callable[[], T]) -> Outcome[T]:
    """Make one call in this thread."""
    value: T | None = None
    error: Exception | None = None
    began = time.monotonic_ns()
    try:
        value = call()
    except Exception as raised:
        error = raised
    return Outcome(began, time.monotonic_ns(), value, error)


def at_once(calls: Sequence[Callable[[], T]], *, within: float = DEADLINE_SECONDS) -> list[Outcome[T]]:
    """Make every call in a thread of its own, all starting together; outcomes in the order of `calls`.

    A call that raises is an outcome. Calls that do not come back `within` so many seconds
    are a violation.
    """
    barrier = Barrier(len(calls))
    outcomes: list[Outcome[T] | None] = [None] * len(calls)

    def run(index: int, call: Callable[[], T]) -> None:
        barrier.wait()
        outcomes[index] = timed(call)

    # Daemons: a store that deadlocks must not keep the test runner's process alive.
    threads = [Thread(target=run, args=pair, daemon=True) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + within
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    finished = [outcome for outcome in outcomes if outcome is not None]
    require(
        len(finished) == len(calls),
        f"{len(calls) - len(finished)} of {len(calls)} concurrent calls did not return "
        f"within {within:g} seconds",
    )
    return finished


def values_of(outcomes: Iterable[Outcome[T]]) -> list[T]:
    """What the calls returned; a violation if one of them raised."""
    values: list[T] = []
    for outcome in outcomes:
        if outcome.error is not None:
            raise Violation(f"a concurrent call raised {outcome.error!r}") from outcome.error
        values.append(cast(T, outcome.value))
    return values


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 400 else f"{text[:300]} … {text[-90:]}"
