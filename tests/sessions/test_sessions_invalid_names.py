"""Names that are no valid text (a lone surrogate) on a log: nothing has them, and nothing gets them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.log import FOLDS as LOG_FOLDS
from workbench.log import EventLog, EventTypeRegistry
from workbench.log.errors import InvalidIdentifier
from workbench.log.streams import session_stream
from workbench.sessions import ActaQuery, Actum, Chronicarius, Chronicum, ChronicumNotFound
from workbench.sessions.events import EVENT_TYPES
from workbench.sessions.folds import FOLDS
from workbench.sessions.queries import stream_of
from workbench.sessions.stores.sqlite import SQLiteStore
from workbench.sessions.units import close_unit

BROKEN = "s\ud800"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with EventLog.open(
        tmp_path / "log.db", (*LOG_FOLDS, *FOLDS), EventTypeRegistry(EVENT_TYPES), synchronous="OFF"
    ) as opened:
        yield opened


@pytest.fixture
def store(log: EventLog) -> SQLiteStore:
    return SQLiteStore(log)


def message(into: str, *, actor: str = "ann") -> Actum:
    return Actum(chronicum_id=into, kind="message", actor_kind="human", actor=actor, content="hello")


def test_reading_finds_no_such_session(log: EventLog, store: SQLiteStore) -> None:
    sessions = Chronicarius(store)
    sessions.record_actum("ann", message("s"))
    for owner in ("ann", BROKEN):
        with pytest.raises(ChronicumNotFound):
            sessions.get_acta(owner, BROKEN)
        with pytest.raises(ChronicumNotFound):
            sessions.get_chronicum(owner, BROKEN)
    with pytest.raises(ChronicumNotFound):
        sessions.get_chronicum(BROKEN, "s")
    with pytest.raises(ChronicumNotFound):
        store.acta(BROKEN, ActaQuery())
    with pytest.raises(ChronicumNotFound):
        store.get(BROKEN)
    with log.reader() as connection:
        assert stream_of(connection, BROKEN) is None


def test_writing_is_refused_and_stores_nothing(log: EventLog, store: SQLiteStore) -> None:
    sessions = Chronicarius(store)
    sessions.record_actum("ann", message("s"))
    before = log.last_position()
    with pytest.raises(InvalidIdentifier):
        sessions.record_actum("ann", message(BROKEN))
    with pytest.raises(InvalidIdentifier):
        sessions.record_actum(BROKEN, message("new"))
    with pytest.raises(InvalidIdentifier):
        sessions.record_actum("ann", message("s", actor=BROKEN))
    for key in (BROKEN, f"claude-code:{BROKEN}"):
        with pytest.raises(InvalidIdentifier):
            sessions.record_actum("ann", message("s"), idempotency_key=key)
    for chronicum in (Chronicum(id=BROKEN, owner_id="ann"), Chronicum(id="new", owner_id=BROKEN)):
        with pytest.raises(InvalidIdentifier):
            store.create(chronicum)
    with pytest.raises(InvalidIdentifier):
        store.record(message(BROKEN))
    with pytest.raises(InvalidIdentifier):
        store.record_idempotent(message(BROKEN), "key")
    for names in ((BROKEN, "day", None), ("s", BROKEN, None), ("s", "day", BROKEN)):
        chronicum_id, unit, key_of_unit = names
        with pytest.raises(InvalidIdentifier):
            close_unit(log, chronicum_id, unit, key=key_of_unit)
    assert log.last_position() == before


def test_such_a_session_has_no_stream() -> None:
    with pytest.raises(InvalidIdentifier):
        session_stream(BROKEN)
