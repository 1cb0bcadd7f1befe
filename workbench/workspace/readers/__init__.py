"""What the faces read: lists in keyset pages, single rows, counts.

Every call may be made from any thread and answers with plain immutable rows
(`workbench.workspace.rows`).
"""

from __future__ import annotations

from workbench.log.event_log import EventLog
from workbench.storage import fetch
from workbench.workspace.readers.entry_queries import EntryReader
from workbench.workspace.readers.evidence_queries import EvidenceReader
from workbench.workspace.readers.name_queries import NameReader
from workbench.workspace.readers.redaction_queries import RedactionReader
from workbench.workspace.readers.session_queries import SessionReader
from workbench.workspace.readers.timeline_queries import TimelineReader


class Readers:
    """The readers of one open workspace."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self.sessions = SessionReader(log)
        self.entries = EntryReader(log)
        self.timeline = TimelineReader(log)
        self.redactions = RedactionReader(log)
        self.names = NameReader(log)
        self.evidence = EvidenceReader(log)

    def totals(self) -> tuple[int, int, int, int | None]:
        """Events, sessions, acta, and the last `recorded_at` in microseconds (None if empty)."""
        with self._log.reader() as connection:
            last = fetch.row(
                connection, "SELECT position, recorded_at FROM events ORDER BY position DESC LIMIT 1"
            )
            sessions = fetch.row(connection, "SELECT count(*), coalesce(sum(acta), 0) FROM session_activity")
        assert sessions is not None
        return (last[0] if last else 0), sessions[0], sessions[1], (last[1] if last else None)
