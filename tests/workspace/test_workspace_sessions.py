"""The list of sessions, one session's entries, and what their folds hold."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.workspace.workspace_cases import ACTOR_KINDS, KINDS, actum, begin, open_log, opened, unit
from workbench.log import EventLog
from workbench.log.streams import session_stream
from workbench.sessions import ActaQuery, Actum, Chronicum, ChronicumNotFound
from workbench.sessions.events import ChronicumDescribed
from workbench.sessions.stores.sqlite import SQLiteStore
from workbench.storage import fetch
from workbench.workspace.readers import Readers
from workbench.workspace.readers.session_queries import Order
from workbench.workspace.rows import ActaFilter, SessionFilter, SessionRow

ALL = SessionFilter()


def ids(rows: list[SessionRow]) -> list[str]:
    return [row.id for row in rows]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with open_log(tmp_path / "log.db") as opened_log:
        yield opened_log


# -- the list -------------------------------------------------------------------------------------


def test_the_newest_activity_comes_first_and_pages_meet(log: EventLog) -> None:
    readers = Readers(log)
    order: list[str] = []
    for number in range(450):
        begin(log, f"s{number}", owner="ann" if number % 3 else "bob")
        order.insert(0, f"s{number}")
    for number in (5, 100, 5, 449, 0):
        log.append(session_stream(f"s{number}"), [actum(f"s{number}")])
        order.remove(f"s{number}")
        order.insert(0, f"s{number}")
    log.append(session_stream("s77"), [unit("s77", "no activity")])
    reader = readers.sessions
    for wanted, expected in (
        (ALL, order),
        (SessionFilter(owner="bob"), [i for i in order if int(i[1:]) % 3 == 0]),
        (SessionFilter(text="S44"), [i for i in order if "s44" in i]),
        (SessionFilter(owner="nobody"), []),
    ):
        assert reader.count(wanted) == len(expected)
        assert ids(reader.page(wanted, 1000)) == expected
        assert ids(reader.last(wanted, 7)) == expected[-7:]
        assert reader.page(wanted, 0) == []
        for limit in (1, 50, 200, 201):
            down: list[SessionRow] = []
            while page := reader.page(wanted, limit, after=down[-1] if down else None):
                down += page
                if limit == 1 and len(down) >= 20:
                    break
            assert ids(down) == expected[: len(down)]
            up: list[SessionRow] = reader.last(wanted, 1)
            while up and (page := reader.page(wanted, limit, before=up[0])):
                up[:0] = page
                if limit == 1 and len(up) >= 20:
                    break
            assert ids(up) == expected[len(expected) - len(up) :]
    rows = reader.page(ALL, 1000)
    assert [reader.rank(row) for row in rows[::50]] == list(range(450))[::50]


def test_what_was_imported_stands_where_it_happened(log: EventLog) -> None:
    past = datetime(2020, 1, 1, tzinfo=UTC)
    days = {"middle": 10, "newest": 20, "oldest": 0, "twin": 10}
    for session, day in days.items():
        begin(log, session)
        log.append(session_stream(session), [actum(session, occurred_at=past + timedelta(days=day))])
    reader = Readers(log).sessions
    expected: dict[Order, list[str]] = {
        "happened": ["newest", "twin", "middle", "oldest"],
        "recorded": ["twin", "oldest", "newest", "middle"],
    }
    assert ids(reader.page(ALL, 9)) == expected["happened"]
    for order, names in expected.items():
        rows = reader.page(ALL, 9, order=order)
        assert ids(rows) == names
        assert ids(reader.last(ALL, 2, order=order)) == names[-2:]
        assert [reader.rank(row, order=order) for row in rows] == [0, 1, 2, 3]
        assert reader.count(ALL, order=order) == 4
        assert reader.count(SessionFilter(text="est"), order=order) == 2
        for at, row in enumerate(rows):
            assert ids(reader.page(ALL, 9, after=row, order=order)) == names[at + 1 :]
            assert ids(reader.page(ALL, 9, before=row, order=order)) == names[:at]


def test_both_orders_are_read_from_an_index(log: EventLog) -> None:
    with log.reader() as connection:
        for column in ("last_happened", "last_activity_at"):
            plan = fetch.rows(
                connection,
                f"EXPLAIN QUERY PLAN SELECT * FROM session_activity WHERE ({column}, stream_id) < (1, 1) "
                f"ORDER BY {column} DESC, stream_id DESC LIMIT 5",
            )
            assert "USING INDEX" in str(plan)
            assert "TEMP B-TREE" not in str(plan)


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("one\n\n  two\tthree", "one two three"),
        ("x" * 300, "x" * 300),
        ("x" * 301, "x" * 300 + "…"),
        ("word " * 70, ("word " * 60).rstrip() + "…"),
    ],
)
def test_a_title_that_is_cut_says_so(log: EventLog, prompt: str, title: str) -> None:
    begin(log, "s")
    log.append(session_stream("s"), [actum("s", content=prompt)])
    row = Readers(log).sessions.get("s")
    assert row is not None
    assert row.title == title


def test_a_described_title_is_one_line(log: EventLog) -> None:
    begin(log, "s", title="one\ntwo")
    row = Readers(log).sessions.get("s")
    assert row is not None
    assert row.title == "one two"


def test_sessions_of_one_instant_have_an_order(tmp_path: Path) -> None:
    from workbench.log import EventLog
    from workbench.workspace.folds import FOLDS, TABLES, event_types

    noon = datetime(2030, 1, 1, tzinfo=UTC)
    with EventLog.open(
        tmp_path / "log.db", FOLDS, event_types(), clock=lambda: noon, synchronous="OFF", tables=TABLES
    ) as log:
        for number in range(30):
            begin(log, f"s{number}")
        reader = Readers(log).sessions
        whole = reader.page(ALL, 100)
        assert len(set(ids(whole))) == 30
        down: list[SessionRow] = []
        while page := reader.page(ALL, 7, after=down[-1] if down else None):
            down += page
        assert down == whole
        assert reader.page(ALL, 7, before=whole[10]) == whole[3:10]


def test_a_page_after_a_session_that_moved_does_not_jump(log: EventLog) -> None:
    for number in range(10):
        begin(log, f"s{number}")
    reader = Readers(log).sessions
    first = reader.page(ALL, 5)
    log.append(session_stream(first[-1].id), [actum(first[-1].id)])
    assert ids(reader.page(ALL, 5, after=first[-1])) == [f"s{n}" for n in (4, 3, 2, 1, 0)]


def test_a_search_that_finds_nothing_can_be_stopped(log: EventLog) -> None:
    for number in range(30):
        begin(log, f"s{number}")
    asked: list[int] = []

    def enough() -> bool:
        asked.append(1)
        return len(asked) > 5

    reader = Readers(log).sessions
    assert reader.page(SessionFilter(text="absent"), 10, cancelled=enough) == []
    assert len(asked) == 6
    asked.clear()
    assert reader.count(SessionFilter(text="s"), cancelled=enough) == 5


def test_a_row_tells_all_of_a_session(log: EventLog) -> None:
    begin(log, "claude-code/a b", owner="me", cwd="/home/me/atlas", git_branch="main", models=["x", "y"])
    name = "claude-code/a b"
    early = datetime(2001, 1, 1, tzinfo=UTC)
    late = datetime(2099, 1, 1, tzinfo=UTC)
    stream = session_stream(name)
    log.append(
        stream,
        [
            actum(name, "message", "system", content="system first", actor="sys"),
            actum(name, "message", "human", True, content="a private prompt"),
            actum(name, "message", "human", content="  first \n\n prompt " + "x" * 1000, occurred_at=late),
            actum(name, "thought", "agent", actor="bot", occurred_at=early),
            actum(name, "tool_request", "agent", actor="bot"),
            actum(name, "message", "human", content="second"),
            unit(name, "u1"),
        ],
    )
    reader = Readers(log).sessions
    row = reader.get(name)
    assert row is not None
    assert (row.owner_id, row.source, row.stream) == ("me", "claude-code", "session/claude-code%2Fa%20b")
    assert row.title.startswith("first prompt xxx") and len(row.title) <= 300
    assert (row.acta, row.by_kind) == (6, {"message": 4, "thought": 1, "tool_request": 1})
    assert (row.actors, row.actor_count) == (("ann", "bot", "sys"), 3)
    assert (row.first_at, row.last_at) == (early, late)
    assert (row.cwd, row.git_branch, row.models, row.client_version) == (
        "/home/me/atlas",
        "main",
        ("x", "y"),
        "",
    )
    log.append(stream, [ChronicumDescribed(title="A title", models=["z"])])
    row = reader.get(name)
    assert row is not None
    assert (row.title, row.models, row.cwd) == ("A title", ("z",), "/home/me/atlas")
    assert ids(reader.page(SessionFilter(text="ATLAS title"), 5)) == [name]
    assert ids(reader.page(SessionFilter(source="codex"), 5)) == []
    assert ids(reader.page(SessionFilter(source="claude-code", owner="me"), 5)) == [name]
    assert reader.get("missing") is None
    with log.reader() as connection:
        versions = fetch.rows(
            connection,
            "SELECT value, to_position IS NULL FROM session_descriptions WHERE field = 'models' ORDER BY from_position",
        )
    assert versions == [('["x","y"]', 0), ('["z"]', 1)]


def test_a_session_without_acts(log: EventLog) -> None:
    begin(log, "empty")
    log.append(session_stream("empty"), [unit("empty", "u")])
    row = Readers(log).sessions.get("empty")
    assert row is not None
    assert (row.acta, row.by_kind, row.actors, row.title) == (0, {}, (), "")
    assert row.started_at == row.last_activity_at == row.first_at == row.last_at


def test_ids_differ_by_every_character(log: EventLog) -> None:
    names = ["a", "A", "a ", "é", "e\u0301", "a/b", "a%2Fb", "\0", "я" * 300]
    for name in names:
        begin(log, name)
        log.append(session_stream(name), [actum(name, content=name)])
    readers = Readers(log)
    for name in names:
        (row,) = readers.entries.page(name, ActaFilter(), 10)
        assert (row.content, row.chronicum_id) == (name, name)
        session = readers.sessions.get(name)
        assert session is not None and session.acta == 1


# -- entries --------------------------------------------------------------------------------------


def test_an_entry_is_an_act_or_a_unit_and_nothing_else(log: EventLog) -> None:
    begin(log, "s", title="t")
    log.append(session_stream("s"), [actum("s", content="x"), unit("s", "u", "a note")])
    reader = Readers(log).entries
    assert [reader.entry("s", seq) for seq in (0, 1, 2, 5, -1, 2**62)] == [None] * 6
    act, closed = reader.entry("s", 3), reader.entry("s", 4)
    assert act is not None and closed is not None
    assert (act.kind, act.content, act.content_chars) == ("message", "x", 1)
    assert (closed.kind, closed.actor, closed.content, closed.actor_kind) == (
        "unit_closed",
        "u",
        "a note",
        "system",
    )
    assert reader.last_seq("s") == 4


def test_a_missing_session_has_one_answer(log: EventLog) -> None:
    reader = Readers(log).entries
    for call in (
        lambda: reader.page("x", ActaFilter(), 1),
        lambda: reader.page("x", ActaFilter(kinds=("nonsense",)), 1),
        lambda: reader.last("x", ActaFilter(), 1),
        lambda: reader.entry("x", 1),
        lambda: reader.total("x", ActaFilter()),
        lambda: reader.last_seq("x"),
    ):
        with pytest.raises(ChronicumNotFound):
            call()


@pytest.mark.parametrize(
    "content", ["ж" * 70_000, "😀" * 20_000, "a\0b" * 20_000, "\0" * 20_000, '"\\' * 20_000]
)
def test_long_contents_are_clipped_and_measured_in_characters(log: EventLog, content: str) -> None:
    begin(log, "s")
    log.append(session_stream("s"), [actum("s", content=content, call_id="c"), unit("s", "u", content)])
    reader = Readers(log).entries
    for clipped, seq in zip(reader.page("s", ActaFilter(), 5), (2, 3), strict=True):
        assert clipped.content == content[: len(clipped.content)]
        assert len(clipped.content) == 4000
        assert clipped.content_chars == len(content)
        whole = reader.entry("s", seq)
        assert whole is not None
        assert (whole.content, whole.content_chars) == (content, len(content))
        assert whole.metadata == clipped.metadata


def test_calls_are_paired_and_sub_agents_are_deeper(log: EventLog) -> None:
    begin(log, "s")
    entries: list[Any] = [
        actum("s", "tool_request", "agent", call_id="A"),  # 2
        actum("s", "message", "human", parent="A"),  # 3
        actum("s", "tool_request", "agent", parent="A", call_id="B"),  # 4
        actum("s", "thought", "agent", parent="B"),  # 5
        actum("s", "tool_response", "system", parent="A", call_id="B"),  # 6
        actum("s", "tool_response", "system", call_id="A"),  # 7
        actum("s", "tool_request", "agent", call_id="unanswered"),  # 8
        actum("s", "tool_response", "system", call_id="unasked"),  # 9
        actum("s", "tool_request", "agent", call_id="A"),  # 10: the id again
        actum("s", "message", "agent", call_id="A", parent="nobody"),  # 11: no call
        actum("s", "tool_request", "agent", call_id=7, parent=["x"]),  # 12: no text
        actum("s", "tool_request", "agent", call_id="loop1", parent="loop2"),  # 13
        actum("s", "tool_request", "agent", call_id="loop2", parent="loop1"),  # 14
        actum("s", "tool_request", "agent", call_id="self", parent="self"),  # 15
    ]
    log.append(session_stream("s"), entries)
    rows = {row.seq: row for row in Readers(log).entries.page("s", ActaFilter(), 50)}
    links = {seq: (row.reply_seq, row.child_seq, row.depth) for seq, row in rows.items()}
    assert [links[seq] for seq in range(2, 13)] == [
        (7, 3, 0),
        (None, None, 1),
        (6, 5, 1),
        (None, None, 2),
        (4, None, 1),
        (2, None, 0),
        (None, None, 0),
        (None, None, 0),
        (7, 3, 0),
        (None, None, 1),
        (None, None, 0),
    ]
    assert all(1 <= rows[seq].depth <= 12 for seq in (13, 14, 15))


def test_a_long_chain_of_parents_ends(log: EventLog) -> None:
    begin(log, "s")
    log.append(
        session_stream("s"),
        [actum("s", "tool_request", "agent", call_id=f"c{n}", parent=f"c{n - 1}") for n in range(1, 300)],
    )
    rows = Readers(log).entries.last("s", ActaFilter(), 5)
    assert all(0 < row.depth < 300 for row in rows)


# -- folds and the store --------------------------------------------------------------------------


steps = st.lists(
    st.tuples(
        st.sampled_from(["s1", "s2"]),
        st.sampled_from(KINDS),
        st.sampled_from(ACTOR_KINDS),
        st.booleans(),
        st.sampled_from(["ann", "bot"]),
        st.none() | st.integers(-5, 5),
        st.sampled_from(["plain", "level", "fail"]),
    ),
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(history=steps, together=st.booleans())
def test_counters_are_those_of_a_loop(
    tmp_path_factory: pytest.TempPathFactory, history: list[Any], together: bool
) -> None:
    """One transaction over everything or one each, with levels that fail in between."""
    epoch = datetime(2030, 1, 1, tzinfo=UTC)
    kept: list[Any] = []
    with opened(tmp_path_factory.mktemp("counts") / "log.db") as (log, readers):
        for session in ("s1", "s2"):
            begin(log, session)

        def write(step: Any) -> None:
            session, kind, who, private, actor, happened, how = step
            moment = None if happened is None else epoch + timedelta(hours=happened)
            event = actum(session, kind, who, private, actor=actor, occurred_at=moment)
            if how == "plain":
                log.append(session_stream(session), [event])
            else:
                try:
                    with log.transaction():
                        log.append(session_stream(session), [event])
                        if how == "fail":
                            raise KeyError
                except KeyError:
                    return
            kept.append(step)

        if together:
            with log.transaction():
                for step in history:
                    write(step)
        else:
            for step in history:
                write(step)
        for session in ("s1", "s2"):
            mine = [step for step in kept if step[0] == session]
            row = readers.sessions.get(session)
            assert row is not None
            assert row.acta == len(mine)
            assert row.by_kind == {k: n for k in KINDS if (n := sum(s[1] == k for s in mine))}
            assert set(row.actors) == {s[4] for s in mine}
            assert row.actor_count == len({s[4] for s in mine})
            happened = [a.occurred_at or a.at for a in readers.entries.page(session, ActaFilter(), 100)]
            recorded = [a.at for a in readers.entries.page(session, ActaFilter(), 100)]
            if mine:
                assert (row.first_at, row.last_at) == (min(happened), max(happened))
                assert row.last_activity_at == recorded[-1]
            else:
                assert row.first_at == row.last_at == row.last_activity_at == row.started_at


def test_the_store_sees_its_own_writes_inside_a_transaction(log: EventLog) -> None:
    store = SQLiteStore(log)
    with log.transaction():
        store.create(Chronicum(id="s", owner_id="me"))
        created = store.get("s")
        assert created.started_at == created.last_activity_at
        first = store.record_idempotent(_actum("one"), "key")
        again = store.record_idempotent(_actum("two"), "key")
        assert again == first
        second = store.record(_actum("three"))
        assert [a.content for a in store.acta("s", ActaQuery())] == ["one", "three"]
        assert store.get("s").last_activity_at == second.at
        with pytest.raises(KeyError), log.transaction():
            store.record_idempotent(_actum("gone"), "other")
            raise KeyError
        # A key whose recording was undone was never used.
        assert store.record_idempotent(_actum("four"), "other").content == "four"
    assert [a.content for a in store.acta("s", ActaQuery())] == ["one", "three", "four"]
    row = Readers(log).sessions.get("s")
    assert row is not None and row.acta == 3


def test_what_the_store_returns_is_not_the_callers_object(log: EventLog) -> None:
    store = SQLiteStore(log)
    store.create(Chronicum(id="s", owner_id="me"))
    metadata = {"list": [1]}
    stored = store.record(_actum("x", metadata))
    metadata["list"].append(2)
    assert stored.metadata == {"list": [1]}
    stored.metadata["list"].append(3)
    assert store.acta("s", ActaQuery())[0].metadata == {"list": [1]}


def _actum(content: str, metadata: dict[str, Any] | None = None) -> Actum:
    return Actum(
        id="i",
        chronicum_id="s",
        kind="message",
        actor_kind="human",
        actor="ann",
        content=content,
        metadata=metadata or {},
    )
