"""Idempotency keys of events that come in one batch: each counts in its session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.log import FOLDS as LOG_FOLDS
from workbench.log import EventLog, EventTypeRegistry, Payload
from workbench.log.streams import session_stream
from workbench.sessions.events import EVENT_TYPES, ActumRecorded, ChronicumCreated, UnitClosed, decode_actum
from workbench.sessions.folds import FOLDS
from workbench.sessions.queries import keyed_actum, stream_of
from workbench.storage import fetch

SESSIONS = ("a", "b")
KEYS = ("own", "claude-code:r:0", "claude-code:r:1")


def new_log(path: Path) -> EventLog:
    log = EventLog.open(path, (*LOG_FOLDS, *FOLDS), EventTypeRegistry(EVENT_TYPES), synchronous="OFF")
    for session in SESSIONS:
        log.append(session_stream(session), [ChronicumCreated(chronicum_id=session, owner_id="ann")])
    return log


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with new_log(tmp_path / "log.db") as opened:
        yield opened


def keyed(session: str, key: str, content: str) -> ActumRecorded:
    return ActumRecorded(
        id=content,
        chronicum_id=session,
        kind="message",
        actor_kind="human",
        actor="ann",
        content=content,
        metadata={},
        idempotency_key=key,
    )


def uses_in(log: EventLog) -> dict[tuple[str, str], str]:
    """By session and key the payload of the actum that counts."""
    found = {}
    with log.reader() as connection:
        for session in SESSIONS:
            number = stream_of(connection, session)
            assert number is not None
            for key in KEYS:
                row = keyed_actum(connection, number, key)
                if row is not None:
                    found[session, key] = row[0]
    return found


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(uses=st.lists(st.tuples(st.sampled_from(SESSIONS), st.sampled_from(KEYS)), unique=True))
def test_a_batch_notes_keys_as_single_appends_do(
    tmp_path_factory: pytest.TempPathFactory, uses: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("keys")
    acta = [keyed(session, key, str(number)) for number, (session, key) in enumerate(uses)]
    with new_log(folder / "one.db") as one, new_log(folder / "many.db") as many:
        for actum in acta:
            one.append(session_stream(actum.chronicum_id), [actum])
        start = 0
        for end in range(1, len(acta) + 1):
            if end == len(acta) or acta[end].chronicum_id != acta[start].chronicum_id:
                many.append(session_stream(acta[start].chronicum_id), acta[start:end])
                start = end
        assert {use: decode_actum(row).id for use, row in uses_in(many).items()} == {
            use: str(number) for number, use in enumerate(uses)
        }
        assert uses_in(many) == uses_in(one)


def test_a_units_key_is_noted_among_the_records_in_order(log: EventLog) -> None:
    key = "claude-code:r:0"
    batch: list[Payload] = [
        UnitClosed(chronicum_id="a", unit="compaction", source_key=key),
        keyed("a", key, "later"),
    ]
    receipt = log.append(session_stream("a"), batch)
    with log.reader() as connection:
        assert fetch.rows(connection, "SELECT * FROM imported_records") == [(key, receipt.first_position)]
        assert fetch.rows(connection, "SELECT key, position FROM unit_keys") == [
            (key, receipt.first_position)
        ]
        # The actum's use of it counts in its session.
        assert fetch.rows(connection, "SELECT key, position FROM session_keys") == [
            (key, receipt.last_position)
        ]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("together", [True, False])
def test_the_first_use_in_a_session_counts(log: EventLog, key: str, together: bool) -> None:
    uses = [keyed("a", key, "first"), keyed("a", key, "second"), keyed("a", key, "third")]
    for batch in [uses] if together else [[use] for use in uses]:
        log.append(session_stream("a"), batch)
    log.append(session_stream("b"), [keyed("b", key, "own first"), keyed("b", key, "own second")])
    assert {where: decode_actum(payload).content for where, payload in uses_in(log).items()} == {
        ("a", key): "first",
        ("b", key): "own first",
    }
