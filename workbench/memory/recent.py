"""What was said in a domain lately, for the memory guard."""

from __future__ import annotations

from workbench.log import sqlite
from workbench.log.event_log import EventLog
from workbench.memory.events import ObservationRecorded
from workbench.memory.requests import WINDOW
from workbench.storage import fetch


def recent_texts(log: EventLog, domain_forms: tuple[str, ...], *, count: int, now: int) -> list[str]:
    """The texts of the newest observations of a domain of the last 24 hours, newest first, at most `count`.

    Quarantined ones count: what is told again and again shall not get through by being withheld. Private ones
    do not. `now` is in microseconds since 1970.
    """
    texts: list[str] = []
    with log.reader() as connection:
        # One look for each spelling: over several at once SQLite would sort all that was ever said.
        positions = [
            position
            for form in domain_forms
            for (position,) in fetch.rows(
                connection,
                "SELECT position FROM observations INDEXED BY observations_by_domain "
                "WHERE domain_key = ? AND private = 0 ORDER BY position DESC LIMIT ?",
                (form, count),
            )
        ]
        for position in sorted(positions, reverse=True)[:count]:
            row = fetch.row(connection, sqlite.TO_FOLD, (position - 1, 1))
            event = None if row is None else log.decoder.event(row)
            if event is None or event.recorded_at < now - WINDOW:
                break
            assert isinstance(event.payload, ObservationRecorded)
            texts.append(event.payload.text)
    return texts
