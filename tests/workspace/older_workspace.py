"""Workspaces as the first release left them, with everything in them that a release could write."""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw

from workbench.log import EventLog, PendingEvent
from workbench.log.streams import session_stream
from workbench.redaction import default_filter
from workbench.sessions.events import ActumRecorded, ChronicumCreated, ChronicumDescribed, UnitClosed
from workbench.storage import fetch
from workbench.storage.history import statements
from workbench.workspace.folds import FOLDS, event_types
from workbench.workspace.layout import Layout, scaffold

FIRST_LAYOUT = Path(__file__).with_name("schema_1.sql")
FIRST_FOLDS = ("sessions", "session_counts", "fulltext", "actors")
START = datetime(2024, 3, 1, 21, 30, tzinfo=UTC)


class Ticking:
    """A clock that moves by a second at each reading, long ago."""

    def __init__(self) -> None:
        self._now = START

    def __call__(self) -> datetime:
        self._now += timedelta(seconds=1)
        return self._now


def older_workspace(root: Path, events: int = 40) -> Path:
    """A workspace of schema 1 with about so many events; its root."""
    layout = Layout(root)
    scaffold(layout, title="Old", timezone="UTC", owner="ada")
    lay_out_first(layout.database)
    with first_log(layout.database) as log:
        fill(log, events)
    return root


def lay_out_first(path: Path) -> None:
    """An empty database of schema 1, by the statements of then."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    with connection:
        for statement in statements(FIRST_LAYOUT.read_text()):
            connection.execute(statement).fetchall()
    connection.close()


def first_log(path: Path) -> EventLog:
    """The log of a database of schema 1, as the first release opened it."""
    folds = [fold for fold in FOLDS if fold.name in FIRST_FOLDS]
    return EventLog.open(
        path, folds, event_types(), redactor=default_filter(), clock=Ticking(), synchronous="OFF"
    )


def fill(log: EventLog, events: int) -> None:
    """Sessions with words of two alphabets, imported records, tool calls, a unit, private acts, descriptions."""
    for session in ("plan", "отчёты"):
        log.append(
            session_stream(session),
            [
                ChronicumCreated(chronicum_id=session, owner_id="ada"),
                ChronicumDescribed(title=f"About {session}"),
            ],
        )
    for number in range(max(0, events - 5)):
        session = ("plan", "отчёты")[number % 2]
        log.append(session_stream(session), [_act(session, number)])
    log.append(session_stream("plan"), [UnitClosed(chronicum_id="plan", unit="week", source_key="codex:u1")])


def _act(session: str, number: int) -> PendingEvent:
    imported = number % 3 == 0
    call = number % 5 == 0
    payload = ActumRecorded(
        id=f"act-{number}",
        chronicum_id=session,
        kind="tool_request" if call else "message",
        actor_kind="agent" if call else "human",
        actor="coder" if call else "Зоя",
        content=f"Готов отчёт номер{number}, see ledger{number}",
        metadata={"call_id": f"c{number}"} if call else {},
        idempotency_key=f"claude-code:record-{number}" if imported else f"own-{number}",
    )
    return PendingEvent(
        payload=payload,
        visibility="private" if number % 7 == 0 else "public",
        occurred_at=None if number % 4 == 0 else START + timedelta(minutes=17 * number),
    )


def layout_of(path: Path) -> list[tuple[str, str, str, str]]:
    """What stands in a file's layout, blanks apart, in an order that does not tell when it came."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    rows = fetch.rows(connection, "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema")
    connection.close()
    return sorted((kind, name, table, " ".join(sql.split())) for kind, name, table, sql in rows)


def rows_of(path: Path, *tables: str) -> dict[str, list[tuple[object, ...]]]:
    """Every row of some tables, in order."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return {
            table: sorted(fetch.rows(connection, f'SELECT * FROM "{table}"'), key=repr) for table in tables
        }
    finally:
        connection.close()


class Unchanged:
    """A folder as it is now: `check` fails if a file came, went or changed, were it only its time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._before = self._look()

    def _look(self) -> dict[str, tuple[str, int]]:
        return {
            str(path.relative_to(self._folder)): (
                hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
                path.stat().st_mtime_ns if path.is_file() else 0,
            )
            for path in sorted(self._folder.rglob("*"))
        }

    def check(self) -> None:
        """Compare."""
        assert self._look() == self._before
