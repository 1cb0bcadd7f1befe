"""Every combination of filters gives what a loop over everything gives, at a cost that does not grow."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import chain, combinations, product
from pathlib import Path

import pytest

from tests.workspace.workspace_cases import (
    ACTOR_KINDS,
    FACETS,
    KINDS,
    actum,
    begin,
    counted_steps,
    open_log,
    unit,
)
from workbench.log import EventLog
from workbench.log.streams import session_stream
from workbench.sessions import ActaQuery
from workbench.sessions import facets as facet_numbers
from workbench.sessions.folds import SessionsFold
from workbench.sessions.stores.sqlite import SQLiteStore
from workbench.workspace.readers import Readers
from workbench.workspace.rows import ActaFilter


def subsets(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    return list(chain.from_iterable(combinations(names, size) for size in range(1, len(names) + 1)))


FILTERS = list(product(subsets(KINDS), subsets(ACTOR_KINDS)))


def test_there_are_105_filters() -> None:
    assert len(FILTERS) == 105


def test_each_facet_has_a_number_of_its_own() -> None:
    numbers = [facet_numbers.facet(*facet) for facet in FACETS]
    assert sorted(numbers) == list(facet_numbers.ACTA)
    assert facet_numbers.UNIT_CLOSED not in numbers
    assert [facet_numbers.kind_of(number) for number in numbers] == [kind for kind, _, _ in FACETS]


# -- results --------------------------------------------------------------------------------------

Entry = tuple[int, str, str, bool]
"""(seq, kind, actor kind, private); a closed unit is ("unit_closed", "", False)."""


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[EventLog, list[Entry]]]:
    """Two sessions whose events alternate; the entries are those of the first."""
    chance = random.Random(7)
    entries: list[Entry] = []
    with open_log(tmp_path_factory.mktemp("mixed") / "log.db") as log:
        for session in ("s", "other"):
            begin(log, session, title="t")
        seq = 2
        with log.transaction() as transaction:
            for number in range(900):
                other = chance.choice(FACETS)
                transaction.append(session_stream("other"), [actum("other", *other)])
                seq += 1
                if chance.random() < 0.05:
                    transaction.append(session_stream("s"), [unit("s", f"u{number}")])
                    entries.append((seq, "unit_closed", "", False))
                else:
                    facet = FACETS[min(int(chance.expovariate(0.2)), len(FACETS) - 1)]
                    transaction.append(session_stream("s"), [actum("s", *facet, number=seq)])
                    entries.append((seq, *facet))
        yield log, entries


@pytest.mark.parametrize("last_n", [-1, 0, 1, 20, 5000])
def test_the_store_filters_then_limits(mixed: tuple[EventLog, list[Entry]], last_n: int) -> None:
    log, entries = mixed
    store = SQLiteStore(log)
    empty: tuple[str, ...] = ()
    for kinds, actors in [*FILTERS, (empty, empty), (("message",), empty), (empty, ("system",))]:
        expected = [
            f"id-{seq}"
            for seq, kind, actor, _ in entries
            if kind != "unit_closed" and (not kinds or kind in kinds) and (not actors or actor in actors)
        ]
        if last_n > 0:
            expected = expected[-last_n:]
        got = store.acta("s", ActaQuery(last_n=last_n, kinds=kinds, actor_kinds=actors))
        assert [a.id for a in got] == expected, (kinds, actors)


def _expected(entries: list[Entry], wanted: ActaFilter) -> list[int]:
    """The seqs that pass, straight from the definition."""
    passed = []
    for seq, kind, actor, private in entries:
        if kind == "unit_closed":
            if kind in wanted.kinds or (not wanted.kinds and not wanted.actor_kinds):
                passed.append(seq)
        elif (
            (not wanted.kinds or kind in wanted.kinds)
            and (not wanted.actor_kinds or actor in wanted.actor_kinds)
            and (wanted.include_private or not private)
        ):
            passed.append(seq)
    return passed


@pytest.mark.parametrize("private", [True, False])
def test_pages_of_every_filter_are_what_a_loop_gives(
    mixed: tuple[EventLog, list[Entry]], private: bool
) -> None:
    log, entries = mixed
    reader = Readers(log).entries
    more: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
        ((), ()),
        (("unit_closed",), ()),
        (("unit_closed", "thought"), ("agent",)),
        (("nonsense",), ()),
        ((), ("nobody",)),
        (("message", "message"), ("human", "human")),
    ]
    for kinds, actors in [*FILTERS, *more]:
        wanted = ActaFilter(kinds=kinds, actor_kinds=actors, include_private=private)
        expected = _expected(entries, wanted)
        assert reader.total("s", wanted) == len(expected), wanted
        assert [row.seq for row in reader.last("s", wanted, 15)] == expected[-15:], wanted
        assert [row.seq for row in reader.page("s", wanted, 15)] == expected[:15], wanted
        for start in (0, 1, 3, 450, 901, 902, 903, 10**6):
            after = [seq for seq in expected if seq > start][:15]
            before = [seq for seq in expected if seq < start][-15:]
            assert [row.seq for row in reader.page("s", wanted, 15, after=start)] == after, wanted
            assert [row.seq for row in reader.page("s", wanted, 15, before=start)] == before, wanted


def test_rows_say_what_was_recorded(mixed: tuple[EventLog, list[Entry]]) -> None:
    log, entries = mixed
    rows = Readers(log).entries.page("s", ActaFilter(), 10**6)
    assert [
        (r.seq, r.kind, r.actor_kind if r.kind != "unit_closed" else "", r.private) for r in rows
    ] == entries


# -- cost -----------------------------------------------------------------------------------------


def _long_session(path: Path, length: int) -> EventLog:
    """Every facet 25 times at the very beginning, then one kind only: the worst for a walk from the end."""
    log = open_log(path)
    begin(log, "s")
    log.append(session_stream("s"), [actum("s", *facet) for _ in range(25) for facet in FACETS])
    left = length - 25 * len(FACETS)
    for _ in range(left // 800):
        log.append(session_stream("s"), [actum("s", "tool_response", "system") for _ in range(800)])
    return log


def _steps(log: EventLog) -> dict[object, int]:
    store = SQLiteStore(log)
    reader = Readers(log).entries
    result: dict[object, int] = {}
    with counted_steps(log) as steps:
        for kinds, actors in FILTERS:
            for name, call in (
                (
                    "acta",
                    lambda k=kinds, a=actors: store.acta("s", ActaQuery(last_n=20, kinds=k, actor_kinds=a)),
                ),
                ("last", lambda k=kinds, a=actors: reader.last("s", ActaFilter(kinds=k, actor_kinds=a), 20)),
                ("total", lambda k=kinds, a=actors: [reader.total("s", ActaFilter(kinds=k, actor_kinds=a))]),
            ):
                steps.clear()
                found = call()
                assert len(found) == (1 if name == "total" else 20)
                result[name, kinds, actors] = sum(steps)
    return result


def test_no_filter_costs_more_on_a_longer_session(tmp_path: Path) -> None:
    with _long_session(tmp_path / "short.db", 3_000) as log:
        short = _steps(log)
    with _long_session(tmp_path / "long.db", 30_000) as log:
        long = _steps(log)
    ratios = {key: long[key] / short[key] for key in short}
    worst = max(ratios, key=lambda key: ratios[key])
    assert ratios[worst] <= 1.2, (worst, short[worst], long[worst])
    # And the number itself is of the size of a page, not of a session.
    assert max(long.values()) < 5_000


def test_the_filter_index_holds_an_entry_for_each_act(mixed: tuple[EventLog, list[Entry]]) -> None:
    assert "session_entries" in SessionsFold.tables
    log, entries = mixed
    counts = Readers(log).entries.counts("s")
    assert sum(counts.values()) == len(entries)
