"""The fold `redactions`: a row for each receipt of a payload, and for each word of a scrub."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.log import EventLog, PendingEvent
from workbench.log.decoding import FoldDecoder
from workbench.log.folds import FoldEvent
from workbench.log.registry import EventTypeRegistry, Removed
from workbench.log.replay import fold_into, read_batch
from workbench.log.streams import domain_stream, session_stream
from workbench.redaction import default_filter
from workbench.redaction.events import APPLIED, EVENT_TYPES, RedactionApplied
from workbench.redaction.receipts import FOLDS, RedactionsFold
from workbench.redaction.shapes import fill
from workbench.sessions.events import ACTUM, CREATED, ActumRecorded, ChronicumCreated
from workbench.storage import fetch

KEY = fill("ghp_{alnum:36}", 5)
OTHER = fill("sk-proj-{alnum:48}", 5)


def opened(path: Path) -> EventLog:
    registry = EventTypeRegistry((CREATED, ACTUM, *EVENT_TYPES))
    return EventLog.open(path, FOLDS, registry, redactor=default_filter(), synchronous="OFF")


def act(content: str, number: int = 0, **given: Any) -> ActumRecorded:
    fields: dict[str, Any] = {
        "id": f"a{number}",
        "chronicum_id": "s",
        "kind": "message",
        "actor_kind": "agent",
        "actor": "coder",
        "content": content,
        "metadata": {},
        **given,
    }
    return ActumRecorded(**fields)


def rows(log: EventLog) -> list[tuple[Any, ...]]:
    with log.reader() as connection:
        return fetch.rows(
            connection,
            "SELECT noted, ordinal, position, kind, field, count, filter_version FROM redactions ORDER BY 1, 2",
        )


def test_each_kind_of_each_field_is_a_row(tmp_path: Path) -> None:
    version = default_filter().version
    with opened(tmp_path / "log.db") as log:
        log.append(session_stream("s"), [ChronicumCreated(chronicum_id="s", owner_id="ada")])
        metadata = {"b": KEY, "a": {KEY: "x"}}
        log.append(session_stream("s"), [act(f"{KEY} {OTHER} {KEY}", metadata=metadata), act("clean", 1)])
        assert rows(log) == [
            (2, 0, 2, "github_token", "content", 2, version),
            (2, 1, 2, "openai_key", "content", 1, version),
            (2, 2, 2, "github_token", "metadata.a.(key)", 1, version),
            (2, 3, 2, "github_token", "metadata.b", 1, version),
        ]
        with log.reader() as connection:
            times = fetch.rows(connection, "SELECT DISTINCT recorded_at FROM redactions")
            stored = fetch.rows(connection, "SELECT recorded_at FROM events WHERE position = 2")
        assert times == stored


def test_a_scrub_speaks_of_an_earlier_event_or_of_none(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as log:
        log.append(
            domain_stream("global"),
            [
                RedactionApplied(
                    domain="global", position=7, field="content", kind="jwt", count=3, filter_version="1-a"
                ),
                RedactionApplied(
                    domain="global", field="artifacts/ab", kind="jwt", count=1, filter_version="1-a"
                ),
            ],
        )
        assert rows(log) == [
            (1, 0, 7, "jwt", "content", 3, "1-a"),
            (2, 0, 0, "jwt", "artifacts/ab", 1, "1-a"),
        ]
        kept = log.event(2)
        assert kept is not None
        assert "position" not in kept.payload


def test_what_the_filter_takes_out_of_a_word_of_a_scrub_is_a_row_too(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as log:
        said = RedactionApplied(
            domain="global", position=7, field=f"metadata.{KEY}", kind="jwt", count=3, filter_version="1-a"
        )
        log.append(domain_stream("global"), [said])
        assert [(row[1], row[3], row[4]) for row in rows(log)] == [
            (0, "jwt", "metadata.[REDACTED:github_token]"),
            (1, "github_token", "field"),
        ]


def test_a_domain_that_holds_a_secret_is_refused(tmp_path: Path) -> None:
    from workbench.log.errors import SecretInIdentifier

    with opened(tmp_path / "log.db") as log:
        said = RedactionApplied(domain=KEY, field="x", kind="jwt", count=1, filter_version="1")
        with pytest.raises(SecretInIdentifier):
            log.append(domain_stream("global"), [said])


RECEIPTS = st.lists(
    st.builds(
        Removed,
        st.sampled_from(["jwt", "github_token", "private_key"]),
        st.integers(1, 9),
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8),
        st.sampled_from(["1-a", "2-b"]),
    ),
    max_size=4,
)
EVENTS = st.lists(
    st.one_of(
        RECEIPTS.map(lambda found: act("x", redactions=found) if found else act("x")),
        st.builds(
            lambda position, count: RedactionApplied(
                domain="global",
                field="content",
                kind="jwt",
                count=count,
                filter_version="1-a",
                **({} if position is None else {"position": position}),
            ),
            st.none() | st.integers(1, 50),
            st.integers(1, 9),
        ),
    ),
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(EVENTS, st.lists(st.integers(1, 5), max_size=12))
def test_the_rows_are_those_of_the_events_however_they_come(
    tmp_path_factory: pytest.TempPathFactory, events: Sequence[Any], cuts: Sequence[int]
) -> None:
    """Appended in batches of any size, or folded again from the log: the rows are those of the model."""
    with opened(tmp_path_factory.mktemp("fold") / "log.db") as log:
        left, sizes = list(events), list(cuts)
        while left:
            size = sizes.pop() if sizes else len(left)
            batch, left = left[:size], left[size:]
            with log.transaction():
                for event in batch:
                    stream = (
                        domain_stream("global") if type(event) is RedactionApplied else session_stream("s")
                    )
                    log.append(stream, [PendingEvent(payload=event)])
        found = rows(log)
        assert found == model(log)
        replayed = apsw.Connection("")
        for statement in RedactionsFold.schema:
            replayed.execute(statement)
        with log.reader() as connection:
            batch_read = read_batch(connection, log.decoder, 0, 1000)
        fold_into(replayed, FOLDS, batch_read.events)
        again = fetch.rows(
            replayed,
            "SELECT noted, ordinal, position, kind, field, count, filter_version FROM redactions ORDER BY 1, 2",
        )
        assert again == found


def model(log: EventLog) -> list[tuple[Any, ...]]:
    expected: list[tuple[Any, ...]] = []
    for event in log.read():
        said: list[tuple[Any, ...]] = []
        payload = event.payload
        if event.envelope.type == APPLIED.type:
            said.append(
                (payload.get("position", 0), payload["kind"], payload["field"], payload["count"], "1-a")
            )
        for each in payload.get("redactions", []):
            said.append((event.position, each["kind"], each["field"], each["count"], each["filter_version"]))
        expected += ((event.position, number, *row) for number, row in enumerate(said))
    return expected


def test_it_reads_nothing_but_the_events() -> None:
    """Two folds of the same event give the same rows, whatever lies between them."""
    connections = [apsw.Connection(""), apsw.Connection("")]
    payload = act("x", redactions=[Removed("jwt", 1, "content", "1-a")])
    event = FoldEvent(3, bytes(16), None, 1, "session/s", 1, ACTUM, False, 55, None, payload)
    for connection in connections:
        for statement in RedactionsFold.schema:
            connection.execute(statement)
        RedactionsFold().apply(connection, [event])
    first, second = (c.execute("SELECT * FROM redactions").fetchall() for c in connections)
    assert first == second == [(3, 0, 3, 55, "jwt", "content", 1, "1-a")]


def test_the_event_keeps_no_trace_of_the_secret(tmp_path: Path) -> None:
    decoder = FoldDecoder(EventTypeRegistry(EVENT_TYPES))
    assert decoder is not None
    fields = set(
        msgspec.structs.asdict(RedactionApplied(domain="d", field="f", kind="k", count=1, filter_version="v"))
    )
    assert fields == {"domain", "position", "field", "kind", "count", "filter_version", "redactions"}
