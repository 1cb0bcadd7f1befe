"""The list of redactions and the text around each, beside plain models of both."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thorough import examples
from tests.workspace.redaction_cases import act, begin, token
from workbench.log import EventLog
from workbench.log.registry import Removed
from workbench.log.streams import domain_stream, session_stream
from workbench.log.times import to_micros
from workbench.redaction import default_filter
from workbench.redaction.events import RedactionApplied
from workbench.workspace.folds import FOLDS, TABLES, event_types
from workbench.workspace.migrations import HISTORY
from workbench.workspace.readers import Readers
from workbench.workspace.readers.redaction_queries import DAY, RedactionReader
from workbench.workspace.rows import RedactionFilter, RedactionPlace, RedactionRow

START = datetime(2031, 5, 4, 22, 0, tzinfo=UTC)
KINDS = ("jwt", "github_token", "private_key")
ACTORS = ("coder", "reviewer")


class Clock:
    """Moves by a part of a day at each reading."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(hours=5)
        return self.now


def opened(path: Path) -> EventLog:
    return EventLog.open(
        path,
        FOLDS,
        event_types(),
        redactor=default_filter(),
        clock=Clock(),
        synchronous="OFF",
        tables=TABLES,
        history=HISTORY,
    )


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EventLog]:
    """Receipts of three kinds by two actors in two sessions, and words of a scrub about some of them."""
    with opened(tmp_path_factory.mktemp("reader") / "log.db") as log:
        begin(log, "one")
        begin(log, "two")
        for number in range(24):
            session = ("one", "two")[number % 2]
            receipts = [
                Removed(KINDS[(number + each) % 3], each + 1, f"metadata.f{each}", "1-a")
                for each in range(number % 4)
            ]
            given: dict[str, Any] = {"redactions": receipts} if receipts else {}
            log.append(
                session_stream(session), [act(session, number, "x", actor=ACTORS[number % 3 == 0], **given)]
            )
        log.append(
            domain_stream("global"),
            [
                RedactionApplied(
                    domain="global", position=3, field="content", kind="jwt", count=1, filter_version="2-b"
                ),
                RedactionApplied(
                    domain="global", field="artifacts/ab", kind="jwt", count=2, filter_version="2-b"
                ),
            ],
        )
        yield log


@pytest.fixture(scope="module")
def reader(log: EventLog) -> RedactionReader:
    return Readers(log).redactions


@pytest.fixture(scope="module")
def everything(log: EventLog) -> list[RedactionRow]:
    """What the list is, by reading every event, newest first."""
    rows: list[RedactionRow] = []
    events = {event.position: event for event in log.read()}
    for event in events.values():
        said: list[tuple[int, dict[str, Any]]] = []
        if event.envelope.type == "redaction.applied":
            said.append((event.payload.get("position", 0), event.payload))
        said += [(event.position, each) for each in event.payload.get("redactions", [])]
        for ordinal, (position, each) in enumerate(said):
            held = events.get(position)
            session = None if held is None else held.payload.get("chronicum_id")
            rows.append(
                RedactionRow(
                    noted=event.position,
                    ordinal=ordinal,
                    position=position,
                    noted_at=event.envelope.recorded_at,
                    kind=each["kind"],
                    field=each["field"],
                    count=each["count"],
                    filter_version=each["filter_version"],
                    stream="" if held is None else held.stream,
                    type="" if held is None else held.envelope.type,
                    occurred_at=None if held is None else held.envelope.occurred_at,
                    actor="" if held is None else held.payload.get("actor", ""),
                    chronicum_id=session or "",
                )
            )
    return rows[::-1]


def fits(row: RedactionRow, wanted: RedactionFilter) -> bool:
    noted = to_micros(row.noted_at)
    return (
        (not wanted.kinds or row.kind in wanted.kinds)
        and (wanted.since is None or noted >= wanted.since)
        and (wanted.until is None or noted < wanted.until)
        and (not wanted.stream or row.stream == wanted.stream)
        and (not wanted.actor or row.actor == wanted.actor)
    )


def places(rows: Sequence[RedactionRow]) -> list[RedactionPlace]:
    return [row.place for row in rows]


TIMES = st.none() | st.integers(0, 130).map(lambda hours: to_micros(START + timedelta(hours=hours)))
FILTERS = st.builds(
    RedactionFilter,
    kinds=st.lists(st.sampled_from((*KINDS, "no_such")), max_size=2, unique=True).map(tuple),
    since=TIMES,
    until=TIMES,
    stream=st.sampled_from(("", "", "session/one", "session/two", "session/none", "domain/global")),
    actor=st.sampled_from(("", "", *ACTORS, "nobody")),
    text=st.just(""),
)


def test_the_whole_list(reader: RedactionReader, everything: list[RedactionRow]) -> None:
    found = reader.page(RedactionFilter(), 1000)
    assert [_without_title(row) for row in found] == everything
    assert len(found) == reader.count(RedactionFilter()) > 30
    assert reader.total() == sum(row.count for row in everything)
    assert {row.scrubbed for row in found} == {False, True}
    for row in found[:5]:
        assert reader.row(row.place) == row
    assert reader.row(RedactionPlace(10**6, 0)) is None


def _without_title(row: RedactionRow) -> RedactionRow:
    return msgspec.structs.replace(row, title="")


@settings(max_examples=examples(150), deadline=None)
@given(FILTERS, st.integers(1, 7))
def test_pages_both_ways(
    reader: RedactionReader, everything: list[RedactionRow], wanted: RedactionFilter, size: int
) -> None:
    expected = places([row for row in everything if fits(row, wanted)])
    down: list[RedactionPlace] = []
    after = None
    while page := reader.page(wanted, size, after=after):
        down += places(page)
        after = page[-1].place
    assert down == expected
    up: list[RedactionPlace] = []
    before = RedactionPlace(0, 0)
    while page := reader.page(wanted, size, before=before):
        assert len(page) <= size
        up = places(page) + up
        before = page[0].place
    assert up == expected
    assert reader.count(wanted) == len(expected)
    for rank, place in enumerate(expected):
        assert reader.rank(wanted, place) == rank
        assert reader.place_of_rank(wanted, rank) == place
    assert reader.place_of_rank(wanted, len(expected)) == (expected[-1] if expected else None)
    assert reader.rank(wanted, RedactionPlace(0, 0)) == len(expected)


@settings(max_examples=60, deadline=None)
@given(FILTERS, st.integers(-14, 14))
def test_days(
    reader: RedactionReader, everything: list[RedactionRow], wanted: RedactionFilter, hours: int
) -> None:
    offset = hours * 3_600_000_000
    expected: Counter[tuple[int, str]] = Counter()
    for row in everything:
        if fits(row, wanted):
            expected[(to_micros(row.noted_at) + offset) // DAY, row.kind] += row.count
    found = reader.days(wanted, offset)
    assert [(each.day, each.kind) for each in found] == sorted(expected)
    assert {(each.day, each.kind): each.secrets for each in found} == expected


def test_kinds_since(reader: RedactionReader, everything: list[RedactionRow]) -> None:
    for since in (None, to_micros(START + timedelta(hours=60)), to_micros(START + timedelta(days=99))):
        counts: Counter[str] = Counter()
        last: dict[str, int] = {}
        for row in everything:
            if since is None or to_micros(row.noted_at) >= since:
                counts[row.kind] += row.count
                last[row.kind] = max(last.get(row.kind, 0), to_micros(row.noted_at))
        found = reader.kinds(since)
        assert [tuple(each) for each in found] == sorted(
            ((kind, count, last[kind]) for kind, count in counts.items()),
            key=lambda each: (-each[1], each[0]),
        )


# -- the text around -----------------------------------------------------------------------


def around(tmp_path: Path, content: str = "x", **metadata: Any) -> dict[str, list[tuple[str, str]]]:
    """Of one act, by field what stands before and behind each marker."""
    with opened(tmp_path / "log.db") as log:
        begin(log, "s")
        log.append(session_stream("s"), [act("s", 1, content, metadata=metadata)])
        reader = Readers(log).redactions
        return {
            row.field: [(each.before, each.after) for each in reader.context(row)]
            for row in reader.page(RedactionFilter(), 100)
        }


def test_context_in_a_text(tmp_path: Path) -> None:
    found = around(tmp_path, f"use {token(1)} then {token(2)}.")
    assert found == {"content": [("use ", " then "), ("", ".")]}


def test_context_is_cut(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as log:
        begin(log, "s")
        log.append(session_stream("s"), [act("s", 1, "a" * 1000 + f" {token(1)} " + "b" * 1000)])
        reader = Readers(log).redactions
        (row,) = reader.page(RedactionFilter(), 5)
        (context,) = reader.context(row)
    assert context.marker == "[REDACTED:anthropic_key]"
    assert context.cut_before and context.cut_after
    assert len(context.before) == len(context.after) == 240


def test_context_below_keys_with_dots(tmp_path: Path) -> None:
    found = around(tmp_path, env={"a.b": {"c": f"1 {token(1)}"}, "a": {"b.c": f"2 {token(2)}"}, "": token(3)})
    # Both paths are written alike, so each shows what either may mean.
    assert found["metadata.env.a.b.c"] == [("1 ", ""), ("2 ", "")] or found["metadata.env.a.b.c"] == [
        ("2 ", ""),
        ("1 ", ""),
    ]


def test_context_in_lists_and_keys(tmp_path: Path) -> None:
    found = around(tmp_path, args=["a", f"--key {token(1)}", {"deep": [f"b {token(2)}"]}])
    assert found == {
        "metadata.args.1": [("--key ", "")],
        "metadata.args.2.deep.0": [("b ", "")],
    }
    found = around(tmp_path / "..", env={f"K {token(1)} K": "on", "other": f"value {token(2)}"})
    assert found["metadata.env.(key)"] == [("K ", " K")]
    assert found["metadata.env.other"] == [("value ", "")]


def test_context_in_a_text_that_holds_json(tmp_path: Path) -> None:
    raw = json.dumps({"inner": {"key": f"so {token(1)} it"}})
    ((field, contexts),) = around(tmp_path, raw=raw).items()
    assert field.startswith("metadata.raw")
    assert len(contexts) == 1
    assert "so " in contexts[0][0] and " it" in contexts[0][1]


def test_no_context_where_nothing_is_left(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as log:
        begin(log, "s")
        receipts = [
            Removed("jwt", 1, "content", "1"),
            Removed("jwt", 1, "metadata.gone.deep", "1"),
            Removed("jwt", 1, "", "1"),
            Removed("jwt", 1, "metadata.list.7", "1"),
            Removed("jwt", 1, "metadata.list.x", "1"),
            Removed("jwt", 1, "metadata.list.²", "1"),
            Removed("jwt", 1, "metadata.list." + "9" * 5000, "1"),
        ]
        log.append(session_stream("s"), [act("s", 1, "clean", metadata={"list": []}, redactions=receipts)])
        log.append(
            domain_stream("global"),
            [
                RedactionApplied(
                    domain="global", field="jobs 3.title", kind="jwt", count=1, filter_version="1"
                ),
                RedactionApplied(
                    domain="global", position=999, field="content", kind="jwt", count=1, filter_version="1"
                ),
            ],
        )
        reader = Readers(log).redactions
        rows = reader.page(RedactionFilter(), 100)
        assert len(rows) == 9
        assert [reader.context(row) for row in rows] == [[]] * 9


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.text("ab.0", max_size=3) | st.just(token(7)) | st.just(f"x {token(8)} y") | st.integers(0, 3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text("ab.0", max_size=3) | st.just(token(9)), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_each_redaction_has_its_context(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    """Whatever the metadata look like: a marker is found for each that was counted, never more."""
    with opened(tmp_path_factory.mktemp("context") / "log.db") as log:
        begin(log, "s")
        log.append(session_stream("s"), [act("s", 1, "x", metadata={"m": value})])
        reader = Readers(log).redactions
        for row in reader.page(RedactionFilter(), 100):
            contexts = reader.context(row, 1000)
            assert len(contexts) == row.count
            assert {context.marker for context in contexts} == {f"[REDACTED:{row.kind}]"}
