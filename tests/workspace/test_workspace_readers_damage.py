"""One damaged event: it stands in its place and says what is wrong, and every other one is readable."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.workspace.workspace_cases import actum, begin, open_log, opened, unit
from workbench.log.streams import session_stream
from workbench.workspace.readers import Readers
from workbench.workspace.readers.entry_damage import UnreadableActum, UnreadableEvent, reason_of
from workbench.workspace.readers.timeline_parts import LATEST
from workbench.workspace.readers.timeline_queries import FIRST_PLACE, LAST_PLACE, place_of
from workbench.workspace.rows import ActaFilter, EventRow, Place, SessionFilter, TimelineFilter

EVENTS = 12
ALL = TimelineFilter()
HIT = 7

DAMAGE = {
    "no text": ("payload = CAST(x'7b2261223a22ff227d' AS TEXT)", "its text is not valid UTF-8"),
    "no text inside": (
        "payload = CAST(replace(CAST(payload AS BLOB), CAST('plum' AS BLOB), x'ff') AS TEXT)",
        "its text is not valid UTF-8",
    ),
    "half": ("payload = substr(payload, 1, 20)", "its payload is not valid JSON"),
    "nothing": ("payload = ''", "its payload is not valid JSON"),
    "a list": ("payload = '[1]'", "its payload is no JSON object"),
    "deep": (f"payload = '{{\"a\":{'[' * 5000}'", "its payload is not valid JSON"),
    "half and long": ("payload = '{' || printf('%.*c', 40000, 'x')", "its payload is not valid JSON"),
    "recorded never": (f"recorded_at = {LATEST}, occurred_at = NULL", "its time is impossible"),
    "happened never": (f"occurred_at = {2**61}", "its time is impossible"),
    "happened before all": (f"occurred_at = {-(2**63)}", "its time is impossible"),
    "no id": ("event_id = x'00'", "parts of it are missing"),
    "no type": ("type_id = 99", "its stream or its type is missing"),
}


def make(path: Path, *changes: str, at: int = HIT) -> None:
    """A log with one session of twelve events, one of which was changed behind its back."""
    with open_log(path) as log:
        begin(log, "s1", "me")
        log.append(session_stream("s1"), [actum("s1", content="the first plum", number=1)])
        for number in range(2, EVENTS - 1):
            kind = "thought" if number % 2 else "message"
            log.append(session_stream("s1"), [actum("s1", kind, content=f"plum {number}", number=number)])
        log.append(session_stream("s1"), [unit("s1", "u", "the last plum")])
    with_file = apsw.Connection(str(path))
    with_file.execute("PRAGMA foreign_keys=OFF")
    for change in changes:
        with_file.execute(f"UPDATE events SET {change} WHERE position = {at}")
    with_file.close()


def walked(readers: Readers, order: str, limit: int) -> list[EventRow]:
    """Every event in pages, first to last, each page behind the last row of the one before."""
    rows: list[EventRow] = []
    while True:
        if order == "recorded":
            page = readers.timeline.page(ALL, limit, after=rows[-1].position if rows else 0)
        else:
            after = place_of(rows[-1]) if rows else FIRST_PLACE
            page = readers.timeline.search_happened(ALL, limit, after=after).rows
        if not page:
            return rows
        rows += page


@pytest.mark.parametrize("name", DAMAGE)
def test_the_timeline_goes_on(tmp_path: Path, name: str) -> None:
    change, reason = DAMAGE[name]
    make(tmp_path / "log.db", change)
    with opened(tmp_path / "log.db") as (_, readers):
        reader = readers.timeline
        rows = reader.page(ALL, 100)
        assert [row.position for row in rows] == list(range(1, EVENTS + 1))
        bad = [row for row in rows if isinstance(row, UnreadableEvent)]
        assert [(row.position, row.unreadable) for row in bad] == [(HIT, reason)]
        assert bad[0].payload == {"unreadable": reason}
        assert reader.event(HIT) == bad[0]
        assert reader.event(HIT + 1) == rows[HIT]
        for order in ("recorded", "happened"):
            for limit in (1, 2, 5, 100):
                found = walked(readers, order, limit)
                assert sorted(row.position for row in found) == list(range(1, EVENTS + 1))
        back: list[int] = []
        place = LAST_PLACE
        while page := reader.search_happened(ALL, 1, before=place).rows:
            back.append(page[0].position)
            place = place_of(page[0])
        assert back == [row.position for row in reversed(walked(readers, "happened", 3))]
        assert reader.place_at(HIT) == Place(bad[0].happened, HIT)


@pytest.mark.parametrize("name", DAMAGE)
def test_filters_go_on(tmp_path: Path, name: str) -> None:
    change, _ = DAMAGE[name]
    make(tmp_path / "log.db", change)
    with opened(tmp_path / "log.db") as (_, readers):
        reader = readers.timeline
        for wanted in (
            TimelineFilter(text="plum"),
            TimelineFilter(types=("actum.recorded", "unit.closed")),
            TimelineFilter(streams=("session/s1",)),
            TimelineFilter(visibility="public", actors=("ann",)),
        ):
            for found in (reader.page(wanted, 100), reader.search_happened(wanted, 100).rows):
                positions = {row.position for row in found}
                assert positions >= set(range(2, EVENTS)) - {HIT}
                assert len(found) == reader.count(wanted)


CONTENT = {name: each for name, each in DAMAGE.items() if name not in ("no id", "no type")}


@pytest.mark.parametrize("name", CONTENT)
def test_the_entries_of_a_session_go_on(tmp_path: Path, name: str) -> None:
    change, reason = CONTENT[name]
    make(tmp_path / "log.db", change)
    with opened(tmp_path / "log.db") as (_, readers):
        reader, everything = readers.entries, ActaFilter()
        rows = reader.page("s1", everything, 100)
        assert [row.seq for row in rows] == list(range(2, EVENTS + 1))
        bad = [row for row in rows if isinstance(row, UnreadableActum)]
        assert [(row.seq, row.kind, row.actor_kind) for row in bad] == [(HIT, "message", "human")]
        assert (bad[0].unreadable, bad[0].metadata) == (reason, {"unreadable": reason})
        assert bad[0].content == f"‹unreadable: {reason}› run workbench doctor"
        assert reader.last("s1", everything, 100) == rows
        assert reader.at("s1", [HIT, HIT + 1]) == rows[HIT - 2 : HIT]
        assert reader.entry("s1", HIT) == bad[0]
        for seq in range(1, EVENTS + 1):
            following = list(range(seq + 1, EVENTS + 1))[:3]
            assert [row.seq for row in reader.page("s1", everything, 3, after=seq)] == following
        thoughts = reader.page("s1", ActaFilter(kinds=("thought",)), 100)
        assert all(row.kind == "thought" and not isinstance(row, UnreadableActum) for row in thoughts)
        assert reader.rewound("s1") == []
        hits = reader.search.hits("s1", everything, "plum")
        assert set(hits.seqs) >= set(range(2, EVENTS + 1)) - {HIT}


@pytest.mark.parametrize("name", CONTENT)
def test_the_list_of_sessions_goes_on(tmp_path: Path, name: str) -> None:
    """Its title is its first prompt, which may be what is damaged."""
    make(tmp_path / "log.db", CONTENT[name][0], at=2)
    with opened(tmp_path / "log.db") as (log, readers):
        begin(log, "s2")
        assert {row.id for row in readers.sessions.page(SessionFilter(), 10)} == {"s1", "s2"}


def test_what_is_stored_can_be_looked_at(tmp_path: Path) -> None:
    make(tmp_path / "log.db", DAMAGE["no text"][0])
    with opened(tmp_path / "log.db") as (_, readers):
        event, entry = readers.timeline.event(HIT), readers.entries.entry("s1", HIT)
        assert isinstance(event, UnreadableEvent)
        assert isinstance(entry, UnreadableActum)
        assert event.stored == entry.stored == '{"a":"\\xff"}'


def test_another_failure_of_sql_is_no_damage() -> None:
    with pytest.raises(apsw.SQLError, match="no such table"):
        reason_of(apsw.SQLError("no such table: events"))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.integers(2, EVENTS),
        st.one_of(st.binary(max_size=60), st.text(max_size=20).map(str.encode)),
        min_size=1,
        max_size=5,
    )
)
def test_any_bytes_in_any_rows(tmp_path_factory: pytest.TempPathFactory, stored: dict[int, bytes]) -> None:
    path = tmp_path_factory.mktemp("any") / "log.db"
    make(path)
    with_file = apsw.Connection(str(path))
    for position, payload in stored.items():
        with_file.execute(
            "UPDATE events SET payload = CAST(? AS TEXT) WHERE position = ?", (payload, position)
        )
    with_file.close()
    with opened(path) as (_, readers):
        rows = readers.timeline.page(ALL, 100)
        assert [row.position for row in rows] == list(range(1, EVENTS + 1))
        assert all(not isinstance(row, UnreadableEvent) for row in rows if row.position not in stored)
        entries = readers.entries.page("s1", ActaFilter(), 100)
        assert [row.seq for row in entries] == list(range(2, EVENTS + 1))
        assert all(isinstance(row, UnreadableActum) == (row.seq in stored) for row in entries)
